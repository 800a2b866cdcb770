# Building in DIR/build, once: configured again only if its options change, and installed below build/stage. Sourced; needs
# say.sh and slurm-source.sh.

build_dir=${HARMONY_BUILD:-$harmony_top/build}

# run_logged LOG COMMAND...: shows COMMAND's last line while it runs on a terminal, and the log's end if it fails.
run_logged() {
  local log=$1 line status
  shift
  if [ -t 1 ]; then
    "$@" 2>&1 </dev/null | tee "$log" | while IFS= read -r line; do progress "${line:0:100}"; done
    status=${PIPESTATUS[0]}
    progress_done
  else
    "$@" >"$log" 2>&1 </dev/null
    status=$?
  fi
  [ "$status" = 0 ] || tail -n 30 "$log" >&2
  return "$status"
}

# build_configure DIR OPTION...: ./configure in DIR unless it was configured with just these options.
build_configure() {
  local dir=$1
  shift
  mkdir -p "$dir" || die "cannot make the build directory $dir" "set HARMONY_BUILD to one that you may write"
  [ ! -e "$harmony_top/config.status" ] ||
    die "$harmony_top was configured in place, and automake then refuses any other build directory" "run make distclean there first"
  if [ ! -e "$harmony_top/configure" ]; then
    [ -w "$harmony_top" ] || die "$harmony_top has no configure, and you may not write it there" "copy the checkout, or run autoreconf -i there once"
    run_logged "$dir/autoreconf.log" autoreconf -i "$harmony_top" || die "autoreconf failed; see $dir/autoreconf.log"
  fi
  if [ ! -e "$dir/Makefile" ] || [ "$(cat "$dir/configured" 2>/dev/null)" != "$*" ]; then
    say "configuring in $dir"
    (cd "$dir" && run_logged configure.log "$harmony_top/configure" "$@") || die "configure failed; see $dir/configure.log"
    printf '%s\n' "$*" >"$dir/configured"
  fi
}

# build_make DIR TARGET...: make, quietly.
build_make() {
  local dir=$1
  shift
  run_logged "$dir/make.log" make -C "$dir" -j"$(nproc)" "$@" || die "the build failed; see $dir/make.log"
}

# with_lock FILE COMMAND...: one at a time. FILE is only read, so it may be anybody's.
with_lock() {
  local lock status=0
  exec {lock}<"$1" || die "cannot read $1"
  flock "$lock"
  shift
  "$@" || status=$?
  exec {lock}<&-
  return "$status"
}

# build_ensure: everything built and installed in build/stage. Several at a time, also with build directories of their own (the
# first makes configure), take turns.
build_ensure() { with_lock "$harmony_top/configure.ac" _build_ensure; }

_build_ensure() {
  # Line numbers for backtraces, but not every variable: a fourth less to compile.
  build_configure "$build_dir" --prefix="$build_dir/stage" --with-slurm-src="$(slurm_source_dir)" --enable-werror CXXFLAGS='-g1 -O2'
  make -C "$build_dir" -q stage >/dev/null 2>&1 || { say "building in $build_dir"; build_make "$build_dir" stage; }
}

# Tools of ours and of others (autoconf, make, Slurm) part words at spaces.
refuse_spaces() {
  local path
  for path in "$harmony_top" "$build_dir" "$cache_top" "${TMPDIR:-/tmp}"; do
    [[ $path != *[[:space:]]* ]] || die "'$path' has a space in it; autoconf and slurm.conf cannot do with that"
  done
}
refuse_spaces
