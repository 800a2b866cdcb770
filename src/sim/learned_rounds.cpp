#include "src/sim/learned_rounds.h"

#include "src/encode/schema.h"
#include "src/infer/model_source.h"
#include "src/policy/learned.h"
#include "src/store/model_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace harmony {

std::shared_ptr<const ReadyModel> model_of_directory(const std::string &directory, const std::string &torch_library) {
  Trust trust;
  trust.anybody = true;
  const std::string path = std::filesystem::absolute(directory).lexically_normal().string();
  const ModelStore nowhere(path, trust, schema_problem);
  Prepared prepared = prepare_model(nowhere.verify_directory(path), torch_library);
  if (!prepared.model) throw std::runtime_error(fmt::format("{}: {}", directory, prepared.problem));
  return prepared.model;
}

// Each round begins with a closed breaker: it goes by the clock on the wall, which a simulation has nothing to do with.
PlanRound learned_rounds(std::shared_ptr<const ReadyModel> model, const Settings &settings) {
  return [model = std::move(model), settings](const Snapshot &snapshot, std::uint64_t round,
                                              const std::function<bool()> &stop) {
    ModelUse use;
    const auto policy = make_learned(snapshot, settings, *model, use);
    return plan_round(snapshot, *policy, settings, round, stop, Explain::plan_only);
  };
}

} // namespace harmony
