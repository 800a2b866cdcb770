// The sched overlay: Slurm loads it in place of the stock sched_backfill.so, whose backfill thread runs as ever. The
// planning rounds live beside it: they begin and end with it, in the engine that the select overlay has
// loaded; when that happens later, at a reconfigure, the select overlay begins them.

#include "plugin/slurm_version.h"

#include "plugin/engine/engine_api.h"
#include "plugin/overlay/stock_plugin.h"

#include <dlfcn.h>

namespace {
harmony::StockPlugin stock_plugin;
int (*stock_reconfig)() = nullptr;

// The engine, if the select overlay has loaded it and found it to be of its own build; a mode of off needs none.
const harmony::EngineApi *loaded_engine() {
  char directory[4000], path[4096];
  if (!harmony::own_directory(directory, sizeof directory)) return nullptr;
  snprintf(path, sizeof path, "%s/%s", directory, harmony::engine_file);
  void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  const auto *engine = static_cast<const harmony::EngineApi *>(dlsym(handle, harmony::engine_symbol));
  dlclose(handle); // the select overlay keeps it
  return engine && engine->layout == harmony::engine_layout ? engine : nullptr;
}

} // namespace

extern "C" {

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "Harmony overlay of the Slurm Backfill Scheduler plugin";
const char plugin_type[] = "sched/backfill";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void) {
  if (!stock_plugin.load("sched_backfill.so")) return SLURM_ERROR;
  stock_reconfig = reinterpret_cast<int (*)()>(stock_plugin.symbol("sched_p_reconfig"));
  if (!stock_reconfig) {
    harmony::fail("the stock sched_backfill.so has no sched_p_reconfig");
    return SLURM_ERROR;
  }
  if (const harmony::EngineApi *engine = loaded_engine()) engine->start_rounds();
  return SLURM_SUCCESS;
}

void fini(void) {
  if (const harmony::EngineApi *engine = loaded_engine()) engine->stop_rounds();
  stock_plugin.unload();
}

int sched_p_reconfig(void) { return stock_reconfig(); }

} // extern "C"
