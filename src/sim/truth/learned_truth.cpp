#include "src/sim/truth/learned_truth.h"

#include "src/encode/node_encoding.h"

#include <algorithm>

namespace harmony {
namespace {

struct Rules {
  Rules(const SimCluster &cluster, const LearnedPhysics &of) : physics(of), types(of.types) {
    for (const NodeState &node : cluster.nodes) topologies.push_back(node.topology);
  }
  double model_kb(const std::string &type) const {
    const auto known = physics.model_kb.find(type);
    return known == physics.model_kb.end() ? 0 : known->second;
  }
  const LearnedPhysics physics;
  const TypeIndex types;
  std::vector<std::shared_ptr<const Topology>> topologies; // by node
};

class LearnedTruth : public Truth {
public:
  explicit LearnedTruth(std::shared_ptr<const Rules> rules)
      : rules_(std::move(rules)), encoder_(rules_->types.count()), on_node_(rules_->topologies.size()) {}

  std::string title() const override { return "learned from a dataset"; }
  std::unique_ptr<Truth> empty() const override { return std::make_unique<LearnedTruth>(rules_); }

  void start(int key, const Occupant &job) override {
    if (at(key) >= jobs_.size()) jobs_.resize(at(key) + 1);
    jobs_[at(key)].occupant = job;
    jobs_[at(key)].type = rules_->types.of(job.type);
    for (std::size_t i = 0; i < job.where.size(); ++i) on_node_[at(job.where[i].node)].push_back({key, i});
    touched_.clear();
    settle(job);
  }

  void end(int key) override {
    Job ended = std::move(jobs_[at(key)]);
    jobs_[at(key)] = {};
    for (const TasksOn &tasks : ended.occupant.where) {
      std::vector<Here> &here = on_node_[at(tasks.node)];
      here.erase(std::find_if(here.begin(), here.end(), [key](const Here &each) { return each.key == key; }));
    }
    touched_.clear();
    settle(ended.occupant);
  }

  const std::vector<int> &touched() const override { return touched_; }
  double speed(int key) const override { return jobs_[at(key)].speed; }
  double alone(const Occupant &job) const override { return predict(job, rules_->types.of(job.type), nullptr); }

private:
  struct Job {
    Occupant occupant;
    int type = 0;
    double speed = 1;
  };
  struct Here { // a job on a node
    int key = 0;
    std::size_t where = 0; // index into its occupant's
  };
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // `among`: who runs; nullptr: nobody.
  double predict(const Occupant &job, int type, const int *key) const {
    std::vector<RewardPlace> places;
    for (const TasksOn &tasks : job.where) {
      const Topology *topology = rules_->topologies[at(tasks.node)].get();
      RewardPlace place{topology, static_cast<int>(topology->gpus.size()), tasks.workers, tasks.ps, tasks.gpus, {}};
      if (key)
        for (const Here &here : on_node_[at(tasks.node)]) {
          if (here.key == *key) continue;
          const Job &other = jobs_[at(here.key)];
          const TasksOn &its = other.occupant.where[here.where];
          place.beside.push_back({static_cast<std::uint64_t>(here.key), other.type, other.occupant.where.size() > 1,
                                  its.workers, its.ps, &its.gpus, other.occupant.workers, other.occupant.ps});
        }
      places.push_back(std::move(place));
    }
    rows_.clear();
    encoder_.append({type, job.workers, job.ps, static_cast<int>(job.where.size()), rules_->model_kb(job.type)}, places,
                    rows_);
    const RewardNetwork &network = *rules_->physics.network;
    const int member = rules_->physics.member;
    const float speed = member < 0 ? network.slowest(rows_, 0, rows_.count()).mean
                                   : network.slowest_by(member, rows_, 0, rows_.count());
    return std::max(slowest_speed, static_cast<double>(speed));
  }

  // Everybody on the job's nodes.
  void settle(const Occupant &changed) {
    for (const TasksOn &tasks : changed.where)
      for (const Here &here : on_node_[at(tasks.node)]) touched_.push_back(here.key);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const int key : touched_) jobs_[at(key)].speed = predict(jobs_[at(key)].occupant, jobs_[at(key)].type, &key);
  }

  std::shared_ptr<const Rules> rules_;
  mutable RewardEncoder encoder_;
  mutable SparseRows rows_;
  std::vector<std::vector<Here>> on_node_;
  std::vector<Job> jobs_; // by key
  std::vector<int> touched_;
};

} // namespace

std::unique_ptr<Truth> make_learned_truth(const SimCluster &cluster, const LearnedPhysics &physics) {
  return std::make_unique<LearnedTruth>(std::make_shared<const Rules>(cluster, physics));
}

} // namespace harmony
