// Moments of a simulation, evenly over its length, which is not known before its end: twice as many as wanted are kept
// at most, and then every second one is dropped. For one thread.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace harmony {

template <class Moment> class Timeline {
public:
  Timeline(std::size_t wanted, double step_s) : wanted_(wanted), step_s_(step_s) {}

  // Whether the time has come for another moment.
  bool due(double now) const { return wanted_ > 0 && (moments_.empty() || now >= moments_.back().at_s + step_s_); }

  void add(Moment moment) {
    moments_.push_back(std::move(moment));
    if (moments_.size() < 2 * wanted_) return;
    for (std::size_t i = 1; 2 * i < moments_.size(); ++i) moments_[i] = std::move(moments_[2 * i]);
    moments_.resize((moments_.size() + 1) / 2);
    step_s_ *= 2;
  }

  std::vector<Moment> take() { return std::move(moments_); }

private:
  std::size_t wanted_;
  double step_s_;
  std::vector<Moment> moments_;
};

} // namespace harmony
