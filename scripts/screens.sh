#!/usr/bin/env bash
# Makes the screenshots in docs/screens from the running program: the chat on the starter notes, driven in tmux.
# There is no model server; the document is written by a script.
# Needs tmux and what scripts/shot.sh needs; `make tools` builds the rest.
#   scripts/screens.sh [OUT] [COLUMNS] [ROWS] [THEME]     docs/screens 100 34 dark
# LIFEHUB selects another binary than this tree's, and STEPS other steps: "film" makes the animation in the
# README, a session with a scripted model.
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
  kill $(jobs -p) 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

if [ -n "${LIFEHUB:-}" ]; then
  cp "$LIFEHUB" "$work/lifehub"
else
  CGO_ENABLED=0 go build -o "$work/lifehub" .
fi
mkdir -p "$work/.lifehub/config"
(umask 077 && echo "theme: $theme" >"$work/.lifehub/config/config.yaml")
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

# open ARGS…: start the program in a new window.
open() {
  tmux -L "$server" -f "$work/tmux.conf" kill-session -t chat 2>/dev/null || true
  tmux -L "$server" -f "$work/tmux.conf" new-session -d -s chat -x "$cols" -y "$rows" -c "$work" \
    env HOME="$work" LIFEHUB_HOME="$work/.lifehub" OLLAMA_HOST=127.0.0.1:9 COLORTERM=truecolor EDITOR=true "${extra[@]}" \
    "$work/lifehub" "$@"
}
extra=(LC_ALL=C.UTF-8)

screen() { tmux -L "$server" capture-pane -p -t chat; }

# await TEXT: wait until the screen shows a text, at most 20 s.
await() {
  for _ in $(seq 200); do
    if screen | grep -qF -- "$1"; then return; fi
    read -rt 0.1 <> <(:) || true
  done
  echo "screens: waited 20 s for \"$1\"; the screen shows:" >&2
  screen >&2
  exit 1
}

# calm: wait until the screen is unchanged for half a second, at most 3 s.
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

# slowly TEXT: type word by word.
slowly() {
  local word rest="$1"
  while [ -n "$rest" ]; do
    word="${rest%% *}"
    type "$word"
    rest="${rest#"$word"}"
    if [ -n "$rest" ]; then type " " && rest="${rest# }"; fi
    pause 0.08
  done
}

pause() { read -rt "$1" <> <(:) || true; }

# model: start the scripted model of the film, which open then uses.
model() {
  LIFEHUB_FILM="$work/model" go test ./cli -count=1 -run 'TestModelForTheFilm$' >/dev/null &
  until [ -s "$work/model" ]; do pause 0.2; done
  extra+=("OLLAMA_HOST=$(cat "$work/model")" LIFEHUB_PROVIDER=ollama LIFEHUB_MODEL=scripted-model:8b)
}

# record: capture each frame until `cut NAME` joins them in OUT/NAME.gif.
record() {
  mkdir "$work/frames"
  (
    n=1000
    while :; do
      tmux -L "$server" capture-pane -e -N -p -t chat >"$work/frames/$n.ansi" || exit
      date +%s.%N >"$work/frames/$n.time"
      n=$((n + 1))
      pause 0.1
    done
  ) &
  recorder=$!
}

cut() {
  local last="" list="$work/frames/list" frame then=0
  kill "$recorder"
  for frame in "$work"/frames/*.ansi; do
    if [ -s "${frame%.ansi}.time" ] && ! cmp -s "$frame" "$last"; then
      # A frame lasts as long as it did, but no longer than a second and a half, however busy the machine.
      [ -z "$last" ] || echo "${last%.ansi}.png $(echo "d = $(cat "${frame%.ansi}.time") - $then; if (d > 1.5) d = 1.5; d" | bc)" >>"$list"
      last="$frame" then="$(cat "${frame%.ansi}.time")"
      bin/picture svg <"$frame" | rsvg-convert -o "${frame%.ansi}.png"
    fi
  done
  echo "${last%.ansi}.png 2.5" >>"$list"
  bin/picture gif "$out/$1.gif" <"$list"
  rm -r "$work/frames"
  echo "$out/$1.gif"
}

# resize COLUMNS ROWS: set the size of windows opened later.
resize() { cols="$1" rows="$2"; }

# document: add a conversation in which a team wrote a document to the home.
document() {
  tmux -L "$server" kill-session -t chat
  LIFEHUB_SCREENS="$work" go test ./cli -count=1 -run 'TestDocumentForThePictures$' >/dev/null
}

# picture NAME: save the current screen as OUT/NAME.png.
picture() {
  calm
  scripts/shot.sh chat "$out/$1.png" "$server"
  echo "$out/$1.png"
}

mkdir -p "$out"
. "scripts/${STEPS:-screens}.steps"
