// The `harmony` command: one subcommand a question.

#include "plugin/client/controller.h"
#include "src/tool/dataset_command.h"
#include "src/tool/explain_command.h"
#include "src/tool/model_command.h"
#include "src/tool/observe_command.h"
#include "src/tool/progress_command.h"
#include "src/tool/run_command.h"
#include "src/tool/reset_statistics.h"
#include "src/tool/settings_here.h"
#include "src/tool/sim_command.h"
#include "src/tool/status.h"
#include "src/tool/topology_command.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

struct StatusOptions {
  bool json = false;
  bool prometheus = false;
  bool reset = false;
};

int run_status(const StatusOptions &options) {
  if (options.reset) return harmony::reset_statistics();
  const harmony::ControllerReport report = harmony::ask_controller();
  const harmony::Status status = harmony::judge(report, HARMONY_PLUGIN_DIR, harmony::built_for_slurm());
  const std::string text = options.json         ? harmony::status_json(report, status)
                           : options.prometheus ? harmony::status_prometheus(report, status)
                                                : harmony::status_text(report, status);
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(status.health);
}

CLI::App *add_status(CLI::App &app, StatusOptions &options) {
  CLI::App *status = app.add_subcommand("status", "Say whether slurmctld has the overlay loaded, and what it is doing");
  CLI::Option_group *output = status->add_option_group("Output", "for people by default");
  output->add_flag("--json", options.json, "Print JSON for programs");
  output->add_flag("--prometheus", options.prometheus, "Print metrics for Prometheus' textfile collector");
  output->add_flag("--reset", options.reset, "Begin all counts and times anew; as an operator, on slurmctld's host");
  output->require_option(0, 1);
  status->footer(
      "Exit code: 0 loaded and as configured, 1 slurmctld does not answer, 2 wrong usage,\n"
      "3 slurmctld runs a stock plugin, 4 loaded but everything is left to stock against slurm.conf's wish.");
  return status;
}

CLI::App *add_explain(CLI::App &app, harmony::ExplainOptions &options) {
  CLI::App *explain = app.add_subcommand("explain", "Say where a job was put and why, or why it waits");
  explain->add_option("JOBID", options.job, "17, or 17_3 (a task of an array), or 17+1 (a component of a hetjob)")
      ->required();
  explain->add_flag("--json", options.json, "Print JSON for programs");
  explain->footer("Exit code: 0 explained, 1 slurmctld does not answer, or the job is not known or not yours to see,\n"
                  "2 wrong usage, 3 slurmctld runs a stock plugin.");
  return explain;
}

CLI::App *add_topology(CLI::App &app, harmony::TopologyOptions &options) {
  CLI::App *topology = app.add_subcommand("topology", "Show a node's topology, draw it, or publish it to slurmctld");
  CLI::Option_group *source =
      topology->add_option_group("Source", "this machine by default; hwloc and, where there is one, NVML");
  source->add_option("--xml", options.xml, "An hwloc export (lstopo FILE.xml)")->type_name("FILE");
  source->add_option("--synthetic", options.synthetic, "A built-in profile, such as pcie8 or dgx1")
      ->type_name("PROFILE");
  source->add_option("--node", options.node, "As slurmctld sees this node; best asked on slurmctld's host")
      ->type_name("NODE");
  source->require_option(0, 1);
  CLI::Option_group *output = topology->add_option_group("Output", "a table by default");
  output->add_flag("--json", options.json, "Print JSON for programs");
  output->add_flag("--gres", options.gres, "Print this node's lines for gres.conf");
  output->add_flag("--compact", options.compact, "Print the form that is published");
  output->add_option("--svg", options.svg, "Draw the node into FILE")->type_name("FILE");
  output->add_flag("--publish", options.publish,
                   "Put it into the node's Extra field in slurmctld; as root on the node");
  output->require_option(0, 1);
  topology->add_option("--as", options.as, "The node's name in slurm.conf; this host's by default")->type_name("NODE");
  topology->add_option("--wait", options.wait, "With --publish: how long to wait for a slurmctld that does not answer")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 86400));
  topology->add_flag("--syslog", options.syslog, "Write errors to syslog too, for use where nobody reads stderr");
  topology->footer("Exit code: 0 done, 1 failed, 2 wrong usage.");
  return topology;
}

CLI::App *add_model_action(CLI::App &model, harmony::ModelAction action, const char *name, const char *help,
                           harmony::ModelOptions &options) {
  CLI::App *app = model.add_subcommand(name, help);
  app->callback([action, &options] { options.action = action; });
  if (action == harmony::ModelAction::features) return app;
  app->add_option("--store", options.store,
                  "The store; by default ModelStore of harmony.conf, else " HARMONY_MODEL_STORE)
      ->type_name("DIR");
  app->add_option("--slurm-user", options.slurm_user,
                  "Who may own the files besides root; by default SlurmUser of slurm.conf, without one the caller")
      ->type_name("USER");
  return app;
}

