#include "src/record/records.h"

#include "src/record/record_fields.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace harmony {
namespace {

constexpr int deepest = 16; // brackets within brackets

// 0-3,8: ascending, all below `limit`.
bool read_number_list(const std::string &text, int limit, Bits &bits) {
  bits = Bits(limit);
  const char *at = text.data(), *const end = at + text.size();
  int next = 0;
  const auto read = [&](int &number) {
    if (at == end || *at < '0' || *at > '9') return false; // from_chars takes -0
    const auto [rest, problem] = std::from_chars(at, end, number);
    at = rest;
    return problem == std::errc() && number >= next && number < limit;
  };
  while (at != end) {
    int first = 0;
    if ((next > 0 && *at++ != ',') || !read(first)) return false;
    int last = first;
    next = first + 1;
    if (at != end && *at == '-' && (++at, !read(last))) return false;
    for (int number = first; number <= last; ++number) bits.set(number);
    next = last + 1;
  }
  Bits fit(next);
  bits = fit |= bits;
  return true;
}

class OfJson {
public:
  OfJson(const Json::Value &object, std::string where) : object_(object), where_(std::move(where)) {}

  void name(const char *key, std::string &text) {
    if (!object_.isMember(key)) wrong(key, "is missing");
    this->text(key, text, longest_record_name);
  }
  void text(const char *key, std::string &text, std::size_t most) {
    if (!object_.isMember(key)) return;
    const Json::Value &value = object_[key];
    if (value.isString()) text = value.asString();
    if (!value.isString() || text.size() > most || !std::all_of(text.begin(), text.end(), is_printable))
      wrong(key, fmt::format("is no text of at most {} printable characters", most));
  }
  template <class N> void number(const char *key, N &number, double least, double most) {
    const Json::Value &value = object_[key];
    const double found = value.isNumeric() ? value.asDouble() : std::numeric_limits<double>::quiet_NaN();
    constexpr bool whole = std::is_integral_v<N>;
    if (!(found >= least && found <= most) || (whole && found != std::floor(found)))
      wrong(key, fmt::format("is no {}number from {} to {}", whole ? "whole " : "", least, most));
    number = static_cast<N>(found);
  }
  template <class N> void maybe(const char *key, std::optional<N> &value, double least, double most) {
    if (object_.isMember(key)) number(key, value.emplace(), least, most);
  }
  void known(const char *key, double &value, double least, double most) {
    if (object_.isMember(key)) number(key, value, least, most);
  }
  template <class N> void declared(const char *key, N &value) {
    if (object_.isMember(key)) number(key, value, 0, static_cast<double>(std::numeric_limits<N>::max()));
  }
  void flag(const char *key, bool &is_so) {
    if (!object_[key].isBool()) wrong(key, "is neither true nor false");
    is_so = object_[key].asBool();
  }
  void mark(const char *key, bool &is_so) {
    if (object_.isMember(key)) flag(key, is_so);
  }
  void bits(const char *key, Bits &bits, int limit) {
    if (!object_.isMember(key)) return;
    const Json::Value &value = object_[key];
    if (!value.isString() || !read_number_list(value.asString(), limit, bits))
      wrong(key, fmt::format("is no ascending list of numbers below {}", limit));
  }
  void numbers(const char *key, std::vector<std::uint32_t> &numbers, std::size_t most) {
    for (const Json::Value &value : array(key, most)) {
      if (!value.isUInt()) wrong(key, "has an entry that is no whole number from 0 to 4294967295");
      numbers.push_back(value.asUInt());
    }
  }
  template <class Item, class Fields>
  void rows(const char *key, std::vector<Item> &items, std::size_t most, Fields fields) {
    const Json::Value &list = array(key, most);
    items.reserve(list.size());
    for (const Json::Value &value : list) {
      if (!value.isObject()) wrong(key, "has an entry that is no object");
      OfJson of(value, fmt::format("{}{}[{}].", where_, key, items.size()));
      fields(of, items.emplace_back());
    }
  }
  template <class Part, class Fields> void part(const char *key, Part &part, Fields fields) {
    const Json::Value &value = object_[key];
    if (!value.isObject()) wrong(key, "is no object");
    OfJson of(value, where_ + key + ".");
    fields(of, part);
  }
  template <class Part, class Fields> void part(const char *key, std::optional<Part> &has, Fields fields) {
    if (object_.isMember(key)) part(key, has.emplace(), fields);
  }

private:
  [[noreturn]] void wrong(const char *key, const std::string &how) const {
    throw std::runtime_error(fmt::format("{}{} {}", where_, key, how));
  }
  const Json::Value &array(const char *key, std::size_t most) const {
    static const Json::Value none(Json::arrayValue);
    if (!object_.isMember(key)) return none;
    if (!object_[key].isArray() || object_[key].size() > most)
      wrong(key, fmt::format("is no list of at most {} entries", most));
    return object_[key];
  }

