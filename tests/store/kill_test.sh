#!/usr/bin/env bash
# kill -9 at every step of publishing a model and of taking one in use: the store can be read and written afterwards.
. "$(dirname "$0")/../static/lib.sh"

harmony=$build/.libs/harmony
[ -x "$harmony" ] || harmony=$build/harmony
killer=$build/tests/store/.libs/kill_at.so
exec 3>&1

# safe DIRECTORY: nobody but root and the caller can write there or above; what a store is refused for otherwise.
safe() {
  local directory owner mode
  directory=$(realpath "$1") || return 1
  while :; do
    read -r owner mode < <(stat -c '%u %a' "$directory")
    { [ "$owner" = 0 ] || [ "$owner" = "$(id -u)" ]; } && [ $((0$mode & 022)) = 0 ] || return 1
    [ "$directory" != / ] || return 0
    directory=$(dirname "$directory")
  done
}

place=
for candidate in "$build" "${XDG_RUNTIME_DIR:-/run}" /run "$HOME"; do
  safe "$candidate" && place=$(mktemp -d "$candidate/harmony-kill-test.XXXXXX" 2>/dev/null) && break
done
[ -n "$place" ] || { echo "skipped: no directory here that others cannot write to"; exit 77; }
trap 'rm -rf "$static_tmp" "$place"' EXIT
place=$(realpath "$place") store=$place/var/lib/models

model() { local action=$1; shift; timeout 60 "$harmony" model "$action" --store "$store" --slurm-user "$(id -u)" "$@"; }

# source_of BYTES: a directory to be published, with the features that this build knows.
source_of() {
  local directory=$place/source
  mkdir -p "$directory"
  printf %s "$1" >"$directory/model.pt"
  echo "# a card" >"$directory/MODEL_CARD.md"
  "$harmony" model features | awk -v digest="$(sha256sum <"$directory/model.pt" | cut -d' ' -f1)" '
    NR == 1 { printf "{\"name\": \"test\", \"version\": 0, \"schema\": %s, \"torch\": \"1.13.1\", \"sha256\": \"%s\", \"types\": [], \"features\": {", $2, digest; next }
    /^[a-z]/ { printf "%s\"%s\": [", kinds++ ? "], " : "", $1; first = 1; next }
    { printf "%s{\"name\": \"%s\", \"low\": 0, \"high\": 1}", first ? "" : ", ", $1; first = 0 }
    END { print "]}, \"trained_on\": \"nothing\", \"evaluation\": \"none\"}" }' >"$directory/manifest.json"
  echo "$directory"
}

# A store with versions 1, 2 and 3, of which 2 is in use and 1 was before.
make_base() {
  local bytes
  rm -rf "$place/var" "$place/base"
  for bytes in one two three; do model add "$(source_of "$bytes")"; done
  model use 1 && model use 2
  cp -a "$place/var" "$place/base"
  source_of "four of $(head -c 100000 /dev/zero | tr '\0' x)" >/dev/null
}

# sound IN_USE...: every version verifies, and the one in use is one of these.
sound() {
  local version listing in_use
  listing=$(model list --json)
  in_use=$(sed 's/.*"in_use":\([0-9]*\),"problem".*/\1/' <<<"$listing")
  case " $* " in *" $in_use "*) ;; *) fail "version $in_use is in use, expected one of $*: $listing" ;; esac
  [ "$in_use" = 0 ] || model verify
  for version in $(grep -o '"version":[0-9]*' <<<"$listing" | cut -d: -f2); do
    model verify "$version"
    [ "$(stat -c %a "$store/$version")" = 755 ] || fail "$store/$version has other modes"
  done
}

# killed_everywhere WHAT BASE "IN_USE..." ACTION [ARGUMENT]: runs it again and again, killed one step later each time.
# Ends when it survives; then the in-use version is the last of IN_USE.
killed_everywhere() {
  local what=$1 base=$2 allowed=$3 at=0 status=137
  shift 3
  while [ "$status" = 137 ]; do
    at=$((at + 1))
    rm -rf "$place/var"
    [ "$base" = none ] || cp -a "$place/base" "$place/var"
    status=0
    KILL_AT=$at LD_PRELOAD=$killer "$harmony" model "$1" --store "$store" --slurm-user "$(id -u)" ${2:+"$2"} || status=$?
    [ "$status" = 137 ] || break
    [ ! -d "$store" ] || sound $allowed
    added=$(model add "$place/source" | sed 's/version \([0-9]*\) .*/\1/')
    model use "$added"
    sound "$added"
    [ -z "$(find "$store" -name '.new-*')" ] || fail "left behind: $(find "$store" -name '.new-*')"
    [ "$at" -lt 500 ] || fail "it does not end"
  done
  [ "$status" = 0 ] || fail "exit code $status at step $at"
  sound "${allowed##* }"
  [ "$at" -gt 5 ] || fail "only $((at - 1)) kill points: is $killer loaded?"
  echo "        $what: killed at $((at - 1)) points" >&3
}

publishing_the_first_model_may_be_killed() { make_base; killed_everywhere "add to no store" none 0 add "$place/source"; }
publishing_another_model_may_be_killed() { make_base; killed_everywhere add base 2 add "$place/source"; }
cleaning_up_after_a_killed_publisher_may_be_killed() {
  make_base
  mkdir "$place/base/lib/models/.new-4"
  printf half | tee "$place/base/lib/models/.new-4/model.pt" "$place/base/lib/models/.new-CURRENT" >/dev/null
  killed_everywhere "add after a kill" base 2 add "$place/source"
}
taking_a_version_in_use_may_be_killed() { make_base; killed_everywhere use base "2 3" use 3; }
a_rollback_may_be_killed() { make_base; killed_everywhere rollback base "2 1" rollback; }

keep publishing_the_first_model_may_be_killed publishing_another_model_may_be_killed \
  cleaning_up_after_a_killed_publisher_may_be_killed taking_a_version_in_use_may_be_killed a_rollback_may_be_killed
