#include "plugin/slurm_version.h"

#include "plugin/engine/node_watch.h"

#include "plugin/engine/border.h"
#include "plugin/engine/slurm_nodes.h"
#include "src/publish/compact.h"
#include "src/query/local_socket.h"

#include <json/json.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

namespace harmony {
namespace {

constexpr int look_every_ms = 1000;

class NodeWatch {
public:
  NodeWatch(TopologyStore &store, std::string address) : store_(store), address_(std::move(address)) {}

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
                    [this](uid_t asker, const std::string &question) { return answer(asker, question); });
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(look_every_ms));
    return true;
  }

  // A slurmctld that is still on its way out may hold the name for a while; the log is told once.
  bool listen() {
    const std::string problem = server_.open(address_);
    if (!problem.empty() && !complained_)
      error("harmony: %s; trying on, `harmony topology --node` is not answered until then", problem.c_str());
    complained_ = !problem.empty();
    return problem.empty();
  }

  void refresh() {
    const NodeChanges changes = changed_nodes(store_, last_look_);
    for (const ChangedNode &node : changes.changed) {
      const auto before = store_.find(node.facts.name);
      const auto topology = store_.update(node.facts, node.gres_signature);
      const bool said = before && before->problem == topology->problem;
      if (!topology->problem.empty() && !said)
        error("harmony: %s; using %s for it", topology->problem.c_str(), source_name(topology->topology.source));
    }
    if (changes.looked) store_.keep_only(changes.names);
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
  std::string address_;
  LocalServer server_;
  bool open_ = false;
  bool complained_ = false;
  WallLog wall_;
  time_t last_look_ = 0;
};

} // namespace

void watch_nodes(TopologyStore &store) {
  static std::once_flag started;
  std::call_once(started, [&store] {
    // Never deleted: the thread outlives static objects while slurmctld exits.
    auto *watch = new NodeWatch(store, query_address(slurm_conf.state_save_location));
    // Signals are for slurmctld's own thread; a new thread inherits what is blocked here.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([watch] { watch->run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
}

} // namespace harmony
