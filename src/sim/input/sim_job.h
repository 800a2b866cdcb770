// A job of a simulated workload. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

struct SimJob {
  std::uint32_t id = 0;
  double submit_s = 0;
  std::string type = "unknown";
  int workers = 1;
  int ps = 0; // none: ring all-reduce
  int gpus_per_worker = 1;
  int cpus_per_worker = 1;
  int cpus_per_ps = 1;
  double epochs = 0;       // its work; 0: as many as it does in duration_s, alone at its best
  double duration_s = 0;   // counts if epochs is 0
  double time_limit_s = 0; // 0: by the option --limit-factor
  double priority = 0;     // higher goes first, with the queue order "priority"
  std::uint32_t user = 0;
  std::string gpu; // GPU model it asks for; empty: any

  int gpus() const { return workers * gpus_per_worker; }
};

struct Workload {
  std::string name;
  std::vector<SimJob> jobs;       // by submit_s, then by id
  std::vector<std::string> notes; // what a reader has to say to people: ignored columns, skipped rows
};

} // namespace harmony
