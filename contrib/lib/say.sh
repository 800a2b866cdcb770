# How the commands of contrib/ speak. Sourced.

program=${0##*/}

say() { printf '%s: %s\n' "$program" "$*"; }

# die LINE...: the first line says what is wrong, the others what to do.
die() {
  printf '%s: error: %s\n' "$program" "$1" >&2
  shift
  [ $# = 0 ] || printf '%s\n' "$@" >&2
  exit 1
}

# progress TEXT: one line that rewrites itself on a terminal, and is silent elsewhere.
progress() { [ ! -t 1 ] || printf '\r\033[K%s' "$*"; }
progress_done() { [ ! -t 1 ] || printf '\r\033[K'; }
