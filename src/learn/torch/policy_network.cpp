#include "src/learn/policy_network.h"

#include "src/encode/schema.h"
#include "src/sim/random.h"

#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace harmony {
namespace {

using torch::Tensor;
using torch::jit::Module;

constexpr int embedding = 8;
constexpr int gang_hidden = 64, gang_second = 32, task_hidden = 48, task_second = 24, value_hidden = 64;

// The one definition of what the networks compute: trained by it, saved with it, run by slurmctld. Rows of many jobs at
// once for training; the methods of the contract (models/README) are about one job.
constexpr const char *code = R"(
def scores(self, types: Tensor, jobs: Tensor, rows: Tensor, job: Tensor, row: Tensor, bias: Tensor, second: Tensor, second_bias: Tensor, last: Tensor) -> Tensor:
  known = torch.cat([torch.embedding(self.types, types), jobs], 1)
  x = torch.relu(torch.linear(rows, row, bias) + torch.linear(known, job))
  x = torch.relu(torch.linear(x, second, second_bias))
  return torch.matmul(x, last)
def task_scores(self, types: Tensor, jobs: Tensor, rows: Tensor) -> Tensor:
  return self.scores(types, jobs, rows, self.task_job, self.task_row, self.task_bias, self.task_second, self.task_second_bias, self.task_last) + torch.matmul(rows, self.task_weights)
def gang_scores(self, types: Tensor, jobs: Tensor, rows: Tensor) -> Tensor:
  return self.scores(types, jobs, rows, self.gang_job, self.gang_row, self.gang_bias, self.gang_second, self.gang_second_bias, self.gang_last) + torch.matmul(rows, self.gang_weights)
def values(self, types: Tensor, jobs: Tensor) -> Tensor:
  known = torch.cat([torch.embedding(self.types, types), jobs], 1)
  x = torch.relu(torch.linear(known, self.value_first, self.value_bias))
  x = torch.relu(torch.linear(x, self.value_second, self.value_second_bias))
  return torch.matmul(x, self.value_last)
def score_candidates(self, type: Tensor, job: Tensor, candidates: Tensor) -> Tensor:
  return self.task_scores(type.unsqueeze(0), job.unsqueeze(0), candidates)
def score_gangs(self, type: Tensor, job: Tensor, gangs: Tensor) -> Tensor:
  return self.gang_scores(type.unsqueeze(0), job.unsqueeze(0), gangs)
def reward_parameters(self) -> Tensor:
  return self.reward
)";

Tensor random_matrix(std::initializer_list<std::int64_t> sizes, double deviation, Random &random) {
  Tensor made = torch::empty(sizes);
  float *values = made.data_ptr<float>();
  for (std::int64_t i = 0; i < made.numel(); ++i) values[i] = static_cast<float>(deviation * random.normal());
  return made;
}

void add_head(Module &module, const std::string &name, int job, int width, int hidden, int second, Random &random) {
  const int known = job + embedding;
  module.register_parameter(name + "_job", random_matrix({hidden, known}, std::sqrt(1.0 / known), random), false);
  module.register_parameter(name + "_row", random_matrix({hidden, width}, std::sqrt(1.0 / width), random), false);
  module.register_parameter(name + "_bias", torch::zeros({hidden}), false);
  module.register_parameter(name + "_second", random_matrix({second, hidden}, std::sqrt(2.0 / hidden), random), false);
  module.register_parameter(name + "_second_bias", torch::zeros({second}), false);
  // It says nothing at first: what is learned is added to the weights of the features.
  module.register_parameter(name + "_last", random_matrix({second}, 1e-3, random), false);
  module.register_parameter(name + "_weights", torch::zeros({width}), false);
}

Module make_module(int types, std::uint64_t seed) {
  const ModelShape shape = shape_for(std::vector<std::string>(static_cast<std::size_t>(types - 1)));
  Random random(seed, "policy");
  Module module("Policy");
  module.register_parameter("types", random_matrix({types, embedding}, 0.3, random), false);
  add_head(module, "task", shape.job, shape.candidate, task_hidden, task_second, random);
  add_head(module, "gang", shape.job, shape.gang, gang_hidden, gang_second, random);
  const int known = shape.job + embedding;
  module.register_parameter("value_first", random_matrix({value_hidden, known}, std::sqrt(1.0 / known), random), false);
  module.register_parameter("value_bias", torch::zeros({value_hidden}), false);
  module.register_parameter("value_second",
                            random_matrix({value_hidden, value_hidden}, std::sqrt(2.0 / value_hidden), random), false);
  module.register_parameter("value_second_bias", torch::zeros({value_hidden}), false);
  module.register_parameter("value_last", random_matrix({value_hidden}, 1e-2, random), false);
  module.register_buffer("reward", torch::zeros({0}));
  module.define(code);
  return module;
}

