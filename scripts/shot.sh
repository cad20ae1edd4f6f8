#!/usr/bin/env bash
# Makes a picture of a tmux pane: scripts/shot.sh SESSION OUT.png [SERVER]
# SERVER is the name of the tmux server (tmux -L), "default" if left out. The
# text of the screen is written next to it as OUT.txt if SHOT_TEXT is set.
# rsvg-convert draws it, with the fonts of the system (Debian: librsvg2-bin
# fonts-jetbrains-mono fonts-noto-color-emoji fonts-noto-cjk).
set -euo pipefail
session="$1" out="$2" server="${3:-default}"
bin="$(cd "$(dirname "$0")/../bin" && pwd)"
mkdir -p "$(dirname "$out")"
if [ -n "${SHOT_TEXT:-}" ]; then
  tmux -L "$server" capture-pane -p -t "$session" >"${out%.png}.txt"
fi
tmux -L "$server" capture-pane -e -N -p -t "$session" | "$bin/picture" svg | rsvg-convert -z "${SHOT_ZOOM:-1.5}" -o "$out"
