// Slurm's internal headers for played-nodes, in the order in which they work from C++.
// slurm_xlator.h comes first, or `error` would be glibc's error(3).
#ifndef PLAYED_NODES_SLURM_H
#define PLAYED_NODES_SLURM_H

extern "C" {
#include "config.h"
#include "src/common/slurm_xlator.h"

#include "src/common/forward.h"
#include "src/common/gres.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/pack.h"
#include "src/common/read_config.h"
#include "src/common/slurm_acct_gather_energy.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/slurm_protocol_interface.h"
#include "src/common/slurm_protocol_pack.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
}

#endif