// For as long as it lives: one core, and no optimising of graphs, which takes longer than these small networks do. Both
// are by thread; the second must not stay, for whoever loads a model on this thread needs it.
struct Quick {
  Quick() {
    thread_local const bool once = (at::set_num_threads(1), true);
    (void)once;
  }
  torch::jit::GraphOptimizerEnabledGuard unoptimised{false};
};

Tensor tensor_of(const std::vector<float> &values) { return torch::tensor(values, torch::kFloat); }

// Decisions as one block of rows: those with fewer choices are filled up, and the filling is masked.
struct Padded {
  Tensor types, jobs, rows, mask, chosen; // rows: [decisions * most, width]; mask: true where there is a choice
  Tensor row_types, row_jobs;             // of each row
  int most = 1;
};

Padded padded(const std::vector<const Experience *> &batch) {
  Padded made;
  for (const Experience *each : batch) made.most = std::max(made.most, each->rows.count);
  const auto count = static_cast<std::int64_t>(batch.size());
  const auto width = batch.front()->rows.width, job = static_cast<int>(batch.front()->job.features.size());
  made.types = torch::zeros({count}, torch::kLong);
  made.jobs = torch::zeros({count, job});
  made.rows = torch::zeros({count * made.most, width});
  made.mask = torch::zeros({count, made.most}, torch::kBool);
  made.chosen = torch::zeros({count, 1}, torch::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    const Experience &each = *batch[static_cast<std::size_t>(i)];
    made.types.data_ptr<std::int64_t>()[i] = each.job.type;
    std::copy_n(each.job.features.data(), job, made.jobs.data_ptr<float>() + i * job);
    std::copy_n(each.rows.values.data(), each.rows.values.size(), made.rows.data_ptr<float>() + i * made.most * width);
    for (int k = 0; k < each.rows.count; ++k) made.mask.data_ptr<bool>()[i * made.most + k] = true;
    made.chosen.data_ptr<std::int64_t>()[i] = each.chosen;
  }
  made.row_types = made.types.repeat_interleave(made.most);
  made.row_jobs = made.jobs.repeat_interleave(made.most, 0);
  return made;
}

} // namespace

struct PolicyNetwork::Parts {
  explicit Parts(Module of) : module(std::move(of)) {
    for (const auto &each : module.named_parameters()) {
      each.value.requires_grad_(true);
      trained.push_back(each.value);
    }
    adam = std::make_unique<torch::optim::Adam>(trained, torch::optim::AdamOptions(1e-3));
  }

  Tensor log_probabilities(const Padded &decisions, Level level) {
    const Tensor scores = module
                              .get_method(level == Level::task ? "task_scores" : "gang_scores")(
                                  {decisions.row_types, decisions.row_jobs, decisions.rows})
                              .toTensor()
                              .view({-1, decisions.most});
    return scores.masked_fill(decisions.mask.logical_not(), -1e9).log_softmax(1);
  }

  void step(const Tensor &loss, double rate) {
    static_cast<torch::optim::AdamOptions &>(adam->param_groups()[0].options()).lr(rate);
    adam->zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(trained, 1.0);
    adam->step();
  }

  std::vector<float> ask(const char *method, const JobRow &job, const Rows &rows) {
    if (rows.count == 0) return {};
    const Quick quick;
    const torch::InferenceMode inference;
    const Tensor answer =
        module
            .get_method(method)({torch::tensor(job.type),
                                 torch::from_blob(const_cast<float *>(job.features.data()),
                                                  {static_cast<std::int64_t>(job.features.size())}),
                                 torch::from_blob(const_cast<float *>(rows.values.data()), {rows.count, rows.width})})
            .toTensor()
            .contiguous();
    return {answer.data_ptr<float>(), answer.data_ptr<float>() + answer.numel()};
  }

  Tensor named(const std::string &name) const { return module.attr(name).toTensor(); }

  mutable Module module;
  std::vector<Tensor> trained;
  std::unique_ptr<torch::optim::Adam> adam;
};

