#include "plugin/slurm_version.h"

#include "plugin/engine/job_notes.h"

#include "plugin/engine/slurm_values.h"

namespace harmony {
namespace {

constexpr const char *our_word = "harmony: ";
constexpr const char *our_variable = "HARMONY_PLAN=";

} // namespace

void note_in_comment(job_record_t &job, const std::string &word) {
  const std::string before = text(job.system_comment);
  std::string kept = before.substr(0, before.find(our_word));
  if (!word.empty()) {
    if (!kept.empty() && kept.back() != ' ') kept += "; ";
    kept += our_word + word;
  }
  if (kept == before) return;
  xfree(job.system_comment);
  if (!kept.empty()) job.system_comment = xstrdup(kept.c_str());
  last_job_update = time(nullptr);
}

void note_in_environment(job_record_t &job, const std::string &plan) {
  if (!job.details) return;
  job_details &details = *job.details;
  std::uint16_t kept = 0;
  for (std::uint16_t i = 0; i < details.env_cnt; ++i) {
    char *variable = details.env_sup[i];
    if (variable && std::strncmp(variable, our_variable, std::strlen(our_variable)) == 0)
      xfree(variable);
    else
      details.env_sup[kept++] = variable;
  }
  details.env_cnt = kept;
  if (plan.empty()) return;
  xrecalloc(details.env_sup, kept + 2, sizeof(char *));
  details.env_sup[kept] = xstrdup((our_variable + plan).c_str());
  details.env_sup[kept + 1] = nullptr;
  details.env_cnt = static_cast<std::uint16_t>(kept + 1);
}

} // namespace harmony
