#include "plugin/slurm_version.h"

#include "plugin/engine/node_watch.h"

#include "plugin/engine/border.h"
#include "plugin/engine/questions.h"
#include "plugin/engine/slurm_nodes.h"
#include "src/query/local_socket.h"
#include "src/values/quiet_thread.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace harmony {
namespace {

constexpr int look_every_ms = 1000;

class NodeWatch {
public:
  NodeWatch(PlannerState &state, std::string address)
      : state_(state), store_(state.topologies), table_(state.nodes), questions_(state, [this] { refresh(); }),
        address_(std::move(address)) {}

  void run() {
    for (;;)
      guarded(
          wall_, "node watch", false, [this] { return step(); }, "going on");
  }

private:
  bool step() {
    refresh();
    if (!open_) open_ = listen();
    if (open_)
      server_.serve(look_every_ms,
                    [this](uid_t asker, const std::string &question) { return questions_.answer(asker, question); });
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(look_every_ms));
    return true;
  }

  // A slurmctld that is still on its way out may hold the name for a while; the log is told once.
  bool listen() {
    const std::string problem = server_.open(address_);
    if (!problem.empty() && !complained_)
      error("harmony: %s; trying on, `harmony topology --node` and `harmony explain` are not answered until then",
            problem.c_str());
    complained_ = !problem.empty();
    return problem.empty();
  }

  void refresh() {
    NodeChanges changes = changed_nodes(store_, last_look_);
    for (const ChangedNode &node : changes.changed) {
      const auto before = store_.find(node.facts.name);
      const auto topology = store_.update(node.facts, node.gres_signature);
      const bool said = before && before->problem == topology->problem;
      if (!topology->problem.empty() && !said)
        error("harmony: %s; using %s for it", topology->problem.c_str(), source_name(topology->topology.source));
    }
    if (changes.looked) publish(std::move(changes.nodes));
    for (NodeChanges::Usage &usage : changes.usage) {
      std::size_t &known = usage_[usage.node];
      const std::size_t now = std::hash<std::string>()(usage.extra);
      if (std::exchange(known, now) != now && state_.usage_seen)
        state_.usage_seen(std::move(usage.node), std::move(usage.extra));
    }
  }

  void publish(std::vector<NodeHardware> nodes) {
    std::vector<std::string> names;
    for (NodeHardware &node : nodes) {
      if (node.name.empty()) continue;
      names.push_back(node.name);
      node.topology = store_.find(node.name);
    }
    store_.keep_only(names);
    table_.publish(std::move(nodes));
  }

  PlannerState &state_;
  TopologyStore &store_;
  NodeTable &table_;
  Questions questions_;
  std::string address_;
  LocalServer server_;
  bool open_ = false;
  bool complained_ = false;
  WallLog wall_;
  time_t last_look_ = 0;
  std::unordered_map<std::string, std::size_t> usage_; // by node: the hash of what it told last
};

} // namespace

void watch_nodes(PlannerState &state) {
  static std::once_flag started;
  std::call_once(started, [&state] {
    // Never deleted: the thread outlives static objects while slurmctld exits.
    auto *watch = new NodeWatch(state, query_address(slurm_conf.state_save_location));
    quiet_thread([watch] { watch->run(); }).detach();
  });
}

} // namespace harmony
