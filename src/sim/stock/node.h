// The emulation of select/cons_tres, first part: a job and a node in its terms, and what of a node a job could use.
// The names of Slurm 22.05's functions stand beside ours, so that the two can be compared. For one thread.
#pragma once

#include "src/values/bits.h"
#include "src/values/gang.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace harmony {

// What sbatch makes of a component: Slurm's job_details.
struct StockJob {
  explicit StockJob(const Component &component);

  int tasks = 1;
  int cpus_per_task = 1;
  int min_cpus = 1;      // all of them
  int cpus_per_node = 1; // at least: pn_min_cpus
  int tasks_per_node = 0;
  int min_nodes = 1, max_nodes = 0, wanted_nodes = 1;
  int gpus_per_job = 0, gpus_per_task = 0, gpus_per_node = 0; // per_task sets per_job, too
  bool with_gpus() const { return gpus_per_job + gpus_per_task + gpus_per_node > 0; }

  int gpus_found = 0; // Slurm's total_gres: it counts up while nodes are added
};

// What nodes of one topology have in common.
struct StockWiring {
  int sockets = 1, cores_per_socket = 1;
  std::vector<Bits> near; // by socket: its GPUs; empty if there is but one socket
  int gpus = 0;
  std::vector<int> links; // between GPUs, row by row; empty: not known
};
std::shared_ptr<const StockWiring> stock_wiring(const NodeState &state);

// A node that has something for the job: Slurm's avail_res_t and sock_gres_t. `cores` shrinks to those the job may get.
struct StockNode {
  int index = 0;
  std::shared_ptr<const StockWiring> wiring;
  int threads = 1;
  Bits cores, free_cores; // the latter as they were
  int cpus = 0;           // avail_cpus
  int resources = 0;      // avail_res_cnt
  std::uint64_t weight = 0;
  Bits free_gpus;    // of the model it asks for
  int most_gpus = 0; // max_node_gres; 0: no limit
  int offered = 0;   // CPUs, of the last filter(): avail_cpu_per_node

  int sockets() const { return wiring->sockets; }
  int core(int socket, int which) const { return socket * wiring->cores_per_socket + which; }
  int free_near(int socket) const; // free GPUs of the socket
  int free_gpu_count() const { return free_gpus.count(); }
  int cores_on(int socket) const;
  bool gpus_on_any_socket() const { return wiring->near.empty(); }
  bool knows_links() const { return !wiring->links.empty(); }
  int link(int one, int other) const;
};

// can_job_run_on_node(). False if the node has nothing for the job. `all_cores`: those in use, too.
bool stock_node(const NodeState &state, int index, const Component &component, const StockJob &job, bool memory_counts,
                const std::shared_ptr<const StockWiring> &wiring, bool all_cores, StockNode &node);

// _select_cores() and gres_select_filter_sock_core(): the CPUs that the job could get on the node; drops cores away
// from the GPUs, strictly so at the first pass.
int stock_filter(StockNode &node, const StockJob &job, bool first_pass);

} // namespace harmony
