#!/usr/bin/env bash
# Publishes the image of this commit: builds, lists and scans it, pushes it, and signs it and its list as whoever runs this.
# One with a known hole that has a cure is not pushed; one that this workflow has signed at this commit is not built again.
# RELEASE=v1.2.3, which must be the version of pyproject.toml, publishes image and chart under this version too, and leaves
# in build/release what a release has. Usage: infra/publish.sh REGISTRY    DRY_RUN=1 prints the commands.
set -euo pipefail
cd "$(dirname "$0")/.."
source infra/commands.sh

registry=${1:-}
release=${RELEASE:-}
cosign=${COSIGN:-cosign}
sbom=${SBOM:-build/sbom.cdx.json}
repository=$registry/gleaner
tag=$(git rev-parse --short=12 HEAD)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
changes=$(awk -v version="$version" '/^## / { wanted = $2 == version } wanted' CHANGELOG.md)

[ -n "$registry" ] || fail "Which registry? REGISTRY=ghcr.io/owner, for one."
case $registry in *[[:upper:]]*) fail "$registry: names of images are in lower case." ;; esac
[ -z "$release" ] || [ "$release" = "v$version" ] || fail "$release is not the version of pyproject.toml, $version."
[ -z "$release" ] || [ -n "$changes" ] || fail "CHANGELOG.md has no section $version."
[ -n "${DRY_RUN:-}" ] || [ -z "$(git status --porcelain)" ] || fail "Files differ from the commit $tag: commit them."
for program in skopeo "$cosign" "${SYFT:-syft}" "${GRYPE:-grype}" ${release:+helm}; do
  [ -n "${DRY_RUN:-}" ] || command -v "$program" >/dev/null || fail "$program is needed."
done

# digest NAME:TAG: that of an image in its registry
digest() { ask 'sha256:<digest>' skopeo inspect --no-tags --format '{{.Digest}}' "docker://$1"; }

say "Image $repository:$tag…"
image=
if [ -n "${GITHUB_WORKFLOW_REF:-}" ] && there=$(digest "$repository:$tag" 2>/dev/null) && probe "$cosign" verify \
  --certificate-oidc-issuer https://token.actions.githubusercontent.com \
  --certificate-identity-regexp "^$GITHUB_SERVER_URL/${GITHUB_WORKFLOW_REF%@*}@refs/(heads/main|tags/v[^/]+)\$" \
  --certificate-github-workflow-sha "$(git rev-parse HEAD)" "$repository@$there"; then
  say "It is there, and signed."
  image=$repository@$there
else
  engine=${DRY_RUN:+<engine>}
  [ -n "$engine" ] || engine=$(engine) || fail "To build and push the image, docker, podman or buildah is needed."
  run "$python" -m infra.image.build --tag "$repository:$tag"
fi
if [ -z "$image" ] || [ -n "$release" ]; then
  run make --no-print-directory sbom IMAGE="${image:-$repository:$tag}"
  run make --no-print-directory scan
  if [ -z "$image" ]; then
    run "$engine" push "$repository:$tag"
    image=$repository@$(digest "$repository:$tag")
  fi
  run make --no-print-directory sign IMAGE="$image"
fi

if [ -n "$release" ]; then
  say "Release $version…"
  files=build/release
  run rm -rf "$files"
  run mkdir -p "$files"
  run skopeo copy --preserve-digests "docker://$image" "docker://$repository:$version"
  run helm package infra/helm/gleaner --destination "$files"
  chart=$(run helm push "$files/gleaner-$version.tgz" "oci://$registry/charts" 2>&1 | tee /dev/stderr | sed -n 's/^Digest: //p')
  run "$cosign" sign --yes "$registry/charts/gleaner@${chart:-<digest>}"
  run cp infra/grafana/*.json infra/prometheus/alerts.yml infra/prometheus/recording.yml "$files"
  run cp "$sbom" "$files/sbom.cdx.json"
  run "$cosign" sign-blob --yes --bundle "$files/sbom.cdx.json.sigstore.json" "$files/sbom.cdx.json"
  [ -n "${DRY_RUN:-}" ] || printf '%s\n' "- Image: \`$repository:$version\`, \`${image#*@}\`" \
    "- Chart: \`helm install gleaner oci://$registry/charts/gleaner --version $version --set image.repository=$repository\`" \
    "" "$changes" > build/notes.md
fi
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'image=%s\n' "$image" >> "$GITHUB_OUTPUT"
say "Published: $image"
