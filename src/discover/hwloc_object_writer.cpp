#include "src/discover/hwloc_object_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace harmony {
namespace {

constexpr int max_set_bits = 131072; // CPUs: two for each of max_cores
constexpr std::size_t max_set_text = max_set_bits / 32 * 11;
constexpr unsigned max_nodes = 1024;
constexpr unsigned max_children = 4096; // of one object: hwloc walks along all of them for each new one
constexpr std::uint64_t max_objects = 1u << 20;
constexpr unsigned max_pci_domain = 0xffff; // hwloc 2 has 16 bits for it

// What the readers look at; see hwloc_gpu.cpp.
const std::set<std::string> used_infos{"GPUModel",
                                       "NVIDIAUUID",
                                       "PCIDevice",
                                       "PCIBusID",
                                       "CUDAGlobalMemorySize",
                                       "RSMIVRAMSize",
                                       "LevelZeroHBMSize",
                                       "OpenCLGlobalMemorySize"};

bool only(const std::string &text, const char *characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string::npos;
}

bool read_number(const std::string &text, std::uint64_t limit, std::uint64_t &number) {
  if (!only(text, "0123456789") || text.size() > 20) return false;
  number = std::strtoull(text.c_str(), nullptr, 10);
  return number <= limit;
}

// "0x0000000f,,0xffffffff": 32 bits each, highest first, nothing for zero. Not by hwloc_bitmap_sscanf(), which aborts
// the program if the text is not well-formed.
Bitmap read_set(const std::string &text) {
  if (text.empty() || text.size() > max_set_text) return nullptr;
  const auto words = static_cast<unsigned>(std::count(text.begin(), text.end(), ',') + 1);
  if (words > max_set_bits / 32) return nullptr;
  Bitmap set = new_bitmap();
  std::uint64_t pair = 0;
  std::size_t start = 0;
  for (unsigned word = words; word-- > 0;) {
    const std::string digits = text.substr(start, text.find(',', start) - start);
    start += digits.size() + 1;
    if (!digits.empty() && (digits.size() < 3 || digits.size() > 10 || digits.compare(0, 2, "0x") != 0 ||
                            !only(digits.substr(2), "0123456789abcdefABCDEF")))
      return nullptr;
    pair = pair << 32 | std::strtoull(digits.c_str(), nullptr, 16);
    if (word % 2) continue;
    if (pair) hwloc_bitmap_set_ith_ulong(set.get(), word / 2, pair);
    pair = 0;
  }
  return set;
}

std::string set_text(const Bitmap &set) {
  char *text = nullptr;
  if (hwloc_bitmap_asprintf(&text, set.get()) < 0) return "0x0";
  std::string copy = text;
  std::free(text);
  return copy;
}

// Format 3's set of bits as format 2's number; -1 for what is left out (memory).
int osdev_type(const std::string &text, int format) {
  std::uint64_t value = 0;
  if (!read_number(text, 1u << 20, value)) return -1;
  if (format == 2) return value <= 5 ? static_cast<int>(value) : -1;
  struct {
    unsigned bit;
    int type;
  } const types[] = {{32, 3}, {16, 2}, {1, 0}, {8, 5}, {4, 1}, {64, 4}};
  for (const auto &known : types)
    if (value & known.bit) return known.type;
  return -1;
}

struct BusId {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
};

bool read_bus_id(const std::string &text, BusId &id) {
  char rest = 0;
  return text.size() < 32 &&
         std::sscanf(text.c_str(), "%8x:%2x:%2x.%1x%c", &id.domain, &id.bus, &id.device, &id.function, &rest) == 4 &&
         id.device < 32 && id.function < 8;
}

// "0302 [10de:1db5] [10de:1249] a1", and in format 3 one number more
bool read_pci_type(const std::string &text, unsigned (&ids)[6]) {
  return text.size() < 64 && std::sscanf(text.c_str(), "%4x [%4x:%4x] [%4x:%4x] %2x", &ids[0], &ids[1], &ids[2],
                                         &ids[3], &ids[4], &ids[5]) == 6;
}

double link_speed(const std::string &text) {
  const double speed = only(text, "0123456789.") && text.size() < 20 ? std::strtod(text.c_str(), nullptr) : 0;
  return speed < 10000 ? speed : 0;
}

} // namespace

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text.substr(0, 250)) {
    if (c < ' ' || c > '~') continue;
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    default: result += c;
    }
  }
  return result;
}

// Whether such an object may stand in the open one; the problem, or nothing.
std::string ObjectWriter::place(const ObjectType &type) const {
  if (open_.empty()) {
    if (had_root_) return "a second root object";
    return std::strcmp(type.name, "Machine") ? fmt::format("the root object is a {}, not a Machine", type.name) : "";
  }
  const ObjectType &parent = *open_.back().type;
  if (open_.back().children >= max_children) return fmt::format("more than {} objects in one", max_children);
  const auto wrong = [&] { return fmt::format("{} inside {}", type.name, parent.name); };
  if (type.family == Family::io) {
    const bool software = !std::strcmp(type.name, "OSDev");
    if (parent.family == Family::memory) return wrong();
    if (!std::strcmp(parent.name, "OSDev") && !software) return wrong();
    if (!std::strcmp(parent.name, "PCIDev") && !software) return wrong();
    return {};
  }
  if (parent.family != Family::normal || !std::strcmp(parent.name, "PU")) return wrong();
  if (type.family == Family::memory) return {};
  for (const Frame &frame : open_) {
    if (frame.type == &type && std::strcmp(type.name, "Group")) return wrong();
    if (type.rank && frame.type->rank >= type.rank) return wrong();
  }
  return {};
}

