#!/usr/bin/env bash
# Has a machine image made that has the container image in it, and waits for it; the next deployment starts from it.
# Usage: infra/machine_image.sh ENVIRONMENT [TAG]    TAG: of a container image that is in the repository; else the commit's.
# DRY_RUN=1 prints the commands and changes nothing. The environment needs baking=…, and its base stack.
set -euo pipefail
cd "$(dirname "$0")/.."
source infra/commands.sh

prepare "${1:-}"
tag=${2:-$(git rev-parse --short=12 HEAD)}
[ "$baking" != off ] || fail "$environment makes no machine images: set baking=Baking.ON_DEMAND in infra/environments.py, and deploy."

say "Synthesizing and checking the stacks…"
synthesize "$environment"
repository=$(output "$fleet-base" Repository)
[ -n "${DRY_RUN:-}" ] || in_repository || fail "$repository has no image $tag: deploy it first, or name one that is there (TAG=…)."
deploy_pipeline

build=$(ask '<build>' aws imagebuilder start-image-pipeline-execution --region "$region" \
  --image-pipeline-arn "$(output "$fleet-machine" Pipeline)" --query imageBuildVersionArn --output text)
say "Building $build, about half an hour…"
while :; do
  state=$(ask AVAILABLE aws imagebuilder get-image --region "$region" --image-build-version-arn "$build" \
    --query image.state.status --output text)
  case $state in
    AVAILABLE) break ;;
    FAILED | CANCELLED | DELETED)
      fail "The build is $state: $(aws imagebuilder get-image --region "$region" --image-build-version-arn "$build" \
        --query image.state.reason --output text). Its log is in /aws/imagebuilder/$fleet-machine."
      ;;
  esac
  pause 30
done
made=$(ask '<machine image>' aws ssm get-parameter --region "$region" \
  --name "$machine_image" --query Parameter.Value --output text)
say "$made is ready: new instances start from it after the next make deploy ENV=$environment."
