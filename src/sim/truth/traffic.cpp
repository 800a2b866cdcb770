#include "src/sim/truth/traffic.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace harmony {
namespace {

constexpr double without_gpu = 20; // times as long as on one: assumed

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// What the tasks of one job move on one node, added up.
class OnNode {
public:
  // `gpus_a_worker` is 0 if the job has none at all: then workers compute on the CPU.
  OnNode(const NodeResources &node, const JobType &type, const TasksOn &tasks, int gpus_a_worker,
         const Capacities &capacities)
      : node_(node), type_(type), tasks_(tasks), capacities_(capacities), sums_(at(node.count())) {
    for (const int gpu : each(tasks.gpus)) gpus_.push_back(gpu);
    if (node.has_links()) order_by_links();
    share_gpus(at(tasks.workers * std::max(1, gpus_a_worker)), gpus_a_worker > 0);
  }

  int units() const { return static_cast<int>(gpus_.size()); }
  double own_exchange_s() const { return own_exchange_s_; }

  double compute_s() const {
    double slowest = 0;
    for (const int gpu : gpus_) slowest = std::max(slowest, type_.compute_s / (gpu < 0 ? 1 : node_.speed_of_gpu(gpu)));
    return slowest * crowding_;
  }

  // Its cores are divided evenly among its tasks here.
  double cores_a_task() const {
    return std::max(1.0, static_cast<double>(tasks_.cores)) / std::max(1, tasks_.workers + tasks_.ps);
  }
  double prepare_s() const { return tasks_.workers ? type_.cpu_s * units() / (cores_a_task() * tasks_.workers) : 0; }

  // Disk to memory to GPU.
  void add_input() {
    for (const int gpu : gpus_) {
      const int domain = domain_of(gpu), disk = node_.domain_of_disk();
      input(node_.disk(), type_.input_mb);
      if (disk >= 0 && node_.socket(disk) != node_.socket(domain)) input(node_.link(), type_.input_mb);
      input(node_.memory(node_.socket(domain)), type_.memory_mb);
      for (int up = domain; up >= 0; up = node_.parent(up)) input(up, type_.host_mb);
    }
  }

  // The part of a ring that is here: `mb` go from each unit to the next; at both ends over the network if others are
  // elsewhere.
  void add_ring(double mb, bool across_nodes) {
    for (std::size_t i = 0; i + 1 < gpus_.size(); ++i) add_hop(gpus_[i], gpus_[i + 1], mb);
    if (gpus_.empty()) return;
    const int front = domain_of(gpus_.front()), back = domain_of(gpus_.back());
    if (!across_nodes) return add_hop(gpus_.back(), gpus_.front(), mb);
    const int in = node_.nearest_nic(front), out = node_.nearest_nic(back);
    exchange(node_.nic_in(in), mb);
    move(node_.domain_of_nic(in), front, mb);
    move(back, node_.domain_of_nic(out), mb);
    exchange(node_.nic_out(out), mb);
  }

  // Every worker sends its gradients to the PS and receives parameters from them, an equal part to and from each. Both
  // go through host memory.
  void add_ps(int all_workers, int all_ps) {
    const double part = type_.parameters_mb / all_ps; // of a worker, for one PS
    for (int worker = 0; worker < tasks_.workers; ++worker) {
      const std::size_t begin = gpus_.size() * at(worker) / at(tasks_.workers);
      const std::size_t end = gpus_.size() * at(worker + 1) / at(tasks_.workers);
      for (std::size_t i = begin; i < end; ++i) copy_between_gpu_and_host(gpus_[i]);
      const int domain = begin < end ? domain_of(gpus_[begin]) : -1;
      exchange(node_.memory(node_.socket(domain)), 2 * type_.parameters_mb);
      if (tasks_.ps > 0 && node_.socket(domain) != node_.socket(node_.domain_of_nic(0)))
        exchange(node_.link(), part * tasks_.ps);
      send_and_receive(domain, node_.nearest_nic(domain), part * (all_ps - tasks_.ps));
    }
    const double added_up = part * all_workers;
    for (int ps = 0; ps < tasks_.ps; ++ps) { // beside the first network card, where it is best off
      const int domain = node_.domain_of_nic(0);
      exchange(node_.memory(node_.socket(domain)), 2 * added_up);
      send_and_receive(domain, 0, part * (all_workers - tasks_.workers));
      takes(added_up / (cores_a_task() * capacities_.ps_cpu_mb_per_s));
    }
  }

  void append_to(std::vector<Use> &uses, double network_stretch) const {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const Sum &sum = sums_[i];
      if (sum.input_mb + sum.exchange_mb <= 0) continue;
      const int resource = static_cast<int>(i);
      uses.push_back({node_.first() + resource, sum.input_mb, sum.exchange_mb,
                      node_.is_nic(resource) ? network_stretch : 1,
                      static_cast<double>(std::max(sum.feeding, sum.exchanging))});
    }
  }

private:
  struct Sum {
    double input_mb = 0, exchange_mb = 0;
    int feeding = 0, exchanging = 0; // tasks
  };

  // Slurm may give a node other than as many GPUs as its workers need (--gpus is of the job): those that are short of
  // them take turns, and what is left over is idle.
  void share_gpus(std::size_t needed, bool computes_on_gpus) {
    const std::vector<int> held = std::exchange(gpus_, std::vector<int>(needed, -1));
    if (held.empty()) {
      if (computes_on_gpus) crowding_ = without_gpu;
      return;
    }
    const std::size_t used = std::min(needed, held.size());
    for (std::size_t unit = 0; unit < needed; ++unit) gpus_[unit] = held[unit * used / needed];
    if (needed > used) crowding_ = std::ceil(static_cast<double>(needed) / static_cast<double>(used));
  }