std::string ObjectWriter::read_sets(const Attributes &attributes, Frame &frame) {
  frame.cpuset = read_set(attributes.get("cpuset"));
  frame.nodeset = read_set(attributes.get("nodeset"));
  if (!frame.cpuset || !frame.nodeset) return fmt::format("a {} without a sound cpuset and nodeset", frame.type->name);
  // Also holds the CPUs that are offline; hwloc sorts by it.
  frame.complete = read_set(attributes.get("complete_cpuset"));
  if (!frame.complete) frame.complete.reset(hwloc_bitmap_dup(frame.cpuset.get()));
  frame.taken = new_bitmap();
  return check_sets(frame);
}

std::string ObjectWriter::check_sets(const Frame &frame) {
  const char *name = frame.type->name;
  if (!hwloc_bitmap_isincluded(frame.cpuset.get(), frame.complete.get()))
    return fmt::format("a {} whose cpuset is not in its complete_cpuset", name);
  if (open_.empty()) {
    if (hwloc_bitmap_iszero(frame.cpuset.get()) || hwloc_bitmap_iszero(frame.nodeset.get()))
      return "a Machine without CPUs or NUMA nodes";
    return {};
  }
  const Frame &parent = open_.back();
  if (!hwloc_bitmap_isincluded(frame.cpuset.get(), parent.cpuset.get()) ||
      !hwloc_bitmap_isincluded(frame.complete.get(), parent.complete.get()) ||
      !hwloc_bitmap_isincluded(frame.nodeset.get(), parent.nodeset.get()))
    return fmt::format("a {} with CPUs or NUMA nodes that the {} around it does not have", name, parent.type->name);
  return frame.type->family == Family::normal ? take_cpus(frame) : std::string();
}

// Neighbours share no CPU and stand in order; those without any come last.
std::string ObjectWriter::take_cpus(const Frame &frame) {
  Frame &parent = open_.back();
  const int first = hwloc_bitmap_first(frame.complete.get());
  const int place_in_order = first < 0 ? max_set_bits : first;
  if (hwloc_bitmap_intersects(parent.taken.get(), frame.complete.get()) || place_in_order < parent.last_first)
    return fmt::format("a {} whose CPUs are its neighbour's too, or out of order", frame.type->name);
  hwloc_bitmap_or(parent.taken.get(), parent.taken.get(), frame.complete.get());
  parent.last_first = place_in_order;
  return {};
}

// The number that CPUs and NUMA nodes go by has to be the one in their set.
std::string ObjectWriter::numbered(const Attributes &attributes, const Frame &frame) {
  const bool cpu = !std::strcmp(frame.type->name, "PU"), node = frame.type->family == Family::memory;
  std::uint64_t number = 0;
  if (!read_number(attributes.get("os_index"), UINT32_MAX - 1, number))
    return cpu || node ? fmt::format("a {} without a sound os_index", frame.type->name) : std::string();
  if (cpu || node) {
    const hwloc_bitmap_t set = (cpu ? frame.cpuset : frame.nodeset).get();
    if (hwloc_bitmap_weight(set) != 1 || static_cast<std::uint64_t>(hwloc_bitmap_first(set)) != number)
      return fmt::format("{} {} whose set is another's", frame.type->name, number);
  }
  if (cpu) ++cpus_;
  if (node && !nodes_.insert(static_cast<unsigned>(number)).second) return fmt::format("NUMA node {} twice", number);
  if (nodes_.size() > max_nodes) return fmt::format("more than {} NUMA nodes", max_nodes);
  text_ += fmt::format(" os_index=\"{}\"", number);
  return {};
}

void ObjectWriter::write_number(const Attributes &attributes) {
  std::uint64_t number = 0;
  std::string given = attributes.get("gp_index");
  if (given.empty() && attributes.get("id").rfind("obj", 0) == 0) given = attributes.get("id").substr(3);
  ++last_number_;
  if (read_number(given, UINT64_MAX, number)) numbers_[number] = last_number_;
  text_ += fmt::format(" gp_index=\"{}\"", last_number_);
}

