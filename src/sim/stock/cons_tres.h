// What stock Slurm (select/cons_tres, default parameters) would choose for a gang: nodes, tasks per node, cores, GPUs.
// tests/live/stock_agreement_test.sh compares it with a real slurmctld.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <optional>

namespace harmony {

// Nothing if it would not start now.
std::optional<Plan> cons_tres_choice(const Cluster &cluster, const Gang &gang);

} // namespace harmony
