#include "src/sim/truth/calibrate.h"

#include "src/discover/profiles.h"
#include "src/sim/truth/read_measured.h"
#include "src/sim/truth/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace harmony {
namespace {

constexpr int nodes_at_most = 8;
constexpr int gpus_a_node = 8;

// Machines of the kind that the table is taken to be measured on.
std::vector<NodeResources> machines() {
  Topology topology = synthetic_topology("dgx1").value();
  topology.nics.resize(1);
  NodeState node;
  node.topology = std::make_shared<const Topology>(topology);
  std::vector<NodeResources> made;
  for (int i = 0; i < nodes_at_most; ++i) made.emplace_back(node, i ? made.back().first() + made.back().count() : 0);
  return made;
}

// How fast the model says that gangs go, alone.
class Model {
public:
  Model()
      : nodes_(machines()), capacities_(Capacities::standard()), capacity_(nodes_.front().capacities(capacities_)) {}

  double ratio(const JobType &type, int gpus, int nodes) const {
    return step_s(type, gpus, 1) / step_s(type, gpus, nodes);
  }

private:
  double step_s(const JobType &type, int gpus, int nodes) const {
    Occupant job;
    job.workers = gpus;
    for (int node = 0; node < nodes; ++node) {
      TasksOn tasks;
      tasks.node = node;
      tasks.workers = gpus / nodes + (node < gpus % nodes ? 1 : 0);
      tasks.cores = 5 * tasks.workers; // dgx1 has 40 for its 8 GPUs
      tasks.gpus = Bits(gpus_a_node);
      for (int gpu = 0; gpu < tasks.workers; ++gpu) tasks.gpus.set(gpu);
      job.where.push_back(tasks);
    }
    const Traffic traffic = find_traffic(type, job, nodes_, capacities_);
    std::vector<double> levels;
    for (const Use &use : traffic.uses)
      levels.push_back(capacity_[static_cast<std::size_t>(use.resource) % capacity_.size()]);
    return traffic.step_s(levels);
  }

  std::vector<NodeResources> nodes_;
  Capacities capacities_;
  std::vector<double> capacity_;
};

// What is fitted: overlap, the logarithm of network_efficiency, ring_latency_s as a part of compute_s, spread.
using Point = std::array<double, 4>;
constexpr Point least{0, -3, 0, 0}, most{1, 0, 0.5, 8}, usual{0.5, -0.25, 0, 0.5};

double rounded(double value, double to) { return std::round(value / to) * to; }

// Rounded as far as they are written down, so that what is built in is exactly what is fitted.
void set(JobType &type, const Point &point) {
  type.overlap = rounded(point[0], 0.01);
  type.network_efficiency = rounded(std::exp(point[1]), 0.01);
  type.ring_latency_s = rounded(point[2] * type.compute_s, 0.0001);
  type.spread = rounded(point[3], 0.01);
}

class Fit {
public:
  Fit(const Model &model, const JobType &type, const std::vector<Measured> &entries)
      : model_(model), type_(type), entries_(entries) {}

  Point best() {
    search_grid();
    for (double step = 0.1; step > 0.002; step /= 2)
      while (search_around(step)) {
      }
    return best_;
  }

private:
  // Errors beyond two thirds of the goal count more, so that no entry pays for the others. Where entries leave a
  // constant open, it stays near the usual.
  double cost(const Point &point) {
    set(type_, point);
    double sum = 0;
    for (const Measured &entry : entries_) {
      const double error = std::abs(std::log(model_.ratio(type_, entry.gpus, entry.nodes) / entry.ratio));
      sum += error * error + 100 * std::pow(std::max(0.0, error - calibration_goal * 2 / 3), 2);
    }
    for (std::size_t i = 0; i < point.size(); ++i)
      sum += 1e-4 * std::pow((point[i] - usual[i]) / (most[i] - least[i]), 2);
    return sum;
  }

  bool try_point(const Point &point) {
    const double here = cost(point);
    if (here >= cost_) return false;
    cost_ = here;
    best_ = point;
    return true;
  }

  void search_grid() {
    constexpr int steps = 8;
    const auto on_grid = [](std::size_t i, int step) { return least[i] + (most[i] - least[i]) * step / steps; };
    for (int a = 0; a <= steps; ++a)
      for (int b = 0; b <= steps; ++b)
        for (int c = 0; c <= steps; ++c)
          for (int d = 0; d <= steps; ++d) try_point({on_grid(0, a), on_grid(1, b), on_grid(2, c), on_grid(3, d)});
  }

  // Moves along one constant, or along two at once.
  bool search_around(double step) {
    const Point from = best_;
    const auto moved = [&](Point point, std::size_t i, double by) {
      point[i] = std::clamp(point[i] + by * step * (most[i] - least[i]), least[i], most[i]);
      return point;
    };
    bool better = false;
    for (std::size_t i = 0; i < from.size(); ++i)
      for (const double by : {-1.0, 1.0}) {
        better |= try_point(moved(from, i, by));
        for (std::size_t j = i + 1; j < from.size(); ++j)
          for (const double also : {-1.0, 1.0}) better |= try_point(moved(moved(from, i, by), j, also));
      }
    return better;
  }

  const Model &model_;
  JobType type_;
  const std::vector<Measured> &entries_;
  Point best_ = usual;
  double cost_ = 1e300;
};

} // namespace

double Calibration::worst() const {
  double largest = 0;
  for (const Measured &entry : entries) largest = std::max(largest, std::abs(entry.error()));
  return largest;
}

Calibration calibrate(const std::string &path, const JobTypes &types) {
  const Model model;
  Calibration made;
  for (auto &[name, entries] : read_measured(path)) {
    if (!types.knows(name)) {
      made.passed_over.push_back(name);
      continue;
    }
    JobType fitted = types.of(name);
    set(fitted, Fit(model, fitted, entries).best());
    for (Measured entry : entries) {
      entry.modelled = model.ratio(fitted, entry.gpus, entry.nodes);
      made.entries.push_back(entry);
    }
    made.types.push_back(fitted);
  }
  return made;
}

std::string calibration_text(const Calibration &calibration) {
  std::string text = fmt::format("{:<12} {:>8} {:>19} {:>15} {:>7}\n", "type", "overlap", "network efficiency",
                                 "ring latency ms", "spread");
  for (const JobType &type : calibration.types)
    text += fmt::format("{:<12} {:>8.2f} {:>19.2f} {:>15.1f} {:>7.2f}\n", type.name, type.overlap,
                        type.network_efficiency, type.ring_latency_s * 1000, type.spread);
  text +=
      fmt::format("\n{:<12} {:>5} {:>6} {:>9} {:>9} {:>7}\n", "type", "GPUs", "nodes", "measured", "modelled", "error");
  for (const Measured &entry : calibration.entries)
    text += fmt::format("{:<12} {:>5} {:>6} {:>9.3f} {:>9.3f} {:>+6.1f}%{}\n", entry.type, entry.gpus, entry.nodes,
                        entry.ratio, entry.modelled, 100 * entry.error(),
                        std::abs(entry.error()) > calibration_goal ? "  beyond the goal" : "");
  for (const std::string &name : calibration.passed_over)
    text += fmt::format("{}: no such job type, passed over\n", name);
  text += fmt::format("\n{} entries, the largest error is {:.1f} % (goal: {:.0f} %)\n", calibration.entries.size(),
                      100 * calibration.worst(), 100 * calibration_goal);
  return text;
}

} // namespace harmony
