#include "src/tool/dataset_command.h"

#include "src/record/dataset_check.h"
#include "src/record/dataset_csv.h"
#include "src/record/dataset_stats.h"
#include "src/show/dataset_text.h"
#include "src/show/json_line.h"
#include "src/show/pair_map_svg.h"
#include "src/sim/input/import_sacct.h"
#include "src/values/clock.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::size_t most_told = 20;

const char *action_name(DatasetAction action) {
  switch (action) {
  case DatasetAction::stats: return "stats";
  case DatasetAction::check: return "check";
  case DatasetAction::export_csv: return "export";
  case DatasetAction::import_sacct: break;
  }
  return "import";
}

void tell(const DatasetCommand &command, const std::string &line) {
  fmt::print(stderr, "harmony dataset {}: {}\n", action_name(command.action), line);
}

// How far a long reading is, on a terminal only.
class ReadMeter {
public:
  ReadMeter() : shown_(isatty(STDERR_FILENO)), begun_ms_(now_ms()), next_ms_(begun_ms_ + 3000) {}
  ~ReadMeter() {
    if (printed_) std::fputs("\r\033[K", stderr);
  }
  ReadMeter(const ReadMeter &) = delete;
  ReadMeter &operator=(const ReadMeter &) = delete;

  void step() {
    if (!shown_ || ++records_ % 1024 != 0) return;
    const std::int64_t now = now_ms();
    if (now < next_ms_) return;
    next_ms_ = now + 250;
    printed_ = true;
    const double seconds = static_cast<double>(now - begun_ms_) / 1000;
    fmt::print(stderr, "\r\033[K{} records read, {:.0f} a second", records_, static_cast<double>(records_) / seconds);
  }

private:
  const bool shown_;
  const std::int64_t begun_ms_;
  std::int64_t next_ms_;
  std::uint64_t records_ = 0;
  bool printed_ = false;
};

