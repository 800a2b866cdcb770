// What becomes of plans when slurmctld asks where a job can run: the gate, the narrowing, and what is told of it. Every
// function here runs under slurmctld's job and node write locks, so that no two run at once; they look things up and
// copy bitmaps, and never wait.
#pragma once

#include "plugin/slurm_version.h"

#include "plugin/engine/carry_out.h"
#include "plugin/engine/rounds.h"
#include "src/values/fallback.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {

class Enforcer {
public:
  Enforcer(PlannerState &state, Rounds &rounds) : state_(state), rounds_(rounds) {}

  // True if the question is answered; false: ask stock.
  bool job_test(const JobTest &call, StockJobTest stock, int *answer);

  // slurmctld has allocated the job's resources.
  void job_placed(job_record_t &job);

  // The job gave its resources back.
  void job_ended(const job_record_t &job);

private:
  // The plan that a job is starting with, from job_test to job_placed.
  struct Starting {
    std::uint32_t job = 0;
    std::shared_ptr<PlanTable> table; // a round may publish another one meanwhile
    std::string fallback;             // why stock chose; empty if the plan was carried out
    std::vector<Placement> placements;
  };

  // Components of a hetjob start one after another; together they are one gang.
  struct HetStart {
    std::uint32_t job = 0;
    int components = 0;
    std::string fallback;
    std::vector<ActualNode> actual;
  };

  // Nodes that Slurm offered to components of a hetjob, and when: the others may share them.
  struct HetOffer {
    std::uint32_t job = 0;
    std::uint16_t mode = 0;
    std::int64_t at_ms = 0;
    std::vector<int> nodes;
  };

  bool answer_to(const JobTest &call, StockJobTest stock, int *answer);
  bool test_planned(const JobTest &call, StockJobTest stock, const std::shared_ptr<PlanTable> &table,
                    PlannedJob &planned, int *answer);
  bool planner_is_unwell(const JobTest &call);
  bool would_start(const JobTest &call, StockJobTest stock);
  bool hold(const JobTest &call, StockJobTest stock, const char *what, int *answer);
  bool wait(const JobTest &call, StockJobTest stock, const PlanTable &table, PlannedJob &planned, int *answer);
  const std::vector<int> &shared_with(const JobTest &call, const PlannedJob &planned);
  void note_offer(const JobTest &call, const PlannedJob &planned, const std::vector<Placement> &placements);
  bool stale(const JobTest &call, StockJobTest stock, const PlanTable &table, PlannedJob &planned,
             const CarryResult &result, int *answer);
  bool leave_to_stock(const JobTest &call, Fallback cause, const std::string &why);
  void note_carried(const JobTest &call, const std::shared_ptr<PlanTable> &table,
                    const std::vector<Placement> &placements, const CarryResult &result);
  void note_started(const job_record_t &job, int records, std::string fallback);
  void note_stock(job_record_t &job, const PlanTable &table, PlannedJob &planned);

  PlannerState &state_;
  Rounds &rounds_;
  Starting starting_;
  HetStart het_start_;
  HetOffer het_offer_;
  std::int64_t in_stock_ns_ = 0; // of the question being answered
  bool said_unwell_ = false;
};

} // namespace harmony
