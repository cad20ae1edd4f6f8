#!/usr/bin/env bash
# Installs the npm packages that tests need, once, in the user's cache folder:
#   npm        the MCP servers that the tests talk to: 123 packages, 40 MB
#   chroma     a Chroma server: 400 MB
#   acp        the Agent Client Protocol's SDK, with which a test acts as an editor: 18 MB
#   acpx       a command-line client of that protocol: 40 MB
#   inspector  MCP's own inspector, a command-line client: 110 MB
#   opencode   an MCP client: 180 MB
#   embedder   a sentence encoder behind an OpenAI-compatible server, for `make eval`: 80 MB
#   scripts/npm.sh [--lock] [PART…]     default: all parts but the embedder
# testdata/PART/package-lock.json pins the packages by content and names no
# registry, so npm uses the configured one. To change the packages, edit
# package.json there and run this script with --lock.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=""
if [ "${1:-}" = --lock ]; then lock=yes; shift; fi
if [ $# = 0 ]; then set -- npm chroma acp acpx inspector opencode; fi

case "$(uname -s)" in
  Darwin) cache="$HOME/Library/Caches" ;;
  *) cache="${XDG_CACHE_HOME:-$HOME/.cache}" ;;
esac
cache="${LIFEHUB_TEST_CACHE:-$cache/lifehub}"
shared="${LIFEHUB_SHARED:-../shared}"

# pin PART rewrites its package-lock.json.
pin() (
  cd "testdata/$1"
  rm -f package-lock.json
  npm install --package-lock-only --ignore-scripts --no-audit --no-fund
  node -e '
    const fs = require("fs"), lock = JSON.parse(fs.readFileSync("package-lock.json"))
    for (const p of Object.values(lock.packages)) { delete p.resolved; delete p.funding }
    fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n")'
)

# install PART installs a part in the cache unless it is there.
install() {
  local from="testdata/$1" target="$cache/$1"
  if cmp -s "$from/package-lock.json" "$target/installed-lock.json"; then
    echo "$1 from npm is there: $target"
    return
  fi
  if [ "$1" = embedder ] && [ ! -e "$shared/embedder/embed-server.mjs" ]; then
    echo "the sentence encoder needs $shared/embedder (LIFEHUB_SHARED names the folder); left out" >&2
    return
  fi
  command -v npm >/dev/null || { echo "needs Node.js with npm (Debian: apt-get install npm)" >&2; exit 1; }
  mkdir -p "$target"
  cp "$from/package.json" "$from/package-lock.json" "$target/"
  if [ "$1" = embedder ]; then # the packages contain the model; the server is in the shared data
    cp -f "$shared/embedder/embed-server.mjs" "$target/"
  fi
  # Not npm ci, which requires Chroma's builds for every system in the lock file;
  # registries lack some of them for this version.
  rm -rf "$target/node_modules"
  (cd "$target" && npm install --ignore-scripts --no-audit --no-fund)
  cp "$from/package-lock.json" "$target/installed-lock.json" # last, so that a failed install is repeated
}

for part in "$@"; do
  if [ -n "$lock" ]; then pin "$part"; fi
  install "$part"
done
