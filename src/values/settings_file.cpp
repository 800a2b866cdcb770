#include "src/values/settings_file.h"

#include "src/values/job_description.h"
#include "src/values/mode.h"
#include "src/values/printable.h"
#include "src/values/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#ifndef HARMONY_MODEL_STORE // not built by our Makefile
#define HARMONY_MODEL_STORE "/var/lib/slurm-harmony/models"
#define HARMONY_SHIPPED_MODEL "/usr/share/slurm-harmony/models/shipped"
#define HARMONY_DATASET "/var/lib/slurm-harmony/dataset"
#endif

namespace harmony {

const char *const default_model_store = HARMONY_MODEL_STORE;
const char *const default_dataset = HARMONY_DATASET;
const char *const shipped_model = HARMONY_SHIPPED_MODEL;

namespace {

using namespace units;

constexpr std::size_t max_line_length = 4096;
constexpr std::size_t max_problems = 20; // each is a line in slurmctld's log
constexpr std::size_t max_path_length = 1024;
constexpr int inference_on_top_ms = 1000; // of RoundBudget: between two gangs a round looks at that by itself

struct TimeKey {
  const char *name;
  int Settings::*field;
  int field_ms; // milliseconds in one unit of the field
  std::int64_t low_ms, high_ms;
};

constexpr TimeKey time_keys[] = {
    {"Interval", &Settings::interval_ms, 1, 100, hour},
    {"MinInterval", &Settings::min_interval_ms, 1, 10, minute},
    {"RoundBudget", &Settings::round_budget_ms, 1, 10, minute},
    {"InferenceBudget", &Settings::inference_budget_ms, 1, 10, 2 * minute},
    {"MaxWait", &Settings::max_wait_s, second, 0, 7 * 24 * hour},
    {"BreakerPause", &Settings::breaker_pause_ms, 1, 100, 10 * minute},
};

struct CountKey {
  const char *name;
  int Settings::*field;
  std::uint32_t low, high;
};

constexpr CountKey count_keys[] = {
    {"KeepDecisions", &Settings::keep_decisions, 0, 1000000},
    {"Candidates", &Settings::candidates, 1, 64},
};

constexpr const char *key_names[] = {"Policy",      "Heuristic",       "Manage",  "Interval",       "MinInterval",
                                     "RoundBudget", "InferenceBudget", "MaxWait", "KeepDecisions",  "ModelStore",
                                     "Candidates",  "BreakerPause",    "Dataset", "DatasetMaxSize", "DatasetUsers"};

constexpr const char *no_dataset = "none";
constexpr std::pair<const char *, Manage> manage_names[] = {{"annotated", Manage::annotated}, {"gpu", Manage::gpu}};
constexpr std::pair<const char *, DatasetUsers> users_names[] = {
    {"none", DatasetUsers::none}, {"hash", DatasetUsers::hash}, {"name", DatasetUsers::name}};
constexpr std::uint64_t least_dataset = 1 << 20, most_dataset = std::uint64_t{1} << 50;

template <class Key, std::size_t count> const Key *find_key(std::string_view name, const Key (&keys)[count]) {
  for (const Key &key : keys)
    if (name == key.name) return &key;
  return nullptr;
}

const TimeKey *time_key(std::string_view name) { return find_key(name, time_keys); }
const CountKey *count_key(std::string_view name) { return find_key(name, count_keys); }

bool set_time(const TimeKey &key, std::string_view value, Settings &settings) {
  std::int64_t ms = 0;
  if (!read_time(value, ms) || ms < key.low_ms || ms > key.high_ms || ms % key.field_ms != 0) return false;
  settings.*key.field = static_cast<int>(ms / key.field_ms);
  return true;
}

bool set_count(const CountKey &key, std::string_view value, Settings &settings) {
  std::uint32_t number = 0;
  if (!read_whole_number(value, key.low, key.high, number)) return false;
  settings.*key.field = static_cast<int>(number);
  return true;
}

// One of the words that a key allows, in whatever case it was given.
template <class Value, std::size_t count>
bool set_word(std::string_view text, const std::pair<const char *, Value> (&names)[count], Value &value) {
  const auto known = std::find_if(std::begin(names), std::end(names),
                                  [text](const auto &name) { return detail::same_word(text, name.first); });
  if (known == std::end(names)) return false;
  value = known->second;
  return true;
}

template <class Value, std::size_t count>
const char *word_of(Value value, const std::pair<const char *, Value> (&names)[count]) {
  return std::find_if(std::begin(names), std::end(names), [value](const auto &name) { return name.second == value; })
      ->first;
}

// As it is known, in whatever case it was given.
bool set_name(std::string_view value, const std::vector<std::string> &names, std::string &field) {
  const auto known = std::find_if(names.begin(), names.end(),
                                  [value](const std::string &name) { return detail::same_word(value, name); });
  if (known == names.end()) return false;
  field = *known;
  return true;
}

// Printable, so that it can be told in any log; a double quote could not be written in quotes.
bool is_path(std::string_view path) {
  return path.size() <= max_path_length && path.front() == '/' &&
         std::all_of(path.begin(), path.end(), [](char c) { return is_printable(c) && c != '"'; });
}

std::string quoted_if_needed(const std::string &value) {
  return value.find_first_of(" #\\") == std::string::npos ? value : '"' + value + '"';
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// How many backslashes stand at the end of the text.
std::size_t trailing_backslashes(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[text.size() - 1 - count] == '\\') ++count;
  return count;
}

std::string without_comment(std::string_view line) {
  std::string bare;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == '#' && !quoted) {
      if (trailing_backslashes(bare) % 2 == 0) break;
      bare.pop_back();
    }
    bare += c;
  }
  return bare;
}

