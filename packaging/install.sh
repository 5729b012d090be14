#!/bin/sh
# Installs rtrace from the files of a release, once their SHA-256 sums are found to be right.
#
#   sh install.sh [--from URL] [--to PREFIX]
#
# URL       the folder of the release's files: https://..., or a directory; the script of a release knows its own
# PREFIX    default: /usr/local for root, ~/.local for others; program, manual, completions and documents go below it
#
# The sums show that the files arrived whole and belong together. Who made them, the attestation of a release shows:
# `gh attestation verify ARCHIVE --repo OWNER/NAME`.
set -eu
from='' prefix=''
fail() { echo "install.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2:?}; shift 2 ;;
    --to) prefix=${2:?}; shift 2 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
[ -n "$from" ] || fail "--from names the folder of the release's files"
if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
[ "$(uname -s)" = Linux ] || fail "rtrace is for Linux, this is $(uname -s)"
machine=$(uname -m)
case $machine in x86_64 | aarch64) ;; *) fail "no program is released for $machine: build it with cargo" ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then curl -fsSL -o "$work/$1" "$from/$1"
      elif command -v wget >/dev/null; then wget -q -O "$work/$1" "$from/$1"
      else fail "neither curl nor wget is installed"; fi ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "failed to fetch $from/$1"
}
fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(rtrace-[0-9][^/ ]*-$machine-unknown-linux-[a-z]*[.]tar[.]gz\)\$/\1/p" "$work/SHA256SUMS")
[ "$(printf '%s\n' "$archive" | grep -c .)" = 1 ] || fail "SHA256SUMS of $from names no archive, or several, for $machine"
fetch "$archive"
(cd "$work" && grep "  $archive\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) ||
  fail "$archive is not the file that SHA256SUMS names: nothing was installed"
tar -xzf "$work/$archive" -C "$work"
cd "$work/${archive%.tar.gz}"
put() { install -D -m "$1" "$2" "$prefix/$3"; }
put 755 rtrace bin/rtrace
for page in man/*; do put 644 "$page" "share/man/man${page##*.}/${page##*/}"; done
put 644 completions/rtrace.bash share/bash-completion/completions/rtrace
put 644 completions/_rtrace share/zsh/site-functions/_rtrace
put 644 completions/rtrace.fish share/fish/vendor_completions.d/rtrace.fish
for document in README.md SKILL.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE; do put 644 "$document" "share/doc/rtrace/$document"; done
"$prefix/bin/rtrace" --version
echo "installed below $prefix"
