// What the overlay says of itself in `scontrol show config` ("Select Plugin Configuration"), which is
// what `harmony status` reads. Part of the overlay; any thread.
#pragma once

#include "plugin/overlay/engine_link.h"
#include "plugin/overlay/stock_plugin.h"

namespace harmony {

// Appends our name=value pairs to *pairs, which may be a null list.
void add_overlay_report(SlurmList *pairs, const EngineLink &engine, const StockPlugin &stock);

// Whether this process has our sched_backfill.so loaded too: Slurm takes the stock one without a word when ours does
// not suit it.
bool sched_overlay_loaded();

} // namespace harmony
