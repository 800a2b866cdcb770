#include "src/show/decision_json.h"

#include "src/query/local_socket.h"
#include "src/show/json_line.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>

namespace harmony {
namespace {

// No honest record comes near these; they bound what a dishonest one can make us allocate.
constexpr std::size_t max_text = 64 << 10;
constexpr std::size_t max_rows = 64 << 10;
constexpr int max_cores = 8192;
constexpr int max_gpus = 1024;
constexpr std::int64_t max_time = 253402300799; // the end of the year 9999
constexpr int max_depth = 16;

Json::Value text_json(const std::string &text) { return one_line(text, max_text - 3); }
Json::Value real_json(double number) { return std::isfinite(number) ? Json::Value(number) : Json::Value(); }
Json::Value time_json(std::time_t time) { return Json::Int64{time}; }

template <class Item, class Convert> Json::Value rows_json(const std::vector<Item> &items, Convert convert) {
  Json::Value rows(Json::arrayValue);
  for (std::size_t i = 0; i < items.size() && i < max_rows; ++i) rows.append(convert(items[i]));
  return rows;
}

Json::Value placement_json(const Placement &placement) {
  Json::Value value;
  value["component"] = placement.component;
  value["node"] = text_json(placement.node_name);
  value["workers"] = placement.workers;
  value["ps"] = placement.ps;
  value["cores"] = number_list(placement.cores);
  value["gpus"] = number_list(placement.gpus);
  return value;
}

Json::Value candidate_json(const Candidate &candidate) {
  Json::Value value;
  value["nodes"] = text_json(candidate.nodes);
  value["score"] = real_json(candidate.score);
  value["why"] = text_json(candidate.why);
  return value;
}

Json::Value masked_json(const Masked &masked) {
  Json::Value value;
  value["by"] = text_json(masked.by);
  value["nodes"] = masked.nodes;
  return value;
}

Json::Value actual_json(const ActualNode &actual) {
  Json::Value value;
  value["node"] = text_json(actual.node);
  value["gpus"] = number_list(actual.gpus);
  value["cpus"] = actual.cpus;
  value["tasks"] = actual.tasks;
  return value;
}

Json::Value record_json(const DecisionRecord &record) {
  const Decision &decision = record.decision;
  Json::Value root;
  root["job"] = decision.job;
  root["user"] = decision.user;
  root["type"] = text_json(decision.type);
  root["policy"] = text_json(decision.policy);
  root["round"] = Json::UInt64{decision.round};
  root["decided"] = time_json(decision.decided);
  root["verdict"] = verdict_name(decision.verdict);
  root["reason"] = text_json(decision.reason);
  root["plan"] = rows_json(decision.plan.placements, placement_json);
  root["candidates"] = rows_json(decision.candidates, candidate_json);
  root["masked"] = rows_json(decision.masked, masked_json);
  root["neighbours"] = rows_json(decision.neighbours, text_json);
  root["predicted_speed"] = real_json(decision.predicted_speed);
  root["wait_until"] = time_json(decision.wait_until);
  root["decisions"] = record.decisions;
  root["first_decided"] = time_json(record.first_decided);
  root["outcome"] = outcome_name(record.outcome);
  root["outcome_at"] = time_json(record.outcome_at);
  root["outcome_text"] = text_json(record.outcome_text);
  root["actual"] = rows_json(record.actual, actual_json);
  root["same_as_plan"] = record.same_as_plan;
  return root;
}

// Each read() says whether the value is what it has to be; nothing is converted on the way, as jsoncpp would.

bool read(const Json::Value &value, std::string &text) {
  if (!value.isString()) return false;
  text = value.asString();
  return text.size() <= max_text && std::all_of(text.begin(), text.end(), is_printable);
}

bool read(const Json::Value &value, bool &yes) {
  if (!value.isBool()) return false;
  yes = value.asBool();
  return true;
}

bool is_integer(const Json::Value &value) {
  return value.type() == Json::intValue || value.type() == Json::uintValue; // isInt() takes 1.0 too
}

bool read(const Json::Value &value, int &number) {
  if (!is_integer(value) || !value.isInt() || value.asInt() < 0) return false;
  number = value.asInt();
  return true;
}

bool read(const Json::Value &value, std::uint32_t &number) {
  if (!is_integer(value) || !value.isUInt()) return false;
  number = value.asUInt();
  return true;
}

bool read(const Json::Value &value, std::uint64_t &number) {
  if (!is_integer(value) || !value.isUInt64()) return false;
  number = value.asUInt64();
  return true;
}

bool read_time(const Json::Value &value, std::time_t &time) {
  if (!is_integer(value) || !value.isInt64() || value.asInt64() < 0 || value.asInt64() > max_time) return false;
  time = value.asInt64();
  return true;
}

bool read(const Json::Value &value, double &number) {
  if (!value.isNull() && !value.isDouble()) return false;
  number = value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.asDouble();
  return value.isNull() || std::isfinite(number);
}

template <class Name>
bool read_name(const Json::Value &value, std::initializer_list<Name> all, const char *(*name)(Name), Name &to) {
  std::string text;
  if (!read(value, text)) return false;
  for (const Name each : all) {
    to = each;
    if (text == name(each)) return true;
  }
  return false;
}

template <class Item, class Read> bool read_rows(const Json::Value &value, std::vector<Item> &items, Read read_item) {
  if (!value.isArray() || value.size() > max_rows) return false;
  for (const Json::Value &each : value) {
    items.emplace_back();
    if (!read_item(each, items.back())) return false;
  }
  return true;
}

// 0-3,8: ascending, all below `limit`.
bool read_list(const Json::Value &value, int limit, std::vector<int> &numbers) {
  std::string text;
  if (!read(value, text)) return false;
  const char *at = text.data(), *const end = at + text.size();
  int smallest = 0;
  while (at != end) {
    if (smallest > 0 && *at++ != ',') return false;
    int ends[2] = {};
    for (int i = 0; i < 2; ++i) {
      if (at == end || *at < '0' || *at > '9') return false; // from_chars takes -0
      const auto [rest, problem] = std::from_chars(at, end, ends[i]);
      if (problem != std::errc() || ends[i] < smallest || ends[i] >= limit) return false;
      at = rest;
      if (i == 1) break;
      ends[1] = smallest = ends[0];
      if (at == end || *at != '-') break;
      ++at;
    }
    for (int number = ends[0]; number <= ends[1]; ++number) numbers.push_back(number);
    smallest = ends[1] + 1;
  }
  return true;
}

bool read_bits(const Json::Value &value, int limit, Bits &bits) {
  std::vector<int> numbers;
  if (!read_list(value, limit, numbers)) return false;
  bits = Bits(numbers.empty() ? 0 : numbers.back() + 1);
  for (int number : numbers) bits.set(number);
  return true;
}

bool read_placement(const Json::Value &value, Placement &placement) {
  placement.node = -1;
  return value.isObject() && read(value["component"], placement.component) &&
         read(value["node"], placement.node_name) && read(value["workers"], placement.workers) &&
         read(value["ps"], placement.ps) && placement.ps <= std::numeric_limits<int>::max() - placement.workers &&
         read_bits(value["cores"], max_cores, placement.cores) && read_bits(value["gpus"], max_gpus, placement.gpus);
}

bool read_candidate(const Json::Value &value, Candidate &candidate) {
  return value.isObject() && read(value["nodes"], candidate.nodes) && value.isMember("score") &&
         read(value["score"], candidate.score) && read(value["why"], candidate.why);
}

bool read_masked(const Json::Value &value, Masked &masked) {
  return value.isObject() && read(value["by"], masked.by) && read(value["nodes"], masked.nodes);
}

bool read_actual(const Json::Value &value, ActualNode &actual) {
  return value.isObject() && read(value["node"], actual.node) && read_list(value["gpus"], max_gpus, actual.gpus) &&
         read(value["cpus"], actual.cpus) && read(value["tasks"], actual.tasks);
}

bool read_decision(const Json::Value &root, Decision &decision) {
  const auto read_text = [](const Json::Value &value, std::string &text) { return read(value, text); };
  return read(root["job"], decision.job) && read(root["user"], decision.user) && read(root["type"], decision.type) &&
         read(root["policy"], decision.policy) && read(root["round"], decision.round) &&
         read_time(root["decided"], decision.decided) &&
         read_name(root["verdict"], {Verdict::place, Verdict::wait, Verdict::no_room, Verdict::left_to_stock},
                   verdict_name, decision.verdict) &&
         read(root["reason"], decision.reason) && read_rows(root["plan"], decision.plan.placements, read_placement) &&
         read_rows(root["candidates"], decision.candidates, read_candidate) &&
         read_rows(root["masked"], decision.masked, read_masked) &&
         read_rows(root["neighbours"], decision.neighbours, read_text) && root.isMember("predicted_speed") &&
         read(root["predicted_speed"], decision.predicted_speed) && read_time(root["wait_until"], decision.wait_until);
}

std::optional<DecisionRecord> read_record(const Json::Value &root) {
  DecisionRecord record;
  const bool good =
      root.isObject() && read_decision(root, record.decision) && read(root["decisions"], record.decisions) &&
      read_time(root["first_decided"], record.first_decided) &&
      read_name(root["outcome"], {Outcome::pending, Outcome::used, Outcome::stock, Outcome::stale}, outcome_name,
                record.outcome) &&
      read_time(root["outcome_at"], record.outcome_at) && read(root["outcome_text"], record.outcome_text) &&
      read_rows(root["actual"], record.actual, read_actual) && read(root["same_as_plan"], record.same_as_plan);
  if (!good) return std::nullopt;
  return record;
}

// May throw: jsoncpp does when a text is nested too deeply. Null if the text is no JSON.
Json::Value parsed(const std::string &text) {
  if (text.size() > max_answer) return {};
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["stackLimit"] = max_depth;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  if (!reader->parse(text.data(), text.data() + text.size(), &root, nullptr)) return {};
  return root;
}

} // namespace

std::string decision_json(const DecisionRecord &record) { return json_line(record_json(record)); }

std::optional<DecisionRecord> decision_of_json(const std::string &text) {
  try {
    const Json::Value root = parsed(text);
    return read_record(root);
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

std::string explain_answer(const ExplainAnswer &answer) {
  Json::Value root;
  if (answer.decision) {
    root["decision"] = record_json(*answer.decision);
  } else {
    root["problem"] = text_json(answer.problem);
    if (answer.unknown) root["unknown"] = true;
  }
  return json_line(root);
}

ExplainAnswer read_explain_answer(const std::string &text) {
  ExplainAnswer answer;
  try {
    const Json::Value root = parsed(text);
    if (root.isObject() && root.isMember("decision")) answer.decision = read_record(root["decision"]);
    if (answer.decision) return answer;
    if (root.isObject() && read(root["problem"], answer.problem) && !answer.problem.empty()) {
      read(root["unknown"], answer.unknown);
      return answer;
    }
  } catch (const std::exception &) {
    answer.decision.reset();
  }
  answer.problem = "the engine's answer cannot be read";
  return answer;
}

std::string number_list(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string list;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!list.empty()) list += ',';
    list += first == last ? fmt::format("{}", numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
  }
  return list;
}

std::string number_list(const Bits &bits) {
  std::vector<int> numbers;
  for (int number : each(bits)) numbers.push_back(number);
  return number_list(std::move(numbers));
}

} // namespace harmony
