// The one line by which a task tells the world who and where it is. Read strictly: a task may send anything. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harmony {

struct TaskHello {
  std::uint32_t job = 0;       // of the workload
  std::uint32_t slurm_job = 0; // as Slurm numbers it
  int run = 0;                 // how often Slurm has requeued it
  int rank = 0, tasks = 0;
  std::string node;
  std::vector<int> gpus; // that the job's step has on this node
  int cpus = 0;          // of one task
};

// "task 17 1017 0 2 3 n4 0,1 2"; no GPUs are "-".
std::string hello_text(const TaskHello &hello);

// Nothing if it is not of that form, or a number is out of range.
std::optional<TaskHello> hello_of_text(const std::string &line);

// "0,1" or "0-1,5", ascending; nothing if it is no such list. Empty text and "-" are no GPUs.
std::optional<std::vector<int>> gpu_list(const std::string &text);

} // namespace harmony