CLI::App *add_model(CLI::App &app, harmony::ModelOptions &options) {
  using harmony::ModelAction;
  CLI::App *model = app.add_subcommand("model", "See, verify, publish and switch the models of the model store");
  const auto action = [&](ModelAction which, const char *name, const char *help) {
    return add_model_action(*model, which, name, help, options);
  };
  CLI::App *list = action(ModelAction::list, "list", "List the shipped model and the versions; says which is in use");
  CLI::App *show = action(ModelAction::show, "show", "Show what a version says of itself");
  CLI::App *verify = action(
      ModelAction::verify, "verify",
      "Check owners, modes, digest, manifest and schema; the code of a model is checked when slurmctld loads it");
  show->add_option("VERSION", options.what, "The one in use by default");
  verify->add_option("VERSION|DIR", options.what, "A version, the one in use by default, or a directory to be added");
  CLI::App *features =
      action(ModelAction::features, "features", "Print the features that models see, with what they mean");
  features->add_option("--types", options.types, "Job types that the model knows; some features are by type")
      ->delimiter(',')
      ->type_name("NAME,...");
  for (CLI::App *each : {list, show, verify, features})
    each->add_flag("--json", options.json, "Print JSON for programs");
  action(ModelAction::add, "add", "Publish a directory as the next version; it is not in use yet")
      ->add_option("DIR", options.what, "With model.pt, manifest.json and MODEL_CARD.md; it is copied")
      ->required();
  action(ModelAction::use, "use", "Verify a version and have slurmctld use it from its next planning round on")
      ->add_option("VERSION", options.what, "A number of `harmony model list`")
      ->required();
  action(ModelAction::rollback, "rollback", "Go back to the version that was in use before");
  model->require_subcommand(1);
  model->footer(
      "Exit code: 0 done, or sound; 1 failed, or something is wrong with the model or the store; 2 wrong usage.");
  return model;
}

CLI::App *add_run(CLI::App &app, harmony::RunOptions &options) {
  CLI::App *run = app.add_subcommand("run", "Start the roles of a gang from inside its batch script");
  run->add_option("--worker", options.worker, "What each worker runs, a shell command")
      ->type_name("COMMAND")
      ->required();
  run->add_option("--ps", options.ps, "What each parameter server runs")->type_name("COMMAND");
  run->add_option("--ps-count", options.ps_count, "How many parameter servers; HARMONY_PS by default")
      ->type_name("P")
      ->check(CLI::Range(0, 8192));
  run->add_option("--port", options.port, "The first port; derived from the job's id by default")
      ->type_name("N")
      ->check(CLI::Range(1024, 65535));
  run->add_flag("--dry-run", options.dry_run, "Print the sruns and the tasks' environments instead");
  run->add_option("--task", options.task)->group(""); // hidden: harmony launches the tasks as well
  run->add_option("--layout", options.layout)->group("");
  run->footer("Exit code: 0 all workers ended well, 1 could not start, 2 wrong usage,\n"
              "else that of the task that failed first, 128 + signal if it died of one.");
  return run;
}

// As a shell would take it again.
std::string command_line(int argc, char **argv) {
  std::string text = "harmony";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                               "0123456789_-.,:/=+@%") == std::string::npos;
    text += ' ';
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char each : word) text += each == '\'' ? std::string("'\\''") : std::string(1, each);
    text += '\'';
  }
  return text;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Interference-aware placement of training jobs for Slurm", "harmony"};
  app.set_version_flag("--version", "harmony " HARMONY_VERSION);
  app.require_subcommand(1);

  StatusOptions status_options;
  harmony::TopologyOptions topology_options;
  harmony::ExplainOptions explain_options;
  CLI::App *status = add_status(app, status_options);
  CLI::App *explain = add_explain(app, explain_options);
  add_topology(app, topology_options);
  harmony::RunOptions run_options;
  CLI::App *run = add_run(app, run_options);
  harmony::ModelOptions model_options;
  CLI::App *model = add_model(app, model_options);
  harmony::SimCommand sim_command;
  CLI::App *sim = harmony::add_sim(app, sim_command);
  sim_command.command_line = command_line(argc, argv);
  harmony::ProgressCommand progress_command;
  CLI::App *progress = harmony::add_progress(app, progress_command);
  harmony::DatasetCommand dataset_command;
  CLI::App *dataset = harmony::add_dataset(app, dataset_command);
  harmony::ObserveOptions observe_options;
  CLI::App *observe = harmony::add_observe(app, observe_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (run->parsed()) return harmony::run_gang(run_options);
  if (model->parsed()) return harmony::run_model(model_options);
  if (sim->parsed()) return harmony::run_sim(sim_command);
  if (progress->parsed()) return harmony::run_progress(progress_command);
  if (dataset->parsed()) {
    if (dataset_command.directory.empty()) dataset_command.directory = harmony::settings_here().dataset;
    return harmony::run_dataset(dataset_command);
  }
  if (observe->parsed()) harmony::run_observe(observe_options);
  if (explain->parsed()) return harmony::explain(explain_options);
  return status->parsed() ? run_status(status_options) : harmony::run_topology(topology_options);
}
