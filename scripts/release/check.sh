#!/usr/bin/env bash
# Builds the committed tree twice and compares all files. Checks that each archive, wheel and npm package has the
# licences, and the syntax of the formula and the Nix expression. Then installs each package for this machine in an
# empty folder, with its package manager or by unpacking it, looks for what a release has, and asks a question there.
# What is left out because a tool is missing, it says.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() { echo "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null; }

git clone -q . "$root/first/lifehub"
git clone -q "$root/first/lifehub" "$root/second/lifehub"
for n in first second; do
  [ ! -d bin ] || cp -r bin "$root/$n/lifehub/bin"
  make -s -C "$root/$n/lifehub" release >"$root/log" 2>&1 || { tail "$root/log" >&2; exit 1; }
  (cd "$root/$n/lifehub/dist" && find . -type f ! -path './*.json' ! -path ./config.yaml -o -name '*.cdx.json' | sort | xargs sha256sum) > "$root/$n/sums"
done
diff "$root/first/sums" "$root/second/sums" || fail "the two builds differ"
echo "two builds in two fresh clones: $(wc -l < "$root/first/sums") files byte-equal"
cd "$root/first/lifehub"
ls -l dist/*.{tar.gz,zip,deb,rpm,apk} dist/{pypi,npm}/* | awk '{printf "%8.1f MB  %s\n", $5/1e6, $9}'

for archive in dist/*.{tar.gz,zip} dist/{pypi,npm}/*; do
  for file in LICENSE THIRD_PARTY_LICENSES; do
    case "$archive" in
    *.zip | *.whl) unzip -p "$archive" "*$file" ;;
    *) tar -xOzf "$archive" --wildcards "*$file" ;;
    esac 2>/dev/null | cmp -s - "$file" || fail "$archive: $file is missing or differs"
  done
done
echo "each archive, wheel and npm package has LICENSE and THIRD_PARTY_LICENSES"

if have ruby; then ruby -c dist/homebrew/lifehub.rb; else echo "formula: not parsed, that needs ruby"; fi
if have nix-instantiate; then nix-instantiate --parse dist/nix/pkgs/lifehub/default.nix >/dev/null && echo "Nix expression: parsed"
else echo "Nix expression: not parsed, that needs nix-instantiate"; fi

arch=$(go env GOARCH) cpu=$(uname -m)
node=$(uname -s | tr '[:upper:]' '[:lower:]')-${arch/amd64/x64}
for package in dist/lifehub_*_linux_"$arch".{tar.gz,deb,rpm,apk} dist/pypi/*manylinux*"$cpu"*.whl dist/npm/lifehub-[0-9]*.tgz; do
  name=$(basename "$package") r="$root/installed/$(basename "$package")" how="unpacked"
  mkdir -p "$r/tmp"
  run=(unshare -r "$(command -v chroot)" "$r" /usr/bin/lifehub) notes=/notes
  case "$package" in
  *.tar.gz) tar -xzf "$package" -C "$r" && run[4]=/lifehub ;;
  *.deb)
    mkdir -p "$r/var/lib/dpkg/"{info,updates} && touch "$r/var/lib/dpkg/status" "$r/var/lib/dpkg/available"
    dpkg --root="$r" --force-not-root --log=/dev/null -i "$package" >/dev/null && how="dpkg -i" ;;
  *.rpm)
    if have rpm; then rpm --root "$r" --ignorearch --nosignature -i "$package" && how="rpm -i"
    elif have rpm2cpio && have cpio; then rpm2cpio "$package" | (cd "$r" && cpio -id --quiet)
    else echo "$name: skipped, it needs rpm, or rpm2cpio and cpio"; continue; fi ;;
  *.apk)
    if have apk; then apk add --root "$r" --initdb --allow-untrusted --no-network "$package" >/dev/null && how="apk add"
    else tar -xzf "$package" -C "$r" --ignore-zeros --warning=no-unknown-keyword; fi ;;
  *.whl)
    python3 -m pip install -q --no-index --root-user-action ignore --target "$r" "$package" && how="pip install"
    run=("$r/bin/lifehub") notes="$r/notes" ;;
  *.tgz)
    npm install --silent --offline --no-audit --no-fund --prefix "$r" "./$package" ./dist/npm/lifehub-"$node"-*.tgz >/dev/null && how="npm install"
    run=("$r/node_modules/.bin/lifehub") notes="$r/notes" ;;
  esac
  find "$r" -type f -exec sha256sum {} + | cut -c 1-64 > "$root/files"
  for file in dist/lifehub_linux_"$arch"*/lifehub LICENSE THIRD_PARTY_LICENSES dist-docs/lifehub.{1.gz,bash,zsh,fish}; do
    grep -q "$(sha256sum < "$file" | cut -c 1-64)" "$root/files" || fail "$name: $file is missing"
  done
  cp -r examples/notes "$r/notes"
  answer=$(env -i PATH="$PATH" HOME="${notes%/notes}/tmp" OLLAMA_HOST=127.0.0.1:9 "${run[@]}" ask --notes "$notes" "how often do I run?" 2>"$root/log") ||
    fail "$name: $(cat "$root/log")"
  [ -n "$answer" ] || fail "$name: no answer"
  echo "$name: $how; lifehub ask: $(printf '%s' "$answer" | tr '\n' ' ' | cut -c 1-100)"
done
