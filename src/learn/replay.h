// Experiences that are learned from again: the latest so many, drawn at random. For one thread.
#pragma once

#include "src/learn/policy_network.h"
#include "src/sim/random.h"

#include <deque>
#include <utility>
#include <vector>

namespace harmony {

class Replay {
public:
  explicit Replay(std::size_t most) : most_(most) {}

  void add(Experience experience) {
    if (all_.size() == most_) all_.pop_front();
    all_.push_back(std::move(experience));
  }
  void clear() { all_.clear(); }
  std::size_t size() const { return all_.size(); }

  // Good until the next add(). There must be some.
  std::vector<const Experience *> draw(std::size_t count, Random &random) const {
    std::vector<const Experience *> drawn;
    for (std::size_t i = 0; i < count; ++i)
      drawn.push_back(&all_[static_cast<std::size_t>(random.below(static_cast<int>(all_.size())))]);
    return drawn;
  }

private:
  const std::size_t most_;
  std::deque<Experience> all_;
};

} // namespace harmony
