#include "contrib/examples/ps_training/model.h"

#include <torch/torch.h>

#include <stdexcept>

namespace ps_training {
namespace {

constexpr int inputs = 16, hidden = 64, batch = 64;

torch::nn::Sequential perceptron(unsigned seed) {
  torch::manual_seed(seed);
  return torch::nn::Sequential(torch::nn::Linear(inputs, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, 1));
}

std::vector<float> row(const std::vector<torch::Tensor> &tensors) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor &tensor : tensors) flat.push_back(tensor.detach().reshape({-1}));
  const torch::Tensor all = torch::cat(flat).contiguous();
  return {all.data_ptr<float>(), all.data_ptr<float>() + all.numel()};
}

} // namespace

struct Model::Torch {
  torch::nn::Sequential student = perceptron(1), teacher = perceptron(2);
  torch::Tensor held_out = torch::randn({512, inputs});

  torch::Tensor loss_on(const torch::Tensor &data) {
    torch::Tensor wanted;
    {
      torch::NoGradGuard no_grad;
      wanted = 4 * teacher->forward(data);
    }
    return torch::mse_loss(student->forward(data), wanted);
  }
};

Model::Model() {
  at::set_num_threads(1);
  torch_ = std::make_unique<Torch>();
}
Model::~Model() = default;

std::vector<float> Model::parameters() const { return row(torch_->student->parameters()); }

void Model::set_parameters(const std::vector<float> &values) {
  torch::NoGradGuard no_grad;
  const torch::Tensor all = torch::tensor(values);
  std::int64_t at = 0;
  for (torch::Tensor &parameter : torch_->student->parameters()) {
    parameter.copy_(all.slice(0, at, at + parameter.numel()).view_as(parameter));
    at += parameter.numel();
  }
  if (at != all.numel()) throw std::runtime_error("the parameters are not this model's");
}

std::vector<float> Model::gradient(int worker, int step) {
  torch::manual_seed(1000 + static_cast<std::uint64_t>(step) * 8192 + static_cast<std::uint64_t>(worker));
  torch_->student->zero_grad();
  torch_->loss_on(torch::randn({batch, inputs})).backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor &parameter : torch_->student->parameters()) gradients.push_back(parameter.grad());
  return row(gradients);
}

double Model::loss() const {
  torch::NoGradGuard no_grad;
  return torch_->loss_on(torch_->held_out).item<double>();
}

} // namespace ps_training
