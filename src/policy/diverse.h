// Whole gangs that differ in what they give up: what policies that compare gangs choose from.
#pragma once

#include "src/plan/place.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harmony {

// Ways to place a whole gang, besides the fewest nodes with the best fit; in the order in which equals are preferred.
struct Variant {
  const char *what;
  Choice choice;
};
std::vector<Variant> diverse_variants(const Gang &gang);

// The largest nodes that hold the component, as few as can be, workers and PS evenly on them (optimus_even.cpp).
std::optional<Shares> even_on_fewest(const Rooms &rooms, const Component &component);

// The same shares, each worker's GPUs below the switch or bridge that has the largest part free. Nothing if no node has
// several of them.
std::optional<Shares> on_free_domains(const Cluster &cluster, const Rooms &rooms, const Component &component,
                                      Shares shares);

// The fewest nodes first, then those ways, GPUs below free switches, each task on the least loaded node, evenly on the
// fewest, and a few other nodes of the kind. The same gang can come twice. It ends early when `go_on` says so, which is
// asked before each but the first.
void each_diverse_gang(GangPlacer &placer, const Gang &gang,
                       const std::function<void(Plan plan, const char *what)> &consider,
                       const std::function<bool()> &go_on);

} // namespace harmony
