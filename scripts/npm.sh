#!/usr/bin/env bash
# Installs the MCP servers that the tests talk to, once, into the user's cache
# folder: 123 packages, 40 MB. testdata/npm/package-lock.json pins them by
# content and names no registry: npm takes them from the one it is set to. To
# change them, edit package.json there and run this with --lock.
set -euo pipefail
cd "$(dirname "$0")/../testdata/npm"

if [ "${1:-}" = --lock ]; then
  rm -f package-lock.json
  npm install --package-lock-only --ignore-scripts --no-audit --no-fund
  node -e '
    const fs = require("fs"), lock = JSON.parse(fs.readFileSync("package-lock.json"))
    for (const p of Object.values(lock.packages)) { delete p.resolved; delete p.funding }
    fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n")'
fi

case "$(uname -s)" in
  Darwin) cache="$HOME/Library/Caches" ;;
  *) cache="${XDG_CACHE_HOME:-$HOME/.cache}" ;;
esac
target="${LIFEHUB_TEST_CACHE:-$cache/lifehub}/npm"

if cmp -s package-lock.json "$target/installed-lock.json"; then
  echo "MCP servers from npm are there: $target"
  exit 0
fi
command -v npm >/dev/null || { echo "needs Node.js with npm (Debian: apt-get install npm)" >&2; exit 1; }
mkdir -p "$target"
cp package.json package-lock.json "$target/"
(cd "$target" && npm ci --ignore-scripts --no-audit --no-fund)
cp package-lock.json "$target/installed-lock.json" # last: an install that broke is begun again
