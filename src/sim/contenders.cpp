#include "src/sim/contenders.h"

#include "src/policy/learned.h"
#include "src/sim/learned_rounds.h"
#include "src/sim/sim_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace harmony {
namespace {

// The policy lives as long as the rounds do.
PlanRound rounds_with(std::shared_ptr<const Policy> policy, const Settings &settings, std::shared_ptr<int> queue) {
  return [policy = std::move(policy), settings, queue = std::move(queue)](const Snapshot &snapshot, std::uint64_t round,
                                                                          const std::function<bool()> &stop) {
    *queue = static_cast<int>(snapshot.pending.size());
    return plan_round(snapshot, *policy, settings, round, stop, Explain::plan_only);
  };
}

Contender contender(const std::string &name, const ContenderNeeds &needs) {
  if (name == bound_policy)
    return {name, true, [settings = needs.settings](const Truth &, std::uint64_t) {
              return rounds_with(make_policy("pack"), settings, std::make_shared<int>(0));
            }};
  if (name == learned_policy)
    return {name, false, [needs](const Truth &, std::uint64_t) {
              return learned_rounds(model_of_directory(needs.model, needs.torch_library), needs.settings);
            }};
  return {name, false, [name, needs](const Truth &rules, std::uint64_t seed) {
            const auto queue = std::make_shared<int>(0);
            PolicyNeeds wanted;
            wanted.rules = &rules;
            wanted.seed = seed;
            wanted.dataset = needs.dataset;
            wanted.queue_length = [queue] { return *queue; };
            return rounds_with(make_sim_policy(name, wanted), needs.settings, queue);
          }};
}

} // namespace

std::vector<Contender> make_contenders(const std::vector<std::string> &names, const ContenderNeeds &needs,
                                       const Truth &truth) {
  std::vector<Contender> all;
  for (const std::string &name : names) {
    const auto same = [&name](const Contender &other) { return other.name == name; };
    if (std::any_of(all.begin(), all.end(), same)) throw std::runtime_error(fmt::format("policy {} twice", name));
    if (name == learned_policy && needs.model.empty())
      throw std::runtime_error("policy learned needs a model, and none is given");
    all.push_back(contender(name, needs));
    all.back().make(truth, 1); // so that what is wrong is told before anything runs
  }
  return all;
}

} // namespace harmony
