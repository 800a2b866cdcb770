// The options of `harmony sim`.

#include "src/infer/load_torch.h"
#include "src/sim/input/read_jobs.h"
#include "src/tool/sim_command.h"

namespace harmony {
namespace {

void add_input(CLI::App &sim, SimCommand &command) {
  CLI::Option_group *input = sim.add_option_group("What is simulated", "a scenario, or a cluster and jobs from files");
  CLI::Option *scenario = input->add_option("--scenario", command.scenarios, "Scenarios by name; --list shows them")
                              ->delimiter(',')
                              ->type_name("NAME,...");
  CLI::Option *cluster = input->add_option("--cluster", command.cluster, "Nodes in groups, JSON; see harmony-sim(1)")
                             ->type_name("FILE")
                             ->excludes(scenario);
  CLI::Option *jobs = input->add_option("--jobs", command.jobs, "Jobs or a trace")->type_name("FILE")->needs(cluster);
  cluster->needs(jobs);
  input->add_option("--format", command.format, "Of --jobs; found out by default")->check(CLI::IsMember([] {
    std::vector<std::string> all = job_formats();
    all.insert(all.begin(), "auto");
    return all;
  }()));
  input->add_flag("--skip-bad", command.skip_bad,
                  "Count bad rows of --jobs and jobs that never fit instead of refusing");
  input->add_option("--count", command.count, "Jobs of a workload")->type_name("N")->check(CLI::Range(1, 10000000));
  input
      ->add_option("--load", command.loads,
                   "Part of the cluster's GPU time that the jobs ask for; 0.7 by default, of --jobs as it is")
      ->delimiter(',')
      ->type_name("PART,...")
      ->check(CLI::Range(0.01, 10.0));
  input->add_option("--seeds", command.seeds, "Workloads; 8 by default, of --jobs 1")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  input->add_option("--first-seed", command.first_seed, "The first of them; 1 by default. Others are other workloads")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000));
}

void add_truth(CLI::App &sim, SimCommand &command) {
  CLI::Option_group *truth = sim.add_option_group("Ground truth", "mechanistic, unless tables are given");
  truth->add_option("--types", command.types, "Job types of your own, JSON")->type_name("FILE");
  truth->add_option("--speeds", command.speeds, "Measured speeds alone: CSV type,workers,nodes,speed")
      ->type_name("FILE");
  CLI::Option *pairs =
      truth->add_option("--contention", command.contention, "Measured pairs: CSV victim,aggressor,ratio")
          ->type_name("FILE");
  truth->add_option("--combine", command.combine, "How the ratios of several neighbours combine")
      ->check(CLI::IsMember({"product", "min", "additive"}))
      ->needs(pairs);
  truth->add_option("--noise-worker", command.noise_worker, "Variation of each worker's speed (sigma of its logarithm)")
      ->check(CLI::Range(0.0, 1.0));
  truth->add_option("--noise-epoch", command.noise_epoch, "Variation of each epoch's speed")
      ->check(CLI::Range(0.0, 1.0));
}

void add_scheduling(CLI::App &sim, SimCommand &command) {
  CLI::Option_group *queue = sim.add_option_group("Scheduling", "as Slurm does it");
  queue->add_option("--policy", command.policies, "Policies to compare; --list shows them")
      ->delimiter(',')
      ->type_name("NAME,...");
  queue->add_option("--model", command.model, "Directory of the model for policy learned; the shipped one by default")
      ->type_name("DIR");
  command.torch_library = std::string(HARMONY_PLUGIN_DIR "/") + torch_library_file;
  queue->add_option("--torch-library", command.torch_library)->group(""); // hidden: for a build that is not installed
  queue
      ->add_option("--dataset", command.dataset,
                   "Directory of a dataset that lif-linear, lif-quadratic and greedy are fitted from")
      ->type_name("DIR");
  queue->add_option("--order", command.order, "Of the queue")->check(CLI::IsMember({"submit", "priority", "shortest"}));
  queue->add_option("--interval", command.interval_s, "Rounds at multiples of it; 0: at once when a job comes or ends")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0));
  queue->add_option("--max-wait", command.max_wait_s, "No policy holds a gang back for longer")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 864000));
  queue->add_option("--depth", command.depth, "Gangs looked at in a round")->check(CLI::Range(1, 1000000));
  queue->add_option("--promises", command.promises, "Gangs without room that backfill keeps nodes for")
      ->check(CLI::Range(0, 1000));
  queue
      ->add_option("--limit-factor", command.limit_factor,
                   "Time limits of jobs without one, in times of their best run time")
      ->check(CLI::Range(1.0, 1000.0));
}

void add_output(CLI::App &sim, SimCommand &command) {
  CLI::Option_group *output = sim.add_option_group("Output", "a table, and");
  output->add_option("--json", command.json, "Figures for programs; - prints them instead of the table")
      ->type_name("FILE");
  output->add_option("--report", command.report, "A page with charts and a map of the cluster; needs gnuplot")
      ->type_name("FILE.html");
  output->add_option("--jobs-out", command.jobs_out, "Every job's times, CSV")->type_name("FILE");
  output->add_option("--dataset-out", command.dataset_out, "What happened, as a dataset")->type_name("DIR");
  output->add_flag("--time-decisions", command.time_decisions,
                   "Time the decisions; the JSON differs from run to run then");
  output->add_option("--threads", command.threads, "As many as there are cores by default")->check(CLI::Range(1, 1024));
  output->add_flag("--list", command.list, "List scenarios, policies and job types");
}

} // namespace

CLI::App *add_sim(CLI::App &app, SimCommand &command) {
  CLI::App *sim = app.add_subcommand("sim", "Compare policies on a simulated cluster");
  add_input(*sim, command);
  add_truth(*sim, command);
  add_scheduling(*sim, command);
  add_output(*sim, command);
  CLI::App *calibrate =
      sim->add_subcommand("calibrate", "Fit the contention model to a table of speeds by GPUs and nodes");
  calibrate->add_option("TABLE", command.calibrate, "JSON: model, GPUs, nodes, speed relative to one node")->required();
  sim->footer("Exit code: 0 done, 1 failed or a file is wrong, 2 wrong usage.\n"
              "Example: harmony sim --scenario mixed64 --policy pack,spread,cons1 --load 0.9 --report out.html");
  return sim;
}

} // namespace harmony
