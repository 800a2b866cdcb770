// Writes what happens in a simulation as a dataset: JSON lines of gang starts, of intervals in which a gang's
// neighbours stayed the same, and of ends. For one thread.
#pragma once

#include "src/record/interval_record.h"
#include "src/sim/simulate.h"

#include <fstream>
#include <map>
#include <string>

namespace harmony {

class DatasetOut : public SimWatcher {
public:
  // DIR/NAME.jsonl; the directory is made. Throws std::runtime_error.
  DatasetOut(const std::string &directory, const std::string &name, std::string policy);

  void started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now,
               double speed) override;
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &snapshot, double now,
            bool ended) override;

  // Whether everything was written; throws std::runtime_error if not.
  void close();

private:
  struct Known {
    SimJob job;
    Plan plan;
    double started = 0, since = 0; // its beginning, and that of the interval
    double speed = 0, best = 1;    // epochs a second
    double epochs = 0;             // done until `since`
    InterferenceTerms terms;
  };
  void end_interval(Known &known, double now);
  void begin_interval(Known &known, const Snapshot &snapshot, double now);
  void neighbours_changed(const Plan &plan, const Snapshot &snapshot, double now);
  void write(const std::string &line);

  const std::string path_, policy_;
  std::ofstream file_;
  std::map<std::uint32_t, Known> known_; // by job
};

} // namespace harmony