// A bridge's lower side.
std::string ObjectWriter::bridge_attributes(const Attributes &attributes, Io &io) {
  unsigned domain = 0, first = 0, last = 0;
  const std::string type = attributes.get("bridge_type"), buses = attributes.get("bridge_pci");
  if ((type != "0-1" && type != "1-1") || buses.size() > 31 ||
      std::sscanf(buses.c_str(), "%8x:[%2x-%2x]", &domain, &first, &last) != 3)
    return "a Bridge without a sound bridge_type and bridge_pci";
  io.left_out = domain > max_pci_domain;
  io.text =
      fmt::format(" bridge_type=\"{}\" depth=\"0\" bridge_pci=\"{:04x}:[{:02x}-{:02x}]\"", type, domain, first, last);
  io.host_bridge = type == "0-1";
  return {};
}

std::string ObjectWriter::io_attributes(const Attributes &attributes, const ObjectType &type, int format, Io &io) {
  if (!std::strcmp(type.name, "OSDev")) {
    const int number = osdev_type(attributes.get("osdev_type"), format);
    io.left_out = number < 0;
    io.text = fmt::format(" osdev_type=\"{}\"", number);
    return {};
  }
  if (!std::strcmp(type.name, "Bridge"))
    if (std::string problem = bridge_attributes(attributes, io); !problem.empty() || io.left_out || io.host_bridge)
      return problem;
  BusId id;
  unsigned ids[6] = {};
  if (!read_bus_id(attributes.get("pci_busid"), id) || !read_pci_type(attributes.get("pci_type"), ids))
    return fmt::format("a {} without a sound pci_busid and pci_type", type.name);
  io.left_out = id.domain > max_pci_domain;
  io.text += fmt::format(" pci_busid=\"{:04x}:{:02x}:{:02x}.{:x}\"", id.domain, id.bus, id.device, id.function);
  io.text += fmt::format(" pci_type=\"{:04x} [{:04x}:{:04x}] [{:04x}:{:04x}] {:02x}\" pci_link_speed=\"{:.6f}\"",
                         ids[0], ids[1], ids[2], ids[3], ids[4], ids[5], link_speed(attributes.get("pci_link_speed")));
  return {};
}

void ObjectWriter::write(const Attributes &attributes, const Frame &frame, const Io &io) {
  if (frame.type->family != Family::io) {
    const std::string cpuset = set_text(frame.cpuset), nodeset = set_text(frame.nodeset);
    text_ += fmt::format(" cpuset=\"{}\" complete_cpuset=\"{}\" nodeset=\"{}\" complete_nodeset=\"{}\"", cpuset,
                         set_text(frame.complete), nodeset, nodeset);
  }
  for (const char *name : {"name", "subtype"})
    if (const std::string value = escaped(attributes.get(name)); !value.empty())
      text_ += fmt::format(" {}=\"{}\"", name, value);
  std::uint64_t memory = 0;
  if (frame.type->family == Family::memory && read_number(attributes.get("local_memory"), INT64_MAX, memory))
    text_ += fmt::format(" local_memory=\"{}\"", memory);
  if (frame.type->cache_depth)
    text_ +=
        fmt::format(" cache_size=\"0\" depth=\"{}\" cache_linesize=\"0\" cache_associativity=\"0\" cache_type=\"{}\"",
                    frame.type->cache_depth, frame.type->cache_type);
  text_ += io.text + ">\n";
}

Opened ObjectWriter::open(const Attributes &attributes, int format, std::string &problem) {
  Frame frame;
  frame.type = find_object_type(attributes.get("type"));
  if (!frame.type) problem = fmt::format("unknown object type \"{}\"", escaped(attributes.get("type")));
  if (problem.empty() && last_number_ >= max_objects) problem = fmt::format("more than {} objects", max_objects);
  if (!problem.empty() || frame.type->family == Family::out) return Opened::left_out;
  if (frame.type->family == Family::through) return open_.empty() ? Opened::left_out : Opened::through;

  Io io;
  problem = place(*frame.type);
  if (problem.empty())
    problem = frame.type->family == Family::io ? io_attributes(attributes, *frame.type, format, io)
                                               : read_sets(attributes, frame);
  if (!problem.empty() || io.left_out) return Opened::left_out;

  text_ += fmt::format("<object type=\"{}\"", frame.type->name);
  if (frame.type->family != Family::io) problem = numbered(attributes, frame);
  write_number(attributes);
  write(attributes, frame, io);
  if (!open_.empty()) ++open_.back().children;
  had_root_ = true;
  open_.push_back(std::move(frame));
  return Opened::written;
}

void ObjectWriter::info(const Attributes &attributes) {
  const std::string name = attributes.get("name"), value = escaped(attributes.get("value"));
  if (open_.empty() || open_.back().children || !used_infos.count(name) || value.empty()) return;
  text_ += fmt::format("<info name=\"{}\" value=\"{}\"/>\n", name, value);
}

void ObjectWriter::close() {
  text_ += "</object>\n";
  open_.pop_back();
}

std::string ObjectWriter::finish() const {
  if (!had_root_) return "no topology in it";
  if (!cpus_) return "a topology without CPUs";
  return nodes_.empty() ? "a topology without NUMA nodes" : "";
}

std::uint64_t ObjectWriter::new_number(std::uint64_t number) const {
  const auto found = numbers_.find(number);
  return found == numbers_.end() ? 0 : found->second;
}

} // namespace harmony
