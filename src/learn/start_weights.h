// Where the search for a linear scorer's weights may begin.
#pragma once

#include "src/encode/schema.h"

namespace harmony {

struct Start {
  gang_column::Column column;
  double weight, deviation, like_cons1 = 0;
};

// `weight`: by reckoning, a part of its own usual time costs as much whoever loses it: the gang, its neighbours, those
// that wait. `deviation`: how far is looked at first. `like_cons1`: does what policy cons1 does.
constexpr Start starts[] = {{gang_column::wait, -0.05, 0.2, -1},
                            {gang_column::nodes, 0, 0.2},
                            {gang_column::nodes_beyond, -0.1, 0.2, -8},
                            {gang_column::slowdown, -2, 1, -0.5},
                            {gang_column::doubt, 0, 0.5},
                            {gang_column::harm, 0, 1, -0.5},
                            {gang_column::delay, -2, 1},
                            {gang_column::queue_delay, -4, 2},
                            {gang_column::displaced, -0.1, 0.3},
                            {gang_column::lost_by_queue, 0, 1},
                            {gang_column::left_over, -0.2, 0.2, -0.2},
                            {gang_column::nodes_broken, 0, 0.1},
                            {gang_column::domains, 0, 0.1},
                            {gang_column::distributed_met, 0, 0.1, -8},
                            {gang_column::nic_load, 0, 0.1},
                            {gang_column::pcie_load, 0, 0.1},
                            {gang_column::cpu_load, 0, 0.1},
                            {gang_column::ps_with_workers, 0.05, 0.1},
                            {gang_column::ps_nodes, 0, 0.1},
                            {gang_column::next_end, 0, 0.1},
                            {gang_column::wait_next_end, 0, 0.3},
                            {gang_column::wait_opening, -2, 1},
                            {gang_column::wait_clear, -0.2, 0.3},
                            {gang_column::wait_age, 0, 0.3},
                            {gang_column::wait_waited, 0, 0.2},
                            {gang_column::wait_queue, 0, 0.2},
                            {gang_column::wait_shorter, 0, 0.2},
                            {gang_column::wait_shorter_gpus, 0, 0.2},
                            {gang_column::wait_limit, 0, 0.3},
                            {gang_column::wait_gpus, 0, 0.2},
                            {gang_column::wait_size, 0, 0.2},
                            {gang_column::wait_spans, 0, 0.2},
                            {gang_column::wait_free, 0, 0.2}};

} // namespace harmony
