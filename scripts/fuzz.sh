#!/usr/bin/env bash
# Runs each fuzz target of the module for the given time (default 30s).
set -euo pipefail
cd "$(dirname "$0")/.."
for dir in $(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/func //'); do
    echo "== $dir $target"
    go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-30s}" -fuzzminimizetime 10x
  done
done
