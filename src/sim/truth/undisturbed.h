// A ground truth in which nobody disturbs anybody and every job does an epoch a second. For one thread.
#pragma once

#include "src/sim/truth/truth.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {

class Undisturbed : public Truth {
public:
  std::string title() const override { return "no interference"; }
  std::unique_ptr<Truth> empty() const override { return std::make_unique<Undisturbed>(); }
  void start(int key, const Occupant &) override { touched_ = {key}; }
  void end(int) override { touched_.clear(); }
  const std::vector<int> &touched() const override { return touched_; }
  double speed(int) const override { return 1; }
  double alone(const Occupant &) const override { return 1; }

private:
  std::vector<int> touched_;
};

} // namespace harmony
