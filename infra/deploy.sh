#!/usr/bin/env bash
# Puts one environment into the account that the AWS CLI is signed in to: base stack → keys → image → fleet stack →
# warm pool → a test alarm. Usage: infra/deploy.sh ENVIRONMENT [TAG]    DRY_RUN=1 prints the commands and changes nothing.
# IMAGE=name@sha256:… is copied rather than an image built: one that infra/publish.sh has scanned and signed.
# Safe to run again: what is there already is updated or left alone, and what a failed attempt has left is deleted.
set -euo pipefail
cd "$(dirname "$0")/.."
source infra/commands.sh

prepare "${1:-}"
tag=${2:-$(git rev-parse --short=12 HEAD)}
# Under the commit's tag an image is found and left alone, and the changes would not be in it.
[ -n "${2:-}" ] || [ -n "${DRY_RUN:-}" ] || [ -z "$(git status --porcelain)" ] \
  || fail "Files differ from the commit $tag: commit them, or name what they are (TAG=…)."
case ${IMAGE:-@sha256:} in *@sha256:*) ;; *) fail "A tag may move: IMAGE=name@sha256:…" ;; esac

[ "$example" = False ] || refuse "$environment: put your certificate's ARN, or your buckets, into infra/environments.py first."

run aws sts get-caller-identity --query Account --output text
forget_failed "$fleet-base"
say "Will it work here? Quotas, zones, instance types, certificate, edits of what is deployed…"
mkdir -p "$stacks"
deployed=$stacks/$fleet-base.deployed.json base=$stacks/$fleet-base.template.json first=$stacks/$fleet-base.first.json
zones=$(ask '' "$python" -m infra.preflight "$environment" "$deployed") || exit 1
say "Synthesizing and checking the stacks…"
synthesize "$environment" $zones
run "$python" -m infra.edits "$deployed" "$base" "$first"
roles

deploy_base() {
  run aws cloudformation deploy --region "$region" --stack-name "$fleet-base" --no-fail-on-empty-changeset \
    --template-file "$1" --capabilities CAPABILITY_IAM
}
say "Base: network, image repository, model bucket…"
deploy_base "$first"
repository=$(output "$fleet-base" Repository)
bucket=$(output "$fleet-base" ModelBucket)
secret=$(output "$fleet-base" ApiKeysSecret)

