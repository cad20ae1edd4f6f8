#!/usr/bin/env bash
# Wraps a built binary for PyPI and npm, into dist/pypi and dist/npm: wrap.sh BINARY OS ARCH VERSION URL.
# A wheel holds the binary of its system as a script. On npm each system has a package with its binary, and
# "lifehub", made with the one of linux amd64, starts the binary of the system it is installed on.
# The same commit gives the same bytes.
set -euo pipefail
binary=$1 os=$2 arch=$3 version=$4 url=$5 program=$(basename "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHONPATH="$PWD/bin/wheel"
summary="A chat in your terminal that knows your notes"
licences=(LICENSE THIRD_PARTY_LICENSES)

# Its names at npm, and the oldest systems that Go's binaries run on.
case $os in darwin) node=darwin ;; windows) node=win32 ;; *) node=linux ;; esac
case $arch in amd64) node+=-x64 cpu=x86_64 ;; *) node+=-arm64 cpu=aarch64 ;; esac
case $os in
darwin) tags="macosx_12_0_${cpu/aarch64/arm64}" ;;
windows) tags="win_$arch" ;;
*) tags="manylinux_2_17_$cpu musllinux_1_1_$cpu" ;;
esac

pep440=$(python3 -c 'import packaging.version as v, sys; print(v.Version(sys.argv[1]))' "$version")
info="$work/wheel/lifehub-$pep440.dist-info" data="$work/wheel/lifehub-$pep440.data"
mkdir -p "$info/licenses" "$data/scripts" "$data/data/share/"{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d} dist/pypi dist/npm
cp "${licences[@]}" "$info/licenses"
cp "$binary" "$data/scripts/$program"
cp dist-docs/lifehub.1.gz "$data/data/share/man/man1/"
cp dist-docs/lifehub.bash "$data/data/share/bash-completion/completions/lifehub"
cp dist-docs/lifehub.zsh "$data/data/share/zsh/site-functions/_lifehub"
cp dist-docs/lifehub.fish "$data/data/share/fish/vendor_completions.d/"
printf '%s\n' "Metadata-Version: 2.4" "Name: lifehub" "Version: $pep440" "Summary: $summary" "License-Expression: MIT" \
  "${licences[@]/#/License-File: }" "Project-URL: Homepage, $url" > "$info/METADATA"
printf '%s\n' "Wheel-Version: 1.0" "Generator: lifehub" "Root-Is-Purelib: false" > "$info/WHEEL"
printf 'Tag: py3-none-%s\n' $tags >> "$info/WHEEL"
python3 -m wheel pack -d dist/pypi "$work/wheel" >/dev/null

# pack NAME FIELDS FILE… makes the package NAME of dist/npm; FIELDS go into its package.json.
pack() {
  mkdir "$work/$1"
  cat > "$work/$1/package.json" <<END
{"name": "$1", "version": "$version", "description": "$summary", "license": "MIT", "homepage": "$url", $2}
END
  cp "${@:3}" "${licences[@]}" "$work/$1"
  npm pack --silent --ignore-scripts --pack-destination dist/npm "$work/$1" >/dev/null
}
pack "lifehub-$node" "\"os\": [\"${node%-*}\"], \"cpu\": [\"${node#*-}\"]" "$binary"
[ "$os-$arch" = linux-amd64 ] || exit 0
systems=$(printf ", \"lifehub-%s\": \"$version\"" {linux,darwin,win32}-{x64,arm64})
pack lifehub "\"bin\": \"lifehub.js\", \"man\": \"lifehub.1.gz\", \"optionalDependencies\": {${systems#, }}" scripts/release/lifehub.js dist-docs/*
