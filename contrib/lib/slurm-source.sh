# The Slurm source that matches the installed slurmctld: its headers (to build against) and its own
# test suite (for tests/compat), in a cache outside the checkout. Sourced; needs say.sh.
#
# apt fetches the source package with lists and cache of our own, so /etc/apt is not touched and an
# ordinary user may do it; apt checks the archive's signature and the digests of what it fetched.
# A manifest of SHA-256 sums then guards what is kept.

cache_top=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/slurm-harmony

slurm_source_version() { dpkg-query -W -f='${source:Version}' slurmctld; }

# Where the tree for the installed slurmctld is, or will be.
slurm_source_dir() { printf '%s/slurm-%s' "$cache_top" "$(slurm_source_version | tr '~+:' '___')"; }

# The sums are compared once for each cache directory and boot of a script; about 0.1 s.
slurm_source_intact() {
  [ -s "$1/SHA256SUMS" ] && (cd "$1" && sha256sum --quiet --strict --check SHA256SUMS) >/dev/null 2>&1
}

# Our own source lists: the system's, with deb-src in place of deb.
_slurm_source_lists() {
  local dir=$1 file
  mkdir -p "$dir/parts" "$dir/lists/partial" "$dir/cache/archives/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$dir/parts/${file##*/}"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$dir/parts/system-${file##*/}"
    [ ! -e "$dir/parts/system-sources.list" ] || mv "$dir/parts/system-sources.list" "$dir/parts/system.list"
  done
}

_slurm_source_fetch() {
  local dir=$1
  local apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$dir/parts"
    -o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=)
  _slurm_source_lists "$dir"
  (cd "$dir" && "${apt[@]}" update &&
    "${apt[@]}" source --download-only "slurm-wlm=$(slurm_source_version)" &&
    dpkg-source --no-check -x slurm-wlm_*.dsc tree) >"$dir/log" 2>&1
}

# Keeps the headers, META (the version) and the test suite, and drops the rest of the tree. The
# two headers that Slurm's configure would write say what Debian's build was told, as found by comparing
# struct layouts with Debian's binaries.
_slurm_source_keep() {
  local tree=$1 kept=$2 version number
  mkdir -p "$kept" || return
  (cd "$tree" && find META slurm src testsuite \( -name '*.h' -o -path 'testsuite/*' -o -name META \) -type f -print0 |
    tar -cf - --null -T -) | tar -xf - -C "$kept" || return
  version=$(sed -n 's/^[[:space:]]*Version:[[:space:]]*//p' "$tree/META")
  number=$(awk -F. '{printf "0x%02x%02x%02x", $1, $2, $3}' <<<"$version")
  cat >"$kept/config.h" <<END || return
#define NDEBUG 1
#define MULTIPLE_SLURMD 1
#define USE_ALIAS 1
#define SLURM_VERSION_NUMBER $number
#define SLURM_VERSION_STRING "$version"
END
  printf '#define SLURM_VERSION_NUMBER %s\n' "$number" >"$kept/slurm/slurm_version.h" || return
  (cd "$kept" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
}

_slurm_source_get() { # DIR
  local work
  say "fetching the source of Slurm $(slurm_source_version) (headers and test suite) into $cache_top"
  rm -rf "$cache_top"/fetch.* # of one that was interrupted; we hold the lock
  work=$(mktemp -d "$cache_top/fetch.XXXXXX") || die "cannot write to $cache_top"
  if ! _slurm_source_fetch "$work"; then
    tail -n 20 "$work/log" >&2
    rm -rf "$work"
    die "could not fetch the source package slurm-wlm $(slurm_source_version)" \
      "apt needs a Debian source list that carries it; see /etc/apt/sources.list.d"
  fi
  if ! _slurm_source_keep "$work/tree" "$work/kept"; then
    rm -rf "$work"
    die "could not keep the source of Slurm in $cache_top; is the disk full?"
  fi
  rm -rf "$1" && mv "$work/kept" "$1" && rm -rf "$work"
}

# slurm_source_ensure: prints nothing and returns when the tree is there and intact; fetches it otherwise.
slurm_source_ensure() {
  local dir
  dir=$(slurm_source_dir)
  mkdir -p "$cache_top" && : >>"$cache_top/lock" || die "cannot write the cache directory $cache_top" "set XDG_CACHE_HOME to one that you may write"
  exec {source_lock}>"$cache_top/lock"
  flock "$source_lock"
  if ! slurm_source_intact "$dir"; then
    [ ! -e "$dir" ] || say "$dir is damaged, fetching it again"
    _slurm_source_get "$dir"
  fi
  exec {source_lock}>&-
}