say "API keys…"
if [ "$(ask '# none yet' aws secretsmanager get-secret-value --region "$region" --secret-id "$secret" \
  --query SecretString --output text)" = '# none yet' ]; then
  if [ -t 2 ] || [ -n "${DRY_RUN:-}" ]; then
    # Shown last of all, where it is seen; a deployment that fails has stored it too.
    key=$(ask '<a new key>' "$python" -c 'import secrets; print(secrets.token_urlsafe(32))')
    trap 'say "The first API key, shown this once: $key"' EXIT
    line="first ${DRY_RUN:+<its sha256>}"
    [ -n "${DRY_RUN:-}" ] || line+=$(printf %s "$key" | "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
  else
    line=nobody
    say "No API key was made: this output may be read by others. Put one in, and restart the tasks (infra/README.md, Keys)."
  fi
  run aws secretsmanager put-secret-value --region "$region" --secret-id "$secret" --secret-string "$line"
fi

say "Image $repository:$tag…"
if ! in_repository; then
  engine=${DRY_RUN:+<engine>}
  [ -n "$engine" ] || engine=$(engine) || fail "To build and push the image, docker, podman or buildah is needed."
  [ -n "${IMAGE:-}" ] || run "$python" -m infra.image.build --tag "$repository:$tag"
  run_piped "aws ecr get-login-password --region $region | $engine login --username AWS --password-stdin ${repository%%/*}"
  if [ -n "${IMAGE:-}" ]; then
    run skopeo copy --preserve-digests "docker://$IMAGE" "docker://$repository:$tag"
  else
    run "$engine" push "$repository:$tag"
  fi
fi

say "Fleet…"
began=$(date -u +%Y-%m-%dT%H:%M:%S)
forget_failed "$fleet-fleet"
run aws cloudformation deploy --region "$region" --stack-name "$fleet-fleet" --no-fail-on-empty-changeset \
  --template-file "$stacks/$fleet-fleet.template.json" --s3-bucket "$bucket" --s3-prefix templates \
  --capabilities CAPABILITY_IAM --parameter-overrides "ImageTag=$tag" || {
    lacking=$(launch_errors "$began")
    [ -z "$lacking" ] || say "Instances could not be launched, and without a free GPU a good release is rolled back too: deploy it again later, or name more instance_types.
$lacking"
    fail "$fleet-fleet is not as wanted: aws cloudformation describe-stack-events says why. $no_capacity"
  }
if [ -n "${DRY_RUN:-}" ] || ! cmp -s "$first" "$base"; then
  say "Base again, without what the fleet has let go of…"
  deploy_base "$base"
fi

# Instances of the pool that were stopped before this release have the image before it.
warm_pool=(aws autoscaling describe-warm-pool --region "$region" --auto-scaling-group-name "$fleet" --output text --query)
if [ "$pool" -gt 0 ]; then
  wanted=$(ask '<version>' aws autoscaling describe-auto-scaling-groups --region "$region" --auto-scaling-group-names "$fleet" \
    --query 'AutoScalingGroups[0].MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.Version' --output text)
  waiting=$(ask '<older version>' "${warm_pool[@]}" 'Instances[].LaunchTemplate.Version')
  if [ -z "$waiting" ] || [ -n "$(printf '%s\n' $waiting | grep -vx "$wanted")" ]; then
    say "Warm pool: $pool instances with this release's image…"
    attempt aws autoscaling delete-warm-pool --region "$region" --auto-scaling-group-name "$fleet" --force-delete
    while [ -z "${DRY_RUN:-}" ] && [ "$("${warm_pool[@]}" 'WarmPoolConfiguration.Status')" = PendingDelete ]; do pause 10; done
    run aws autoscaling put-warm-pool --region "$region" --auto-scaling-group-name "$fleet" --min-size "$pool" \
      --max-group-prepared-capacity "$pool" --pool-state Stopped --instance-reuse-policy ReuseOnScaleIn=false
  fi
fi

# Instances in service keep the machine image that they were launched with. Protected ones too are replaced, one after the
# other: ECS moves their tasks first. Without ECS the stack's update has done it.
if [ "$variant" = ecs ]; then
  newest=$(ask '<machine image>' aws cloudformation describe-stacks --region "$region" --stack-name "$fleet-fleet" \
    --query "Stacks[0].Parameters[?ParameterKey=='MachineImage'].ResolvedValue" --output text)
  for group in $(groups); do
    images=$(ask '<older image>' aws ec2 describe-instances --region "$region" --filters "Name=tag:aws:autoscaling:groupName,Values=$group" \
      Name=instance-state-name,Values=running --query 'Reservations[].Instances[].ImageId' --output text)
    if [ -n "$(printf '%s\n' $images | grep -vx "$newest")" ]; then
      say "$group: instances of an older machine image are replaced, within hours; $newest is the new one."
      run aws autoscaling start-instance-refresh --region "$region" --auto-scaling-group-name "$group" --preferences \
        '{"MinHealthyPercentage": 100, "MaxHealthyPercentage": 150, "ScaleInProtectedInstances": "Refresh", "SkipMatching": true}' \
        || say "It could not be begun; one before it may not have ended."
    fi
  done
fi

say "A test alarm: whoever is subscribed gets a message now, and its end a minute later…"
alarm=$fleet-too-few-healthy
began=$(date -u +%Y-%m-%dT%H:%M:%SZ)
run aws cloudwatch set-alarm-state --region "$region" --alarm-name "$alarm" --state-value OK --state-reason "Test: begins"
run aws cloudwatch set-alarm-state --region "$region" --alarm-name "$alarm" --state-value ALARM \
  --state-reason "Test at the end of a deployment; nobody need act"
for _ in 1 2 3 4 5 6; do
  said=$(ask 'Successfully executed action' aws cloudwatch describe-alarm-history --region "$region" --alarm-name "$alarm" \
    --history-item-type Action --start-date "$began" --query 'AlarmHistoryItems[].HistorySummary' --output text)
  case $said in *"executed action"* | *"execute action"*) break ;; esac
  pause 10
done
case $said in
  *"Failed to execute"*) fail "The alarm does not reach its topic: $said" ;;
  *"Successfully executed"*) ;;
  *) fail "CloudWatch has not said within a minute that it told the topic; see the history of $alarm." ;;
esac
topic=$(output "$fleet-base" AlarmTopic)
subscribed=$(ask 1 aws sns get-topic-attributes --region "$region" --topic-arn "$topic" \
  --query Attributes.SubscriptionsConfirmed --output text)
[ "$subscribed" != 0 ] || say "Nobody hears the alarms yet: set alarm_email, or subscribe to $topic, and confirm."
endpoint=$(output "$fleet-fleet" Endpoint)
if [ "$certificate" = None ]; then
  say "Ready at $endpoint, from inside its network: infra/README.md, step 5, says how to ask it."
else
  say "Ready at $endpoint: point the certificate's name there."
fi
