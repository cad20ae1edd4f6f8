#!/usr/bin/env bash
# Builds the committed tree twice and compares the checksums of all files. Checks that each
# archive has the licences. Then installs each Linux package for this architecture in an
# empty root, with the package manager if available or by unpacking it, checks its files, and
# asks a question there.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

for n in first second; do
  git clone -q . "$root/$n/lifehub"
  [ ! -d bin ] || cp -r bin "$root/$n/lifehub/bin"
  make -s -C "$root/$n/lifehub" release >"$root/log" 2>&1 || { tail "$root/log" >&2; exit 1; }
  (cd "$root/$n/lifehub/dist" && sha256sum lifehub_*/lifehub* *.tar.gz *.zip *.deb *.rpm *.apk *.cdx.json homebrew/*.rb scoop/*.json) > "$root/$n/sums"
done
diff "$root/first/sums" "$root/second/sums"
echo "two builds in two fresh clones: $(wc -l < "$root/first/sums") files byte-equal"
dist="$root/first/lifehub/dist"
(cd "$dist" && ls -l *.tar.gz *.zip *.deb *.rpm *.apk | awk '{printf "%8.1f MB  %s\n", $5/1e6, $9}')

for archive in "$dist"/*.tar.gz "$dist"/*.zip; do
  for file in LICENSE THIRD_PARTY_LICENSES; do
    case "$archive" in
    *.zip) unzip -p "$archive" "$file" 2>/dev/null | cmp -s - "$root/first/lifehub/$file" ;;
    *) tar -xOzf "$archive" "$file" 2>/dev/null | cmp -s - "$root/first/lifehub/$file" ;;
    esac || { echo "$(basename "$archive"): $file is missing or differs" >&2; exit 1; }
  done
done
echo "each archive has LICENSE and THIRD_PARTY_LICENSES"

arch=$(go env GOARCH)
for package in "$dist"/lifehub_*_linux_"$arch".{deb,rpm,apk}; do
  r="$root/${package##*.}"
  mkdir -p "$r/root" "$r/tmp"
  how="unpacked"
  case "$package" in
  *.deb)
    mkdir -p "$r/var/lib/dpkg/"{info,updates} && touch "$r/var/lib/dpkg/status" "$r/var/lib/dpkg/available"
    dpkg --root="$r" --force-not-root --log=/dev/null -i "$package" >/dev/null && how="dpkg -i" ;;
  *.rpm)
    if command -v rpm >/dev/null; then rpm --root "$r" --ignorearch --nosignature -i "$package" && how="rpm -i"
    elif command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then rpm2cpio "$package" | (cd "$r" && cpio -id --quiet)
    else echo "$(basename "$package"): skipped, it needs rpm"; continue; fi ;;
  *.apk)
    if command -v apk >/dev/null; then apk add --root "$r" --initdb --allow-untrusted --no-network "$package" >/dev/null && how="apk add"
    else tar -xzf "$package" -C "$r" --ignore-zeros --warning=no-unknown-keyword; fi ;;
  esac
  for file in bin/lifehub share/man/man1/lifehub.1.gz share/bash-completion/completions/lifehub share/zsh/site-functions/_lifehub share/fish/vendor_completions.d/lifehub.fish share/doc/lifehub/copyright share/doc/lifehub/THIRD_PARTY_LICENSES; do
    [ -s "$r/usr/$file" ] || { echo "$package: /usr/$file is missing" >&2; exit 1; }
  done
  cp -r examples/notes "$r/root/notes"
  answer=$(env -i HOME=/root OLLAMA_HOST=127.0.0.1:9 unshare -r "$(command -v chroot)" "$r" /usr/bin/lifehub ask --notes /root/notes "how often do I run?" 2>/dev/null)
  [ -n "$answer" ] || { echo "$package: no answer" >&2; exit 1; }
  echo "$(basename "$package"): $how; lifehub ask: $(printf '%s' "$answer" | tr '\n' ' ' | cut -c1-100)"
done
