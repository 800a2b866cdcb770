// Compares what cons_tres_choice() says with what a real slurmctld did. Usage: stock_agreement PROFILES <LOG
// PROFILES is tests/cluster/topologies; the log is what tests/live/stock_agreement_test.sh writes, in lines:
//   node NAME PROFILE             in slurmctld's order
//   weight NAME WEIGHT
//   ask JOB tasks=N cpus=C gpus=N|per_task=N|per_node=N least=N most=N [: tasks=N … for a second component]
//   alloc JOB NODE CORES GPUS     a node of a job that started; lists of numbers such as 0-3,8, or - for none
//   started JOB | refused JOB     the end of what became of the job that was asked for last
//   ended JOB
// Prints each disagreement and, at the end, how often nodes, tasks a node, GPUs and cores agreed.

#include "src/sim/stock/cons_tres.h"
#include "src/plan/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace harmony {
namespace {

std::vector<int> numbers(const std::string &text) {
  std::vector<int> all;
  std::istringstream parts(text == "-" ? "" : text);
  for (std::string part; std::getline(parts, part, ',');) {
    // A link of -1 is no range.
    const std::size_t dash = part.find('-', 1);
    const int first = std::stoi(part.substr(0, dash));
    const int last = dash == std::string::npos ? first : std::stoi(part.substr(dash + 1));
    for (int i = first; i <= last; ++i) all.push_back(i);
  }
  return all;
}

Bits bits(int size, const std::vector<int> &set) {
  Bits made(size);
  for (const int each : set) made.set(each);
  return made;
}

using Words = std::map<std::string, std::string>;
Words words(std::istream &line) {
  Words all;
  for (std::string word; line >> word;) all[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return all;
}
int number(const Words &all, const std::string &key, int otherwise) {
  const auto found = all.find(key);
  return found == all.end() ? otherwise : std::stoi(found->second);
}

// A node as the test cluster's profile describes it: a PCIe domain for each socket.
NodeState read_profile(const std::string &directory, const std::string &profile) {
  std::ifstream file(directory + "/" + profile);
  if (!file) throw std::runtime_error("no profile " + directory + "/" + profile);
  NodeState node;
  node.usable = true;
  auto topology = std::make_shared<Topology>();
  int cores = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream rest(line);
    std::string kind;
    rest >> kind;
    const Words all = words(rest);
    if (kind == "node") {
      topology->sockets = number(all, "Sockets", 1);
      cores = number(all, "CoresPerSocket", 1);
      node.memory_mb = node.free_memory_mb = static_cast<std::uint64_t>(number(all, "RealMemory", 0));
      for (int s = 0; s < topology->sockets; ++s) {
        NumaNode numa;
        numa.socket = s;
        numa.cores.push_back({s * cores, (s + 1) * cores - 1});
        topology->numa.push_back(numa);
        Domain domain;
        domain.numa = s;
        topology->domains.push_back(domain);
      }
    } else if (kind == "gpu") {
      Gpu gpu;
      gpu.model = all.at("Type");
      gpu.domain = numbers(all.at("Cores")).front() / cores;
      const std::vector<int> links = numbers(all.at("Links"));
      const int mine = static_cast<int>(topology->gpus.size());
      for (int i = mine + 1; i < static_cast<int>(links.size()); ++i)
        if (links[static_cast<std::size_t>(i)] > 0)
          topology->links.push_back({mine, i, links[static_cast<std::size_t>(i)]});
      topology->gpus.push_back(gpu);
      node.gpu_models.push_back(gpu.model);
    }
  }
  node.free_cores = Bits(topology->sockets * cores);
  node.free_cores.set_all();
  node.free_gpus = Bits(static_cast<int>(topology->gpus.size()));
  node.free_gpus.set_all();
  node.topology = topology;
  return node;
}

struct OnNode {
  int node = 0;
  std::vector<int> cores, gpus;
};
using Allocation = std::vector<OnNode>;

std::string text(const Snapshot &snapshot, const Allocation &where) {
  if (where.empty()) return "nowhere";
  std::string made;
  for (const OnNode &on : where) {
    made += fmt::format(" {}(cores", snapshot.nodes[static_cast<std::size_t>(on.node)].name);
    for (const int each : on.cores) made += fmt::format(" {}", each);
    made += "; GPUs";
    for (const int each : on.gpus) made += fmt::format(" {}", each);
    made += ")";
  }
  return made.substr(1);
}

class Agreement {
public:
  explicit Agreement(std::string profiles) : profiles_(std::move(profiles)) { snapshot_.taken = 1; }

