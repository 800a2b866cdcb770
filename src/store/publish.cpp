// Writing a store: publishing a version, and saying which is in use. Killed between any two steps, it leaves what was
// there before or what was to be there afterwards (tests/store kills it at each).

#include "src/store/model_store.h"

#include "src/store/current_file.h"
#include "src/store/durable_write.h"
#include "src/store/list_directory.h"
#include "src/store/store_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>

namespace harmony {
namespace {

// Above all that is called like a version, whatever it is.
int next_version(const OpenDirectory &store) {
  int highest = 0;
  for (const std::string &name : list_directory(store).names)
    highest = std::max(highest, version_of_name(name).value_or(0));
  return highest + 1;
}

struct LockedStore {
  OpenDirectory directory;
  DirectoryLock lock;
  std::string problem;
};

LockedStore locked(OpenDirectory directory) {
  LockedStore store;
  store.directory = std::move(directory);
  store.problem = store.directory.problem;
  if (store.problem.empty()) store.problem = store.lock.take(store.directory);
  if (store.problem.empty()) remove_unfinished(store.directory);
  return store;
}

// A directory with all three files, on the disk, under a name that readers do not see.
std::string write_version(const OpenDirectory &directory, const ModelReading &model, const std::string &card) {
  std::string problem = write_new_file(directory, model_name, model.model);
  if (problem.empty()) problem = write_new_file(directory, card_name, card);
  if (problem.empty()) problem = write_new_file(directory, manifest_name, manifest_json(model.manifest));
  if (problem.empty()) problem = sync_directory(directory);
  return problem;
}

// The number is free while the store is locked; whoever took it without the lock keeps it, for no version is replaced.
bool rename_to_free(int store, const std::string &from, const std::string &to) {
  if (renameat2(store, from.c_str(), store, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Not every file system knows RENAME_NOREPLACE. A plain rename does not replace a directory with files in it either.
  return errno == EINVAL && renameat(store, from.c_str(), store, to.c_str()) == 0;
}

} // namespace

StoreChange ModelStore::publish(const OpenDirectory &store, ModelReading model, const std::string &card) const {
  const int version = next_version(store);
  if (version > max_model_version) return {0, fmt::format("{} has no number left for another version", path_)};
  model.manifest.version = version;
  const std::string unfinished = fmt::format("{}{}", unfinished_prefix, version);
  const OpenDirectory directory = make_directory_in(store, unfinished, trust_);
  std::string problem = directory.problem;
  if (problem.empty()) problem = write_version(directory, model, card);
  const std::string name = std::to_string(version);
  if (problem.empty() && !rename_to_free(store.fd.get(), unfinished, name))
    problem = fmt::format("cannot create {}/{}: {}", path_, name, std::strerror(errno));
  if (!problem.empty()) {
    remove_entry(store, unfinished);
    return {0, problem};
  }
  return {version, sync_directory(store)};
}

StoreChange ModelStore::add(const std::string &directory) {
  // Read before the lock is taken, and once: what is checked here is what is written.
  Trust anybody;
  anybody.anybody = true;
  const OpenDirectory source = open_directory(directory, anybody);
  ModelReading model = read_model(source, 0, false, anybody);
  if (!model.problem.empty()) return {0, model.problem};
  const FileReading card = read_file_in(source, card_name, max_card_size, anybody);
  if (!card.problem.empty()) return {0, card.problem};

  const LockedStore store = locked(make_directories(path_, trust_));
  if (!store.problem.empty()) return {0, store.problem};
  return publish(store.directory, std::move(model), card.bytes);
}

StoreChange ModelStore::write_current(const OpenDirectory &store, const std::vector<int> &versions) const {
  return {versions.front(), replace_file(store, current_name, current_text(versions))};
}

StoreChange ModelStore::use(int version) {
  const LockedStore store = locked(open_directory(path_, trust_));
  if (!store.problem.empty()) return {0, store.problem};
  const ModelReading model = verify(version);
  if (!model.problem.empty()) return {0, model.problem};
  // A CURRENT that cannot be read is what `use` mends: it is written anew, without what was in use before.
  const CurrentReading current = read_current_file(store.directory, trust_);
  if (!current.versions.empty() && current.versions.front() == version) return {version, ""};
  return write_current(store.directory, with_version(current.versions, version));
}

StoreChange ModelStore::rollback() {
  const LockedStore store = locked(open_directory(path_, trust_));
  if (!store.problem.empty()) return {0, store.problem};
  CurrentReading current = read_current_file(store.directory, trust_);
  if (!current.problem.empty()) return {0, current.problem};
  if (current.versions.size() < 2)
    return {0, fmt::format("{}/{} knows of no version that was in use before {}", path_, current_name,
                           current.versions.front())};
  current.versions.erase(current.versions.begin());
  const ModelReading model = verify(current.versions.front());
  if (!model.problem.empty())
    return {0, fmt::format("{}; nothing was changed, choose another with `harmony model use`", model.problem)};
  return write_current(store.directory, current.versions);
}

} // namespace harmony
