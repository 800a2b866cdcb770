#include "src/discover/hwloc_distances_writer.h"

#include <fmt/format.h>

#include <sstream>

namespace harmony {
namespace {

constexpr std::size_t most_objects = 1024; // 256 GPUs and all their switches
constexpr int from_os_bandwidth = 1 | 8;   // hwloc's number for the kind
constexpr int several_kinds = 16;

bool to_number(const std::string &text, std::uint64_t &number) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) return false;
  number = std::stoull(text);
  return true;
}

std::string list_element(const char *name, const std::string &content) {
  return fmt::format("<{} length=\"{}\">{}</{}>\n", name, content.size(), content, name);
}

} // namespace

bool DistancesWriter::open(bool of_several_types, const Attributes &attributes) {
  if (had_one_ || attributes.get("name") != "NVLinkBandwidth") return false;
  had_one_ = true;
  several_types_ = of_several_types;
  type_ = attributes.get("type");
  size_ = attributes.get("nbobjs");
  return true;
}

bool DistancesWriter::list(const std::string &name) {
  list_ = name == "indexes" ? &indexes_ : name == "u64values" ? &values_ : nullptr;
  if (list_) *list_ += ' ';
  return list_ != nullptr;
}

void DistancesWriter::content(const std::string &text) {
  if (list_) *list_ += text;
}

std::string DistancesWriter::close(const ObjectWriter &objects) {
  std::uint64_t size = 0, number = 0;
  if (!to_number(size_, size) || size < 2 || size > most_objects) return "NVLinkBandwidth without a sound nbobjs";
  std::string indexes, values, word;
  std::size_t index_count = 0, value_count = 0;
  for (std::istringstream words(indexes_); words >> word && index_count <= size; ++index_count) {
    const std::size_t colon = several_types_ ? word.find(':') : std::string::npos;
    const std::string type = several_types_ ? word.substr(0, colon) : type_;
    if (several_types_) word = colon == std::string::npos ? "" : word.substr(colon + 1);
    const ObjectType *known = find_object_type(type);
    if (!known || known->family == Family::out || known->family == Family::through || !to_number(word, number) ||
        !objects.new_number(number))
      return "NVLinkBandwidth of an object that is not there";
    if (several_types_) indexes += type + ':';
    indexes += fmt::format("{} ", objects.new_number(number));
  }
  for (std::istringstream words(values_); words >> word && value_count <= size * size; ++value_count) {
    if (!to_number(word, number)) return "NVLinkBandwidth with a value that is no number";
    values += fmt::format("{} ", number);
  }
  if (index_count != size || value_count != size * size)
    return fmt::format("NVLinkBandwidth of {} objects with {} indexes and {} values", size, index_count, value_count);
  const std::string tag = several_types_ ? "distances2hetero" : "distances2";
  text_ = fmt::format("<{} nbobjs=\"{}\" kind=\"{}\" name=\"NVLinkBandwidth\"", tag, size,
                      several_types_ ? from_os_bandwidth | several_kinds : from_os_bandwidth);
  if (!several_types_) text_ += fmt::format(" type=\"{}\" indexing=\"gp\"", type_);
  text_ += ">\n" + list_element("indexes", indexes) + list_element("u64values", values) + "</" + tag + ">\n";
  return {};
}

} // namespace harmony
