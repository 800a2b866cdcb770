#include "tests/emulator/world.h"

#include "src/sim/input/read_jobs.h"
#include "src/sim/progress.h"
#include "src/values/printable.h"
#include "tests/emulator/gang_events.h"
#include "tests/emulator/gang_roles.h"
#include "tests/emulator/line_server.h"
#include "tests/emulator/task_hello.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <stdexcept>

namespace harmony {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;
void stop_on_signal(int) { told_to_stop = 1; }

// The tasks of one run of a job, as they come.
struct GatheringGang {
  std::map<int, std::pair<int, TaskHello>> tasks; // by rank: connection and what it said
  std::optional<int> key;                         // of the truth, from when it is whole
  double since_s = 0;                             // when its speed last changed
  double told_s = 0;                              // when rank 0 last heard of its epochs, real
  int told_epoch = 0;
};

class World {
public:
  World(const WorldOptions &options)
      : options_(options), cluster_(options.scenario), workload_(read_jobs(options.workload, {})),
        truth_(cluster_.rules->empty()), progress_(*truth_), log_(options.log), server_(options.socket),
        begun_s_(real_now_s()) {
    for (const SimJob &job : workload_.jobs) jobs_[job.id] = &job;
  }

  int run() {
    while (!told_to_stop && gone_ < jobs_.size()) {
      for (const LineServer::Said &said : server_.wait(wait_s())) {
        if (said.closed)
          left(said.connection);
        else
          heard(said.connection, said.line);
      }
      while (progress_.any() && progress_.next_end().first <= now_s()) finish(progress_.next_end().second);
      if (options_.report_s > 0) tell_epochs();
    }
    return lost_ > 0 ? 1 : 0;
  }

private:
  double now_s() const { return (real_now_s() - begun_s_) * options_.speedup; }

  double wait_s() const {
    constexpr double most = 0.5;
    if (!progress_.any()) return most;
    return std::clamp((progress_.next_end().first - now_s()) / options_.speedup, 0.0, most);
  }

  void refuse(int connection, const std::string &why) {
    std::fprintf(stderr, "world: %s; it is sent away\n", why.c_str());
    server_.close(connection);
  }

  void heard(int connection, const std::string &line) {
    if (owner_.count(connection) > 0) return left(connection); // a task says one thing only
    const auto hello = hello_of_text(line);
    if (!hello) return refuse(connection, fmt::format("a task said \"{}\"", printable(line, 100)));
    const auto job = jobs_.find(hello->job);
    if (job == jobs_.end()) return refuse(connection, fmt::format("no job {} in the workload", hello->job));
    if (hello->tasks != job->second->workers + job->second->ps || cluster_.node(hello->node) < 0)
      return refuse(connection, fmt::format("a task of job {} has {} tasks and is on node {}", hello->job, hello->tasks,
                                            printable(hello->node)));
    GatheringGang &gang = gangs_[hello->slurm_job];
    if (!gang.tasks.emplace(hello->rank, std::make_pair(connection, *hello)).second || gang.key)
      return refuse(connection, fmt::format("task {} of job {} came twice", hello->rank, hello->job));
    owner_[connection] = hello->slurm_job;
    if (static_cast<int>(gang.tasks.size()) == hello->tasks) begin(hello->slurm_job, gang, *job->second);
  }

  // By what its tasks said; roles as `harmony run` gives them out.
  Occupant occupant_of(const GatheringGang &gang, const SimJob &job) const {
    std::map<int, TasksOn> by_node;
    for (const auto &[rank, task] : gang.tasks) {
      const TaskHello &hello = task.second;
      const int node = cluster_.node(hello.node);
      TasksOn &tasks = by_node[node];
      tasks.node = node;
      tasks.cores += hello.cpus;
      ++tasks.workers; // all of them, until the roles are known
      tasks.gpus.join(Bits(cluster_.scenario.cluster.nodes[static_cast<std::size_t>(node)].free_gpus.size()));
      for (const int gpu : hello.gpus) {
        if (gpu >= tasks.gpus.size()) throw std::runtime_error(fmt::format("{} has no GPU {}", hello.node, gpu));
        tasks.gpus.set(gpu);
      }
    }
    Occupant made;
    made.type = job.type;
    made.workers = job.workers;
    made.ps = job.ps;
    for (auto &[node, tasks] : by_node) made.where.push_back(std::move(tasks));
    give_out_roles(made.where, job.workers, job.gpus_per_worker);
    return made;
  }

