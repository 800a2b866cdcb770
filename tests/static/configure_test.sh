#!/usr/bin/env bash
# ./configure refuses what it cannot build with, and says what to do.
. "$(dirname "$0")/lib.sh"

refuses() { # WORDS OPTION...: configure with these options fails and says WORDS
  local words=$1 said
  shift
  said=$(cd "$static_tmp" && "$top/configure" -q "$@" 2>&1 >/dev/null) && fail "configure accepted $*"
  grep -qF -- "$words" <<<"$said" || fail "expected '$words', configure said: $said"
}

no_source_tree_is_refused() { refuses '--with-slurm-src=DIR is needed'; }

something_else_than_slurm_is_refused() { refuses "$static_tmp is not a Slurm source tree" --with-slurm-src="$static_tmp"; }

another_version_is_refused_and_both_are_named() {
  local installed
  installed=$(PATH=$PATH:/usr/sbin slurmctld -V | sed 's/.* //')
  mkdir -p "$static_tmp/src"
  printf '  Name:\tslurm\n  Version:\t99.05.1\n' >"$static_tmp/src/META"
  refuses "$static_tmp/src is Slurm 99.05.1, but the installed slurmctld is $installed" --with-slurm-src="$static_tmp/src"
}

both_sanitizers_at_once_are_refused() {
  refuses 'exclude each other' --with-slurm-src="$SLURM_SRC" --enable-asan --enable-tsan
}

every_missing_library_is_named_with_its_package() {
  local said package
  said=$(cd "$static_tmp" && PKG_CONFIG_LIBDIR=/nonexistent "$top/configure" -q --with-slurm-src="$SLURM_SRC" 2>&1 >/dev/null) &&
    fail "configure went on without libraries"
  for package in libfmt-dev libsodium-dev libjsoncpp-dev libhwloc-dev libcppunit-dev libopenblas-pthread-dev libcli11-dev; do
    grep -qF "$package" <<<"$said" || fail "$package is not named: $said"
  done
}

keep no_source_tree_is_refused something_else_than_slurm_is_refused another_version_is_refused_and_both_are_named \
  both_sanitizers_at_once_are_refused every_missing_library_is_named_with_its_package
