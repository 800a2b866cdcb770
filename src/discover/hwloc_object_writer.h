// Checks the objects of an hwloc export one by one and writes them anew. Part of hwloc_xml.
#pragma once

#include "src/discover/hwloc_handles.h"
#include "src/discover/hwloc_object_types.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace harmony {

struct Attributes {
  std::map<std::string, std::string> values;
  std::string get(const std::string &name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
};

enum class Opened { written, through, left_out };

class ObjectWriter {
public:
  // An object begins, in the one that is open. A problem is put into `problem`.
  Opened open(const Attributes &attributes, int format, std::string &problem);
  void info(const Attributes &attributes); // of the open object
  void close();
  std::string finish() const; // the problem with the whole, if any

  const std::string &text() const { return text_; }

  // Objects are numbered anew; the number of the one that the export gave this number, 0 if it is not there.
  std::uint64_t new_number(std::uint64_t number) const;

private:
  struct Frame {
    const ObjectType *type = nullptr;
    Bitmap cpuset, complete, nodeset;
    Bitmap taken;        // by the normal children so far
    int last_first = -1; // first CPU of the last of them
    unsigned children = 0;
  };

  struct Io {
    std::string text; // its attributes
    bool left_out = false;
    bool host_bridge = false;
  };

  // Each of these gives the problem, or nothing.
  std::string place(const ObjectType &type) const;
  std::string read_sets(const Attributes &attributes, Frame &frame);
  std::string check_sets(const Frame &frame);
  std::string take_cpus(const Frame &frame);
  std::string numbered(const Attributes &attributes, const Frame &frame);
  std::string io_attributes(const Attributes &attributes, const ObjectType &type, int format, Io &io);
  std::string bridge_attributes(const Attributes &attributes, Io &io);
  void write(const Attributes &attributes, const Frame &frame, const Io &io);
  void write_number(const Attributes &attributes);

  std::string text_;
  std::vector<Frame> open_;
  std::map<std::uint64_t, std::uint64_t> numbers_;
  std::uint64_t last_number_ = 0;
  std::set<unsigned> nodes_;
  unsigned cpus_ = 0;
  bool had_root_ = false;
};

// For an attribute's value: printable ASCII, the rest left out, at most 250 characters.
std::string escaped(const std::string &text);

} // namespace harmony
