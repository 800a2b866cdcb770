// The model that is trained: a perceptron with two layers that learns what another one, the teacher, does. Its
// parameters and gradients are seen from here as one row of floats.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ps_training {

class Model {
public:
  Model();
  ~Model();

  std::vector<float> parameters() const; // the same at the start in every process
  void set_parameters(const std::vector<float> &values);

  // The gradient on a batch of a worker's own data.
  std::vector<float> gradient(int worker, int step);
  // On data that nobody trains with.
  double loss() const;

private:
  struct Torch;
  std::unique_ptr<Torch> torch_;
};

} // namespace ps_training
