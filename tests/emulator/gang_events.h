// What the world writes down: when each gang was whole and where, and when it ended. JSON lines. For one thread.
#pragma once

#include "tests/emulator/emulated_cluster.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace harmony {

enum class GangMoment {
  start, // its tasks are all there
  end,   // its epochs are done
  lost,  // a task went away before that
};

struct GangEvent {
  GangMoment moment = GangMoment::start;
  double at_s = 0; // since 1970
  std::uint32_t job = 0, slurm_job = 0;
  int run = 0;
  Occupant where; // of a start
};

class GangEventWriter {
public:
  explicit GangEventWriter(const std::string &path); // throws std::runtime_error
  ~GangEventWriter();
  GangEventWriter(const GangEventWriter &) = delete;
  GangEventWriter &operator=(const GangEventWriter &) = delete;

  void write(const GangEvent &event, const EmulatedCluster &cluster); // on disk when it returns, or it throws

private:
  std::string path_;
  std::FILE *file_;
};

// In the order of the file. Throws std::runtime_error with file and line.
std::vector<GangEvent> read_gang_events(const std::string &path, const EmulatedCluster &cluster);

} // namespace harmony
