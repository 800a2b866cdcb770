#include "plugin/slurm_version.h"

#include "plugin/client/controller.h"

namespace harmony {
namespace {

std::string text(const char *value) { return value ? value : ""; }

int take_pair(void *pair, void *facts) {
  const auto *fact = static_cast<const config_key_pair_t *>(pair);
  if (text(fact->name).rfind("Harmony", 0) == 0)
    (*static_cast<std::map<std::string, std::string> *>(facts))[fact->name] = text(fact->value);
  return 0;
}

} // namespace

ControllerReport ask_controller() {
  ControllerReport report;
  slurm_init(nullptr);
  slurm_conf_t *conf = nullptr;
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS) {
    report.problem = slurm_strerror(errno);
    return report;
  }
  report.answered = true;
  report.host = conf->control_cnt ? text(conf->control_machine[0]) : "";
  report.slurm_version = text(conf->version);
  report.plugin_dir = text(conf->plugindir);
  report.state_directory = text(conf->state_save_location);
  report.slurm_user = conf->slurm_user_id;
  if (auto pairs = static_cast<SlurmList>(conf->select_conf_key_pairs))
    list_for_each(pairs, take_pair, &report.harmony);
  slurm_free_ctl_conf(conf);
  return report;
}

const char *built_for_slurm() { return SLURM_VERSION_STRING; }

} // namespace harmony
