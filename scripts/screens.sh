#!/usr/bin/env bash
# Makes the pictures under docs/screens from the running program: the chat on the
# starter notes, with no model server (but for a document, which a script makes), driven in tmux as a person would.
# Needs tmux and what scripts/shot.sh needs; `make tools` builds the rest.
#   scripts/screens.sh [OUT] [COLUMNS] [ROWS] [THEME]     docs/screens 100 34 dark
# LIFEHUB names another binary than that of this tree.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-docs/screens}" cols="${2:-100}" rows="${3:-34}" theme="${4:-dark}"
if [ "$theme" = light ]; then
  export PICTURE_BACKGROUND="#FFFFFF" PICTURE_FOREGROUND="#1F2328"
fi
server="lifehub-screens-$$"
work="$(mktemp -d)"

cleanup() {
  tmux -L "$server" kill-server 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

if [ -n "${LIFEHUB:-}" ]; then
  cp "$LIFEHUB" "$work/lifehub"
else
  CGO_ENABLED=0 go build -o "$work/lifehub" .
fi
mkdir -p "$work/.lifehub/config"
echo "theme: $theme" >"$work/.lifehub/config/config.yaml"
cp -r examples/notes "$work/notes"
cat >"$work/tmux.conf" <<'CONF'
set -g default-terminal "tmux-256color"
set -as terminal-features ",*:RGB:extkeys"
set -g extended-keys on
set -g focus-events on
set -s escape-time 0
set -g status off
set -s exit-empty off
CONF

# open ARGS…: start the program in a fresh window.
open() {
  tmux -L "$server" -f "$work/tmux.conf" kill-session -t chat 2>/dev/null || true
  tmux -L "$server" -f "$work/tmux.conf" new-session -d -s chat -x "$cols" -y "$rows" -c "$work" \
    env HOME="$work" LIFEHUB_HOME="$work/.lifehub" OLLAMA_HOST=127.0.0.1:9 COLORTERM=truecolor EDITOR=true "${extra[@]}" \
    "$work/lifehub" "$@"
}
extra=(LC_ALL=C.UTF-8)

screen() { tmux -L "$server" capture-pane -p -t chat; }

# await TEXT: until the screen shows it, 20 s at most.
await() {
  for _ in $(seq 200); do
    if screen | grep -qF -- "$1"; then return; fi
    read -rt 0.1 <> <(:) || true
  done
  echo "screens: waited 20 s for \"$1\"; the screen shows:" >&2
  screen >&2
  exit 1
}

# calm: until the screen stays the same for half a second, 3 s at most.
calm() {
  local before="" now
  for _ in $(seq 6); do
    now="$(screen)"
    if [ "$now" = "$before" ]; then return; fi
    before="$now"
    read -rt 0.5 <> <(:) || true
  done
}

type() { tmux -L "$server" send-keys -t chat -l -- "$1"; }
key() { tmux -L "$server" send-keys -t chat "$@"; }

# document: put a conversation in which a team made a document into the home.
document() {
  tmux -L "$server" kill-session -t chat
  LIFEHUB_SCREENS="$work" go test ./cli -count=1 -run 'TestDocumentForThePictures$' >/dev/null
}

# picture NAME: OUT/NAME.png of the screen as it is.
picture() {
  calm
  scripts/shot.sh chat "$out/$1.png" "$server"
  echo "$out/$1.png"
}

mkdir -p "$out"
. scripts/screens.steps
