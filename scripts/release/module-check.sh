#!/usr/bin/env bash
# Does what a publisher does to the module, in a clone: gives it a path, commits and tags. Then installs the
# program by that path in an empty folder: go reads the clone in place of the public repository. Needs the
# network only for what the module cache lacks of the program, its tests, and the tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
module=${1:-github.com/example/lifehub} version=v0.1.0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cache=$(go env GOMODCACHE)
for folder in . scripts/tools; do go -C "$folder" mod download; done

git clone -q . "$root/lifehub"
"$root/lifehub/scripts/release/module.sh" "$module"
git -C "$root/lifehub" -c user.name=release -c user.email=release@localhost commit -qam "Module: $module"
git -C "$root/lifehub" tag "$version"
mkdir "$root/empty"
cd "$root/empty"
export LIFEHUB_HOME="$root/home" LIFEHUB_PROVIDER=offline
GOMODCACHE="$root/cache" GOBIN="$root/bin" GOFLAGS="-modcacherw -trimpath" GOSUMDB=off CGO_ENABLED=0 \
  GOPRIVATE="$module" GOPROXY="file://$cache/cache/download" \
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$root/lifehub.insteadOf" GIT_CONFIG_VALUE_0="https://$module" \
  go install "$module@$version"
"$root/bin/lifehub" --version
"$root/bin/lifehub" ask -q --notes "$root/lifehub/examples/notes" "how often do I run?" >/dev/null
echo "go install $module@$version: installed from its zip, and answers"
