#!/usr/bin/env bash
# Gives the module the path by which it will be installed, such as github.com/OWNER/lifehub: in go.mod
# and in every import. Then builds, vets and formats, and leaves the change to be reviewed and committed.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || { echo "usage: scripts/release/module.sh github.com/OWNER/lifehub" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "module.sh: commit or stash your changes first" >&2; exit 1; }
go -C scripts/release run ./modulepath ../.. "$1"
go tool -modfile=scripts/tools/go.mod gofumpt -w .
go vet ./...
go -C tools/eval vet .
go build -o /dev/null .
git diff --shortstat
echo "the module is $(go list -m)"
