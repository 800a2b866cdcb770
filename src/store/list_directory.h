// The names in a directory, sorted, without "." and "..".
#pragma once

#include "src/store/secure_file.h"

#include <string>
#include <vector>

namespace harmony {

struct DirectoryListing {
  std::vector<std::string> names;
  std::string problem;
};

DirectoryListing list_directory(const OpenDirectory &directory);

} // namespace harmony