  void begin(std::uint32_t slurm_job, GatheringGang &gang, const SimJob &job) {
    GangEvent event;
    try {
      event.where = occupant_of(gang, job);
    } catch (const std::runtime_error &wrong) {
      std::fprintf(stderr, "world: job %u cannot run so: %s\n", slurm_job, wrong.what());
      return drop(slurm_job, GangMoment::lost);
    }
    event.at_s = real_now_s();
    event.job = job.id;
    event.slurm_job = slurm_job;
    event.run = gang.tasks.begin()->second.second.run;
    gang.key = fresh_key();
    by_key_[*gang.key] = slurm_job;
    gang.since_s = now_s();
    const Work work{cluster_.best.epochs(job), cluster_.best.speed(job), 1, job.gpus()};
    progress_.start(*gang.key, event.where, work, gang.since_s);
    note_changes(gang.since_s);
    log_.write(event, cluster_);
  }

  int fresh_key() const {
    int key = 0;
    while (by_key_.count(key) > 0) ++key;
    return key;
  }

  void note_changes(double now) {
    for (const Progress::Change &change : progress_.changes())
      if (const auto at = by_key_.find(change.key); at != by_key_.end()) gangs_[at->second].since_s = now;
  }

  void finish(int key) { drop(by_key_.at(key), GangMoment::end); }

  void left(int connection) {
    const auto owner = owner_.find(connection);
    if (owner == owner_.end()) return;
    const std::uint32_t slurm_job = owner->second;
    std::fprintf(stderr, "world: a task of job %u went away before its epochs were done\n", slurm_job);
    drop(slurm_job, GangMoment::lost);
  }

  // The gang leaves the world; its tasks are told so.
  void drop(std::uint32_t slurm_job, GangMoment moment) {
    GatheringGang gang = std::move(gangs_[slurm_job]);
    gangs_.erase(slurm_job);
    if (gang.key) {
      const double now = now_s();
      progress_.end(*gang.key, now);
      by_key_.erase(*gang.key);
      note_changes(now);
    }
    GangEvent event;
    event.moment = moment;
    event.at_s = real_now_s();
    event.slurm_job = slurm_job;
    event.job = gang.tasks.begin()->second.second.job;
    event.run = gang.tasks.begin()->second.second.run;
    for (const auto &[rank, task] : gang.tasks) {
      owner_.erase(task.first);
      if (moment == GangMoment::end) server_.send(task.first, "done");
      server_.close(task.first);
    }
    log_.write(event, cluster_);
    ++gone_;
    if (moment == GangMoment::lost) ++lost_;
  }

  void tell_epochs() {
    const double real = real_now_s(), now = now_s();
    for (auto &[slurm_job, gang] : gangs_) {
      if (!gang.key || real < gang.told_s + options_.report_s) continue;
      const double done = progress_.done(*gang.key) + progress_.speed(*gang.key) * (now - gang.since_s);
      const SimJob &job = *jobs_.at(gang.tasks.begin()->second.second.job);
      const double part = std::min(1.0, done / cluster_.best.epochs(job));
      const int of = cluster_.told_epochs(job), epoch = static_cast<int>(part * of);
      gang.told_s = real;
      if (epoch <= gang.told_epoch) continue;
      gang.told_epoch = epoch;
      server_.send(gang.tasks.begin()->second.first, fmt::format("epoch {} {}", epoch, of));
    }
  }

  const WorldOptions options_;
  EmulatedCluster cluster_;
  const Workload workload_;
  std::map<std::uint32_t, const SimJob *> jobs_; // by their id in the workload
  std::unique_ptr<Truth> truth_;
  Progress progress_;
  GangEventWriter log_;
  LineServer server_;
  const double begun_s_;
  std::map<std::uint32_t, GatheringGang> gangs_; // by Slurm's job id
  std::map<int, std::uint32_t> by_key_, owner_;  // by key and by connection: Slurm's job id
  std::size_t gone_ = 0, lost_ = 0;
};

} // namespace

int run_world(const WorldOptions &options) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, stop_on_signal);
  std::signal(SIGINT, stop_on_signal);
  return World(options).run();
}

} // namespace harmony
