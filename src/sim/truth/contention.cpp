#include "src/sim/truth/contention.h"

#include "src/sim/truth/shared_resource.h"
#include "src/sim/truth/traffic.h"

#include <algorithm>

namespace harmony {

Capacities Capacities::standard() {
  Capacities made;
  // PCIe 3.0 x16: 15,750 MB/s on the wire (PCI-SIG), about 12,000 in CUDA's bandwidthTest. Generation and width are not
  // published with a topology, and x16 of the third is what most machines of the traces have.
  made.pcie_switch = 12000;
  // What is below one host bridge passes the CPU's root complex: two x16 links at once reach some 1.6 of one (assumed).
  made.host_bridge = 19000;
  // Two QPI/UPI links of 9.6 to 10.4 GT/s, 20,800 MB/s each on the wire, of which copies between GPUs reach less than
  // half (assumed).
  made.socket_link = 18000;
  // Six channels of DDR4-2666 are 128,000 MB/s (JEDEC); STREAM reaches about 75 % of it.
  made.memory = 95000;
  // One data-centre NVMe drive on PCIe 3.0 x4, sequential reads (data sheets say 2,500 to 3,300).
  made.disk = 2500;
  made.nvlink = 22000;            // of 25,000 one way (NVIDIA, V100); what NCCL reaches (assumed)
  made.network_efficiency = 0.92; // Ethernet, IP and TCP headers and acknowledgements (assumed)
  made.ps_cpu_mb_per_s =
      4000; // a core moves 12,000 MB/s: it reads two floats and writes one for each it adds (assumed)
  return made;
}

namespace {

// What does not change while jobs come and go; shared with the empty twins.
struct Rules {
  Rules(const SimCluster &cluster, const JobTypes &job_types, const Capacities &of_resources)
      : types(job_types), capacities(of_resources) {
    int first = 0;
    for (const NodeState &node : cluster.nodes) {
      nodes.emplace_back(node, first);
      first += nodes.back().count();
      for (const double each : nodes.back().capacities(capacities)) capacity.push_back(each);
    }
  }

  Traffic traffic(const Occupant &job) const { return find_traffic(types.of(job.type), job, nodes, capacities); }

  const JobTypes types;
  const Capacities capacities;
  std::vector<NodeResources> nodes;
  std::vector<double> capacity; // by resource
};

class Contention : public Truth {
public:
  explicit Contention(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {
    shares_.reserve(rules_->capacity.size());
    for (const double each : rules_->capacity) shares_.emplace_back(each);
  }

  std::string title() const override { return "mechanistic"; }
  std::unique_ptr<Truth> empty() const override { return std::make_unique<Contention>(rules_); }

  void start(int key, const Occupant &job) override {
    if (static_cast<std::size_t>(key) >= jobs_.size()) jobs_.resize(static_cast<std::size_t>(key) + 1);
    Job &mine = jobs_[static_cast<std::size_t>(key)];
    mine.traffic = rules_->traffic(job);
    const std::vector<Use> &uses = mine.traffic.uses;
    mine.levels.assign(uses.size(), 0);
    for (std::size_t i = 0; i < uses.size(); ++i)
      share(uses[i]).add({mine.traffic.demand(uses[i]), uses[i].weight, key, static_cast<int>(i)});
    touched_.assign(1, key);
    settle(uses);
  }

  void end(int key) override {
    Job &mine = jobs_[static_cast<std::size_t>(key)];
    for (const Use &use : mine.traffic.uses) share(use).remove(key);
    touched_.clear();
    settle(mine.traffic.uses);
    mine = {};
  }

  const std::vector<int> &touched() const override { return touched_; }
  double speed(int key) const override { return jobs_[static_cast<std::size_t>(key)].speed; }

  double alone(const Occupant &job) const override {
    const Traffic traffic = rules_->traffic(job);
    std::vector<double> levels;
    levels.reserve(traffic.uses.size());
    for (const Use &use : traffic.uses) levels.push_back(rules_->capacity[static_cast<std::size_t>(use.resource)]);
    return traffic.speed(traffic.step_s(levels));
  }

private:
  struct Job {
    Traffic traffic;
    std::vector<double> levels; // one a use
    double speed = 0;
  };

  SharedResource &share(const Use &use) { return shares_[static_cast<std::size_t>(use.resource)]; }

  // Finds the levels of everybody on these resources, and from them the speeds of those jobs.
  void settle(const std::vector<Use> &changed) {
    for (const Use &use : changed) {
      const SharedResource &here = share(use);
      for (std::size_t i = 0; i < here.claims().size(); ++i) {
        const ResourceClaim &claim = here.claims()[i];
        jobs_[static_cast<std::size_t>(claim.key)].levels[static_cast<std::size_t>(claim.use)] = here.level(i);
        touched_.push_back(claim.key);
      }
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const int key : touched_) {
      Job &job = jobs_[static_cast<std::size_t>(key)];
      job.speed = job.traffic.speed(job.traffic.step_s(job.levels));
    }
  }

  std::shared_ptr<const Rules> rules_;
  std::vector<SharedResource> shares_; // by resource
  std::vector<Job> jobs_;              // by key
  std::vector<int> touched_;
};

} // namespace

std::unique_ptr<Truth> make_contention(const SimCluster &cluster, const JobTypes &types, const Capacities &capacities) {
  return std::make_unique<Contention>(std::make_shared<const Rules>(cluster, types, capacities));
}

} // namespace harmony
