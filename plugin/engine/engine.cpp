// The engine: what slurmctld gets beyond the overlay's delegation. It keeps the nodes' topologies. Planning arrives
// here step by step; until a planner is linked in, every question is left to stock, and only counted.
//
// Threads: set_mode runs under slurmctld's write locks, job_test under its job and node write locks, report on any RPC
// thread, and node_watch.h has one of its own. What they share is in Engine: atomics, and a store with a lock of its
// own.

#include "plugin/engine/engine_api.h"
#include "plugin/engine/border.h"
#include "plugin/engine/node_watch.h"

#include <fmt/format.h>

#include <atomic>
#include <new>
#include <string>

namespace harmony {
namespace {

struct Engine {
  WallLog wall;
  std::atomic<std::uint64_t> job_tests{0};
  TopologyStore topologies;
};

// Never destroyed: threads use it while slurmctld exits. In static memory: to make it cannot fail, so that it may be
// named outside the wall.
Engine &engine() {
  alignas(Engine) static unsigned char memory[sizeof(Engine)];
  static Engine *const the_engine = new (memory) Engine;
  return *the_engine;
}

bool set_mode(Mode mode) {
  return guarded(engine().wall, "set_mode", false, [mode] {
    info("harmony: engine " HARMONY_VERSION " ready, mode %s; no planner in this version, stock decides",
         mode_name(mode));
    watch_nodes(engine().topologies);
    return true;
  });
}

bool job_test(const JobTest &, StockJobTest, int *) {
  return guarded(engine().wall, "job_test", false, [] {
    engine().job_tests.fetch_add(1, std::memory_order_relaxed);
    return false;
  });
}

void report(void (*tell)(void *to, const char *name, const char *value), void *to) {
  guarded(engine().wall, "report", false, [tell, to] {
    tell(to, "HarmonyJobTests", std::to_string(engine().job_tests.load(std::memory_order_relaxed)).c_str());
    tell(to, "HarmonyExceptions", std::to_string(engine().wall.caught()).c_str());
    const TopologyStore::Counts nodes = engine().topologies.counts();
    tell(to, "HarmonyTopology",
         fmt::format("{} nodes: {} published, {} from gres.conf, {} without; {} read, {} refused", nodes.nodes,
                     nodes.published, nodes.gres_conf, nodes.none, nodes.updates, nodes.refused)
             .c_str());
    return true;
  });
}

} // namespace
} // namespace harmony

extern "C" {
extern const harmony::EngineApi harmony_engine;
const harmony::EngineApi harmony_engine = {
    harmony::engine_layout, SLURM_VERSION_NUMBER, HARMONY_VERSION,
    harmony::set_mode,      harmony::job_test,    harmony::report,
};
}
