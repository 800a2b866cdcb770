#include "src/learn/task_lessons.h"

#include "src/encode/candidate_features.h"
#include "src/encode/schema.h"
#include "src/plan/place.h"
#include "src/plan/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace harmony {
namespace {

// What the plan has on one node.
struct Target {
  int workers = 0, ps = 0;
  std::vector<int> domains; // of its GPUs, one each
};

// Leads a sequence of tasks to the plan, and notes what it chose from.
class Guide : public SpotScores {
public:
  Guide(const Encoder &encoder, const Gang &gang, const Component &component, const JobRow &job, const Plan &plan,
        const Rooms &rooms)
      : encoder_(encoder), gang_(gang), component_(component), job_(job) {
    for (const Placement &placement : plan.placements) {
      Target target{placement.workers, placement.ps, {}};
      const Topology *topology = encoder.cluster().node(placement.node).topology.get();
      for (const int gpu : each(placement.gpus))
        if (topology && static_cast<std::size_t>(gpu) < topology->gpus.size())
          target.domains.push_back(topology->gpus[static_cast<std::size_t>(gpu)].domain);
      targets_[rooms.class_of[static_cast<std::size_t>(placement.node)]].push_back(std::move(target));
    }
  }

  std::vector<Fresh> fresh(const Rooms &rooms, bool for_ps) override {
    rows_ = std::make_unique<CandidateRows>(encoder_, gang_, component_, rooms, for_ps);
    for_ps_ = for_ps;
    fresh_rows_ = {};
    fresh_domains_.clear();
    first_row_.clear();
    std::vector<Fresh> all;
    for (std::size_t i = 0; i < rooms.classes.size(); ++i) {
      const NodeClass &node = rooms.classes[i];
      if (node.tasks <= 0 || (for_ps ? node.ps : node.workers) <= 0) continue;
      first_row_[&node] = fresh_domains_.size();
      rows_->append(node, {}, fresh_rows_, fresh_domains_);
      const bool wanted = wants(static_cast<int>(i), {}, for_ps);
      all.push_back(
          {static_cast<int>(i), {wanted ? 1.0 : 0.0, domain_for(static_cast<int>(i), first_row_[&node], {})}});
      class_of_[&node] = static_cast<int>(i);
    }
    return all;
  }

  Spot again(const NodeClass &node, const Share &here, bool for_ps, int) override {
    Rows rows;
    std::vector<int> domains;
    rows_->append(node, here, rows, domains);
    const int of_class = class_of_[&node];
    const bool wanted = wants(of_class, here, for_ps);
    int domain = domains.front();
    for (const int each : domains)
      if (is_target_domain(of_class, each)) domain = each;
    return {wanted ? 2.0 : -1.0, domain};
  }

  void expect(const std::vector<Again> &, bool, int) override {}

  void chosen(const NodeClass &node, const Share &here, const Spot &spot) override {
    Rows rows = fresh_rows_;
    std::vector<int> domains = fresh_domains_;
    std::size_t first = here.workers + here.ps > 0 ? domains.size() : first_row_[&node];
    if (here.workers + here.ps > 0) rows_->append(node, here, rows, domains);
    std::size_t at = first;
    while (at + 1 < domains.size() && domains[at] != spot.domain) ++at;
    if (domains[at] != spot.domain || rows.count < 2) return;
    Experience lesson;
    lesson.level = Level::task;
    lesson.job = job_;
    lesson.job.features[job_column::is_ps] = for_ps_ ? 1 : 0;
    lesson.rows = std::move(rows);
    lesson.chosen = static_cast<int>(at);
    lesson.log_prob = std::numeric_limits<float>::quiet_NaN();
    lessons.push_back(std::move(lesson));
  }

  std::vector<Experience> lessons;

private:
  // Whether some node of the class has more of the role in the plan than it has so far.
  bool wants(int of_class, const Share &here, bool for_ps) const {
    const auto found = targets_.find(of_class);
    if (found == targets_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Target &target) {
      return for_ps ? target.ps > here.ps && target.workers >= here.workers : target.workers > here.workers;
    });
  }
  bool is_target_domain(int of_class, int domain) const {
    const auto found = targets_.find(of_class);
    return found != targets_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [domain](const Target &target) {
             return std::find(target.domains.begin(), target.domains.end(), domain) != target.domains.end();
           });
  }
  int domain_for(int of_class, std::size_t first, const Share &) const {
    for (std::size_t i = first; i < fresh_domains_.size(); ++i)
      if (is_target_domain(of_class, fresh_domains_[i])) return fresh_domains_[i];
    return fresh_domains_[first];
  }

  const Encoder &encoder_;
  const Gang &gang_;
  const Component &component_;
  const JobRow &job_;
  std::map<int, std::vector<Target>> targets_; // by class
  std::unique_ptr<CandidateRows> rows_;
  bool for_ps_ = false;
  Rows fresh_rows_;
  std::vector<int> fresh_domains_;
  std::map<const NodeClass *, std::size_t> first_row_;
  std::map<const NodeClass *, int> class_of_;
};

} // namespace

std::vector<Experience> task_lessons(const Encoder &encoder, const Gang &gang, const JobRow &job, const Plan &plan) {
  if (gang.components.size() != 1) return {};
  GangPlacer placer(encoder.cluster(), gang, true);
  placer.tell_apart(encoder.states());
  std::vector<Experience> lessons;
  placer.by(
      [&](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
        Guide guide(encoder, gang, component, job, plan, rooms);
        auto shares = in_sequence(rooms, component, 0, guide);
        lessons = std::move(guide.lessons);
        return shares;
      },
      false);
  return lessons;
}

} // namespace harmony
