// The reward network: how fast a job goes on one of its nodes, relative to the best it could have. Trained with
// LibTorch (src/learn/torch), shipped as the answer of a model's method reward_parameters, and run here, since a
// prediction costs a microsecond this way and fifty through an interpreter.
//
// Several members of one shape, trained apart, are asked for their mean, and for how far they lie apart. Of a member,
// with x a row (reward_rows.h):
//   h = relu(W1 x + b1), g = relu(W2 h + b2), z = w3 g + b3, speed = exp(-relu((A me) (B jobs))) / (1 + log(1 +
//   exp(z)))
// where me and jobs are those columns of x. Times of resources that are shared add up, so 1 / speed is what the layers
// say; what each neighbour costs in itself multiplies, as measured pairs do.
//
// Behind the members stands what jobs of each type usually take of their time limits.
#pragma once

#include "src/encode/usual_times.h"
#include "src/reward/reward_rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

constexpr int reward_hidden = 48, reward_pair = 16, reward_members = 3;

// Below this speeds are not told apart, neither in what is learned from nor in the physics made of it. Many neighbours
// that multiply reach it; a floor higher up would make the worst places look bearable.
constexpr double slowest_speed = 0.001;

// Where a member's parameters lie in the flat list, in this order; matrices are by input, so that rows of a sparse
// input are picked out.
struct RewardLayout {
  explicit RewardLayout(int types);
  std::size_t first, first_bias, second, second_bias, last, last_bias, victim, aggressor, size;
};

using RewardSpeeds = std::array<float, reward_members>; // one a member

struct Opinion {
  float mean = 1;
  float deviation = 0;
};

// Never changes; may be asked from any thread.
class RewardNetwork {
public:
  // As many parameters as parameter_count() says, all finite.
  RewardNetwork(int types, std::vector<float> parameters);

  static std::size_t parameter_count(int types);
  // One line; empty if they are as many as they should be, and finite.
  static std::string problem_with(int types, const std::vector<float> &parameters);

  int types() const { return types_; }
  const std::vector<float> &parameters() const { return parameters_; }
  const UsualTimes &usual() const { return usual_; }

  // The slowest of rows [begin, end): each member's word for itself. In steps of 2^-16, within (0, 1].
  Opinion slowest(const SparseRows &rows, int begin, int end) const;
  float slowest_by(int member, const SparseRows &rows, int begin, int end) const;

private:
  const RewardSpeeds &speeds(const SparseRows &rows, int row) const; // good until the next question of this thread
  float speed(const float *parameters, const SparseRows &rows, int row) const;

  const std::uint64_t number_; // of all networks that were made
  const int types_;
  const RewardLayout layout_;
  const std::vector<float> parameters_;
  const UsualTimes usual_;
};

} // namespace harmony
