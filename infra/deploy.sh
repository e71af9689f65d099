#!/usr/bin/env bash
# Puts one environment into the account that the AWS CLI is signed in to: base stack → keys → image → fleet stack.
# Usage: infra/deploy.sh ENVIRONMENT [TAG]    DRY_RUN=1 prints the commands and changes nothing.
# Safe to run again: what is there already is updated or left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
source infra/commands.sh

environment=${1:-}
tag=${2:-$(git rev-parse --short=12 HEAD)}
fleet=gleaner-$environment
prepare "$environment"

say "Synthesizing and checking the stacks…"
synthesize "$environment"
engine=$(ask '<engine>' engine) || fail "To build and push the image, docker, podman or buildah is needed."
run aws sts get-caller-identity --query Account --output text

say "Base: network, image repository, model bucket…"
run aws cloudformation deploy --region "$region" --stack-name "$fleet-base" --no-fail-on-empty-changeset \
  --template-file "$stacks/$fleet-base.template.json" --capabilities CAPABILITY_IAM
repository=$(output "$fleet-base" Repository)
bucket=$(output "$fleet-base" ModelBucket)
secret=$(output "$fleet-base" ApiKeysSecret)

say "API keys…"
if [ "$(ask '# none yet' aws secretsmanager get-secret-value --region "$region" --secret-id "$secret" \
  --query SecretString --output text)" = '# none yet' ]; then
  key=$(ask '<a new key>' "$python" -c 'import secrets; print(secrets.token_urlsafe(32))')
  digest=$(printf %s "$key" | sha256sum | cut -d' ' -f1)
  run aws secretsmanager put-secret-value --region "$region" --secret-id "$secret" --secret-string "first $digest"
  say "The first API key, shown this once: $key"
fi

say "Image $repository:$tag…"
if ! probe aws ecr describe-images --region "$region" --repository-name "${repository#*/}" --image-ids "imageTag=$tag"; then
  run "$python" -m infra.image.build --tag "$repository:$tag"
  run_piped "aws ecr get-login-password --region $region | $engine login --username AWS --password-stdin ${repository%%/*}"
  run "$engine" push "$repository:$tag"
fi

say "Fleet…"
run aws cloudformation deploy --region "$region" --stack-name "$fleet-fleet" --no-fail-on-empty-changeset \
  --template-file "$stacks/$fleet-fleet.template.json" --s3-bucket "$bucket" --s3-prefix templates \
  --capabilities CAPABILITY_IAM --parameter-overrides "ImageTag=$tag"
say "Ready. Point a name that the certificate covers at $(output "$fleet-fleet" Endpoint)"