  int domain_of(int gpu) const { return gpu < 0 ? -1 : node_.domain_of_gpu(gpu); }

  // From each GPU the best linked of those that are left, as communication libraries build their rings.
  void order_by_links() {
    for (std::size_t i = 0; i + 1 < gpus_.size(); ++i) {
      std::size_t best = i + 1;
      for (std::size_t j = i + 2; j < gpus_.size(); ++j)
        if (node_.links(gpus_[i], gpus_[j]) > node_.links(gpus_[i], gpus_[best])) best = j;
      std::rotate(gpus_.begin() + static_cast<std::ptrdiff_t>(i + 1), gpus_.begin() + static_cast<std::ptrdiff_t>(best),
                  gpus_.begin() + static_cast<std::ptrdiff_t>(best + 1));
    }
  }

  void input(int resource, double mb) {
    if (mb <= 0) return;
    sums_[at(resource)].input_mb += mb;
    ++sums_[at(resource)].feeding;
  }
  void exchange(int resource, double mb) {
    if (mb <= 0) return;
    sums_[at(resource)].exchange_mb += mb;
    ++sums_[at(resource)].exchanging;
  }
  void takes(double seconds) { own_exchange_s_ = std::max(own_exchange_s_, seconds); }

  // What leaves a domain is charged. As much comes in as goes out wherever a ring passes, so that is the busier way.
  void move(int from, int to, double mb) {
    for (int up = from; up >= 0 && !node_.is_below(to, up); up = node_.parent(up)) exchange(up, mb);
    // A ring comes back over the socket link as often as it goes there: half of its crossings are one way.
    if (node_.socket(from) != node_.socket(to)) exchange(node_.link(), mb / 2);
  }

  void add_hop(int gpu, int next, double mb) {
    if (gpu < 0 || next < 0) return exchange(node_.memory(0), 2 * mb);
    if (const int links = node_.links(gpu, next)) return takes(mb / (links * capacities_.nvlink));
    takes(mb / capacities_.pcie_switch);
    move(domain_of(gpu), domain_of(next), mb);
  }

  void copy_between_gpu_and_host(int gpu) {
    if (gpu < 0) return;
    takes(type_.parameters_mb / capacities_.pcie_switch);
    for (int up = domain_of(gpu); up >= 0; up = node_.parent(up)) exchange(up, type_.parameters_mb);
  }

  void send_and_receive(int domain, int nic, double mb) {
    exchange(node_.nic_in(nic), mb);
    exchange(node_.nic_out(nic), mb);
    for (int up = node_.domain_of_nic(nic); up >= 0; up = node_.parent(up)) exchange(up, mb);
    if (node_.socket(domain) != node_.socket(node_.domain_of_nic(nic))) exchange(node_.link(), mb);
  }

  const NodeResources &node_;
  const JobType &type_;
  const TasksOn &tasks_;
  const Capacities &capacities_;
  std::vector<Sum> sums_;
  std::vector<int> gpus_; // one a unit, in the order of the ring; -1: none
  double crowding_ = 1;   // units that take turns on a GPU
  double own_exchange_s_ = 0;
};

int gpus_a_worker(const Occupant &job) {
  int gpus = 0;
  for (const TasksOn &tasks : job.where) gpus += tasks.gpus.count();
  return gpus == 0 ? 0 : std::max(1, gpus / std::max(1, job.workers));
}

} // namespace

double Traffic::step_s(const std::vector<double> &levels) const {
  double exchange = own_exchange_s, moving = prepare_s;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    exchange = std::max(exchange, uses[i].exchange_mb * uses[i].stretch / levels[i]);
    // Input is fetched ahead, while computing and exchanging: all it needs is that the bytes of a step fit in one.
    moving = std::max(moving, uses[i].megabytes() / levels[i]);
  }
  return std::max(moving, compute_s + std::max(0.0, exchange + latency_s - hidden_s));
}

Traffic find_traffic(const JobType &type, const Occupant &job, const std::vector<NodeResources> &nodes,
                     const Capacities &capacities) {
  const int gpus = gpus_a_worker(job), units = job.workers * std::max(1, gpus),
            node_count = static_cast<int>(job.where.size());
  const bool ring = job.ps == 0 && units > 1, across = node_count > 1;
  const double ring_stretch = ring && across ? 1 + type.spread * (1 - 2.0 / node_count) : 1;
  Traffic traffic;
  traffic.units = std::max(1, units);
  traffic.steps_per_epoch = type.steps_per_epoch;
  for (const TasksOn &tasks : job.where) {
    OnNode here(nodes[at(tasks.node)], type, tasks, gpus, capacities);
    here.add_input();
    if (ring) here.add_ring(2.0 * (units - 1) / units * type.parameters_mb, across);
    if (job.ps > 0) here.add_ps(job.workers, job.ps);
    here.append_to(traffic.uses, ring_stretch / type.network_efficiency);
    traffic.compute_s = std::max(traffic.compute_s, here.compute_s());
    traffic.prepare_s = std::max(traffic.prepare_s, here.prepare_s());
    traffic.own_exchange_s = std::max(traffic.own_exchange_s, here.own_exchange_s());
  }
  if (traffic.compute_s <= 0) traffic.compute_s = type.compute_s;
  if (ring && across) traffic.latency_s = ring_stretch * type.ring_latency_s * std::log2(units);
  if (units > 0) traffic.hidden_s = type.overlap * traffic.compute_s;
  return traffic;
}

} // namespace harmony