PolicyNetwork::PolicyNetwork(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
PolicyNetwork::PolicyNetwork(int types, std::uint64_t seed)
    : parts_(std::make_unique<Parts>(make_module(types, seed))) {}
PolicyNetwork::~PolicyNetwork() = default;

PolicyNetwork::PolicyNetwork(int types, const std::string &file) {
  try {
    // Its values, in a module of our own: a file could hold any code.
    const Module read = torch::jit::load(file);
    Module made = make_module(types, 0);
    const torch::NoGradGuard no_gradients;
    for (const auto &each : made.named_parameters()) {
      if (!read.hasattr(each.name)) throw std::runtime_error("it has no parameter " + each.name);
      each.value.copy_(read.attr(each.name).toTensor());
    }
    if (read.hasattr("reward")) made.setattr("reward", read.attr("reward").toTensor().clone());
    parts_ = std::make_unique<Parts>(std::move(made));
  } catch (const c10::Error &error) {
    throw std::runtime_error(file + ": " + error.what_without_backtrace());
  }
}

std::unique_ptr<PolicyNetwork> PolicyNetwork::copy() const {
  const torch::NoGradGuard no_gradients; // else the copies would be computed from the originals
  return std::unique_ptr<PolicyNetwork>(new PolicyNetwork(std::make_unique<Parts>(parts_->module.deepcopy())));
}

std::vector<float> PolicyNetwork::score_candidates(const JobRow &job, const Rows &rows) {
  return parts_->ask("score_candidates", job, rows);
}
std::vector<float> PolicyNetwork::score_gangs(const JobRow &job, const Rows &rows) {
  return parts_->ask("score_gangs", job, rows);
}

std::vector<float> PolicyNetwork::reward_parameters() {
  const Tensor flat = parts_->named("reward").contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

float PolicyNetwork::value(const JobRow &job) const {
  const Quick quick;
  const torch::InferenceMode inference;
  return parts_->module.get_method("values")({torch::tensor({job.type}), tensor_of(job.features).unsqueeze(0)})
      .toTensor()
      .item<float>();
}

std::vector<float> PolicyNetwork::gang_weights() const {
  const Tensor weights = parts_->named("gang_weights").detach().contiguous();
  return {weights.data_ptr<float>(), weights.data_ptr<float>() + weights.numel()};
}

void PolicyNetwork::set_gang_weights(const std::vector<float> &weights) {
  const torch::NoGradGuard no_gradients;
  parts_->named("gang_weights").copy_(tensor_of(weights));
}

void PolicyNetwork::set_reward_parameters(const std::vector<float> &parameters) {
  parts_->module.setattr("reward", tensor_of(parameters));
}

double PolicyNetwork::imitate(const std::vector<const Experience *> &batch, double rate) {
  const Quick quick;
  const Padded decisions = padded(batch);
  const Tensor chosen =
      parts_->log_probabilities(decisions, batch.front()->level).gather(1, decisions.chosen).squeeze(1);
  const Tensor loss = -chosen.mean();
  parts_->step(loss, rate);
  return loss.item<double>();
}

LearningResult PolicyNetwork::learn(const std::vector<const Experience *> &batch, const LearningOptions &options) {
  const Quick quick;
  const Padded decisions = padded(batch);
  std::vector<float> returns, old;
  for (const Experience *each : batch) {
    returns.push_back(each->advised);
    old.push_back(each->log_prob);
  }
  const Tensor advised = tensor_of(returns);
  const Tensor values = parts_->module.get_method("values")({decisions.types, decisions.jobs}).toTensor();
  Tensor advantage = advised - (options.value_network ? values.detach() : advised.mean().expand_as(advised));
  advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6);
  const Tensor all = parts_->log_probabilities(decisions, batch.front()->level);
  const Tensor chosen = all.gather(1, decisions.chosen).squeeze(1);
  const Tensor entropy = -(all.exp() * all.clamp_min(-30)).sum(1).mean();
  // What was chosen long ago counts by how likely the policy of today would have chosen it; of what was not chosen by
  // the policy nothing is known of that (NaN).
  const Tensor ratio =
      torch::nan_to_num(chosen.detach() - tensor_of(old)).clamp(-5, 5).exp() * (chosen - chosen.detach()).exp();
  const Tensor gain = options.ppo
                          ? torch::min(ratio * advantage, ratio.clamp(1 - options.clip, 1 + options.clip) * advantage)
                          : chosen * advantage * ratio.detach().clamp_max(2);
  const Tensor value_loss = torch::smooth_l1_loss(values, advised);
  const Tensor loss = -gain.mean() - options.entropy * entropy + (options.value_network ? 0.5 : 0.0) * value_loss;
  parts_->step(loss, options.rate);
  return {-gain.mean().item<double>(), value_loss.item<double>(), entropy.item<double>()};
}

std::vector<float> PolicyNetwork::parameters() const {
  std::vector<float> all;
  for (const Tensor &each : parts_->trained) {
    const Tensor flat = each.detach().contiguous();
    all.insert(all.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return all;
}

void PolicyNetwork::save(const std::string &file) const {
  const torch::NoGradGuard no_gradients;
  Module saved = parts_->module.deepcopy();
  for (const auto &each : saved.named_parameters()) each.value.requires_grad_(false);
  saved.eval();
  saved.save(file);
}

std::string PolicyNetwork::torch_version() { return TORCH_VERSION; }

} // namespace harmony
