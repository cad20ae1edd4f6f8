#!/usr/bin/env bash
# Builds bin/picture, which renders terminal screens. It is a separate module, so
# that the product does not depend on its dependencies.
set -euo pipefail
cd "$(dirname "$0")/pictures"
CGO_ENABLED=0 go build -o ../../bin/picture ./picture
