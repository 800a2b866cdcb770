// The sched overlay: Slurm loads it in place of the stock sched_backfill.so, whose backfill thread runs as ever.
// The planning rounds will live beside it; for now every call is handed on.

#include "plugin/slurm_version.h"

#include "plugin/overlay/stock_plugin.h"

namespace {
harmony::StockPlugin stock_plugin;
int (*stock_reconfig)() = nullptr;
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
  return SLURM_SUCCESS;
}

void fini(void) { stock_plugin.unload(); }

int sched_p_reconfig(void) { return stock_reconfig(); }

} // extern "C"
