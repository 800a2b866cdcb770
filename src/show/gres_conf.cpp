#include "src/show/gres_conf.h"

#include "src/show/topology_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

bool plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool one_of(char c, std::string_view others) { return others.find(c) != std::string_view::npos; }

// Slurm's configuration files know no quoting that would save a blank, # or = in every version.
std::string only_plain_or(std::string text, std::string_view others) {
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return !plain(c) && !one_of(c, others); }, '_');
  return text;
}

// Would `gpu:TYPE` be taken for a number of GPUs? Slurm allows for a multiplier at its end.
bool reads_as_count(const std::string &type) {
  const std::size_t digits = std::min(type.find_first_not_of("0123456789"), type.size());
  const std::string rest = type.substr(digits);
  return digits > 0 && (rest.empty() || (one_of(rest[0], "kmgtp") &&
                                         (rest.size() == 1 || rest.substr(1) == "b" || rest.substr(1) == "ib")));
}

// A device that is not a plain path is as good as none.
std::string device_file(const Gpu &gpu, std::size_t index) {
  const bool usable = gpu.device.rfind("/", 0) == 0 && only_plain_or(gpu.device, "/._-") == gpu.device;
  return usable ? gpu.device : fmt::format("/dev/nvidia{}", index);
}

std::string links(const Topology &topology, int gpu) {
  std::vector<int> counts(topology.gpus.size(), 0);
  counts[gpu] = -1;
  for (const Link &link : topology.links) {
    if (link.first == gpu) counts[link.second] = link.count;
    if (link.second == gpu) counts[link.first] = link.count;
  }
  return fmt::format("{}", fmt::join(counts, ","));
}

std::string gpu_line(const Topology &topology, std::size_t index, const std::string &node) {
  const Gpu &gpu = topology.gpus[index];
  const std::string type = gres_type(gpu.model),
                    cores = core_list(topology.numa[topology.domains[gpu.domain].numa].cores);
  return fmt::format("NodeName={} Name=gpu{} File={}{} Links={}\n", node, type.empty() ? "" : " Type=" + type,
                     device_file(gpu, index), cores.empty() ? "" : " Cores=" + cores,
                     links(topology, static_cast<int>(index)));
}

// gpu:v100:8, one entry a type, in the order of the first GPU of each.
std::string gres_value(const Topology &topology) {
  std::vector<std::pair<std::string, int>> types;
  for (const Gpu &gpu : topology.gpus) {
    const std::string type = gres_type(gpu.model);
    const auto same = std::find_if(types.begin(), types.end(), [&](const auto &entry) { return entry.first == type; });
    if (same == types.end())
      types.emplace_back(type, 1);
    else
      ++same->second;
  }
  std::string value;
  for (const auto &[type, count] : types)
    value += fmt::format("{}gpu:{}{}", value.empty() ? "" : ",", type.empty() ? "" : type + ":", count);
  return value;
}

} // namespace

std::string gres_conf(const Topology &topology, const std::string &node_name) {
  const std::string node = only_plain_or(node_name, "._-[],");
  std::string text = fmt::format("# {}: {}; made by harmony topology --gres (source: {})\n", node,
                                 topology_summary(topology), source_name(topology.source));
  if (topology.gpus.empty()) return text;
  text += fmt::format("# slurm.conf: GresTypes=gpu, and NodeName={} Gres={}\n", node, gres_value(topology));
  for (std::size_t i = 0; i < topology.gpus.size(); ++i)
    if (topology.gpus[i].lost)
      text += fmt::format("# GPU {} is lost: the driver cannot reach it\n", i);
    else if (topology.gpus[i].mig)
      text += fmt::format("# GPU {} is in MIG mode: its instances need AutoDetect=nvml in place of its line\n", i);
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) text += gpu_line(topology, i, node);
  return text;
}

std::string gres_type(const std::string &model) {
  std::string type = only_plain_or(model, "._+-");
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return reads_as_count(type) ? "gpu_" + type : type;
}

} // namespace harmony