// Lines joined by continuations, and where in the text each began.
class JoinedLine {
public:
  // Whether the next line belongs to it too.
  bool append(std::string_view line, int number) {
    starts_.emplace_back(text_.size(), number);
    std::string bare = without_comment(line);
    while (!bare.empty() && is_blank(bare.back())) bare.pop_back();
    const bool goes_on = trailing_backslashes(bare) % 2 == 1;
    if (goes_on) bare.pop_back();
    text_ += bare;
    return goes_on;
  }

  const std::string &text() const { return text_; }

  int line_at(std::size_t position) const {
    const auto later = std::upper_bound(
        starts_.begin(), starts_.end(), position,
        [](std::size_t wanted, const std::pair<std::size_t, int> &start) { return wanted < start.first; });
    return std::prev(later)->second;
  }

private:
  std::string text_;
  std::vector<std::pair<std::size_t, int>> starts_;
};

class Reader {
public:
  explicit Reader(const std::vector<std::string> &policy_names) : policy_names_(policy_names) {
    for (const std::string &name : policy_names)
      if (name != "learned") heuristic_names_.push_back(name);
  }

  SettingsReading read(std::string_view text) {
    if (text.size() > max_settings_size) {
      const auto lines = std::count(text.begin(), text.begin() + max_settings_size, '\n');
      problem(static_cast<int>(lines) + 1, fmt::format("the file is longer than {} bytes", max_settings_size));
      return reading_;
    }
    read_lines(text);
    check_min_interval();
    check_inference_budget();
    std::stable_sort(reading_.problems.begin(), reading_.problems.end(),
                     [](const SettingsProblem &a, const SettingsProblem &b) { return a.line < b.line; });
    if (not_listed_ > 0)
      reading_.problems.push_back(
          {reading_.problems.back().line, fmt::format("{} more problems are not listed", not_listed_)});
    return reading_;
  }

private:
  struct Seen {
    int line = 0;
    bool taken = false;
  };

  void problem(int line, std::string text) {
    if (reading_.problems.size() < max_problems)
      reading_.problems.push_back({line, std::move(text)});
    else
      ++not_listed_;
  }