// A file that is written piece by piece; "-" is stdout.
class Output {
public:
  explicit Output(const std::string &path) : path_(path), file_(path == "-" ? stdout : std::fopen(path.c_str(), "w")) {
    if (!file_) fail();
  }
  ~Output() {
    if (file_ && file_ != stdout) std::fclose(file_);
  }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  void write(const std::string &text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void finish() {
    if (std::fflush(file_) != 0) fail();
  }

private:
  [[noreturn]] void fail() const {
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  const std::string path_;
  std::FILE *const file_;
};

void write_file(const std::string &path, const std::string &text) {
  Output output(path);
  output.write(text);
  output.finish();
}

void tell_what_is_missing(const DatasetCommand &command, const DatasetReading &reading) {
  std::uint64_t told = 0;
  for (const DatasetFault &fault : reading.faults) {
    if (fault.line != 0) continue;
    tell(command, one_line(fault_text(fault), 8192));
    ++told;
  }
  if (reading.damaged > told) tell(command, fmt::format("and {} more damaged files", reading.damaged - told));
  if (reading.faulty > 0)
    tell(command, fmt::format("{} faulty record{} passed over; `harmony dataset check` says more", reading.faulty,
                              reading.faulty == 1 ? "" : "s"));
}

int stats(const DatasetCommand &command) {
  DatasetCounter counter;
  DatasetReading reading;
  {
    ReadMeter meter;
    reading = read_dataset(command.directory, [&](const Record &record) {
      counter.add(record);
      meter.step();
    });
  }
  tell_what_is_missing(command, reading);
  const DatasetStats all = counter.stats(reading);
  if (!command.svg.empty()) write_file(command.svg, pair_map_svg(all.coverage, command.directory));
  if (command.svg != "-")
    write_file("-",
               command.json ? dataset_stats_json(all, command.directory) : dataset_stats_text(all, command.directory));
  return 0;
}

struct Findings {
  DatasetReading reading;
  std::uint64_t faults = 0, open = 0, cut_off = 0, lost = 0;
  std::vector<DatasetFault> first; // damaged files, then records in the order of the files
};

Findings find_faults(const std::string &directory) {
  Findings found;
  DatasetChecker checker([&](DatasetFault &&fault) {
    ++found.faults;
    if (found.first.size() < most_told) found.first.push_back(std::move(fault));
  });
  ReadMeter meter;
  found.reading = read_dataset(directory, [&](const Record &record, const RecordPlace &place) {
    checker.add(record, place);
    meter.step();
  });
  found.faults += found.reading.faulty + found.reading.damaged;
  found.first.insert(found.first.end(), found.reading.faults.begin(), found.reading.faults.end());
  std::stable_sort(found.first.begin(), found.first.end(), [](const DatasetFault &one, const DatasetFault &other) {
    return std::make_tuple(one.line != 0, std::cref(one.file), one.line) <
           std::make_tuple(other.line != 0, std::cref(other.file), other.line);
  });
  found.first.resize(std::min(found.first.size(), most_told));
  found.open = checker.open();
  found.cut_off = checker.cut_off();
  found.lost = checker.lost();
  return found;
}

std::string findings_text(const Findings &found, const std::string &directory) {
  const auto plural = [](std::uint64_t count, const char *what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text;
  for (const DatasetFault &fault : found.first) text += one_line(fault_text(fault), 8192) + "\n";
  if (found.faults > found.first.size()) text += fmt::format("and {} more\n", found.faults - found.first.size());
  if (found.reading.torn > 0)
    text += fmt::format("note: {}, as a kill leaves behind; passed over\n", plural(found.reading.torn, "torn tail"));
  if (found.lost > 0) text += fmt::format("note: {} lost when written, as gaps tell\n", plural(found.lost, "record"));
  if (found.cut_off > 0)
    text += fmt::format("note: {} started before what is there, or in a gap\n", plural(found.cut_off, "run"));
  return text + fmt::format("{}: {} and {}, {} open: {}\n", one_line(directory, 4096),
                            plural(found.reading.files, "file"), plural(found.reading.records, "record"),
                            plural(found.open, "run"), found.faults == 0 ? "sound" : plural(found.faults, "fault"));
}

std::string findings_json(const Findings &found, const std::string &directory) {
  Json::Value value;
  value["dataset"] = one_line(directory);
  value["sound"] = found.faults == 0;
  value["files"] = static_cast<Json::UInt64>(found.reading.files);
  value["records"] = static_cast<Json::UInt64>(found.reading.records);
  value["faults"] = static_cast<Json::UInt64>(found.faults);
  value["damaged"] = static_cast<Json::UInt64>(found.reading.damaged);
  value["torn"] = static_cast<Json::UInt64>(found.reading.torn);
  value["lost_records"] = static_cast<Json::UInt64>(found.lost);
  value["runs_open"] = static_cast<Json::UInt64>(found.open);
  value["runs_cut_off"] = static_cast<Json::UInt64>(found.cut_off);
  value["first"] = Json::arrayValue;
  for (const DatasetFault &fault : found.first) {
    Json::Value entry;
    entry["file"] = one_line(fault.file, 4096);
    entry["line"] = fault.line;
    entry["what"] = one_line(fault.what);
    value["first"].append(std::move(entry));
  }
  return json_line(value) + "\n";
}

int check(const DatasetCommand &command) {
  const Findings found = find_faults(command.directory);
  write_file("-", command.json ? findings_json(found, command.directory) : findings_text(found, command.directory));
  return found.faults == 0 ? 0 : 1;
}

int export_csv(const DatasetCommand &command) {
  Output output(command.csv);
  DatasetReading reading;
  {
    ReadMeter meter;
    const CsvExport to{command.directory, [&](const std::string &line) { output.write(line); }, [&] { meter.step(); }};
    reading = command.runs ? export_runs(to) : export_intervals(to);
  }
  output.finish();
  tell_what_is_missing(command, reading);
  return 0;
}

int import(const DatasetCommand &command) {
  SacctImport how;
  how.file = command.sacct;
  how.to = command.to;
  how.cluster = command.cluster;
  how.users = command.users == "none"   ? DatasetUsers::none
              : command.users == "name" ? DatasetUsers::name
                                        : DatasetUsers::hash;
  how.skip_bad = command.skip_bad;
  const SacctImported done = import_sacct(how);
  for (const std::string &note : done.notes) tell(command, "note: " + note);
  if (done.file.empty())
    fmt::print("{}: nothing new\n", one_line(command.to, 4096));
  else
    fmt::print("{}: {} run{}, {} interval{}\n", one_line(done.file, 4096), done.runs, done.runs == 1 ? "" : "s",
               done.intervals, done.intervals == 1 ? "" : "s");
  return 0;
}

// By itself CLI11 would say that a subcommand is missing, and not what stands in its place.
void require_action(CLI::App &dataset) {
  dataset.require_subcommand(0, 1);
  dataset.allow_extras();
  dataset.callback([&dataset] {
    const std::string actions = "stats, check, export and import";
    if (const std::vector<std::string> extra = dataset.remaining(); !extra.empty())
      throw CLI::ParseError(fmt::format("harmony dataset: {} is none of {}", printable(extra.front()), actions),
                            CLI::ExitCodes::ExtrasError);
    if (dataset.get_subcommands().empty())
      throw CLI::ParseError(fmt::format("harmony dataset: needs one of {}", actions), CLI::ExitCodes::RequiredError);
  });
}

CLI::App *add_action(CLI::App &dataset, DatasetCommand &command, DatasetAction action, const char *help) {
  CLI::App *app = dataset.add_subcommand(action_name(action), help);
  app->callback([action, &command] { command.action = action; });
  if (action == DatasetAction::import_sacct) return app;
  app->add_option("DIR", command.directory, "The dataset's directory; by default that of harmony.conf");
  return app;
}

} // namespace

CLI::App *add_dataset(CLI::App &app, DatasetCommand &command) {
  CLI::App *dataset =
      app.add_subcommand("dataset", "See, check and export what jobs really did, or import it from sacct");
  CLI::App *stats = add_action(*dataset, command, DatasetAction::stats,
                               "Say what is in it: sizes, runs, types, which pairs of types were seen together");
  stats->add_option("--svg", command.svg, "Draw which types were seen together, and how they did; - prints it instead")
      ->type_name("FILE");
  CLI::App *check = add_action(*dataset, command, DatasetAction::check,
                               "Read every record, and say which are faulty or contradict each other");
  for (CLI::App *each : {stats, check}) each->add_flag("--json", command.json, "Print JSON for programs");
  CLI::App *csv = add_action(*dataset, command, DatasetAction::export_csv, "Write it as a table");
  csv->add_option("--csv", command.csv, "Where to; - is stdout")->type_name("FILE")->required();
  csv->add_flag("--runs", command.runs, "A line a run: its start joined with its end; else a line an interval");
  CLI::App *import = add_action(*dataset, command, DatasetAction::import_sacct, "Make one of what sacct knows");
  import->add_option("--sacct", command.sacct, "Output of sacct --parsable2; harmony-dataset(1) says which columns")
      ->type_name("FILE")
      ->required();
  import->add_option("--to", command.to, "The dataset's directory; a file is added to it")
      ->type_name("DIR")
      ->required();
  import->add_option("--users", command.users, "How to name whose job it was; hash by default")
      ->check(CLI::IsMember({"none", "hash", "name"}));
  import->add_option("--cluster", command.cluster, "Name of the cluster; by default as the column Cluster says")
      ->type_name("NAME");
  import->add_flag("--skip-bad", command.skip_bad, "Count bad rows instead of refusing the file");
  require_action(*dataset);
  dataset->footer("Exit code: 0 done, or sound; 1 failed, or something is wrong with the dataset; 2 wrong usage.");
  for (CLI::App *each : {stats, check, csv, import}) each->footer(dataset->get_footer());
  return dataset;
}

int run_dataset(const DatasetCommand &command) {
  if (command.json && command.svg == "-") {
    tell(command, "--json and --svg - cannot both be printed: name a file for the picture");
    return 2;
  }
  if (command.action != DatasetAction::import_sacct && command.directory.empty()) {
    tell(command, "which dataset? Name its directory; harmony.conf has none");
    return 2;
  }
  try {
    switch (command.action) {
    case DatasetAction::stats: return stats(command);
    case DatasetAction::check: return check(command);
    case DatasetAction::export_csv: return export_csv(command);
    case DatasetAction::import_sacct: break;
    }
    return import(command);
  } catch (const std::exception &failed) {
    tell(command, one_line(failed.what()));
    return 1;
  }
}

} // namespace harmony
