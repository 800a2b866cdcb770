#include "src/sim/truth/tables.h"

#include "src/sim/truth/table_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace harmony {
namespace {

constexpr double least_left = 0.05;

struct Rules {
  SpeedTable speeds;
  PairTable pairs;
  Combine combine = Combine::product;
  bool has_speeds = false, has_pairs = false;
};

class Tables : public Truth {
public:
  Tables(std::shared_ptr<const Rules> rules, std::unique_ptr<Truth> otherwise)
      : rules_(std::move(rules)), otherwise_(std::move(otherwise)) {}

  std::string title() const override {
    const std::string alone = rules_->has_speeds ? "" : fmt::format("speeds alone {}, ", otherwise_->title());
    return rules_->has_pairs ? fmt::format("tables ({}pairs combined by {})", alone, combine_name(rules_->combine))
                             : fmt::format("tables ({}no pairs)", alone);
  }

  std::unique_ptr<Truth> empty() const override { return std::make_unique<Tables>(rules_, otherwise_->empty()); }

  void start(int key, const Occupant &job) override {
    if (index(key) >= jobs_.size()) jobs_.resize(index(key) + 1);
    Job &mine = jobs_[index(key)];
    mine.alone = alone(job);
    mine.kind = kind_of(job);
    touched_.assign(1, key);
    for (const TasksOn &tasks : job.where) {
      if (index(tasks.node) >= on_node_.size()) on_node_.resize(index(tasks.node) + 1);
      std::vector<int> &here = on_node_[index(tasks.node)];
      touched_.insert(touched_.end(), here.begin(), here.end());
      here.push_back(key);
      mine.nodes.push_back(tasks.node);
    }
    sort_touched();
    for (const int other : touched_) {
      if (other == key) continue;
      mine.beside.push_back({other, ratio(mine.kind, jobs_[index(other)].kind)});
      jobs_[index(other)].beside.push_back({key, ratio(jobs_[index(other)].kind, mine.kind)});
    }
    for (const int each : touched_) settle(jobs_[index(each)]);
  }

  void end(int key) override {
    Job &mine = jobs_[index(key)];
    for (const int node : mine.nodes) {
      std::vector<int> &here = on_node_[index(node)];
      here.erase(std::find(here.begin(), here.end(), key));
    }
    touched_.clear();
    for (const Neighbour &neighbour : mine.beside) {
      Job &other = jobs_[index(neighbour.key)];
      const auto is_mine = [key](const Neighbour &each) { return each.key == key; };
      other.beside.erase(std::find_if(other.beside.begin(), other.beside.end(), is_mine));
      settle(other);
      touched_.push_back(neighbour.key);
    }
    sort_touched();
    mine = {};
  }

  const std::vector<int> &touched() const override { return touched_; }
  double speed(int key) const override { return jobs_[index(key)].speed; }

  double alone(const Occupant &job) const override {
    const auto measured = rules_->speeds.speed(job.type, job.workers, static_cast<int>(job.where.size()));
    return measured ? *measured : otherwise_->alone(job);
  }

private:
  struct Neighbour {
    int key = 0;
    double ratio = 1; // of our speed
  };
  struct Job {
    double alone = 0, speed = 0;
    int kind = 0;
    std::vector<int> nodes;
    std::vector<Neighbour> beside;
  };

  static std::size_t index(int key) { return static_cast<std::size_t>(key); }

  void sort_touched() {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  }

  int kind_of(const Occupant &job) {
    const JobKind kind{job.type, job.workers, static_cast<int>(job.where.size())};
    const auto [found, is_new] = kinds_.emplace(kind, static_cast<int>(kinds_.size()));
    if (is_new) {
      by_index_.push_back(kind);
      ratios_.emplace_back();
    }
    return found->second;
  }

  // Looked up once for every two kinds that ever met.
  double ratio(int victim, int aggressor) {
    std::vector<double> &known = ratios_[index(victim)];
    if (known.size() <= index(aggressor)) known.resize(index(aggressor) + 1, std::nan(""));
    double &value = known[index(aggressor)];
    if (std::isnan(value)) value = rules_->pairs.ratio(by_index_[index(victim)], by_index_[index(aggressor)]);
    return value;
  }

  // Sorted first, so that the result is the same to the last bit whoever came first.
  void settle(Job &job) {
    scratch_.clear();
    for (const Neighbour &neighbour : job.beside) scratch_.push_back(neighbour.ratio);
    std::sort(scratch_.begin(), scratch_.end());
    double left = 1;
    if (rules_->combine == Combine::min && !scratch_.empty()) left = scratch_.front();
    for (const double each : scratch_) {
      if (rules_->combine == Combine::product) left *= each;
      if (rules_->combine == Combine::additive) left -= 1 - each;
    }
    job.speed = job.alone * (rules_->combine == Combine::additive ? std::max(least_left, left) : left);
  }

  std::shared_ptr<const Rules> rules_;
  std::unique_ptr<Truth> otherwise_;
  std::map<JobKind, int> kinds_;
  std::vector<JobKind> by_index_;
  std::vector<std::vector<double>> ratios_; // by kind of victim and of aggressor; NaN: not looked up
  std::vector<std::vector<int>> on_node_;   // keys
  std::vector<Job> jobs_;                   // by key
  std::vector<double> scratch_;
  std::vector<int> touched_;
};

} // namespace

const char *combine_name(Combine combine) {
  switch (combine) {
  case Combine::product: return "product";
  case Combine::min: return "min";
  case Combine::additive: return "additive";
  }
  return "?";
}

std::unique_ptr<Truth> make_tables(const std::string &speeds, const std::string &pairs, Combine combine,
                                   std::unique_ptr<Truth> otherwise) {
  auto rules = std::make_shared<Rules>();
  rules->combine = combine;
  rules->has_speeds = !speeds.empty();
  rules->has_pairs = !pairs.empty();
  if (rules->has_speeds) rules->speeds = SpeedTable(speeds);
  if (rules->has_pairs) rules->pairs = PairTable(pairs);
  return std::make_unique<Tables>(std::move(rules), std::move(otherwise));
}

} // namespace harmony
