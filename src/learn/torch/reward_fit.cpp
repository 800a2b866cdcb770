#include "src/learn/reward_fit.h"

#include "src/reward/reward_network.h"
#include "src/sim/random.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace harmony {
namespace {

// Distinct rows of a job beyond these tell little more.
constexpr int most_rows = 8;

constexpr double least_decay = 1e-5; // also of the pairs

torch::Tensor starting_values(int types, std::uint64_t seed) {
  const RewardLayout layout(types);
  torch::Tensor flat = torch::zeros({static_cast<std::int64_t>(layout.size)});
  float *values = flat.data_ptr<float>();
  Random random(seed, "reward");
  const auto fill = [&](std::size_t from, std::size_t to, double deviation) {
    for (std::size_t i = from; i < to; ++i) values[i] = static_cast<float>(deviation * random.normal());
  };
  fill(layout.first, layout.first_bias, 0.25); // rows are sparse: about twenty values
  fill(layout.second, layout.second_bias, std::sqrt(2.0 / reward_hidden));
  fill(layout.last, layout.last_bias, 0.1);
  fill(layout.victim, layout.size, 0.3);
  values[layout.last_bias] = -2; // about 0.88 of the best, before anything is known
  return flat;
}

// The same as RewardNetwork, on many dense rows and with gradients.
torch::Tensor log_speeds(const torch::Tensor &flat, const torch::Tensor &rows, int types) {
  const RewardLayout layout(types);
  const auto part = [&flat](std::size_t from, std::size_t to) {
    return flat.slice(0, static_cast<std::int64_t>(from), static_cast<std::int64_t>(to));
  };
  const auto columns = [&](reward_group::Group group) {
    const int first = reward_column_of(group, 0, types);
    return rows.slice(1, first, first + types);
  };
  const torch::Tensor first = torch::relu(torch::addmm(
      part(layout.first_bias, layout.second), rows, part(layout.first, layout.first_bias).view({-1, reward_hidden})));
  const torch::Tensor second = torch::relu(torch::addmm(
      part(layout.second_bias, layout.last), first, part(layout.second, layout.second_bias).view({-1, reward_hidden})));
  const torch::Tensor me = columns(reward_group::me).mm(part(layout.victim, layout.aggressor).view({-1, reward_pair})),
                      others =
                          columns(reward_group::jobs).mm(part(layout.aggressor, layout.size).view({-1, reward_pair}));
  const torch::Tensor z = second.mv(part(layout.last, layout.last_bias)) + part(layout.last_bias, layout.victim);
  return -torch::log1p(torch::softplus(z)) - torch::relu((me * others).sum(1));
}

class Batch {
public:
  Batch(const TrainingData &data, int types) : data_(data), types_(types), width_(reward_width(types)) {}

  // Examples as dense rows; of those with fewer rows the first is repeated. Jobs of type
  // `hidden` are told as unknown.
  void fill(const std::vector<int> &order, int hidden) {
    const std::size_t begin = 0, end = order.size();
    int rows = 1;
    for (std::size_t i = begin; i < end; ++i) rows = std::max(rows, example(order[i]).end - example(order[i]).first);
    rows_each = std::min(rows, most_rows);
    const auto count = static_cast<std::int64_t>(end - begin);
    rows_ = torch::zeros({count * rows_each, width_});
    targets = torch::empty({count});
    weights = torch::empty({count});
    float *at = rows_.data_ptr<float>();
    for (std::size_t i = begin; i < end; ++i) {
      const RewardExample &each = example(order[i]);
      targets.data_ptr<float>()[i - begin] = std::log(each.speed);
      weights.data_ptr<float>()[i - begin] = each.weight;
      for (int k = 0; k < rows_each; ++k, at += width_)
        put(each.first + k < each.end ? each.first + k : each.first, hidden, at);
    }
  }
  const torch::Tensor &rows() const { return rows_; }

  torch::Tensor targets, weights; // logarithms of speeds
  int rows_each = 1;

private:
  const RewardExample &example(int index) const { return data_.examples[static_cast<std::size_t>(index)]; }

  void put(int row, int hidden, float *to) const {
    for (std::size_t i = data_.rows.begin(row); i < data_.rows.end(row); ++i) {
      auto [column, value] = data_.rows.entries[i];
      if (hidden > 0 && column >= reward_column::count && (column - reward_column::count) % types_ == hidden)
        column -= hidden;
      to[column] += value;
    }
  }

  const TrainingData &data_;
  const int types_, width_;
  torch::Tensor rows_;
};

template <class Value> void shuffle(std::vector<Value> &order, Random &random) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
}

