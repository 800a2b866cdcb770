// The select overlay: Slurm loads it in place of the stock select_cons_tres.so, and it hands every call on
// to that. In slurmctld, job_test asks the engine first.

#include "plugin/overlay/engine_link.h"
#include "plugin/overlay/overlay_report.h"
#include "plugin/overlay/stock_plugin.h"

namespace harmony {
namespace {

#define HARMONY_STOCK_MEMBER(type, name, parameters, arguments) type(*name) parameters;

// The stock plugin's functions, set once by init().
struct StockSelect {
  HARMONY_SELECT_FORWARDED(HARMONY_STOCK_MEMBER)
  StockJobTest select_p_job_test;
  int (*select_p_select_nodeinfo_set)(job_record_t *);
  int (*select_p_job_fini)(job_record_t *);
  int (*select_p_get_info_from_plugin)(enum select_plugindata_info, job_record_t *, void *);
  int (*select_p_reconfigure)();
};

StockPlugin stock_plugin;
StockSelect stock;
EngineLink engine_link;

template <class Function> bool find(Function *&function, const char *name) {
  function = reinterpret_cast<Function *>(stock_plugin.symbol(name));
  return function != nullptr;
}

bool find_all() {
  bool every = true;
#define HARMONY_FIND(type, name, parameters, arguments) every = find(stock.name, #name) && every;
  HARMONY_SELECT_FORWARDED(HARMONY_FIND)
  const bool ours = find(stock.select_p_job_test, "select_p_job_test") &&
                    find(stock.select_p_select_nodeinfo_set, "select_p_select_nodeinfo_set") &&
                    find(stock.select_p_job_fini, "select_p_job_fini") &&
                    find(stock.select_p_get_info_from_plugin, "select_p_get_info_from_plugin") &&
                    find(stock.select_p_reconfigure, "select_p_reconfigure");
  return ours && (every || !stock_has_every_row);
}

} // namespace
} // namespace harmony

using namespace harmony;

extern "C" {

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_id;
extern const uint32_t plugin_version;
const char plugin_name[] = "Harmony overlay of the Trackable RESources (TRES) selection plugin";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void) {
  if (!stock_plugin.load("select_cons_tres.so")) return SLURM_ERROR;
  if (!find_all()) {
    fail("the stock select_cons_tres.so lacks functions of the select interface of Slurm " SLURM_VERSION_STRING);
    return SLURM_ERROR;
  }
  if (running_in_slurmctld()) info("harmony: overlay " HARMONY_VERSION " in front of %s", stock_plugin.path());
  return SLURM_SUCCESS;
}

int fini(void) {
  stock_plugin.unload();
  return SLURM_SUCCESS;
}

#define HARMONY_FORWARD(type, name, parameters, arguments)                                                             \
  type name parameters { return stock.name arguments; }
HARMONY_SELECT_FORWARDED(HARMONY_FORWARD)

int select_p_job_test(HARMONY_JOB_TEST_PARAMETERS) {
  const JobTest call = HARMONY_JOB_TEST_FROM_PARAMETERS;
  int answer;
  const EngineApi *engine = engine_link.active();
  if (engine && engine->job_test(call, stock.select_p_job_test, &answer)) return answer;
  return ask(stock.select_p_job_test, call);
}

// Where slurmctld allocates what job_test chose; at its start, too, for each job that runs already.
int select_p_select_nodeinfo_set(job_record_t *job) {
  const int rc = stock.select_p_select_nodeinfo_set(job);
  const EngineApi *engine = engine_link.active();
  if (engine && rc == SLURM_SUCCESS && IS_JOB_RUNNING(job)) engine->job_placed(job);
  return rc;
}

int select_p_job_fini(job_record_t *job) {
  const int rc = stock.select_p_job_fini(job);
  if (const EngineApi *engine = engine_link.active()) engine->job_ended(job);
  return rc;
}

// slurmctld calls it at start, before it looks at any job, and at every reconfigure; but also when a partition changes,
// say, and then nothing is new to us.
int select_p_reconfigure(void) {
  static time_t applied = 0; // both under slurmctld's write locks
  static char *applied_parameters = nullptr;
  const int rc = stock.select_p_reconfigure();
  if (!running_in_slurmctld()) return rc;
  const bool news = slurm_conf.last_update != applied || xstrcmp(slurm_conf.sched_params, applied_parameters) != 0;
  if (!news && engine_link.active()) engine_link.active()->look_again();
  if (news) {
    engine_link.apply(slurm_conf.sched_params);
    const EngineApi *engine = engine_link.active();
    if (engine && sched_overlay_loaded()) engine->start_rounds();
    applied = slurm_conf.last_update;
    xfree(applied_parameters);
    applied_parameters = xstrdup(slurm_conf.sched_params);
  }
  return rc;
}

// slurmctld asks for SELECT_CONFIG_INFO to answer `scontrol show config`; ours is how anybody, on any host, can see
// that the overlay is really loaded.
int select_p_get_info_from_plugin(enum select_plugindata_info what, job_record_t *job, void *data) {
  const int rc = stock.select_p_get_info_from_plugin(what, job, data);
  if (what == SELECT_CONFIG_INFO && rc == SLURM_SUCCESS)
    add_overlay_report(static_cast<SlurmList *>(data), engine_link, stock_plugin);
  return rc;
}

} // extern "C"
