// The budgets of topologies: reading one on a node, and reading a large cluster's in slurmctld.

#include "src/discover/discover.h"
#include "src/discover/profiles.h"
#include "src/publish/compact.h"
#include "src/publish/topology_store.h"

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace {

std::string fixture(const char *name) {
  const char *directory = std::getenv("HARMONY_TOPOLOGIES");
  return std::string(directory ? directory : "tests/topologies") + "/" + name;
}

// Target: 50 ms.
void xml_of_16_gpus_to_compact_form(benchmark::State &state) {
  for (auto _ : state) {
    const harmony::Discovery found = harmony::discover_xml(fixture("dgx2.xml"));
    if (!found.problem.empty() || found.topology.gpus.size() != 16) {
      state.SkipWithError(("dgx2.xml: " + found.problem).c_str());
      break;
    }
    benchmark::DoNotOptimize(harmony::compact_form(found.topology));
  }
}
BENCHMARK(xml_of_16_gpus_to_compact_form)->Unit(benchmark::kMillisecond);

// Target: 1000 ms.
void compact_forms_of_10000_nodes(benchmark::State &state) {
  const std::string text = harmony::compact_form(*harmony::synthetic_topology("dgx2"));
  for (auto _ : state)
    for (int node = 0; node < 10000; ++node) {
      const harmony::CompactResult result = harmony::parse_compact(text);
      if (!result.problem.empty()) state.SkipWithError(result.problem.c_str());
      benchmark::DoNotOptimize(result.topology.gpus.data());
    }
}
BENCHMARK(compact_forms_of_10000_nodes)->Unit(benchmark::kMillisecond);

// What is_news costs under slurmctld's lock when nothing changed.
void store_looks_at_10000_unchanged_nodes(benchmark::State &state) {
  harmony::TopologyStore store;
  const std::string text = harmony::compact_form(*harmony::synthetic_topology("dgx2"));
  std::vector<std::string> names;
  for (int node = 0; node < 10000; ++node) {
    harmony::NodeFacts facts;
    names.push_back(facts.name = "node" + std::to_string(node));
    facts.published = text;
    facts.gpus.resize(16);
    store.update(facts, 1);
  }
  for (auto _ : state)
    for (const std::string &name : names) benchmark::DoNotOptimize(store.is_news(name, text, 1));
}
BENCHMARK(store_looks_at_10000_unchanged_nodes)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
