#!/usr/bin/env bash
# Does what a publisher does to the module, in a clone: gives it a path, commits, makes the zip that
# the module proxy would serve, and installs the program from it in an empty folder. Needs the network only
# for what the module cache lacks of the program, its tests, and the tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
module=${1:-github.com/example/lifehub} version=v0.1.0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cache=$(go env GOMODCACHE)
for folder in . scripts/tools scripts/release; do go -C "$folder" mod download; done

git clone -q . "$root/lifehub"
"$root/lifehub/scripts/release/module.sh" "$module"
git -C "$root/lifehub" -c user.name=release -c user.email=release@localhost commit -qam "Module: $module"
go -C scripts/release run ./modulezip "$root/lifehub" "$version" "$root/proxy"
mkdir "$root/empty" "$root/bin"
cd "$root/empty"
GOMODCACHE="$root/cache" GOBIN="$root/bin" GOFLAGS="-modcacherw -trimpath" GOSUMDB=off CGO_ENABLED=0 GOPROXY="file://$root/proxy,file://$cache/cache/download" \
  go install "$module@$version"
LIFEHUB_HOME="$root/home" LIFEHUB_PROVIDER=offline "$root/bin/lifehub" --version
LIFEHUB_HOME="$root/home" LIFEHUB_PROVIDER=offline "$root/bin/lifehub" ask -q --notes "$root/lifehub/examples/notes" "how often do I run?" >/dev/null
echo "go install $module@$version: installed from its zip, and answers"
