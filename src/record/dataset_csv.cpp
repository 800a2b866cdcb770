#include "src/record/dataset_csv.h"

#include "src/record/run_speeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>

namespace harmony {
namespace {

class Row {
public:
  Row &text(const std::string &text) { return raw(csv_text(text)); }
  template <class N> Row &number(N number) {
    if constexpr (std::is_floating_point_v<N>)
      return raw(fmt::format("{:.10g}", number));
    else
      return raw(fmt::format("{}", number));
  }
  // To the microsecond, and without an exponent.
  Row &time(double seconds) {
    std::string text = fmt::format("{:.6f}", seconds);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return raw(text);
  }
  template <class N> Row &maybe(const std::optional<N> &value) { return value ? number(*value) : raw(""); }
  Row &declared(std::uint32_t value) { return value > 0 ? number(value) : raw(""); }
  Row &empty(int fields) {
    while (fields-- > 0) raw("");
    return *this;
  }
  std::string line() const { return row_ + "\n"; }

private:
  Row &raw(const std::string &field) {
    if (any_) row_ += ',';
    any_ = true;
    row_ += field;
    return *this;
  }
  std::string row_;
  bool any_ = false;
};

constexpr const char *interval_header =
    "cluster,job,run,type,workers,ps,nodes,begin_s,end_s,epochs,relative_speed,same_domain,same_socket,same_nic,cores,"
    "across_nodes,neighbours,neighbour_types,neighbour_workers,neighbour_ps,claim_epoch,claim_of,claim_samples_per_s,"
    "claim_loss\n";

constexpr const char *run_header =
    "cluster,job,run,type,array_job,array_task,components,user,workers,ps,gpus,nodes,node_names,declared_epochs,"
    "model_kb,time_limit_min,policy,by_plan,why_stock,model,predicted_speed,submit_s,begin_s,neighbours,"
    "neighbour_types,resumed,state,end_s,elapsed_s,epochs,mean_speed,requeues,exit_code,disturbed,claim_epoch,claim_of,"
    "claim_samples_per_s,claim_loss\n";

// Each type once: "bert;vgg16".
std::string types_of(const std::vector<Neighbour> &neighbours) {
  std::set<std::string> types;
  for (const Neighbour &neighbour : neighbours) types.insert(neighbour.type);
  return fmt::format("{}", fmt::join(types, ";"));
}

Row &add_claim(Row &row, const std::optional<Claim> &claim) {
  if (!claim) return row.empty(4);
  return row.number(claim->epoch).maybe(claim->of).maybe(claim->samples_per_s).maybe(claim->loss);
}

std::string interval_line(const IntervalRecord &record) {
  Row row;
  row.text(record.id.cluster).number(record.id.job).number(record.id.run).text(record.type);
  row.number(record.workers).number(record.ps).number(record.nodes).time(record.begin_s).time(record.end_s);
  row.maybe(record.epochs).maybe(record.relative_speed);
  const InterferenceTerms &terms = record.terms;
  row.number(terms.same_domain).number(terms.same_socket).number(terms.same_nic).number(terms.cores);
  row.number(terms.across_nodes);
  int workers = 0, ps = 0; // on the gang's nodes
  for (const Neighbour &neighbour : record.neighbours)
    for (const TasksAt &tasks : neighbour.on) workers += tasks.workers, ps += tasks.ps;
  row.number(record.neighbours.size()).text(types_of(record.neighbours)).number(workers).number(ps);
  return add_claim(row, record.claim).line();
}

void add_start(Row &row, const StartRecord &start) {
  std::vector<std::string> names;
  for (const TasksAt &tasks : start.placement) names.push_back(tasks.node);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  row.maybe(start.array_job).maybe(start.array_task).text(fmt::format("{}", fmt::join(start.components, ";")));
  row.text(start.user).number(start.workers).number(start.ps).number(start.gpus);
  row.number(names.size()).text(fmt::format("{}", fmt::join(names, ";")));
  row.declared(start.epochs).declared(start.model_kb).declared(start.time_limit_min).text(start.policy);
  row.number(start.by_plan ? 1 : 0).text(start.why_stock).text(start.model).maybe(start.predicted_speed);
  row.time(start.submit_s).time(start.begin_s).number(start.neighbours.size()).text(types_of(start.neighbours));
  row.number(start.resumed ? 1 : 0);
}

// Either may be missing, not both.
std::string run_line(const StartRecord *start, const EndRecord *end) {
  const RunId &id = start ? start->id : end->id;
  Row row;
  row.text(id.cluster).number(id.job).number(id.run).text(start ? start->type : end->type);
  if (start)
    add_start(row, *start);
  else
    row.empty(18).time(end->begin_s).empty(3);
  if (!end) return row.empty(12).line();
  row.text(end->state).time(end->end_s).time(end->elapsed_s).maybe(end->epochs).maybe(end->mean_speed);
  row.number(end->requeues).number(end->exit_code).number(end->disturbed ? 1 : 0);
  return add_claim(row, end->claim).line();
}

} // namespace

std::string csv_text(const std::string &text) {
  std::string field = !text.empty() && std::string("=+-@\t\r").find(text.front()) != std::string::npos ? "'" : "";
  field += text;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

DatasetReading export_intervals(const CsvExport &to) {
  RunSpeeds all([](MeasuredInterval &&) {});
  read_dataset(to.directory, [&](const Record &record) {
    all.add(record);
    if (to.step) to.step();
  });
  const std::map<GangKind, double> fast = all.fast_speeds();
  to.write(interval_header);
  const auto write = [&](MeasuredInterval &&interval) {
    IntervalRecord &record = interval.record;
    const auto found = fast.find(interval.kind);
    const bool known = record.epochs && found != fast.end();
    if (known && !record.relative_speed && interval.run_speed <= most_relative_speed * found->second)
      record.relative_speed = interval.speed / found->second;
    if (!record.relative_speed) record.epochs.reset();
    to.write(interval_line(record));
  };
  RunSpeeds speeds(write, write);
  const DatasetReading reading = read_dataset(to.directory, [&](const Record &record) {
    speeds.add(record);
    if (to.step) to.step();
  });
  speeds.finish();
  return reading;
}

DatasetReading export_runs(const CsvExport &to) {
  std::map<RunId, StartRecord> open;
  to.write(run_header);
  const DatasetReading reading = read_dataset(to.directory, [&](const Record &record) {
    if (to.step) to.step();
    if (const auto *start = std::get_if<StartRecord>(&record)) {
      const auto [found, is_new] = open.try_emplace(start->id, *start);
      if (!is_new && start->resumed) found->second.resumed = true;
    }
    const auto *end = std::get_if<EndRecord>(&record);
    if (!end) return;
    const auto found = open.find(end->id);
    to.write(run_line(found == open.end() ? nullptr : &found->second, end));
    if (found != open.end()) open.erase(found);
  });
  for (const auto &each : open) to.write(run_line(&each.second, nullptr));
  return reading;
}

} // namespace harmony