  void read(const std::string &line) {
    std::istringstream rest(line);
    std::string kind, name;
    rest >> kind >> name;
    if (kind == "node") {
      std::string profile;
      rest >> profile;
      snapshot_.nodes.push_back(read_profile(profiles_, profile));
      snapshot_.nodes.back().name = name;
    } else if (kind == "weight") {
      rest >> snapshot_.nodes[index(name)].weight;
    } else if (kind == "ask") {
      asked_ = line;
      std::string demands;
      std::getline(rest, demands);
      ask(demands);
    } else if (kind == "alloc") {
      std::string node, cores, gpus;
      rest >> node >> cores >> gpus;
      allocations_[name].push_back({static_cast<int>(index(node)), numbers(cores), numbers(gpus)});
    } else if (kind == "started" || kind == "refused") {
      compare(allocations_[name]);
      change(allocations_[name], true);
    } else if (kind == "ended") {
      change(allocations_[name], false);
    } else if (!kind.empty()) {
      throw std::runtime_error("cannot read: " + line);
    }
  }

  void report() const {
    const auto part = [this](int agreed) { return situations_ ? 100.0 * agreed / situations_ : 0; };
    fmt::print("{} situations ({} without room): nodes {:.1f} %, tasks {:.1f} %, GPUs {:.1f} %, cores {:.1f} %\n",
               situations_, without_room_, part(nodes_), part(tasks_), part(gpus_), part(cores_));
  }

private:
  std::size_t index(const std::string &name) const {
    for (std::size_t i = 0; i < snapshot_.nodes.size(); ++i)
      if (snapshot_.nodes[i].name == name) return i;
    throw std::runtime_error("no node " + name);
  }

  Component component_of(const std::string &demands) const {
    std::istringstream text_of(demands);
    const Words all = words(text_of);
    Component component;
    component.workers = number(all, "tasks", 1);
    component.cpus_per_task = number(all, "cpus", 1);
    component.gpus.per_job = number(all, "gpus", 0);
    component.gpus.per_task = number(all, "per_task", 0);
    component.gpus.per_node = number(all, "per_node", 0);
    component.min_nodes = number(all, "least", 1);
    component.max_nodes = number(all, "most", 0);
    component.memory_per_cpu_mb = 100;
    component.eligible = Bits(static_cast<int>(snapshot_.nodes.size()));
    component.eligible.set_all();
    component.required = Bits(static_cast<int>(snapshot_.nodes.size()));
    return component;
  }

  void ask(const std::string &demands) {
    Gang gang;
    const std::size_t colon = demands.find(" : ");
    gang.components.push_back(component_of(demands.substr(0, colon)));
    if (colon != std::string::npos) gang.components.push_back(component_of(demands.substr(colon + 3)));
    expected_.clear();
    const Cluster cluster(snapshot_);
    const auto plan = cons_tres_choice(cluster, gang);
    if (!plan) return;
    for (const Placement &placement : plan->placements) {
      OnNode on;
      on.node = placement.node;
      for (const int each : harmony::each(placement.cores)) on.cores.push_back(each);
      for (const int each : harmony::each(placement.gpus)) on.gpus.push_back(each);
      expected_.push_back(on);
    }
    std::sort(expected_.begin(), expected_.end(), [](const OnNode &a, const OnNode &b) { return a.node < b.node; });
  }

  void compare(const Allocation &found) {
    const auto same = [&](const auto &what) {
      return std::equal(found.begin(), found.end(), expected_.begin(), expected_.end(),
                        [&](const OnNode &a, const OnNode &b) { return what(a) == what(b); });
    };
    const bool nodes = same([](const OnNode &on) { return on.node; });
    const bool tasks = nodes && same([](const OnNode &on) { return on.cores.size(); });
    const bool gpus = nodes && same([](const OnNode &on) { return on.gpus; });
    const bool cores = nodes && same([](const OnNode &on) { return on.cores; });
    ++situations_;
    without_room_ += found.empty();
    nodes_ += nodes;
    tasks_ += tasks;
    gpus_ += gpus;
    cores_ += cores;
    if (!tasks || !gpus || !cores)
      fmt::print("{}\n  slurmctld: {}\n  emulation: {}\n", asked_, text(snapshot_, found), text(snapshot_, expected_));
  }

  void change(const Allocation &where, bool taken) {
    for (const OnNode &on : where) {
      NodeState &node = snapshot_.nodes[static_cast<std::size_t>(on.node)];
      const Bits cores = bits(node.free_cores.size(), on.cores), gpus = bits(node.free_gpus.size(), on.gpus);
      if (taken) {
        node.free_cores -= cores;
        node.free_gpus -= gpus;
      } else {
        node.free_cores |= cores;
        node.free_gpus |= gpus;
      }
    }
  }

  const std::string profiles_;
  Snapshot snapshot_;
  std::map<std::string, Allocation> allocations_;
  std::string asked_;
  Allocation expected_;
  int situations_ = 0, without_room_ = 0, nodes_ = 0, tasks_ = 0, gpus_ = 0, cores_ = 0;
};

} // namespace
} // namespace harmony

int main(int count, char **arguments) {
  if (count != 2) {
    std::cerr << "usage: stock_agreement PROFILES <LOG\n";
    return 2;
  }
  try {
    harmony::Agreement agreement(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) agreement.read(line);
    agreement.report();
  } catch (const std::exception &error) {
    std::cerr << "stock_agreement: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
