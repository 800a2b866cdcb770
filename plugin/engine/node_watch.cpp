#include "plugin/slurm_version.h"

#include "plugin/engine/node_watch.h"

#include "plugin/engine/border.h"
#include "plugin/engine/slurm_nodes.h"
#include "src/publish/compact.h"
#include "src/query/local_socket.h"

#include <json/json.h>

#include <csignal>
#include <mutex>
#include <thread>

namespace harmony {
namespace {

constexpr int look_every_ms = 1000;

class NodeWatch {
public:
  explicit NodeWatch(TopologyStore &store) : store_(store) {}

  void run() {
    // Signals are for slurmctld's own thread.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const std::string problem = server_.open(query_address(slurm_conf.state_save_location));
    if (!problem.empty()) error("harmony: %s; `harmony topology --node` will not be answered", problem.c_str());
    for (;;) guarded(wall_, "node watch", false, [this] { return step(); });
  }

private:
  bool step() {
    server_.serve(look_every_ms, [this](uid_t asker, const std::string &question) { return answer(asker, question); });
    refresh();
    return true;
  }

  void refresh() {
    for (const ChangedNode &node : changed_nodes(store_, last_look_)) {
      const auto before = store_.find(node.facts.name);
      const auto topology = store_.update(node.facts, node.gres_signature);
      const bool said = before && before->problem == topology->problem;
      if (!topology->problem.empty() && !said)
        error("harmony: %s; using %s for it", topology->problem.c_str(), source_name(topology->topology.source));
    }
  }

  std::string answer(uid_t asker, const std::string &question) {
    Json::Value reply;
    const std::string prefix = "topology ";
    if (question.rfind(prefix, 0) != 0)
      reply["problem"] = "a question that this version does not know";
    else if (!may_see_nodes(asker))
      reply["problem"] = "PrivateData in slurm.conf keeps nodes from you";
    else
      describe(question.substr(prefix.size()), reply);
    Json::StreamWriterBuilder writer;
    writer["indentation"] = "";
    return Json::writeString(writer, reply);
  }

  void describe(const std::string &node, Json::Value &reply) {
    refresh();
    const auto found = store_.find(node);
    if (!found) {
      reply["problem"] = "slurmctld has no node of that name";
      return;
    }
    reply["source"] = source_name(found->topology.source);
    reply["topology"] = compact_form(found->topology);
    for (const std::string &level : found->levels) reply["levels"].append(level);
  }

  TopologyStore &store_;
  LocalServer server_;
  WallLog wall_;
  time_t last_look_ = 0;
};

} // namespace

void watch_nodes(TopologyStore &store) {
  static std::once_flag started;
  std::call_once(started, [&store] {
    // Never deleted: the thread outlives static objects while slurmctld exits.
    auto *watch = new NodeWatch(store);
    std::thread([watch] { watch->run(); }).detach();
  });
}

} // namespace harmony