// Examples with about as many rows go together, since all of a batch are filled up to the most.
int size_class(const RewardExample &example) {
  const int rows = example.end - example.first;
  return rows <= 1 ? 0 : rows == 2 ? 1 : rows <= 4 ? 2 : 3;
}

std::vector<std::vector<int>> batches_of(const TrainingData &data, std::vector<int> order, std::size_t size,
                                         Random &random) {
  shuffle(order, random);
  std::vector<std::vector<int>> batches;
  for (int of_class = 0; of_class < 4; ++of_class) {
    bool begun = false;
    for (const int index : order) {
      if (size_class(data.examples[static_cast<std::size_t>(index)]) != of_class) continue;
      if (!begun || batches.back().size() == size) batches.emplace_back();
      begun = true;
      batches.back().push_back(index);
    }
  }
  shuffle(batches, random);
  return batches;
}

// Each member sees the runs in another mixture: some of them twice, some not at all.
std::vector<int> drawn_runs(const TrainingData &data, const std::vector<int> &which, std::uint64_t seed) {
  std::vector<int> drawn;
  for (const int index : which) {
    Random random(seed, "bootstrap", static_cast<std::uint64_t>(data.examples[static_cast<std::size_t>(index)].run));
    const double u = random.unit();
    const int times = u < 0.25 ? 0 : u < 0.75 ? 1 : 2;
    for (int i = 0; i < times; ++i) drawn.push_back(index);
  }
  return drawn.empty() ? which : drawn;
}

} // namespace

std::vector<float> fit_reward(const TrainingData &data, const std::vector<int> &which,
                              const RewardFitOptions &options) {
  if (which.empty()) throw std::runtime_error("there are no examples to fit a reward model from");
  at::set_num_threads(1);
  const int types = static_cast<int>(data.types.size()) + 1;
  std::vector<float> parameters;
  bool stopped = false;
  for (int member = 0; member < reward_members; ++member) {
    const std::uint64_t seed = options.seed * 101 + static_cast<std::uint64_t>(member);
    Random random(seed, "fit");
    std::vector<int> order = drawn_runs(data, which, seed);
    torch::Tensor flat = starting_values(types, seed).requires_grad_(true);
    torch::optim::Adam adam({flat}, torch::optim::AdamOptions(options.rate).weight_decay(least_decay));
    Batch batch(data, types);
    const auto layers = static_cast<std::int64_t>(RewardLayout(types).victim); // what stands before the pairs
    double done = 0;
    for (int pass = 0; pass < options.passes && !stopped; ++pass) {
      const auto batches = batches_of(data, order, static_cast<std::size_t>(options.batch), random);
      double loss_sum = 0;
      for (const std::vector<int> &examples : batches) {
        done += 1.0 / static_cast<double>(batches.size()) / options.passes;
        static_cast<torch::optim::AdamOptions &>(adam.param_groups()[0].options())
            .lr(options.rate * 0.5 * (1.02 + std::cos(3.14159265 * std::min(1.0, done))));
        const int hidden = types > 2 && random.unit() < 0.5 ? 1 + random.below(types - 1) : 0;
        batch.fill(examples, hidden);
        const torch::Tensor predicted =
            std::get<0>(log_speeds(flat, batch.rows(), types).view({-1, batch.rows_each}).min(1));
        // Huber's: what is far off (a wrong declaration, a lie) pulls no harder than what is a little off.
        const torch::Tensor off = (predicted - batch.targets).abs();
        const torch::Tensor each = torch::where(off < 0.3, off * off / 0.6, off - 0.15);
        const torch::Tensor loss = (each * batch.weights).sum() / batch.weights.sum().clamp_min(1e-6);
        adam.zero_grad();
        loss.backward();
        flat.mutable_grad().slice(0, 0, layers) += (options.decay - least_decay) * flat.detach().slice(0, 0, layers);
        torch::nn::utils::clip_grad_norm_({flat}, 1.0);
        adam.step();
        loss_sum += loss.item<double>();
      }
      const double part = (member + (pass + 1.0) / options.passes) / reward_members;
      if (options.progress && !options.progress(part, loss_sum / static_cast<double>(batches.size()))) stopped = true;
    }
    const torch::Tensor fitted = flat.detach().contiguous();
    parameters.insert(parameters.end(), fitted.data_ptr<float>(), fitted.data_ptr<float>() + fitted.numel());
  }
  parameters.insert(parameters.end(), data.part_of_limit.begin(), data.part_of_limit.end());
  return parameters;
}

} // namespace harmony
