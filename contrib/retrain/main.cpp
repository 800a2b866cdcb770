// harmony-retrain: from a dataset to a better policy in a model store.

#include "src/infer/load_torch.h"
#include "src/learn/retrain.h"
#include "src/values/clock.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <malloc.h>
#include <cstdio>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

volatile std::sig_atomic_t interrupts = 0;

void interrupted(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) _exit(130);
}

// One line that is written over on a terminal; elsewhere a line every half minute.
class ProgressLine {
public:
  void show(const std::string &stage, double done, const std::string &text) {
    const std::int64_t now = harmony::now_ms();
    const double passed = static_cast<double>(now - begun_) / 1000;
    const std::string left = done > 0.02 ? eta(passed / done - passed) : "...";
    const std::string line = fmt::format("{:3.0f} %  {} left  {}: {}", 100 * done, left, stage, text);
    if (terminal_) {
      std::fprintf(stderr, "\r\033[K%.150s", line.c_str());
      std::fflush(stderr);
    } else if (now - told_ >= 30000) {
      std::fprintf(stderr, "harmony-retrain: %s\n", line.c_str());
      told_ = now;
    }
  }
  void clear() {
    if (terminal_) std::fprintf(stderr, "\r\033[K");
  }

private:
  static std::string eta(double seconds) {
    return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
  }
  const bool terminal_ = isatty(2);
  const std::int64_t begun_ = harmony::now_ms();
  std::int64_t told_ = 0;
};

constexpr const char *footer =
    "Reads what slurmctld (or harmony sim --dataset-out) recorded, fits the reward model, trains the policy against "
    "it, judges it\n"
    "on held-out workloads beside the model in service and the heuristics, and publishes a new version only if it is "
    "better\n"
    "beyond the noise. Which version is in service is not changed: that is `harmony model use`.\n"
    "^C stops the training and judges the best so far; a second one ends it at once. Called again, it goes on.\n"
    "Exit code: 0 published, 1 failed, 2 wrong usage, 3 the dataset is too small, 4 nothing better was found.\n"
    "Example: harmony-retrain --dataset /var/lib/slurm-harmony/dataset --models /var/lib/slurm-harmony/models --hours "
    "1";

} // namespace

int main(int argc, char **argv) {
  harmony::RetrainOptions options;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App app("Retrains the placement policy from a dataset.", "harmony-retrain");
  app.footer(footer);
  app.add_option("--dataset", options.datasets, "Directories of records")
      ->required()
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR...");
  app.add_option("--models", options.store, "The model store; made if it is missing")->required()->type_name("STORE");
  app.add_option("--base", options.base,
                 "Version that training begins with; by default the one in service, else the shipped one")
      ->type_name("VERSION")
      ->check(CLI::Range(1, 999999999));
  app.add_flag("--from-scratch", options.from_scratch, "Begin with no model, and compare with heuristics only");
  app.add_option("--shipped", options.shipped)->group(""); // hidden: for a build that is not installed
  app.add_option("--hours", options.hours, "How much is done: about that long on two cores; 0.5 by default")
      ->type_name("H")
      ->check(CLI::Range(0.001, 1000.0));
  app.add_option("--seed", options.seed, "The same seed gives the same model on one machine")->type_name("N");
  app.add_option("--algorithm", options.algorithm, "harmony: advantage actor-critic; ppo: proximal policy optimisation")
      ->check(CLI::IsMember({"harmony", "ppo"}));
  app.add_option("--without", options.without, "Leaves parts out, to see what they are worth")
      ->delimiter(',')
      ->check(CLI::IsMember({"value", "exploration", "replay", "warm-start", "reward-model", "re-ranking"}));
  app.add_option("--hold-out-type", options.held_out_types, "Types that are treated as unknown")
      ->delimiter(',')
      ->type_name("TYPE,...");
  app.add_option("--name", options.name, "Of the model")->type_name("NAME");
  app.add_option("--max-wait", options.max_wait_s, "MaxWait of harmony.conf; 3600 by default")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 864000));
  app.add_option("--work", options.work, "Where checkpoints, curves and the candidate are kept; by default STORE.work")
      ->type_name("DIR");
  app.add_option("--judge-seeds", options.judge_seeds, "Held-out workloads of each cluster and load")
      ->type_name("N")
      ->check(CLI::Range(2, 1000));
  app.add_option("--threads", options.threads, "As many as there are cores by default")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  options.torch_library = std::string(HARMONY_PLUGIN_DIR "/") + harmony::torch_library_file;
  app.add_option("--torch-library", options.torch_library)->group(""); // hidden: for a build that is not installed
  app.add_flag("--force", options.force, "Publish it, better or not");
  app.add_flag("--dry-run", options.dry_run, "Publish nothing");
  app.set_version_flag("--version", HARMONY_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (int i = 0; i < argc; ++i) options.command += (i ? " " : "") + std::string(i ? argv[i] : "harmony-retrain");
  // Tensors of every mini-batch would be given back to the kernel and asked for again: a quarter of the time.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
  ProgressLine line;
  options.stop = [] { return interrupts > 0; };
  options.progress = [&](const std::string &stage, double done, const std::string &text) {
    line.show(stage, done, text);
  };
  options.say = [&](const std::string &text) {
    line.clear();
    std::fprintf(stdout, "%s\n", text.c_str());
    std::fflush(stdout);
  };
  try {
    const harmony::RetrainEnd end = harmony::retrain(options);
    line.clear();
    return end == harmony::RetrainEnd::published ? 0 : end == harmony::RetrainEnd::too_small ? 3 : 4;
  } catch (const std::exception &failed) {
    line.clear();
    std::fprintf(stderr, "harmony-retrain: %s\n", failed.what());
    return 1;
  }
}
