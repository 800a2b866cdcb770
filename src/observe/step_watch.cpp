#include "src/observe/step_watch.h"

#include <chrono>
#include <ctime>
#include <unistd.h>

namespace harmony {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

StepWatch::StepWatch(pid_t pid) : tree_(pid, getpid()), begin_s_(std::time(nullptr)) {
  there_ = look_at_node();
  first_ = last_;
}

bool StepWatch::look_at_node() {
  if (!tree_.look()) return false;
  nics_.look();
  last_ = seconds_now();
  return true;
}

void StepWatch::look() {
  last_look();
  if (there_) gpus_.sample();
}

void StepWatch::last_look() { there_ = there_ && look_at_node(); }

StepUsage StepWatch::sum_up() const {
  StepUsage usage;
  usage.begin_s = begin_s_;
  usage.seconds = last_ - first_;
  usage.gpus = gpus_.means();
  if (usage.seconds <= 0) return usage;
  usage.cpu = tree_.cpu_seconds() / usage.seconds;
  usage.nic_rx_mb_s = static_cast<double>(nics_.rx()) / 1e6 / usage.seconds;
  usage.nic_tx_mb_s = static_cast<double>(nics_.tx()) / 1e6 / usage.seconds;
  return usage;
}

} // namespace harmony
