#!/usr/bin/env bash
# The walls of the house: what may be seen from where.
. "$(dirname "$0")/lib.sh"

overlay() {
  [ -s "$build/plugin/.libs/$1.so" ] || { echo "$build/plugin/.libs/$1.so is not there" >&2; exit 1; }
  echo "$build/plugin/.libs/$1.so"
}

every_plugin_is_there() { for file in select_cons_tres sched_backfill harmony_spank harmony_engine harmony_torch; do overlay "$file"; done; }

nothing() { # WHAT FOUND
  [ -z "$2" ] || fail "$1:
$2"
}

the_core_includes_no_header_of_slurm() {
  nothing "Slurm headers outside plugin/" "$(grep -rnE '#include *[<"](slurm/|src/(common|slurmctld|slurmd|interfaces|api)/|plugin/slurm_version)' "$top/src" || true)"
}

torch_is_included_in_its_own_folder_only() {
  nothing "torch headers outside src/infer/torch and src/learn/torch" "$(grep -rnE '#include *[<"](torch/|ATen/|c10/|caffe2/)' "$top/src" "$top/plugin" "$top/tests" --include=*.h --include=*.cpp |
    grep -vE "^$top/(src/infer/torch|src/learn/torch|tests/models)/" || true)"
}

the_overlay_and_the_spank_plugin_need_libc_alone() {
  local file
  for file in select_cons_tres sched_backfill harmony_spank; do
    nothing "$file.so needs" "$(readelf -d "$(overlay $file)" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vxE 'libc\.so\.6|ld-linux.*' || true)"
  done
}

the_overlay_binds_nothing_before_it_is_called() {
  local file
  for file in select_cons_tres sched_backfill; do
    nothing "$file.so is linked with -z now" "$(readelf -d "$(overlay $file)" | grep -E 'BIND_NOW|Flags:.*NOW' || true)"
  done
}

names() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort; }

the_overlay_exports_the_plugin_interface_and_nothing_else() {
  nothing "select_cons_tres.so exports" "$(names "$(overlay select_cons_tres)" | grep -vxE 'plugin_(name|type|id|version)|init|fini|select_p_[a-z_]+' || true)"
  nothing "harmony_spank.so exports" "$(names "$(overlay harmony_spank)" | grep -vxE 'plugin_(name|type|version)|slurm_spank_[a-z_]+' || true)"
  nothing "sched_backfill.so exports" "$(names "$(overlay sched_backfill)" | grep -vxE 'plugin_(name|type|version)|init|fini|sched_p_[a-z_]+' || true)"
}

every_function_of_the_stock_plugins_is_forwarded() {
  local file
  for file in select_cons_tres sched_backfill; do
    nothing "$file.so does not forward" "$(comm -13 <(names "$(overlay $file)") \
      <(names "$SLURM_PLUGIN_DIR/$file.so" | grep -xE '(select|sched)_p_.*|plugin_(name|type|id|version)|init|fini'))"
  done
}

the_engine_exports_one_symbol() {
  [ "$(names "$build/plugin/.libs/harmony_engine.so")" = harmony_engine ] || fail "$(names "$build/plugin/.libs/harmony_engine.so")"
}

torch_is_linked_in_its_own_library_only() {
  [ "$(names "$(overlay harmony_torch)")" = harmony_torch_library ] || fail "$(names "$(overlay harmony_torch)")"
  local file
  for file in "$(overlay harmony_engine)" "$build/harmony"; do
    nothing "$file needs" "$(readelf -d "$file" 2>/dev/null | grep -E 'NEEDED.*(torch|c10|blas)' || true)"
  done
}

nvml_is_linked_nowhere() {
  local file
  for file in "$build"/plugin/.libs/*.so "$build/harmony"; do
    nothing "$file needs" "$(readelf -d "$file" 2>/dev/null | grep -E 'NEEDED.*(nvidia|cuda)' || true)"
  done
}

# Two types of one name in one namespace are linked into one, and no compiler says so.
every_type_has_a_name_of_its_own() {
  nothing "defined twice" "$(grep -rhoE '^(class|struct|enum class) [A-Z][A-Za-z]+( :| *\{)' "$top/src" "$top/plugin" --include='*.h' |
    sed 's/ *[:{]$//; s/.* //' | sort | uniq -d)"
}

keep every_plugin_is_there every_type_has_a_name_of_its_own the_core_includes_no_header_of_slurm torch_is_included_in_its_own_folder_only the_overlay_and_the_spank_plugin_need_libc_alone \
  the_overlay_binds_nothing_before_it_is_called the_overlay_exports_the_plugin_interface_and_nothing_else \
  every_function_of_the_stock_plugins_is_forwarded the_engine_exports_one_symbol \
  torch_is_linked_in_its_own_library_only nvml_is_linked_nowhere
