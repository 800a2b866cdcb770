#include "src/sim/truth/table_files.h"

#include "src/sim/input/csv.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace harmony {
namespace {

constexpr int most_tasks = 100000;

std::string specific(const JobKind &kind) { return fmt::format("{}:{}:{}", kind.type, kind.workers, kind.nodes); }

// A type, or type:workers:nodes; written as specific() writes it, so that 04 is 4.
std::string key_in(const CsvReader &csv, const char *column) {
  const std::string &text = csv.text(column);
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  JobKind kind;
  kind.type = text.substr(0, first);
  if (!is_type(kind.type))
    csv.refuse(fmt::format("{} \"{}\": the type is not {}", column, printable(text), type_allowed));
  if (first == std::string::npos) return kind.type;
  if (second != std::string::npos) {
    kind.workers = static_cast<int>(whole_in(text.substr(first + 1, second - first - 1), 1, most_tasks).value_or(0));
    kind.nodes = static_cast<int>(whole_in(text.substr(second + 1), 1, most_tasks).value_or(0));
  }
  if (kind.workers == 0 || kind.nodes == 0)
    csv.refuse(fmt::format("{} \"{}\" is neither a type nor type:workers:nodes", column, printable(text)));
  return specific(kind);
}

} // namespace

bool JobKind::operator<(const JobKind &other) const {
  return std::tie(type, workers, nodes) < std::tie(other.type, other.workers, other.nodes);
}

SpeedTable::SpeedTable(const std::string &path) {
  CsvReader csv(path, {"type", "workers", "nodes", "speed"}, {});
  while (csv.next()) {
    const std::string type = csv.text("type");
    if (!is_type(type)) csv.refuse(fmt::format("type \"{}\" is not {}", printable(type), type_allowed));
    const Row row{static_cast<int>(csv.whole("workers", 1, most_tasks, 0)),
                  static_cast<int>(csv.whole("nodes", 1, most_tasks, 0)), csv.number("speed", 1e-12, 1e12, 0)};
    if (row.workers == 0 || row.nodes == 0 || row.speed <= 0) csv.refuse("workers, nodes and speed have to be given");
    std::vector<Row> &known = rows_[type];
    const auto before = [](const Row &one, const Row &other) {
      return std::tie(one.nodes, one.workers) < std::tie(other.nodes, other.workers);
    };
    const auto place = std::lower_bound(known.begin(), known.end(), row, before);
    if (place != known.end() && !before(row, *place))
      csv.refuse(fmt::format("{} with {} workers on {} nodes was there before", type, row.workers, row.nodes));
    known.insert(place, row);
  }
}

std::optional<double> SpeedTable::speed(const std::string &type, int workers, int nodes) const {
  const auto found = rows_.find(type);
  if (found == rows_.end()) return std::nullopt;
  const auto nearer = [&](const Row &one, const Row &other) {
    const auto distance = [&](const Row &row) {
      return std::make_pair(std::abs(row.nodes - nodes), std::abs(row.workers - workers));
    };
    return distance(one) < distance(other);
  };
  return std::min_element(found->second.begin(), found->second.end(), nearer)->speed; // the first of equal ones
}

PairTable::PairTable(const std::string &path) {
  CsvReader csv(path, {"victim", "aggressor", "ratio"}, {});
  while (csv.next()) {
    const std::pair<std::string, std::string> pair{key_in(csv, "victim"), key_in(csv, "aggressor")};
    const double ratio = csv.number("ratio", 1e-6, 1.5, 0); // above 1 only by the noise of measuring
    if (ratio <= 0) csv.refuse("the ratio has to be given");
    if (!ratios_.emplace(pair, ratio).second)
      csv.refuse(fmt::format("{} beside {} was there before", pair.first, pair.second));
  }
}

double PairTable::ratio(const JobKind &victim, const JobKind &aggressor) const {
  for (const std::string &mine : {specific(victim), victim.type})
    for (const std::string &its : {specific(aggressor), aggressor.type})
      if (const auto found = ratios_.find({mine, its}); found != ratios_.end()) return found->second;
  return 1;
}

} // namespace harmony
