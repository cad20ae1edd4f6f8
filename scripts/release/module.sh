#!/usr/bin/env bash
# Gives the module the path by which it will be installed, such as github.com/OWNER/lifehub: in go.mod
# and in every import. Then builds, vets and formats, and leaves the change to be reviewed and committed.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || { echo "usage: scripts/release/module.sh github.com/OWNER/lifehub" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "module.sh: commit or stash your changes first" >&2; exit 1; }
export new=$1 old; old=$(go list -m)
go mod edit -module "$new"
# The measurements import packages that only paths below the module's may.
go -C tools/eval mod edit -module "$new/tools/eval" -droprequire "$old" -dropreplace "$old" -require "$new@v0.0.0" -replace "$new=../.."
git ls-files -z '*.go' | xargs -0 perl -pi -e 's|^(import \|\t)([\w.]+ )?"\Q$ENV{old}\E(/[^"]*"( //.*)?)$|$1.($2//"")."\"$ENV{new}$3"|e'
go tool -modfile=scripts/tools/go.mod gofumpt -w .
go vet ./...
go -C tools/eval vet .
go build -o /dev/null .
git diff --shortstat
echo "the module is $(go list -m)"
