// Checks the NVLink matrix of an hwloc export and writes it anew; other distances are left out. Part of hwloc_xml.
#pragma once

#include "src/discover/hwloc_object_writer.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

class DistancesWriter {
public:
  // A matrix begins; whether it is one that we want. Only the first one counts.
  bool open(bool of_several_types, const Attributes &attributes);
  // A list in it begins; whether it is one that we want.
  bool list(const std::string &name);
  void content(const std::string &text);          // of the list
  std::string close(const ObjectWriter &objects); // the problem with the matrix, if any

  const std::string &text() const { return text_; }

private:
  std::string text_, type_, size_, indexes_, values_;
  std::string *list_ = nullptr;
  bool several_types_ = false;
  bool had_one_ = false;
};

} // namespace harmony
