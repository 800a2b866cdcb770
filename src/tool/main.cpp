// The `harmony` command: one subcommand a question.

#include "plugin/client/controller.h"
#include "src/tool/status.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

int run_status(bool json) {
  const harmony::ControllerReport report = harmony::ask_controller();
  const harmony::Status status = harmony::judge(report, HARMONY_PLUGIN_DIR, harmony::built_for_slurm());
  const std::string text = json ? harmony::status_json(report, status) : harmony::status_text(report, status);
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(status.health);
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Interference-aware placement of training jobs for Slurm", "harmony"};
  app.set_version_flag("--version", "harmony " HARMONY_VERSION);
  app.require_subcommand(1);

  bool json = false;
  CLI::App *status = app.add_subcommand("status", "Say whether slurmctld has the overlay loaded, and what it is doing");
  status->add_flag("--json", json, "Print JSON for programs");
  status->footer(
      "Exit code: 0 loaded and as configured, 1 slurmctld does not answer, 2 wrong usage,\n"
      "3 slurmctld runs a stock plugin, 4 loaded but everything is left to stock against slurm.conf's wish.");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run_status(json);
}
