// How the dataset names whose job it was, by DatasetUsers: not at all, by a word that is always the same for a user and
// tells nobody who that is, or by name. The word is keyed with a secret of the dataset's directory, so that it cannot
// be found by trying all users. For one thread.
#pragma once

#include "src/values/settings.h"

#include <map>
#include <string>
#include <sys/types.h>

namespace harmony {

class UserWords {
public:
  // Empty if it is to be left out, or cannot be told.
  std::string of(uid_t user, DatasetUsers how, const std::string &directory);

private:
  bool have_secret(const std::string &directory);

  std::string directory_, secret_; // of that directory; empty: none yet
  std::map<uid_t, std::string> names_;
};

constexpr const char *users_secret_file = ".users-secret";

} // namespace harmony
