// The policies there are, and the few lines that all of them share.
#pragma once

#include "src/plan/place.h"
#include "src/policy/diverse.h"
#include "src/policy/policy.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {

std::unique_ptr<Policy> make_pack();
std::unique_ptr<Policy> make_spread();
std::unique_ptr<Policy> make_tetris();
std::unique_ptr<Policy> make_lif();
std::unique_ptr<Policy> make_one_distributed();
std::unique_ptr<Policy> make_one_distributed_soft();
std::unique_ptr<Policy> make_cons1();
std::unique_ptr<Policy> make_tiresias_skew();
std::unique_ptr<Policy> make_optimus_even();
std::unique_ptr<Policy> make_stock();

// A whole gang somewhere, and how it compares within one decision.
struct Considered {
  Plan plan;
  double score = 0;
  std::string why;
};

// The first is where it goes; of the others those that differ are told, a few.
Proposal place_at(std::vector<Considered> considered, const std::string &reason);
Proposal wait_for(const std::string &reason, const std::vector<Considered> &considered);
Proposal no_room_for(GangPlacer &placer);

// Least nodes, then least left over.
Considered packed(const Cluster &cluster, Plan plan, const char *what);

// How spread and its like see a node: the part of its GPUs in use, then of its cores, with what the gang has there.
double load_of(const NodeClass &node, const Rooms &rooms, int workers, int ps);
Score least_loaded(const Rooms &rooms, const Component &component);

} // namespace harmony
