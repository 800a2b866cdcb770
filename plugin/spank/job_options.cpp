#include "plugin/spank/job_options.h"

#include "src/values/job_description.h"

#include <cstdio>
#include <cstring>

namespace harmony {
namespace {

bool good_type(const char *text) { return is_type(text); }

bool good_ps(const char *text) {
  std::uint32_t value;
  return read_ps(text, value);
}

bool good_epochs(const char *text) {
  std::uint32_t value;
  return read_epochs(text, value);
}

bool good_model_mb(const char *text) {
  std::uint32_t value;
  return read_model_mb(text, value);
}

struct Option {
  const char *name;
  const char *argument;
  const char *usage;
  const char *variable;
  const char *allowed;
  bool (*good)(const char *text);
  char value[64]; // as given; empty if not. Written while options are read, by one thread.
};

Option options[] = {
    {"harmony-type", "NAME", "kind of training job, such as resnet50: jobs of a kind behave alike", "HARMONY_TYPE",
     type_allowed, good_type, ""},
    {"harmony-ps", "P", "of the job's tasks, how many are parameter servers (0: all-reduce)", "HARMONY_PS", ps_allowed,
     good_ps, ""},
    {"harmony-epochs", "E", "how many epochs the job will train", "HARMONY_EPOCHS", epochs_allowed, good_epochs, ""},
    {"harmony-model-mb", "SIZE", "megabytes of parameters exchanged in a step", "HARMONY_MODEL_MB", model_mb_allowed,
     good_model_mb, ""},
};

// In sbatch a bad value refuses the job. On the node it can only come from somebody who went round sbatch: it is left
// out.
int take(int index, const char *text, int remote) {
  Option &option = options[index];
  if (text && strlen(text) < sizeof option.value && option.good(text)) {
    snprintf(option.value, sizeof option.value, "%s", text);
    return ESPANK_SUCCESS;
  }
  if (remote) return ESPANK_SUCCESS;
  slurm_error("harmony: --%s=%.64s: allowed is %s", option.name, text ? text : "", option.allowed);
  return ESPANK_BAD_ARG;
}

} // namespace

void register_job_options(spank_t spank) {
  int index = 0;
  for (const Option &option : options) {
    char usage[256];
    snprintf(usage, sizeof usage, "%s", option.usage);
    spank_option entry = {
        const_cast<char *>(option.name), const_cast<char *>(option.argument), usage, 1, index++, take};
    if (spank_option_register(spank, &entry) != ESPANK_SUCCESS)
      slurm_error("harmony: option --%s cannot be registered", option.name);
  }
}

void export_job_options(spank_t spank) {
  for (const Option &option : options)
    if (option.value[0]) spank_setenv(spank, option.variable, option.value, 1);
}

bool has_job_options() {
  for (const Option &option : options)
    if (option.value[0]) return true;
  return false;
}

} // namespace harmony
