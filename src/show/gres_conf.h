// A topology as lines for Slurm's gres.conf.
#pragma once

#include "src/values/topology.h"

#include <string>

namespace harmony {

// One line a GPU, with Type, File, Cores and Links; before them, as comments, what they were made from and the Gres=
// that slurm.conf needs beside them. Comments only if there is no GPU. Whatever the names in the topology and
// `node_name` hold, the text has no line and no key that is not meant.
std::string gres_conf(const Topology &topology, const std::string &node_name);

// A GPU model as Type=: lower case, as Slurm's own autodetection writes it. Empty if the model is.
std::string gres_type(const std::string &model);

} // namespace harmony
