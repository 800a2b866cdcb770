// Writes what happens in a simulation as a dataset, by the observer of slurmctld: gang starts, intervals in which a
// gang's neighbours stayed the same, and ends. For one thread.
#pragma once

#include "src/observe/observer.h"
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
               double speed, double best) override;
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &snapshot, double now,
            bool ended) override;

  // Whether everything was written; throws std::runtime_error if not.
  void close();

private:
  // How far a gang is: what the observer cannot see.
  struct Measured {
    double speed = 0, best = 0; // epochs a second
    double since = 0;           // when it began to go at this speed
    double epochs = 0;          // done until then, since the last interval
    double all_epochs = 0;      // of the intervals before
  };
  void measure(IntervalRecord &record);
  void write(const Record &record);

  const std::string path_, name_, policy_;
  std::ofstream file_;
  std::map<std::uint32_t, Measured> measured_; // by job
  Observer observer_;
};

} // namespace harmony
