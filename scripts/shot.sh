#!/usr/bin/env bash
# Makes a picture of a tmux pane: scripts/shot.sh SESSION OUT.png [SERVER]
# SERVER is the name of the tmux server (tmux -L), "default" if left out. The
# text of the screen is written beside it as OUT.txt if SHOT_TEXT is set.
set -euo pipefail
session="$1" out="$2" server="${3:-default}"
bin="$(cd "$(dirname "$0")/../bin" && pwd)"
screen="$(mktemp)"
trap 'rm -f "$screen"' EXIT

tmux -L "$server" capture-pane -e -p -t "$session" | "$bin/sgrfix" >"$screen"
if [ -n "${SHOT_TEXT:-}" ]; then
  tmux -L "$server" capture-pane -p -t "$session" >"${out%.png}.txt"
fi
mkdir -p "$(dirname "$out")"

# freeze draws with rsvg-convert where it is installed, which finds emoji and
# Chinese in the fonts of the system; its own font has neither.
"$bin/freeze" "$screen" --language ansi --background "#171717" --padding 16 \
  --font.size 14 --line-height 1.2 --output "$out" >/dev/null

# freeze draws four times as large as a page shows.
if command -v convert >/dev/null; then
  convert "$out" -resize 1400x -strip -colors 128 "$out"
fi
chmod 644 "$out"
