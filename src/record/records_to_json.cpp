#include "src/record/records.h"

#include "src/record/record_fields.h"
#include "src/show/decision_json.h"
#include "src/show/json_line.h"
#include "src/values/printable.h"

#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace harmony {
namespace {

// No longer than `most`, and the same again if it is done twice.
std::string fit_text(std::string_view text, std::size_t most) {
  return text.size() <= most ? one_line(text, most) : one_line(text.substr(0, most - 3), most) + "...";
}

double in_range(double number, double least, double most) {
  return std::clamp(std::isnan(number) ? 0.0 : number, least, most);
}

class ToJson {
public:
  explicit ToJson(Json::Value &object) : object_(object) {}

  void name(const char *key, const std::string &text) { object_[key] = fit_text(text, longest_record_name); }
  void text(const char *key, const std::string &text, std::size_t most) {
    if (!text.empty()) object_[key] = fit_text(text, most);
  }
  template <class N> void number(const char *key, N number, double least, double most) {
    // a span's end comes with its begin as it is, which may be no number either
    least = in_range(least, -most_record_time, most);
    const double fit = in_range(static_cast<double>(number), least, most);
    if constexpr (std::is_integral_v<N>)
      object_[key] = static_cast<Json::Int64>(fit);
    else
      object_[key] = fit;
  }
  template <class N> void maybe(const char *key, const std::optional<N> &value, double least, double most) {
    if (value && std::isfinite(static_cast<double>(*value))) number(key, *value, least, most);
  }
  void known(const char *key, double value, double least, double most) {
    if (std::isfinite(value)) number(key, value, least, most);
  }
  template <class N> void declared(const char *key, N value) {
    if (value > 0) object_[key] = static_cast<Json::Int64>(value);
  }
  void flag(const char *key, bool is_so) { object_[key] = is_so; }
  void mark(const char *key, bool is_so) {
    if (is_so) object_[key] = true;
  }
  void bits(const char *key, const Bits &bits, int limit) {
    Bits fit(std::min(bits.size(), limit));
    fit |= bits;
    for (int beyond = fit.size(); !fit.words().empty() && beyond % 64 != 0; ++beyond) fit.clear(beyond);
    if (fit.any()) object_[key] = number_list(fit);
  }
  void numbers(const char *key, const std::vector<std::uint32_t> &numbers, std::size_t most) {
    for (std::size_t i = 0; i < numbers.size() && i < most; ++i) object_[key].append(numbers[i]);
  }
  template <class Item, class Fields>
  void rows(const char *key, const std::vector<Item> &items, std::size_t most, Fields fields) {
    for (std::size_t i = 0; i < items.size() && i < most; ++i) {
      Json::Value row(Json::objectValue);
      ToJson into(row);
      fields(into, items[i]);
      object_[key].append(std::move(row));
    }
  }
  template <class Part, class Fields> void part(const char *key, const Part &part, Fields fields) {
    ToJson into(object_[key]);
    fields(into, part);
  }
  template <class Part, class Fields> void part(const char *key, const std::optional<Part> &has, Fields fields) {
    if (has) part(key, *has, fields);
  }

private:
  Json::Value &object_;
};

const char *fill(ToJson &io, const NodeRecord &record) { return node_fields(io, record), "node"; }
const char *fill(ToJson &io, const StartRecord &record) {
  return start_fields(io, record), record.resumed ? "resume" : "start";
}
const char *fill(ToJson &io, const IntervalRecord &record) { return interval_fields(io, record), "interval"; }
const char *fill(ToJson &io, const EndRecord &record) { return end_fields(io, record), "end"; }
const char *fill(ToJson &io, const ShadowRecord &record) { return shadow_fields(io, record), "shadow"; }
const char *fill(ToJson &io, const UsageRecord &record) { return usage_fields(io, record), "usage"; }
const char *fill(ToJson &io, const GapRecord &record) { return gap_fields(io, record), "gap"; }

Json::Value json_of(const Record &record) {
  Json::Value object(Json::objectValue);
  object["schema"] = dataset_schema;
  ToJson io(object);
  object["record"] = std::visit([&io](const auto &each) { return fill(io, each); }, record);
  return object;
}

// Takes the end of its longest list away. False if there is none that could be shorter.
bool shorten(Json::Value &object) {
  for (const char *key : {"neighbours", "plan", "placement"})
    if (object.isMember(key)) {
      const Json::ArrayIndex rows = object[key].size() / 2;
      if (rows == 0)
        object.removeMember(key);
      else
        object[key].resize(rows);
      object["cut"] = true;
      return true;
    }
  return false;
}

} // namespace

std::string to_line(const Record &record) {
  Json::Value object = json_of(record);
  std::string line = json_line(object);
  while (line.size() > longest_record && shorten(object)) line = json_line(object);
  return line;
}

} // namespace harmony
