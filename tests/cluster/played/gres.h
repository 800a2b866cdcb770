// Fills Node::gres_info, the part of a registration that tells slurmctld a node's GRES.
//
// Slurm's own reader of gres.conf is used, so File=, Cores=, Links=, Type= and NodeName= mean what they mean to
// a slurmd. It drops GPUs without File=; those that slurm.conf has and gres.conf does not are added again
// here, as if they had a device file, so a test cluster needs neither device nodes nor a gres.conf.
#ifndef PLAYED_NODES_GRES_H
#define PLAYED_NODES_GRES_H

#include <vector>

#include "tests/cluster/played/node_config.h"

namespace played {

void pack_gres(std::vector<Node> &nodes);

} // namespace played

#endif
