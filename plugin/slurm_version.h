// Everything that differs between the Slurm versions this project is written for (22.05, 24.11, 26.05)
// stands in this header and nowhere else. Only the 22.05 side has been compiled and run so far.
//
// Include it first: slurm_xlator.h renames Slurm's functions (`error` would otherwise bind to glibc's), and
// must be seen before any other header of Slurm.
#pragma once

extern "C" {
#include "config.h"

#include "src/common/slurm_xlator.h"

#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/slurmctld.h"

// 1. Where the select interface lives.
#if SLURM_VERSION_NUMBER >= 0x170200
#include "src/interfaces/select.h"
#else
#include "src/common/select.h"
#endif
}

// Data of slurmctld that other programs (clients, anything linked with -lslurm) do not have.
extern "C" {
extern slurm_conf_t slurm_conf __attribute__((weak));
}

namespace harmony {

using SlurmList = struct xlist *; // List until 22.05, list_t * later

// 2. Excluded cores: one bitmap over all cores of the cluster, or (23.11 and later) a record with a
//    bitmap for each node.
#if SLURM_VERSION_NUMBER >= 0x170b00
using ExcludedCores = resv_exc_t *;
#else
using ExcludedCores = bitstr_t *;
#endif

// 3. job_test's last parameter, from 24.11 on. HARMONY_WILL_RUN_* add it to a parameter list and to a call.
#if SLURM_VERSION_NUMBER >= 0x180b00
#define HARMONY_WILL_RUN_PARAMETER , will_run_data_t *will_run
#define HARMONY_WILL_RUN_ARGUMENT , call.will_run
#define HARMONY_WILL_RUN_MEMBER will_run_data_t *will_run;
#define HARMONY_WILL_RUN_INIT , will_run
#else
#define HARMONY_WILL_RUN_PARAMETER
#define HARMONY_WILL_RUN_ARGUMENT
#define HARMONY_WILL_RUN_MEMBER
#define HARMONY_WILL_RUN_INIT
#endif

// One question of slurmctld to select_p_job_test: can this job run, where, when.
struct JobTest {
  job_record_t *job;
  bitstr_t *nodes;
  uint32_t min_nodes, max_nodes, req_nodes;
  uint16_t mode;
  SlurmList preemptee_candidates;
  SlurmList *preemptee_jobs;
  ExcludedCores excluded_cores;
  HARMONY_WILL_RUN_MEMBER
};

#define HARMONY_JOB_TEST_PARAMETERS                                                                                    \
  job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,       \
      harmony::SlurmList preemptee_candidates, harmony::SlurmList *preemptee_jobs,                                     \
      harmony::ExcludedCores excluded_cores HARMONY_WILL_RUN_PARAMETER

#define HARMONY_JOB_TEST_FROM_PARAMETERS                                                                               \
  harmony::JobTest {                                                                                                   \
    job, nodes, min_nodes, max_nodes, req_nodes, mode, preemptee_candidates, preemptee_jobs,                           \
        excluded_cores HARMONY_WILL_RUN_INIT                                                                           \
  }

using StockJobTest = int (*)(HARMONY_JOB_TEST_PARAMETERS);

inline int ask(StockJobTest stock, const JobTest &call) {
  return stock(call.job, call.nodes, call.min_nodes, call.max_nodes, call.req_nodes, call.mode,
               call.preemptee_candidates, call.preemptee_jobs, call.excluded_cores HARMONY_WILL_RUN_ARGUMENT);
}

// 4. Where a job's owner may leave a text of any kind: the job's Extra (23.02 and later), which nobody else uses; before
//    that its comment, which may have the owner's own words.
#if SLURM_VERSION_NUMBER >= 0x170200
#define HARMONY_CLAIM_FIELD extra
constexpr const char *claim_field_name = "Extra";
#else
#define HARMONY_CLAIM_FIELD comment
constexpr const char *claim_field_name = "Comment";
#endif

// The functions of the select interface that are forwarded as they come, of all versions together: Slurm asks
// for 37 names in 22.05 and for ever fewer later, and one that it does not ask for is never called.
// Pointers are opaque here, since their types come and go between versions while the calling convention stays.
//   row(return type, name, parameters, arguments)
// clang-format off
#define HARMONY_SELECT_FORWARDED(row)                                                                     \
  row(int, select_p_state_save, (void *dir), (dir))                                                       \
  row(int, select_p_state_restore, (void *dir), (dir))                                                    \
  row(int, select_p_job_init, (void *jobs), (jobs))                                                       \
  row(int, select_p_node_init, (), ())                                                                    \
  row(int, select_p_job_begin, (void *job), (job))                                                        \
  row(int, select_p_job_ready, (void *job), (job))                                                        \
  row(int, select_p_job_expand, (void *from_job, void *to_job), (from_job, to_job))                       \
  row(int, select_p_job_resized, (void *job, void *node), (job, node))                                    \
  row(int, select_p_job_signal, (void *job, int signal), (job, signal))                                   \
  row(int, select_p_job_suspend, (void *job, bool indefinitely), (job, indefinitely))                     \
  row(int, select_p_job_resume, (void *job, bool indefinitely), (job, indefinitely))                      \
  row(void *, select_p_step_pick_nodes, (void *job, void *step, uint32_t count, void *avail),             \
      (job, step, count, avail))                                                                          \
  row(int, select_p_step_start, (void *step), (step))                                                     \
  row(int, select_p_step_finish, (void *step, bool killing), (step, killing))                             \
  row(int, select_p_select_nodeinfo_pack, (void *info, void *buffer, uint16_t version),                   \
      (info, buffer, version))                                                                            \
  row(int, select_p_select_nodeinfo_unpack, (void *info, void *buffer, uint16_t version),                 \
      (info, buffer, version))                                                                            \
  row(void *, select_p_select_nodeinfo_alloc, (), ())                                                     \
  row(int, select_p_select_nodeinfo_free, (void *info), (info))                                           \
  row(int, select_p_select_nodeinfo_set_all, (), ())                                                      \
  row(int, select_p_select_nodeinfo_get, (void *info, int what, int state, void *data),                   \
      (info, what, state, data))                                                                          \
  row(void *, select_p_select_jobinfo_alloc, (), ())                                                      \
  row(int, select_p_select_jobinfo_free, (void *info), (info))                                            \
  row(int, select_p_select_jobinfo_set, (void *info, int what, void *data), (info, what, data))           \
  row(int, select_p_select_jobinfo_get, (void *info, int what, void *data), (info, what, data))           \
  row(void *, select_p_select_jobinfo_copy, (void *info), (info))                                         \
  row(int, select_p_select_jobinfo_pack, (void *info, void *buffer, uint16_t version),                    \
      (info, buffer, version))                                                                            \
  row(int, select_p_select_jobinfo_unpack, (void *info, void *buffer, uint16_t version),                  \
      (info, buffer, version))                                                                            \
  row(void *, select_p_select_jobinfo_sprint, (void *info, void *text, size_t size, int mode),            \
      (info, text, size, mode))                                                                           \
  row(void *, select_p_select_jobinfo_xstrdup, (void *info, int mode), (info, mode))                      \
  row(int, select_p_update_node_config, (int index), (index))                                             \
  row(void *, select_p_resv_test, (void *request, uint32_t count, void *avail, void *cores),              \
      (request, count, avail, cores))
// clang-format on

// In 22.05 the interface's own table of functions can be counted against ours (31 forwarded, plugin_id, and the
// five the overlay answers itself), so that a name can be missing in neither.
#if SLURM_VERSION_NUMBER < 0x170200
#define HARMONY_COUNT_ROW(...) +1
static_assert(sizeof(slurm_select_ops_t) / sizeof(void *) == 0 HARMONY_SELECT_FORWARDED(HARMONY_COUNT_ROW) + 6,
              "the select interface of this Slurm has other functions than HARMONY_SELECT_FORWARDED");
#undef HARMONY_COUNT_ROW
constexpr bool stock_has_every_row = true;
#else
constexpr bool stock_has_every_row = false;
#endif

} // namespace harmony
