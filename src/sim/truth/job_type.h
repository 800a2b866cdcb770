// What training a model costs: the sizes that the contention model works with. A plain value; the built-in ones have
// their sources beside them, a site adds its own with `harmony sim --types`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace harmony {

// One step is a mini-batch on every unit of the gang, then the exchange of their gradients. A unit is a GPU of a
// worker, or a worker that has none. Megabytes are 10^6 bytes.
struct JobType {
  std::string name;
  double parameters_mb = 100;   // exchanged per step
  double compute_s = 0.1;       // of a step on the reference GPU (V100), nothing waited for
  double steps_per_epoch = 100; // of one unit; n units share them: an epoch takes a gang of n an n-th of the steps
  double input_mb = 1;          // read from disk per step and unit
  double host_mb = 10;          // from host memory to the GPU per step and unit
  double cpu_s = 0.01;          // of one core per step and unit, to prepare its input
  double memory_mb = 50;        // moved in host memory per step and unit, to prepare its input

  // Of the exchange. `harmony sim calibrate` fits them to measured speeds.
  double overlap = 0.5;            // part of compute_s behind which exchanging is hidden, 0 to 1
  double network_efficiency = 0.8; // part of a network card's speed that its exchange reaches; small tensors reach less
  double ring_latency_s = 0; // of a ring across nodes, for each doubling of its units: starting and waiting for all
  double spread = 0.5;       // a ring across N nodes takes 1 + spread x (1 - 2/N) times as long as across two

  bool skewed = false; // most of its parameters are in one tensor (Tiresias)
  std::string source;  // where the figures are from; "assumed" for those that were
};

class JobTypes {
public:
  JobTypes(); // the built-in ones

  // By name; types that are not known are taken for a middling one, and so is "unknown".
  const JobType &of(const std::string &name) const;
  bool knows(const std::string &name) const { return types_.count(name) > 0; }
  std::vector<std::string> names() const; // in alphabetical order
  void set(const JobType &type) { types_[type.name] = type; }
  void clear() { types_.clear(); } // none is known any more

private:
  std::map<std::string, JobType> types_;
  JobType middling_;
};

// The file of --types: {"types": [{"name": "mine", "parameters_mb": 80, …}]}; whatever is left out is the default
// above, or, of a built-in name, what is built in. Throws std::runtime_error with the file, the type and the key.
void read_types(const std::string &path, JobTypes &types);

} // namespace harmony
