// When nodes will have room, guessed by how long the jobs there usually run: what waiting is weighed by. Kept up as
// gangs are planned, like the encoder. For one thread.
#pragma once

#include "src/encode/node_encoding.h"
#include "src/encode/usual_times.h"
#include "src/plan/cluster.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace harmony {

class Openings {
public:
  // All of them must outlive it.
  Openings(const Cluster &cluster, const TypeIndex &types, const UsualTimes &usual)
      : cluster_(cluster), types_(types), usual_(usual) {}

  // Seconds until so many nodes have so many free GPUs each and, if they are wanted `to_itself`, no distributed job. 0:
  // now; a week: that cannot be said.
  double soonest(int nodes, int gpus, bool to_itself);
  double next_end(); // seconds until any job ends; a week: none runs

private:
  struct Kind { // of opening
    std::vector<float> by_node, sorted;
    std::size_t changes_read = 0;
  };
  using Key = std::pair<int, bool>; // GPUs, to itself; no GPUs: the first end
  Kind &kind(const Key &key);
  double seconds_left(const Tenant &tenant);
  float opens(int node, const Key &key);

  const Cluster &cluster_;
  const TypeIndex &types_;
  const UsualTimes &usual_;
  std::map<Key, Kind> kinds_;
  std::vector<double> left_; // by Tenant::running, of jobs that run; below 0: not asked yet
  struct End {
    double at = 0;
    int gpus = 0;
    bool distributed = false;
  };
  std::vector<End> ends_; // of the node that is looked at
};

} // namespace harmony