  const Json::Value &object_;
  const std::string where_; // before the key, in messages
};

Json::Value parsed(const std::string &line) {
  if (line.size() > longest_record)
    throw std::runtime_error(fmt::format("the line is longer than {} bytes", longest_record));
  Json::CharReaderBuilder builder;
  builder["allowComments"] = false;
  builder["failIfExtra"] = true;
  builder["rejectDupKeys"] = true;
  builder["stackLimit"] = deepest;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value value;
  try {
    if (reader->parse(line.data(), line.data() + line.size(), &value, nullptr) && value.isObject()) return value;
  } catch (const Json::Exception &) { // too deep
  }
  throw std::runtime_error("no JSON object");
}

// What simulations wrote before there were runs, clusters and plans in the dataset.
void upgrade(Json::Value &object, const std::string &kind) {
  object["run"] = 0;
  if (kind == "start") object["by_plan"] = object["policy"] != "stock";
  if (kind != "end") return;
  object["requeues"] = 0;
  object["exit_code"] = 0;
  if (object["end_s"].isNumeric() && object["elapsed_s"].isNumeric())
    object["begin_s"] = object["end_s"].asDouble() - object["elapsed_s"].asDouble();
}

template <class R, class Fields> Record read(const Json::Value &object, Fields fields) {
  R record;
  OfJson io(object, "");
  fields(io, record);
  return record;
}

Record start_of(const Json::Value &object, bool resumed) {
  StartRecord record;
  OfJson io(object, "");
  start_fields(io, record);
  record.resumed = resumed;
  return record;
}

} // namespace

Record record_of_line(const std::string &line) {
  Json::Value object = parsed(line);
  const Json::Value &schema = object["schema"];
  if (!schema.isInt() || schema.asInt() < 1 || schema.asInt() > dataset_schema)
    throw std::runtime_error(fmt::format("schema is none of 1 to {}, which this version reads", dataset_schema));
  const std::string kind = object["record"].isString() ? object["record"].asString() : "";
  if (schema.asInt() == 1) upgrade(object, kind);
  if (kind == "node") return read<NodeRecord>(object, [](auto &io, auto &to) { node_fields(io, to); });
  if (kind == "start" || kind == "resume") return start_of(object, kind == "resume");
  if (kind == "interval") return read<IntervalRecord>(object, [](auto &io, auto &to) { interval_fields(io, to); });
  if (kind == "end") return read<EndRecord>(object, [](auto &io, auto &to) { end_fields(io, to); });
  if (kind == "shadow") return read<ShadowRecord>(object, [](auto &io, auto &to) { shadow_fields(io, to); });
  if (kind == "usage") return read<UsageRecord>(object, [](auto &io, auto &to) { usage_fields(io, to); });
  if (kind == "gap") return read<GapRecord>(object, [](auto &io, auto &to) { gap_fields(io, to); });
  throw std::runtime_error("record is none of node, start, resume, interval, end, shadow, usage and gap");
}

} // namespace harmony
