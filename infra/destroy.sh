#!/usr/bin/env bash
# Takes one environment out of the account again: fleet, then base. Models, images and access logs stay.
# Usage: infra/destroy.sh ENVIRONMENT    asks for the fleet's name (or takes it from CONFIRM); DRY_RUN=1 prints the commands.
set -euo pipefail
cd "$(dirname "$0")/.."
source infra/commands.sh

prepare "${1:-}"
if [ -z "${DRY_RUN:-}" ]; then
  confirmed=${CONFIRM:-}
  [ -n "$confirmed" ] || { [ -t 0 ] && read -rp "This ends $fleet in $region. Type its name to go on: " confirmed; } || true
  [ "$confirmed" = "$fleet" ] || fail "Nothing was done: CONFIRM=$fleet is needed."
fi

for stack in "$fleet-fleet" "$fleet-base"; do
  say "Deleting $stack…"
  remove "$stack"
done
say "What stays, with your data in it: the buckets of models and access logs, and the image repository. They are listed by
  aws resourcegroupstaggingapi get-resources --region $region --tag-filters Key=environment,Values=$environment"
