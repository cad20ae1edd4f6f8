#!/usr/bin/env bash
# Builds the Ollama server used by tests, once, in the user's cache folder:
# ~4 minutes and 6.5 CPU-minutes on two idle cores. v0.24.0 is the last release
# whose Go module contains the inference engine.
#
# Go module zips omit folders named vendor, in which Ollama has three C++
# headers. Debian packages two of them; testdata/shim replaces the third, which
# is needed for audio input only.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.24.0

case "$(uname -s)" in
  Darwin) cache="$HOME/Library/Caches" ;;
  *) cache="${XDG_CACHE_HOME:-$HOME/.cache}" ;;
esac
cache="${LIFEHUB_TEST_CACHE:-$cache/lifehub}"
bin="$cache/bin/ollama"

# No server listens on port 9, so the binary prints its own version.
if [ -x "$bin" ] && OLLAMA_HOST=127.0.0.1:9 "$bin" --version 2>/dev/null | grep -q "$version"; then
  echo "ollama $version is there: $bin"
  exit 0
fi

headers() {
  printf '#include <nlohmann/json.hpp>\n#include <stb/stb_image.h>\n' | c++ -fsyntax-only -x c++ - 2>/dev/null
}
if ! headers && command -v apt-get >/dev/null; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo -n"
  $as_root apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq nlohmann-json3-dev libstb-dev >/dev/null || true
fi
if ! headers; then
  echo "needs the C++ headers nlohmann/json.hpp and stb/stb_image.h (Debian: apt-get install nlohmann-json3-dev libstb-dev)" >&2
  exit 1
fi

mkdir -p "$cache/bin"
echo "building ollama $version into $cache/bin, about 4 minutes …"
GOFLAGS= CGO_ENABLED=1 GOBIN="$cache/bin" CGO_CPPFLAGS="-I$PWD/testdata/shim" \
  CGO_CFLAGS="-O2 -g0" CGO_CXXFLAGS="-O1 -g0" \
  nice -n 10 go install -ldflags "-s -w -X=github.com/ollama/ollama/version.Version=$version" \
  "github.com/ollama/ollama@v$version"
OLLAMA_HOST=127.0.0.1:9 "$bin" --version 2>/dev/null | grep version
