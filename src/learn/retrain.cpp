#include "src/learn/retrain.h"

#include "src/encode/schema.h"
#include "src/infer/load_torch.h"
#include "src/learn/checkpoint.h"
#include "src/learn/curves.h"
#include "src/learn/judge.h"
#include "src/learn/model_card.h"
#include "src/learn/parallel.h"
#include "src/learn/reward_fit.h"
#include "src/learn/reward_report.h"
#include "src/learn/trainer.h"
#include "src/learn/workloads.h"
#include "src/sim/learned_rounds.h"
#include "src/sim/truth/contention.h"
#include "src/store/model_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace harmony {
namespace {

void write_file(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr double decay_by_examples = 1.4; // as found best on made-up tables (tests/learn/rehearse)

// The parts of the whole time that stages take, for the progress line and for how much each does.
struct Stage {
  const char *name;
  double from, to;
};
constexpr Stage stages[] = {{"reward model", 0, 0.25},  {"heuristics", 0.25, 0.27},   {"search", 0.27, 0.77},
                            {"warm start", 0.77, 0.79}, {"actor-critic", 0.79, 0.93}, {"judging", 0.93, 1}};

class Retraining {
public:
  explicit Retraining(const RetrainOptions &options)
      : options_(options), store_(std::filesystem::absolute(options.store).lexically_normal().string()),
        work_(options.work.empty() ? store_ + ".work" : options.work) {}

  RetrainEnd run() {
    const TorchLibrary library = open_torch_library(options_.torch_library);
    if (!library.table) throw std::runtime_error(library.problem); // now, not after hours
    options_.say(fmt::format("reading {}", fmt::join(options_.datasets, ", ")));
    TrainingOptions wanted;
    wanted.held_out_types = options_.held_out_types;
    data_ = read_training_data(options_.datasets, wanted);
    const std::vector<std::string> missing = what_is_missing(data_);
    if (!missing.empty()) {
      options_.say("the dataset is too small to learn from; it has:");
      for (const std::string &line : missing) options_.say("  " + line);
      return RetrainEnd::too_small;
    }
    tell_of_data();
    std::filesystem::create_directories(work_);
    checkpoint_ = Checkpoint(work_, fingerprint());
    read_base();
    fit_rewards();
    train();
    judge_it();
    return publish();
  }

private:
  bool without(const char *what) const {
    return std::count(options_.without.begin(), options_.without.end(), what) > 0;
  }
  int types() const { return static_cast<int>(data_.types.size()) + 1; }

  void progress(const std::string &stage, double part, const std::string &line) const {
    for (const Stage &each : stages)
      if (stage == each.name) options_.progress(stage, each.from + (each.to - each.from) * part, line);
  }

  void tell_of_data() const {
    options_.say(fmt::format("{} intervals with known speeds, {} types, {} users", data_.examples.size(),
                             data_.types.size(), data_.users));
    for (const TrainingCluster &cluster : data_.clusters)
      options_.say(fmt::format("  {}: {} nodes, {} GPUs, {} jobs", cluster.name, cluster.cluster.nodes.size(),
                               cluster.cluster.gpus(), cluster.jobs.size()));
  }

  // What decides the result: another dataset or other options begin anew.
  std::string fingerprint() const {
    return fmt::format(
        "schema {} seed {} hours {} algorithm {} without {} intervals {} starts {} types {} base {} wait {}{}",
        schema_version, options_.seed, options_.hours, options_.algorithm, fmt::join(options_.without, ","),
        data_.intervals, data_.starts, fmt::join(data_.types, ","), options_.base, options_.max_wait_s,
        options_.from_scratch ? " from scratch" : "");
  }

  // The model that is trained from, and judged against: the version in service, or the shipped one as long as there is
  // none.
  void read_base() {
    if (options_.from_scratch) return;
    Trust anybody;
    anybody.anybody = true;
    const ModelStore store(store_, anybody, schema_problem);
    const ModelReading reading = options_.base ? store.read_version(options_.base) : store.read_current();
    if (reading.none) {
      options_.say("no model is in service in " + store_);
      return take_base(store.verify_directory(options_.shipped), options_.shipped + "/model.pt", "the shipped model");
    }
    if (options_.base && !reading.problem.empty()) throw std::runtime_error(reading.problem);
    take_base(reading, fmt::format("{}/{}/model.pt", store_, reading.version),
              fmt::format("version {}", reading.version));
    base_.in_use = base_.network != nullptr;
  }

  void take_base(const ModelReading &reading, const std::string &file, const std::string &name) {
    std::string problem = reading.problem;
    if (problem.empty()) try {
        base_network_ = std::make_unique<PolicyNetwork>(static_cast<int>(reading.manifest.types.size()) + 1, file);
        base_.network = base_network_.get();
        base_.types = reading.manifest.types;
        std::vector<float> parameters = base_network_->reward_parameters();
        const int known = static_cast<int>(base_.types.size()) + 1;
        if (RewardNetwork::problem_with(known, parameters).empty())
          base_.reward = std::make_shared<const RewardNetwork>(known, std::move(parameters));
      } catch (const std::exception &of_another_make) {
        problem = of_another_make.what();
      }
    options_.say(problem.empty() ? "begins with " + name
                                 : fmt::format("{} cannot be begun or compared with: {}", name, problem));
  }

  std::shared_ptr<const RewardNetwork> fitted(const char *name, const std::vector<int> &which, std::uint64_t seed,
                                              bool tell) {
    std::vector<float> parameters = checkpoint_.numbers(name);
    if (parameters.size() != RewardNetwork::parameter_count(types())) {
      RewardFitOptions fit;
      fit.seed = seed;
      // Small datasets are gone through more often, in smaller steps.
      const double looks = std::clamp(6.4e6 * options_.hours, 2.5e5, 3e6), examples = static_cast<double>(which.size());
      fit.passes = std::clamp(static_cast<int>(looks / std::max(1.0, examples)), 20, 300);
      fit.decay = std::clamp(decay_by_examples / std::max(1.0, examples), fit.decay, 3e-3);
      fit.batch = std::clamp(static_cast<int>(examples / 20), 32, 256);
      fit.progress = [&](double part, double loss) {
        if (tell) progress("reward model", part, fmt::format("loss {:.4f}", loss));
        return !options_.stop();
      };
      parameters = fit_reward(data_, which, fit);
      if (!options_.stop()) checkpoint_.keep(name, parameters);
    }
    return std::make_shared<const RewardNetwork>(types(), std::move(parameters));
  }

  void fit_rewards() {
    const RewardSplit split = split_examples(data_, options_.seed);
    std::vector<int> all(data_.examples.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    std::vector<int> earlier = split.train; // all but what the last part of the time and some runs tell
    for (const std::vector<int> *more : {&split.pairs, &split.of_type, &split.beside_type})
      earlier.insert(earlier.end(), more->begin(), more->end());
    // Features are told by one network, practice is in the physics of another and the judge has a third: what one of
    // them is wrong about must not pay. The fourth is for the report alone.
    std::shared_ptr<const RewardNetwork> tested;
    in_parallel(4, options_.threads, [&](std::size_t piece, int) {
      if (piece == 0) reward_ = fitted("reward", all, options_.seed, true);
      if (piece == 1) judge_reward_ = fitted("judge", earlier, options_.seed + 7, false);
      if (piece == 2) practice_ = fitted("practice", all, options_.seed + 13, false);
      if (piece == 3) tested = fitted("tested", split.train, options_.seed + 21, false);
    });
    report_ = reward_report(data_, split, *tested);
    for (const RewardErrors &each : report_)
      options_.say(fmt::format(
          "  reward model on {}: median error {:.1f} %, p90 {:.1f} %, rank correlation {:.2f} ({} examples)", each.on,
          100 * each.median, 100 * each.p90, each.rank_correlation, each.examples));
  }

  MakeTruth physics(const std::shared_ptr<const RewardNetwork> &network) const {
    if (without("reward-model"))
      return [](const SimCluster &cluster, int) { return make_contention(cluster, JobTypes()); };
    return [this, network](const SimCluster &cluster, int member) {
      return make_learned_truth(cluster, {network, data_.types, data_.model_kb, member});
    };
  }

  GymOptions gym_options() const {
    GymOptions made;
    made.threads = options_.threads;
    made.variants = reward_members; // what only one of them believes does not pay
    made.sim.settings.max_wait_s = options_.max_wait_s;
    made.sim.usage_moments = 0;
    if (without("re-ranking")) made.sim.settings.candidates = 1;
    return made;
  }

  // Seconds of one episode in each cluster together, about: what the hours are divided by, so that the same options do
  // the same work however fast the machine is.
  double episode_s() const {
    double sum = 0;
    for (const TrainingCluster &cluster : data_.clusters) {
      const auto nodes = static_cast<double>(cluster.cluster.nodes.size());
      sum += jobs_to_judge_by(cluster.cluster, GymOptions().most_jobs) * (0.0001 + 0.000005 * nodes);
    }
    return std::max(0.005, sum);
  }

  void train() {
    TrainerOptions trainer;
    trainer.seed = options_.seed;
    trainer.ppo = options_.algorithm == "ppo";
    trainer.value_network = !without("value");
    trainer.exploration = !without("exploration");
    trainer.replay = !without("replay");
    trainer.warm_start = !without("warm-start");
    const double seconds = 3600 * options_.hours * options_.threads;
    trainer.generations = std::clamp(static_cast<int>(0.5 * seconds / (trainer.population * 2 * episode_s())), 8, 1000);
    trainer.iterations = std::clamp(static_cast<int>(0.14 * seconds / (4 * episode_s() + 6)), 4, 200);
    trainer.stop = options_.stop;
    trainer.progress = [this](const std::string &stage, double part, const std::string &line) {
      progress(stage, part, line);
    };
    trainer.searched = [this](const std::vector<float> &weights, const std::vector<Curve> &curves) {
      checkpoint_.keep("weights", weights);
      write_file(work_ + "/curves.html", curves_html(options_.name, curves));
    };
    std::vector<float> start = checkpoint_.numbers("weights");
    if (!start.empty()) options_.say("going on from the checkpoint in " + work_);
    if (start.empty() && base_.network) start = base_.network->gang_weights();
    Gym gym(data_, physics(practice_), gym_options());
    policy_ = train_policy(gym, data_.types, reward_, start, trainer);
    policy_.network->set_reward_parameters(reward_parameters());
    write_file(work_ + "/curves.html", curves_html(options_.name, policy_.curves));
    options_.say(fmt::format("kept: {}; {:+.1f} % mean JCT against {}, the best heuristic, on validation workloads",
                             policy_.kept, 100 * std::expm1(policy_.against_best), policy_.best_heuristic));
  }

  std::vector<float> reward_parameters() const { return reward_->parameters(); }

  void judge_it() {
    Gym gym(data_, physics(judge_reward_), gym_options());
    JudgeOptions judging;
    judging.seeds = options_.judge_seeds;
    judging.progress = [this](double part, const std::string &line) { progress("judging", part, line); };
    const Served candidate{policy_.network.get(), false, data_.types, reward_};
    verdicts_ = judge(gym, candidate, base_, judging);
    for (const Rival &each : verdicts_.rivals)
      options_.say(fmt::format("  {:<22} takes {:+.1f} % (± {:.1f}) against the new model", each.name,
                               100 * std::expm1(each.against.mean), 100 * each.against.half));
    options_.say(fmt::format("judged on {} held-out workloads: {}", verdicts_.workloads, verdicts_.why));
  }

  RetrainEnd publish() {
    CardFacts facts;
    facts.name = options_.name;
    facts.command = options_.command;
    facts.data = &data_;
    facts.policy = &policy_;
    facts.reward = report_;
    facts.verdicts = verdicts_;
    if (options_.stop()) facts.notes.push_back("Training was interrupted; this is the best until then.");
    if (!verdicts_.better && options_.force)
      facts.notes.push_back("It was not found to be better, and was published by --force.");
    const std::string directory = work_ + "/candidate";
    std::filesystem::create_directories(directory);
    policy_.network->save(directory + "/model.pt");
    write_file(directory + "/manifest.json", manifest_json(manifest_of(facts, read_file(directory + "/model.pt"))));
    write_file(directory + "/MODEL_CARD.md", model_card(facts));
    if ((!verdicts_.better && !options_.force) || options_.dry_run) {
      options_.say(verdicts_.better
                       ? "nothing is published, as asked; the candidate is in " + directory
                       : "nothing better was found; nothing is published. The candidate is in " + directory);
      return verdicts_.better ? RetrainEnd::published : RetrainEnd::nothing_better;
    }
    model_of_directory(directory, options_.torch_library); // throws if slurmctld would not take it
    Trust anybody;
    anybody.anybody = true;
    const StoreChange added = ModelStore(store_, anybody, schema_problem)
                                  .add(std::filesystem::absolute(directory).lexically_normal().string());
    if (!added.problem.empty()) throw std::runtime_error(added.problem);
    checkpoint_.done();
    options_.say(fmt::format("published as version {} of {}; to take it in service: harmony model --store {} use {}",
                             added.version, store_, store_, added.version));
    return RetrainEnd::published;
  }

  const RetrainOptions &options_;
  const std::string store_, work_;
  TrainingData data_;
  Checkpoint checkpoint_;
  std::unique_ptr<PolicyNetwork> base_network_;
  Served base_;
  std::shared_ptr<const RewardNetwork> reward_, practice_, judge_reward_;
  std::vector<RewardErrors> report_;
  TrainedPolicy policy_;
  Verdicts verdicts_;
};

} // namespace

RetrainEnd retrain(const RetrainOptions &options) { return Retraining(options).run(); }

} // namespace harmony
