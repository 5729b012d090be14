# For scripts that fetch packages of Debian, sourced: `cannot WORDS`, which ends the script, and $cache, a folder, are the script's.

# bounded SECONDS COMMAND...: ends a command that takes longer, and says so.
bounded() {
  local status=0
  timeout --kill-after=10 "$@" || status=$?
  [ $status != 124 ] || echo "it did not end within $1 s"
  return $status
}

# apt with a state of its own in $state, for packages that this machine's release or architecture has not:
# own_apt ARCHITECTURE SUITE... sets $apt.
own_apt() {
  local architecture=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg suite
  shift
  state=$cache/own-apt
  rm -rf "$state"; mkdir -p "$state"/{lists/partial,cache/archives/partial,etc}
  : >"$state/status"
  for suite; do
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main"
  done >"$state/etc/sources.list"
  apt=(-o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::State::lists=$state/lists"
    -o "Dir::Cache=$state/cache" -o "Dir::Etc::sourcelist=$state/etc/sources.list" -o Dir::Etc::sourceparts=-
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=2)
  bounded 300 apt-get "${apt[@]}" -q update >"$state/log" 2>&1 || cannot "apt-get update failed: $(tail -n 1 "$state/log")"
}

# source_package SERIES DIR: the kernel's source of that series, out of this machine's release or else unstable, as DIR/*.deb.
source_package() {
  local package=linux-source-$1 state apt=()
  apt-cache show "$package" >/dev/null 2>&1 || own_apt amd64 unstable
  (cd "$2" && bounded 300 apt-get "${apt[@]}" -o Acquire::Retries=5 -q download "$package" >log 2>&1) ||
    cannot "apt-get download $package failed: $(tail -n 1 "$2/log")"
}
