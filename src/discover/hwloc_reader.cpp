#include "src/discover/hwloc_reader.h"

#include "src/discover/hwloc_cpu.h"
#include "src/discover/hwloc_handles.h"
#include "src/discover/hwloc_pci.h"
#include "src/discover/hwloc_xml.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace harmony {
namespace {

HwlocResult problem(std::string what) { return {Topology(), std::move(what)}; }

struct FileText {
  std::string text;
  std::string problem;
};

FileText read_open_file(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return {"", std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return {"", "not a regular file"};
  FileText file;
  const auto too_large = [] { return FileText{"", fmt::format("larger than {} MB", max_xml_bytes >> 20)}; };
  if (static_cast<std::uint64_t>(status.st_size) > max_xml_bytes) return too_large();
  char block[65536];
  for (;;) {
    const ssize_t got = read(fd, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {"", std::strerror(errno)};
    if (got == 0) return file;
    file.text.append(block, static_cast<std::size_t>(got));
    if (file.text.size() > max_xml_bytes) return too_large(); // it grew while we read
  }
}

FileText read_file(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a FIFO must not hold us up
  if (fd < 0) return {"", std::strerror(errno)};
  FileText file = read_open_file(fd);
  close(fd);
  return file;
}

HwlocTopology new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  HwlocTopology owner(topology);
  // Slurm numbers the cores of the whole machine, also those that a cgroup keeps from us.
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  return owner;
}

HwlocResult convert(hwloc_topology_t loaded, TopologySource source) {
  HwlocResult result;
  result.topology.source = source;
  const Cpus cpus = read_cpus(loaded);
  result.topology.sockets = cpus.sockets;
  result.topology.numa = cpus.numa;
  read_pci(loaded, cpus, result.topology);
  result.problem = problem_with(result.topology);
  return result;
}

} // namespace

HwlocResult read_this_machine() {
  const HwlocTopology topology = new_topology();
  if (!topology) return problem("hwloc: out of memory");
  for (const char *component : {"nvml", "cuda", "opencl", "gl"})
    hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  if (hwloc_topology_load(topology.get()) != 0)
    return problem(fmt::format("hwloc cannot read this machine: {}", std::strerror(errno)));
  // HWLOC_XMLFILE and its like make hwloc read something else than this machine.
  const bool here = hwloc_topology_is_thissystem(topology.get());
  HwlocResult result = convert(topology.get(), here ? TopologySource::hwloc : TopologySource::xml);
  if (!result.problem.empty()) result.problem = "this machine's topology makes no sense: " + result.problem;
  return result;
}

HwlocResult read_xml_file(const std::string &path) {
  const FileText file = read_file(path);
  if (!file.problem.empty()) return problem(fmt::format("{}: {}", path, file.problem));
  const CleanXml clean = clean_hwloc_xml(file.text);
  if (!clean.problem.empty()) return problem(fmt::format("{}: {}", path, clean.problem));

  const HwlocTopology topology = new_topology();
  if (!topology) return problem("hwloc: out of memory");
  const int length = static_cast<int>(clean.text.size() + 1); // hwloc wants the closing zero counted
  if (hwloc_topology_set_xmlbuffer(topology.get(), clean.text.c_str(), length) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    return problem(fmt::format("{}: hwloc {}.{} cannot load this topology", path, HWLOC_API_VERSION >> 16,
                               HWLOC_API_VERSION >> 8 & 0xff));
  HwlocResult result = convert(topology.get(), TopologySource::xml);
  if (!result.problem.empty()) result.problem = fmt::format("{}: makes no sense: {}", path, result.problem);
  return result;
}

} // namespace harmony
