// A topology as tables that can be compared with what is written out in a test.
#pragma once

#include "src/values/topology.h"

#include <cppunit/TestAssert.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace harmony {

inline std::string topologies_folder() {
  const char *folder = std::getenv("HARMONY_TOPOLOGIES");
  return folder ? folder : "tests/topologies";
}

// As `nvidia-smi topo -m` prints it.
inline std::string gpu_matrix(const Topology &topology) {
  const int count = static_cast<int>(topology.gpus.size());
  std::string table;
  for (int gpu = 0; gpu < count; ++gpu) table += fmt::format(" GPU{}", gpu);
  for (int gpu = 0; gpu < count; ++gpu) {
    table += fmt::format("\nGPU{}", gpu);
    for (int other = 0; other < count; ++other) table += " " + reach_word(topology, gpu, other);
  }
  return table;
}

inline std::string numa_table(const Topology &topology) {
  std::string table;
  for (std::size_t i = 0; i < topology.numa.size(); ++i) {
    const NumaNode &numa = topology.numa[i];
    table += fmt::format("numa {}: socket {} {} MB cores", i, numa.socket, numa.memory_mb);
    for (const CoreRange &range : numa.cores) table += fmt::format(" {}-{}", range.first, range.last);
    table += '\n';
  }
  return table;
}

inline std::string domain_table(const Topology &topology) {
  std::string table;
  for (int i = 0; i < static_cast<int>(topology.domains.size()); ++i) {
    const Domain &domain = topology.domains[i];
    const bool root = domain.kind == DomainKind::host_bridge;
    table += fmt::format("{} {}, numa {}:", i, root ? "host bridge" : fmt::format("switch in {}", domain.parent),
                         domain.numa);
    for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
      if (topology.gpus[gpu].domain == i) table += fmt::format(" GPU{}", gpu);
    for (const Nic &nic : topology.nics)
      if (nic.domain == i) table += " " + nic.name;
    for (const Disk &disk : topology.disks)
      if (disk.domain == i) table += " " + disk.name;
    table += '\n';
  }
  return table;
}

// Spaces are for the reader only.
inline std::string squeezed(const std::string &table) {
  std::string result, line, word;
  for (std::istringstream lines(table); std::getline(lines, line); result += '\n')
    for (std::istringstream words(line); words >> word;) result += word + ' ';
  return result;
}

inline void assert_table(const std::string &expected, const std::string &actual) {
  CPPUNIT_ASSERT_EQUAL(squeezed(expected), squeezed(actual));
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string &text) : path("/tmp/harmony_test_XXXXXX") {
    const int fd = mkstemp(path.data());
    CPPUNIT_ASSERT(fd >= 0);
    close(fd);
    std::ofstream(path) << text;
  }
  ~TemporaryFile() { unlink(path.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  std::string path;
};

} // namespace harmony