  void read_lines(std::string_view text) {
    JoinedLine joined;
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      const bool goes_on = joined.append(is_sound(line, number) ? line : std::string_view(), number);
      if (goes_on && !text.empty()) continue;
      read_pairs(joined);
      joined = JoinedLine();
    }
  }

  bool is_sound(std::string_view line, int number) {
    if (line.find('\0') != std::string_view::npos)
      problem(number, "the line has a NUL byte; the file has to be text");
    else if (line.size() > max_line_length)
      problem(number, fmt::format("the line is longer than {} bytes", max_line_length));
    else
      return true;
    return false;
  }

  void read_pairs(const JoinedLine &joined) {
    const std::string_view text = joined.text();
    for (std::size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
      const int line = joined.line_at(at);
      const std::size_t key_end = std::min(text.find_first_of("= \t\r\v\f", at), text.size());
      const std::string_view key = text.substr(at, key_end - at);
      at = skip_blanks(text, key_end);
      if (at == text.size() || text[at] != '=') {
        at = key_end;
        take(line, key, "");
        continue;
      }
      at = skip_blanks(text, at + 1);
      if (at < text.size() && text[at] == '"') {
        at = read_quoted(line, key, text, at);
        continue;
      }
      const std::size_t value_end = std::min(text.find_first_of(" \t\r\v\f", at), text.size());
      take(line, key, text.substr(at, value_end - at));
      at = value_end;
    }
  }

  // Reads the value whose opening quote is at `at`; returns where to go on.
  std::size_t read_quoted(int line, std::string_view key, std::string_view text, std::size_t at) {
    const std::size_t close = text.find('"', at + 1);
    if (close == std::string_view::npos) {
      problem(line, fmt::format("{}={} has no closing quote", printable(key), printable(text.substr(at))));
      return text.size();
    }
    std::size_t end = close + 1;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (end > close + 1)
      problem(line, fmt::format("{}={} goes on behind the closing quote; put a blank there", printable(key),
                                printable(text.substr(at, end - at))));
    else
      take(line, key, text.substr(at + 1, close - at - 1));
    return end;
  }

  void take(int line, std::string_view key, std::string_view value) {
    const auto name = std::find_if(std::begin(key_names), std::end(key_names),
                                   [key](const char *known) { return detail::same_word(key, known); });
    if (name == std::end(key_names)) {
      problem(line, fmt::format("unknown key \"{}\"; the keys are {}", printable(key), fmt::join(key_names, ", ")));
      return;
    }
    const auto [seen, first] = seen_.emplace(*name, Seen{line, false});
    if (!first)
      problem(line, fmt::format("{}=\"{}\" is given twice, first on line {}; once is allowed", *name, printable(value),
                                seen->second.line));
    else if (value.empty())
      problem(line, fmt::format("{} has no value; allowed is {}", *name, allowed(*name)));
    else if (set(*name, value))
      seen->second.taken = true;
    else
      problem(line, fmt::format("{}=\"{}\" is not allowed; allowed is {}", *name, printable(value), allowed(*name)));
  }

  bool set(std::string_view name, std::string_view value) {
    Settings &settings = reading_.settings;
    if (const TimeKey *key = time_key(name)) return set_time(*key, value, settings);
    if (const CountKey *key = count_key(name)) return set_count(*key, value, settings);
    if (name == "Policy") return set_name(value, policy_names_, settings.policy);
    if (name == "Heuristic") return set_name(value, heuristic_names_, settings.heuristic);
    if (name == "ModelStore") return set_path(value, settings.model_store);
    if (name == "Manage") return set_word(value, manage_names, settings.manage);
    if (name == "DatasetUsers") return set_word(value, users_names, settings.dataset_users);
    if (name == "DatasetMaxSize") return set_size(value, settings.dataset_max_bytes);
    if (!detail::same_word(value, no_dataset)) return set_path(value, settings.dataset);
    settings.dataset.clear();
    return true;
  }

  static bool set_size(std::string_view value, std::uint64_t &field) {
    std::uint64_t bytes = 0;
    if (!read_size(value, bytes) || bytes < least_dataset || bytes > most_dataset) return false;
    field = bytes;
    return true;
  }

  static bool set_path(std::string_view value, std::string &field) {
    if (!is_path(value)) return false;
    field = value;
    return true;
  }

  std::string allowed(std::string_view name) const {
    if (const TimeKey *key = time_key(name))
      return fmt::format("a time from {} to {}, a whole number with {}s, m or h, or of seconds", time_text(key->low_ms),
                         time_text(key->high_ms), key->field_ms == 1 ? "ms, " : "");
    if (const CountKey *key = count_key(name)) return fmt::format("a whole number from {} to {}", key->low, key->high);
    if (name == "Policy") return fmt::format("one of {}", fmt::join(policy_names_, ", "));
    if (name == "Heuristic") return fmt::format("one of {}", fmt::join(heuristic_names_, ", "));
    if (name == "Manage") return "annotated or gpu";
    if (name == "DatasetUsers") return "none, hash or name";
    if (name == "DatasetMaxSize")
      return fmt::format("a whole number with K, M, G or T, from {} to {}", size_text(least_dataset),
                         size_text(most_dataset));
    return fmt::format("{}a path from /, of at most {} printable ASCII characters, without double quotes",
                       name == "Dataset" ? "none, or " : "", max_path_length);
  }

  // The default is shorter than any Interval, so MinInterval was given.
  void check_min_interval() {
    Settings &settings = reading_.settings;
    if (settings.min_interval_ms <= settings.interval_ms) return;
    problem(seen_["MinInterval"].line,
            fmt::format("MinInterval=\"{}\" is longer than Interval=\"{}\"; allowed is {} to {}",
                        time_text(settings.min_interval_ms), time_text(settings.interval_ms),
                        time_text(time_key("MinInterval")->low_ms), time_text(settings.interval_ms)));
    settings.min_interval_ms = Settings().min_interval_ms;
  }

  // A shorter one would call the model late in every round that has enough to do for RoundBudget to cut it.
  void check_inference_budget() {
    Settings &settings = reading_.settings;
    const Seen given = seen_["InferenceBudget"];
    if (given.taken && settings.inference_budget_ms >= settings.round_budget_ms) return;
    if (given.taken)
      problem(given.line,
              fmt::format("InferenceBudget=\"{}\" is shorter than RoundBudget=\"{}\"; allowed is {} to {}",
                          time_text(settings.inference_budget_ms), time_text(settings.round_budget_ms),
                          time_text(settings.round_budget_ms), time_text(time_key("InferenceBudget")->high_ms)));
    settings.inference_budget_ms = settings.round_budget_ms + inference_on_top_ms;
  }

  const std::vector<std::string> &policy_names_;
  std::vector<std::string> heuristic_names_; // all that can answer when the model cannot
  SettingsReading reading_;
  std::map<std::string, Seen> seen_;
  int not_listed_ = 0;
};

} // namespace

SettingsReading read_settings(std::string_view text, const std::vector<std::string> &policy_names) {
  return Reader(policy_names).read(text);
}

std::string settings_text(const Settings &settings) {
  std::string text = fmt::format("Policy={}\nHeuristic={}\n", settings.policy, settings.heuristic);
  text += fmt::format("Manage={}\n", word_of(settings.manage, manage_names));
  for (const TimeKey &key : time_keys)
    text += fmt::format("{}={}\n", key.name, time_text(std::int64_t{settings.*key.field} * key.field_ms));
  for (const CountKey &key : count_keys) text += fmt::format("{}={}\n", key.name, settings.*key.field);
  return text + fmt::format("ModelStore={}\nDataset={}\nDatasetMaxSize={}\nDatasetUsers={}\n",
                            quoted_if_needed(settings.model_store),
                            settings.dataset.empty() ? no_dataset : quoted_if_needed(settings.dataset),
                            size_text(settings.dataset_max_bytes), word_of(settings.dataset_users, users_names));
}

} // namespace harmony
