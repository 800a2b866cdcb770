// Reading a store; writing is in publish.cpp.

#include "src/store/model_store.h"

#include "src/store/current_file.h"
#include "src/store/list_directory.h"
#include "src/store/sha256.h"
#include "src/store/store_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>

namespace harmony {
namespace {

// Adds to the checks of a reading until one fails.
class Checks {
public:
  explicit Checks(ModelReading &reading) : reading_(reading) {}

  bool note(const char *name, const std::string &problem, const std::string &detail) {
    reading_.checks.push_back({name, problem.empty() ? detail : "", problem});
    reading_.problem = problem;
    return problem.empty();
  }

private:
  ModelReading &reading_;
};

std::string rule(const Trust &trust) {
  if (trust.anybody) return "owners and modes not asked for";
  return fmt::format("no links, owned by root{}, writable by nobody else",
                     trust.owner == 0 ? "" : fmt::format(" or uid {}", trust.owner));
}

struct ManifestFile {
  Manifest manifest;
  std::string problem;
};

// `version` is the directory's number, 0 if it has none.
ManifestFile read_manifest_file(const OpenDirectory &directory, int version, const Trust &trust) {
  const FileReading file = read_file_in(directory, manifest_name, max_manifest_size, trust);
  if (!file.problem.empty()) return {{}, file.problem};
  ManifestReading reading = read_manifest(file.bytes);
  if (!reading.problem.empty()) return {{}, fmt::format("{}/{}: {}", directory.path, manifest_name, reading.problem)};
  if (version != 0 && reading.manifest.version != version)
    return {{},
            fmt::format("{}/{} is of version {}; the directory was renamed or put together by hand, publish it "
                        "anew with `harmony model add`",
                        directory.path, manifest_name, reading.manifest.version)};
  return {std::move(reading.manifest), ""};
}

std::string no_such_version(const std::string &problem, bool missing, int version) {
  return missing
             ? fmt::format("there is no version {}: {}; `harmony model list` says which there are", version, problem)
             : problem;
}

} // namespace

CurrentReading read_current_file(const OpenDirectory &store, const Trust &trust) {
  CurrentReading current;
  const FileReading file = read_file_in(store, current_name, max_current_size, trust);
  current.missing = file.missing;
  current.problem = file.problem;
  if (file.missing) current.problem = fmt::format("{}; take a version in use with `harmony model use`", file.problem);
  if (!current.problem.empty()) return current;
  current.versions = versions_of_current(file.bytes);
  if (current.versions.empty())
    current.problem = fmt::format("{}/{} does not begin with a version's number, or goes on with something else; write "
                                  "it anew with `harmony model use`",
                                  store.path, current_name);
  return current;
}

StoreStamp ModelStore::stamp() const {
  struct stat status {};
  if (lstat((path_ + "/" + current_name).c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

ModelReading ModelStore::read_model(const OpenDirectory &directory, int version, bool with_card,
                                    const Trust &trust) const {
  ModelReading reading;
  reading.version = version;
  Checks checks(reading);
  if (!checks.note("directories", directory.problem, rule(trust))) return reading;

  ManifestFile manifest = read_manifest_file(directory, version, trust);
  reading.manifest = std::move(manifest.manifest);
  const Manifest &said = reading.manifest;
  if (!checks.note("manifest", manifest.problem, fmt::format("{}, for torch {}", said.name, said.torch)))
    return reading;

  std::string problem = schema_problem_ ? schema_problem_(said) : "";
  if (!problem.empty()) problem = fmt::format("{}/{}: {}", directory.path, manifest_name, problem);
  if (!checks.note("schema", problem, fmt::format("{}", said.schema))) return reading;

  FileReading model = read_file_in(directory, model_name, max_model_size, trust);
  if (!checks.note("model", model.problem, fmt::format("{} bytes, {}", model.bytes.size(), rule(trust))))
    return reading;

  const std::string digest = sha256_hex(model.bytes);
  if (digest != said.sha256)
    problem = fmt::format("{}/{} is not the file that the manifest describes (sha256 {}, expected {}); {}",
                          directory.path, model_name, digest, said.sha256,
                          version == 0 ? "copy or install it anew" : "publish the model anew with `harmony model add`");
  if (!checks.note("digest", problem, "sha256 " + digest)) return reading;

  if (with_card) {
    const FileReading card = read_file_in(directory, card_name, max_card_size, trust);
    if (!checks.note("card", card.problem, fmt::format("{} bytes", card.bytes.size()))) return reading;
  }
  reading.model = std::move(model.bytes);
  return reading;
}

ModelReading ModelStore::read_in_store(int version, bool with_card) const {
  const OpenDirectory store = open_directory(path_, trust_);
  if (!store.problem.empty()) return read_model(store, version, with_card, trust_);
  if (version < 1 || version > max_model_version) {
    ModelReading none;
    none.problem = fmt::format("{} is not a version; they are numbered from 1", version);
    return none;
  }
  OpenDirectory directory = open_directory_in(store, std::to_string(version), trust_);
  directory.problem = no_such_version(directory.problem, directory.missing, version);
  return read_model(directory, version, with_card, trust_);
}

ModelReading ModelStore::read_version(int version) const { return read_in_store(version, false); }

ModelReading ModelStore::verify(int version) const { return read_in_store(version, true); }

ModelReading ModelStore::read_directory(const std::string &directory) const {
  return read_model(open_directory(directory, trust_), 0, false, trust_);
}

ModelEntry ModelStore::entry_of_directory(const std::string &path) const {
  const OpenDirectory directory = open_directory(path, trust_);
  if (!directory.problem.empty()) return {0, {}, directory.problem};
  ManifestFile manifest = read_manifest_file(directory, 0, trust_);
  return {0, std::move(manifest.manifest), std::move(manifest.problem)};
}

ModelReading ModelStore::verify_directory(const std::string &directory) const {
  Trust anybody;
  anybody.anybody = true;
  return read_model(open_directory(directory, anybody), 0, true, anybody);
}

ModelReading ModelStore::read_current() const {
  ModelReading none;
  const OpenDirectory store = open_directory(path_, trust_);
  none.problem =
      store.missing ? fmt::format("{}; publish a model with `harmony model add`", store.problem) : store.problem;
  none.none = store.missing;
  if (!none.problem.empty()) return none;
  const CurrentReading current = read_current_file(store, trust_);
  none.problem = current.problem;
  none.none = current.missing;
  if (!none.problem.empty()) return none;

  const int version = current.versions.front();
  OpenDirectory directory = open_directory_in(store, std::to_string(version), trust_);
  if (directory.missing)
    directory.problem = fmt::format("{}/{} names version {}, which is not there; choose one with `harmony model use`",
                                    path_, current_name, version);
  return read_model(directory, version, false, trust_);
}

ModelListing ModelStore::list() const {
  ModelListing listing;
  const OpenDirectory store = open_directory(path_, trust_);
  listing.problem = store.problem;
  listing.none = store.missing;
  if (!store.problem.empty()) return listing;
  const CurrentReading current = read_current_file(store, trust_);
  listing.none = current.missing;
  if (!current.missing) listing.problem = current.problem;
  if (!current.versions.empty()) {
    listing.in_use = current.versions.front();
    listing.before.assign(current.versions.begin() + 1, current.versions.end());
  }
  const DirectoryListing names = list_directory(store);
  if (!names.problem.empty()) listing.problem = names.problem;
  for (const std::string &name : names.names) {
    const std::optional<int> version = version_of_name(name);
    if (!version) continue;
    const OpenDirectory directory = open_directory_in(store, name, trust_);
    ManifestFile manifest{{}, directory.problem};
    if (directory.problem.empty()) manifest = read_manifest_file(directory, *version, trust_);
    listing.versions.push_back({*version, std::move(manifest.manifest), std::move(manifest.problem)});
  }
  std::sort(listing.versions.begin(), listing.versions.end(),
            [](const ModelEntry &a, const ModelEntry &b) { return a.version < b.version; });
  return listing;
}

} // namespace harmony
