#include "plugin/slurm_version.h"

#include "plugin/engine/questions.h"

#include "plugin/engine/slurm_locks.h"
#include "plugin/engine/slurm_nodes.h"
#include "plugin/engine/slurm_values.h"
#include "src/publish/compact.h"
#include "src/show/decision_json.h"
#include "src/show/json_line.h"
#include "src/values/job_id.h"

#include <optional>

extern "C" {
#include "src/slurmctld/proc_req.h"
}

namespace harmony {
namespace {

std::string problem(const std::string &text) {
  Json::Value reply;
  reply["problem"] = text;
  return json_line(reply);
}

// The record that the id names, and the job under which its decision is kept.
struct KnownJob {
  std::optional<uid_t> owner;
  std::uint32_t kept_as = 0;
};

KnownJob known_job(const JobId &id) {
  const ReadLocks locks(to_read_jobs);
  job_record_t *job = nullptr;
  if (id.array_task)
    job = find_job_array_rec(id.job, *id.array_task);
  else if (id.het_component)
    job = find_het_job_record(id.job, *id.het_component);
  else
    job = find_job_record(id.job);
  if (!job) return {std::nullopt, id.job};
  return {job->user_id, gang_id(*job)};
}

bool may_see_jobs_of(uid_t owner, uid_t asker) {
  const ReadLocks locks(to_read_conf);
  return !(slurm_conf.private_data & PRIVATE_DATA_JOBS) || asker == owner || validate_operator(asker);
}

bool may_reset(uid_t asker) {
  const ReadLocks locks(to_read_conf);
  return validate_operator(asker);
}

} // namespace

std::string Questions::answer(uid_t asker, const std::string &question) {
  const std::size_t blank = question.find(' ');
  const std::string verb = question.substr(0, blank);
  const std::string object = blank == std::string::npos ? "" : question.substr(blank + 1);
  if (verb == "topology") return topology(asker, object);
  if (verb == "explain") return explain(asker, object);
  if (verb == "reset" && object.empty()) return reset(asker);
  return problem("a question that this version does not know");
}

std::string Questions::topology(uid_t asker, const std::string &node) {
  if (!may_see_nodes(asker)) return problem("PrivateData in slurm.conf keeps nodes from you");
  refresh_();
  const auto found = state_.topologies.find(node);
  if (!found) return problem("slurmctld has no node of that name");
  Json::Value reply;
  reply["source"] = source_name(found->topology.source);
  reply["topology"] = compact_form(found->topology);
  for (const std::string &level : found->levels) reply["levels"].append(level);
  return json_line(reply);
}

// A job that Slurm has forgotten is known by what was decided for it. Whoever may not see a job is not told whether
// there is one.
std::string Questions::explain(uid_t asker, const std::string &job) {
  const std::optional<JobId> id = read_job_id(job);
  if (!id) return problem("that is no job id");
  const KnownJob known = known_job(*id);
  ExplainAnswer reply;
  reply.decision = state_.decisions.find(known.kept_as);
  const std::optional<uid_t> owner = known.owner      ? known.owner
                                     : reply.decision ? std::optional<uid_t>(reply.decision->decision.user)
                                                      : std::nullopt;
  if (!may_see_jobs_of(owner.value_or(static_cast<uid_t>(-1)), asker)) {
    reply.decision.reset();
    reply.problem = "there is no such job, or PrivateData in slurm.conf keeps it from you";
  } else if (!reply.decision) {
    reply.unknown = true;
    reply.problem = known.owner ? "no planning round has decided on this job" : "slurmctld knows no such job";
  }
  return explain_answer(reply);
}

std::string Questions::reset(uid_t asker) {
  if (!may_reset(asker)) return problem("only root, SlurmUser and Slurm's operators may reset the counts");
  harmony::reset(state_.statistics);
  info("harmony: counts and times reset by user %u", static_cast<unsigned>(asker));
  return json_line(Json::Value(Json::objectValue));
}

} // namespace harmony
