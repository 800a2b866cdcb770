// train-emulator: what jobs of the live comparison are made of (contrib/compare). Each subcommand is a file of its own.
#include "src/values/settings.h"
#include "tests/emulator/compare_result.h"
#include "tests/emulator/task.h"
#include "tests/emulator/workload.h"
#include "tests/emulator/world.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

namespace {

CLI::App *add_world(CLI::App &app, harmony::WorldOptions &options) {
  CLI::App *world = app.add_subcommand("world", "Serve the true speeds of a scenario's cluster to tasks");
  world->add_option("--scenario", options.scenario)->required();
  world->add_option("--workload", options.workload, "CSV")->required();
  world->add_option("--socket", options.socket)->required();
  world->add_option("--log", options.log, "Starts and ends of gangs, JSON lines")->required();
  world->add_option("--speedup", options.speedup)->check(CLI::Range(0.1, 10000.0));
  world->add_option("--report", options.report_s, "Real seconds between reports of progress; 0: none")
      ->check(CLI::Range(0.0, 3600.0));
  return world;
}

CLI::App *add_task(CLI::App &app, harmony::TaskOptions &options) {
  CLI::App *task = app.add_subcommand("task", "Be a task of an emulated job; run by srun");
  task->add_option("--world", options.world, "Its socket")->required();
  task->add_option("--job", options.job, "Its number in the workload")->required();
  task->add_option("--harmony", options.harmony, "Report progress by this command");
  return task;
}

CLI::App *add_workload(CLI::App &app, harmony::WorkloadOptions &options) {
  CLI::App *workload = app.add_subcommand("workload", "Make the jobs of a scenario, and what sbatch is told of them");
  workload->add_option("--scenario", options.scenario)->required();
  workload->add_option("--csv", options.csv)->required();
  workload->add_option("--commands", options.commands)->required();
  workload->add_option("--jobs", options.jobs)->check(CLI::Range(2, 10000));
  workload->add_option("--load", options.load)->check(CLI::Range(0.01, 10.0));
  workload->add_option("--speedup", options.speedup)->check(CLI::Range(0.1, 10000.0));
  workload->add_option("--seed", options.seed);
  workload->add_flag("--probe", options.probe, "Jobs that measure Slurm's own time instead");
  return workload;
}

CLI::App *add_result(CLI::App &app, harmony::ResultOptions &options) {
  CLI::App *result = app.add_subcommand("result", "Put live and simulated runs side by side");
  options.model = harmony::shipped_model;
  result->add_option("--scenario", options.scenario)->required();
  result->add_option("--workload", options.workload, "CSV")->required();
  result->add_option("--policy", options.policy)->required();
  result->add_option("--model", options.model, "Directory, for policy learned; the shipped model by default");
  result->add_option("--torch-library", options.torch_library, "The file harmony_torch.so, for policy learned");
  result->add_option("--stock", options.stock_dir, "Directory of its run")->required();
  result->add_option("--ours", options.ours_dir, "Directory of its run")->required();
  result->add_option("--speedup", options.speedup)->required();
  result->add_option("--load", options.load)->required();
  result->add_option("--seed", options.seed)->required();
  result->add_option("--max-wait", options.max_wait_s)->required();
  result->add_option("--report", options.report);
  result->add_option("--json", options.json);
  result->add_option("--command", options.command);
  result->add_flag("--brief", options.brief);
  return result;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Emulated training for tests");
  app.require_subcommand(1);
  harmony::WorldOptions world;
  harmony::TaskOptions task;
  harmony::WorkloadOptions workload;
  harmony::ResultOptions result;
  const CLI::App *is_world = add_world(app, world), *is_task = add_task(app, task);
  const CLI::App *is_workload = add_workload(app, workload);
  add_result(app, result);
  CLI11_PARSE(app, argc, argv);
  try {
    if (is_world->parsed()) return harmony::run_world(world);
    if (is_task->parsed()) return harmony::run_task(task);
    if (is_workload->parsed()) return harmony::make_workload(workload);
    return harmony::show_result(result);
  } catch (const std::exception &failed) {
    std::fprintf(stderr, "train-emulator: %s\n", failed.what());
    return 1;
  }
}
