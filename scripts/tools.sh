#!/usr/bin/env bash
# Builds bin/picture, which draws what a terminal shows. It has a module of its
# own, so that the product does not carry what it needs.
set -euo pipefail
cd "$(dirname "$0")/pictures"
CGO_ENABLED=0 go build -o ../../bin/picture ./picture
