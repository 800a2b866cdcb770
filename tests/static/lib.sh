# Tests that need no cluster. A test defines promises as functions and ends with: keep PROMISE...
# Environment (set by make check): srcdir, HARMONY_BUILD, SLURM_PLUGIN_DIR.

set -uo pipefail
static_tmp=$(mktemp -d)
trap 'rm -rf "$static_tmp"' EXIT
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
build=${HARMONY_BUILD:-$PWD}

fail() { echo "$*"; exit 1; }

keep() {
  local promise status passed=0 failed=0
  for promise; do
    (set -e; "$promise") >"$static_tmp/out" 2>&1 # not within if: set -e would be ignored
    status=$?
    if [ "$status" = 0 ]; then
      passed=$((passed + 1)); echo "ok      ${promise//_/ }"
    else
      failed=$((failed + 1)); echo "FAILED  ${promise//_/ }"; sed 's/^/    /' "$static_tmp/out"
    fi
  done
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
