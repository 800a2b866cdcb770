// Fuzzes a node's Extra field as slurmctld and the nodes read it: whatever stands there, the marks that are taken are
// sound, writing another one leaves a field without a mark that is not, and all other words stay. And the lines of
// /proc that hold a process's name, which its owner chose.

// links: src/observe/usage.cpp src/observe/process_tree.cpp src/observe/nic_bytes.cpp src/publish/extra_field.cpp
#include "src/observe/nic_bytes.h"
#include "src/observe/process_tree.h"
#include "src/observe/usage.h"
#include "src/publish/extra_field.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {

using namespace harmony;

void require(bool condition) {
  if (!condition) std::abort();
}

bool within(double value, double most) { return value >= 0 && value <= most; }
bool within_or_unknown(double value, double most) { return std::isnan(value) || within(value, most); }

void check(const StepUsage &usage) {
  require(usage.job > 0 && is_step_name(usage.step) && usage.begin_s >= 0);
  require(within(usage.seconds, 1e9) && within(usage.cpu, 65536) && within(usage.nic_rx_mb_s, 1e7) &&
          within(usage.nic_tx_mb_s, 1e7));
  int last = -1;
  for (const GpuUsage &gpu : usage.gpus) {
    require(gpu.gpu > last && gpu.gpu < 256);
    require(within_or_unknown(gpu.busy, 100) && within_or_unknown(gpu.memory_mb, 1e9) &&
            within_or_unknown(gpu.pcie_in_mb_s, 1e7) && within_or_unknown(gpu.pcie_out_mb_s, 1e7));
    last = gpu.gpu;
  }
}

std::vector<std::string> other_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n\r"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty() && word.substr(0, 14) != "harmony-usage[") words.emplace_back(word);
  }
  return words;
}

void write_another(std::string_view text, const StepUsage &usage) {
  const std::string field = with_usage(text, usage);
  const UsageField read = read_usage_field(field, "n0");
  require(read.refused == 0 && !read.usages.empty());
  require(read.usages.back().job == usage.job && read.usages.back().begin_s == usage.begin_s);
  require(with_usage(field, usage) == field);
  require(topology_word(field) == topology_word(text));
  require(other_words(field) == other_words(text));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const UsageField field = read_usage_field(text, "n0");
  for (const StepUsage &usage : field.usages) {
    check(usage);
    write_another(text, usage);
  }
  StepUsage usage;
  usage.job = 17;
  usage.step = "batch";
  usage.begin_s = 1763300000;
  write_another(text, usage);
  read_process_stat(text);
  read_net_dev(text);
  return 0;
}
