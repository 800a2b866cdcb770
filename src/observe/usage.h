// What a node saw of a step's use of it (CPU, network, GPUs), summed up, and the marks by which it travels: in the
// node's Extra field, which only root may write, beside the topology and whatever else stands there. Plain values; any
// thread.
//
//   harmony-usage[job=17;step=0;begin=1763300000;seconds=620;cpu=3.82;rx=812.5;tx=790.1;gpus=0:93:12000:810:320,1:91:…]
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// Means over the time that was watched. A figure that the driver does not tell (of a GPU with MIG, say) is not_known;
// in the mark it is empty.
struct GpuUsage {
  int gpu = 0;                                                // as Slurm numbers them
  double busy = not_known;                                    // percent
  double memory_mb = not_known;                               // the most
  double pcie_in_mb_s = not_known, pcie_out_mb_s = not_known; // as the GPU sees it
};

struct StepUsage {
  std::uint32_t job = 0;
  std::string step; // 0, batch, interactive: as Slurm writes it
  std::string node; // not in the mark: whose field it is says so
  std::int64_t begin_s = 0;
  double seconds = 0;                      // watched
  double cpu = 0;                          // cores busy on average, of the step's processes
  double nic_rx_mb_s = 0, nic_tx_mb_s = 0; // of the node as a whole, without loopback
  std::vector<GpuUsage> gpus;              // of the whole node, ascending; empty without NVML
};

// Steps are named as Slurm names them, so that a mark can be told from a lookalike: a number, batch, interactive or
// extern.
bool is_step_name(std::string_view text);

constexpr std::string_view usage_mark_begin = "harmony-usage[";

constexpr std::size_t most_usage_marks = 4096; // bytes of a field's marks together; the newest is kept in any case
constexpr std::size_t longest_usage_mark = 16384;

// The field with the mark of this usage behind those that are there, of which the newest are kept. A mark of the same
// step and begin is replaced, one that is not sound is dropped. Everything else in the field stays as it is. Figures
// out of range become the nearest that is allowed.
std::string with_usage(std::string_view extra, const StepUsage &usage);

// All sound marks of the field, in their order; those that are not are counted.
struct UsageField {
  std::vector<StepUsage> usages;
  int refused = 0;
};
UsageField read_usage_field(std::string_view extra, const std::string &node);

} // namespace harmony
