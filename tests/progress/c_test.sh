#!/usr/bin/env bash
# The C function of contrib/progress compiles without a warning, as C99 and from C++, and keeps its promises.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/harmony-progress-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cat >"$dir/harmony" <<'END'
#!/bin/sh
echo "$*" >>"$SAID"
sleep "$SLEEPS"
END
chmod +x "$dir/harmony"
# A locale with a decimal comma, where one can be made.
localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" >"$dir/localedef" 2>&1 && export LOCPATH=$dir || true
warnings=(-pedantic -Wall -Wextra -Wshadow -Wconversion -Werror)
${CC:-cc} -std=c99 "${warnings[@]}" -O2 -DHARMONY_INTERVAL_MS=300 -I"$top" -pthread \
  "$top/tests/progress/c_test.c" "$top/contrib/progress/harmony_progress.c" -o "$dir/c-test"
cat >"$dir/use.cpp" <<'END'
#include "contrib/progress/harmony_progress.h"
int main() { return harmony_progress(-1, 1, 1, 1) == 1; }
END
${CC:-cc} -std=c99 "${warnings[@]}" -pthread -c "$top/contrib/progress/harmony_progress.c" -o "$dir/harmony_progress.o"
${CXX:-c++} "${warnings[@]}" -I"$top" -pthread "$dir/use.cpp" "$dir/harmony_progress.o" -o "$dir/use"
"$dir/use"
PATH=$dir:$PATH "$dir/c-test" "$dir"
