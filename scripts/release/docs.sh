#!/usr/bin/env bash
# Builds dist-docs/ for the packages: the man page and the completions, as the program
# prints them. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
rm -rf dist-docs && mkdir dist-docs
program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$program/lifehub" .
export LIFEHUB_HOME="$program/home"
date=$(TZ=UTC git log -1 --date=short-local --format=%cd)
"$program/lifehub" man | sed -E "1s/\"[0-9]{4}-[0-9]{2}-[0-9]{2}\"/\"$date\"/" | gzip -n9 > dist-docs/lifehub.1.gz
for shell in bash zsh fish powershell; do
  "$program/lifehub" completion "$shell" > "dist-docs/lifehub.${shell/powershell/ps1}"
done
