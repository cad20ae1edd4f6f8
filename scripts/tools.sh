#!/usr/bin/env bash
# Builds the tools that make pictures, freeze and sgrfix, into bin/. They have a
# module of their own, so that the product does not carry what they need.
# freeze takes a minute or two the first time.
set -euo pipefail
cd "$(dirname "$0")/pictures"
export CGO_ENABLED=0
go build -o ../../bin/sgrfix ./sgrfix
[ -x ../../bin/freeze ] || go build -o ../../bin/freeze github.com/charmbracelet/freeze
