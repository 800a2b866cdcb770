#include "plugin/overlay/overlay_report.h"

#include <dlfcn.h>

namespace harmony {
namespace {

void add(void *pairs, const char *name, const char *value) {
  auto *pair = static_cast<config_key_pair_t *>(xmalloc(sizeof(config_key_pair_t)));
  pair->name = xstrdup(name);
  pair->value = xstrdup(value);
  list_append(static_cast<SlurmList>(pairs), pair);
}

} // namespace

bool sched_overlay_loaded() {
  char directory[4000], path[4096];
  if (!own_directory(directory, sizeof directory)) return false;
  snprintf(path, sizeof path, "%s/sched_backfill.so", directory);
  void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

void add_overlay_report(SlurmList *pairs, const EngineLink &engine, const StockPlugin &stock) {
  if (!*pairs) *pairs = list_create(destroy_config_key_pair);
  add(*pairs, "HarmonyVersion", HARMONY_VERSION);
  add(*pairs, "HarmonyBuiltFor", SLURM_VERSION_STRING);
  add(*pairs, "HarmonyMode", mode_name(engine.mode()));
  add(*pairs, "HarmonyEngine", engine.state());
  add(*pairs, "HarmonySelect", stock.path());
  add(*pairs, "HarmonySched", sched_overlay_loaded() ? "loaded" : "not loaded");
  if (const EngineApi *api = engine.active()) api->report(add, *pairs);
}

} // namespace harmony
