#!/usr/bin/env bash
# Saves a tmux pane as an image: scripts/shot.sh SESSION OUT.png [SERVER]
# SERVER is the name of the tmux server (tmux -L); the default is "default". If
# SHOT_TEXT is set, the text of the screen is saved as OUT.txt.
# Needs rsvg-convert and fonts (Debian: librsvg2-bin
# fonts-jetbrains-mono fonts-noto-color-emoji fonts-noto-cjk).
set -euo pipefail
session="$1" out="$2" server="${3:-default}"
bin="$(cd "$(dirname "$0")/../bin" && pwd)"
mkdir -p "$(dirname "$out")"
if [ -n "${SHOT_TEXT:-}" ]; then
  tmux -L "$server" capture-pane -p -t "$session" >"${out%.png}.txt"
fi
tmux -L "$server" capture-pane -e -N -p -t "$session" | "$bin/picture" svg | rsvg-convert -z "${SHOT_ZOOM:-1.5}" -o "$out"
