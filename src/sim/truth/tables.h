// The ground truth of measured tables: speeds alone by workers and nodes, and what a neighbour costs. For one thread.
#pragma once

#include "src/sim/input/csv.h"
#include "src/sim/truth/truth.h"

#include <memory>
#include <string>

namespace harmony {

// Only pairs are measured. What a job has left beside several others, given the ratios of each pair:
enum class Combine {
  product,  // all of them multiplied
  min,      // the smallest
  additive, // 1 - the sum of what each takes, at least 0.05
};
const char *combine_name(Combine combine);

// `speeds`: CSV type,workers,nodes,speed (epochs a second). `pairs`: CSV victim,aggressor,ratio. Either path may be
// empty: then `otherwise` gives the speeds alone, and no pair has an effect. Throws BadInput.
//
// Speeds: the row with the job's workers and nodes; if there is none, of the type's rows the one with the least
// difference in nodes, then in workers; of two alike the one with fewer nodes, then with fewer workers. So a speed is
// never above the best of the type's rows. `otherwise` gives the speeds of types without a row.
//
// Pairs: victim and aggressor are a type each, or type:workers:nodes (of the whole job). The most specific row counts:
// both with numbers, else the victim with numbers, else the aggressor with numbers, else types only. No row: no effect.
// It is applied once for each other job that shares a node, however many nodes they share.
std::unique_ptr<Truth> make_tables(const std::string &speeds, const std::string &pairs, Combine combine,
                                   std::unique_ptr<Truth> otherwise);

} // namespace harmony
