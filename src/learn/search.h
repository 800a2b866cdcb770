// A search for weights by evolution: a cloud of candidates is drawn around a centre, the better half of them moves it,
// and the cloud widens or narrows by axis (separable CMA-ES, Ros and Hansen 2008). The same seed gives the same way.
// For one thread.
#pragma once

#include "src/sim/random.h"

#include <cstdint>
#include <vector>

namespace harmony {

class Search {
public:
  Search(std::vector<double> centre, std::vector<double> deviations, int population, std::uint64_t seed);

  // What is to be tried next, and what came of it: lower is better, one a candidate.
  const std::vector<std::vector<double>> &candidates();
  void told(const std::vector<double> &costs);

  const std::vector<double> &centre() const { return centre_; }
  double width() const { return sigma_; } // relative to the deviations it began with

private:
  std::vector<double> centre_, scales_, variances_, path_, step_path_;
  std::vector<double> weights_; // of the better half, best first
  double sigma_ = 1, effective_ = 1;
  std::vector<std::vector<double>> drawn_;
  Random random_;
  int generation_ = 0;
};

} // namespace harmony
