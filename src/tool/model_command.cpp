#include "src/tool/model_command.h"

#include "plugin/client/slurm_user.h"
#include "src/encode/schema.h"
#include "src/policy/policy.h"
#include "src/store/current_file.h"
#include "src/store/model_store.h"
#include "src/tool/settings_here.h"
#include "src/tool/model_text.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"
#include "src/values/settings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <pwd.h>
#include <unistd.h>

namespace harmony {
namespace {

const char *action_name(ModelAction action) {
  switch (action) {
  case ModelAction::list: return "list";
  case ModelAction::show: return "show";
  case ModelAction::verify: return "verify";
  case ModelAction::use: return "use";
  case ModelAction::rollback: return "rollback";
  case ModelAction::add: return "add";
  case ModelAction::features: break;
  }
  return "features";
}

int failed(const ModelOptions &options, int code, const std::string &problem) {
  fmt::print(stderr, "harmony model {}: {}\n", action_name(options.action), problem);
  return code;
}

int wrong_version(const ModelOptions &options) {
  return failed(options, 2, fmt::format("\"{}\" is not a version, such as 3", printable(options.what)));
}

std::optional<uid_t> uid_of(const std::string &user) {
  std::uint32_t uid = 0;
  if (read_whole_number(user, 0, 4294967294, uid)) return uid;
  const passwd *known = getpwnam(user.c_str());
  return known ? std::optional<uid_t>(known->pw_uid) : std::nullopt;
}

// Whom files may belong to besides root, so that slurmctld takes them too.
std::optional<uid_t> allowed_owner(const ModelOptions &options) {
  if (!options.slurm_user.empty()) return uid_of(options.slurm_user);
  if (const std::optional<uid_t> slurm_user = slurm_user_here()) return slurm_user;
  if (geteuid() != 0)
    fmt::print(
        stderr,
        "harmony model {}: note: there is no slurm.conf here to say who SlurmUser is; taken to be you (uid {})\n",
        action_name(options.action), geteuid());
  return geteuid();
}

// Without "..", which the store does not go through; links on the way to a directory that is copied do not matter.
std::string absolute(const std::string &path) {
  char real[PATH_MAX];
  if (realpath(path.c_str(), real)) return real;
  return path.empty() || path[0] == '/' || !getcwd(real, sizeof real) ? path : fmt::format("{}/{}", real, path);
}

// The version meant, 0 if there is none; then `problem` says why.
int version_meant(const ModelOptions &options, const ModelListing &listing, std::string &problem) {
  if (!options.what.empty()) return version_of_name(options.what).value_or(0);
  problem = listing.problem;
  if (problem.empty() && listing.in_use == 0)
    problem =
        fmt::format("no version is in use in {}; name one, or take one in use with `harmony model use`. Until then "
                    "the shipped model serves: {}",
                    options.store, shipped_model);
  return problem.empty() ? listing.in_use : 0;
}

int list(const ModelOptions &options, const ModelStore &store) {
  ModelListing listing = store.list();
  const ModelEntry shipped = store.entry_of_directory(shipped_model);
  // A site that has no store yet does well with the shipped model.
  if (listing.none && !listing.problem.empty())
    listing.problem = shipped.problem.empty()
                          ? ""
                          : fmt::format("{}; nor does the shipped model serve: {}", listing.problem, shipped.problem);
  if (options.json)
    fmt::print("{}", listing_json(store.path(), listing, shipped_model, shipped));
  else if (listing.problem.empty() || !listing.versions.empty())
    fmt::print("{}", listing_text(listing, shipped));
  return listing.problem.empty() ? 0 : failed(options, 1, listing.problem);
}

int show(const ModelOptions &options, const ModelStore &store) {
  if (!options.what.empty() && !version_of_name(options.what)) return wrong_version(options);
  const ModelListing listing = store.list();
  std::string problem;
  const int version = version_meant(options, listing, problem);
  if (version == 0) return failed(options, 1, problem);
  const auto entry = std::find_if(listing.versions.begin(), listing.versions.end(),
                                  [version](const ModelEntry &each) { return each.version == version; });
  if (entry == listing.versions.end())
    return failed(options, 1,
                  listing.problem.empty() ? fmt::format("there is no version {} in {}; `harmony model list` says which "
                                                        "there are",
                                                        version, store.path())
                                          : listing.problem);
  if (!entry->problem.empty()) return failed(options, 1, entry->problem);
  const bool in_use = listing.in_use == version;
  fmt::print("{}", options.json ? model_json(store.path(), *entry, in_use) : model_text(store.path(), *entry, in_use));
  return 0;
}

int verify(const ModelOptions &options, const ModelStore &store) {
  ModelReading reading;
  if (!options.what.empty() && !version_of_name(options.what)) {
    reading = store.verify_directory(absolute(options.what));
  } else {
    std::string problem;
    const int version = version_meant(options, store.list(), problem);
    if (version == 0) return failed(options, 1, problem);
    reading = store.verify(version);
  }
  fmt::print("{}", options.json ? verification_json(reading) : verification_text(reading));
  if (reading.problem.empty()) return 0;
  return options.json || reading.checks.empty() ? failed(options, 1, reading.problem)
                                                : 1; // else it is in the last line
}

int change(const ModelOptions &options, ModelStore &store) {
  StoreChange changed;
  if (options.action == ModelAction::add) {
    changed = store.add(absolute(options.what));
  } else if (options.action == ModelAction::use) {
    const std::optional<int> version = version_of_name(options.what);
    if (!version) return wrong_version(options);
    changed = store.use(*version);
  } else {
    changed = store.rollback();
  }
  if (!changed.problem.empty()) return failed(options, 1, changed.problem);
  if (options.action == ModelAction::add)
    fmt::print("version {} is published in {}; `harmony model use {}` takes it in use\n", changed.version,
               options.store, changed.version);
  else
    fmt::print("version {} is in use; a slurmctld whose ModelStore is {} takes it up in its next planning round\n",
               changed.version, options.store);
  return 0;
}

} // namespace

int run_model(const ModelOptions &given) {
  ModelOptions options = given;
  if (options.store.empty() && options.action != ModelAction::features) options.store = settings_here().model_store;
  if (options.action == ModelAction::features) {
    fmt::print("{}", options.json ? features_json(options.types) : features_text(options.types));
    return 0;
  }
  const std::optional<uid_t> owner = allowed_owner(options);
  if (!owner) return failed(options, 2, fmt::format("there is no user \"{}\"", printable(options.slurm_user)));
  Trust trust;
  trust.owner = *owner;
  ModelStore store(options.store, trust, schema_problem);
  switch (options.action) {
  case ModelAction::list: return list(options, store);
  case ModelAction::show: return show(options, store);
  case ModelAction::verify: return verify(options, store);
  default: return change(options, store);
  }
}

} // namespace harmony
