#include "src/sim/input/sacct_row.h"

#include "src/sim/input/read_formats.h"
#include "src/values/job_description.h"
#include "src/values/model_name.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace harmony {
namespace {

// What stands behind the last "NAME=" of the text, as far as the next blank; getopt takes the last too.
std::string_view option_in(std::string_view text, std::string_view name) {
  const std::size_t at = text.rfind(name);
  if (at == std::string_view::npos || at + name.size() >= text.size()) return {};
  if (text[at + name.size()] != '=' && text[at + name.size()] != ' ') return {}; // sbatch takes both
  text.remove_prefix(at + name.size() + 1);
  return text.substr(0, text.find_first_of(" \t,;'\""));
}

} // namespace

SacctTres sacct_tres(const CsvReader &csv, const char *column) {
  SacctTres tres;
  int typed = 0;
  std::string_view rest = csv.text(column);
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    const bool of_model = name.substr(0, 9) == "gres/gpu:";
    if (name != "cpu" && name != "gres/gpu" && !of_model) continue;
    const auto count = whole_in(entry.substr(std::min(equals + 1, entry.size())), 0, most_workers);
    if (!count)
      csv.refuse(fmt::format("{} has \"{}\", not a whole number from 0 to {}", column, printable(entry), most_workers));
    if (name == "cpu") tres.cpus = static_cast<int>(*count);
    if (name == "gres/gpu") tres.gpus = static_cast<int>(*count);
    if (!of_model) continue;
    tres.gpu = typed == 0 ? clean_model(name.substr(9)) : "";
    typed += static_cast<int>(*count);
    if (typed > most_workers) csv.refuse(fmt::format("{} has more than {} GPUs", column, most_workers));
  }
  if (tres.gpus == 0) tres.gpus = typed;
  return tres;
}

SacctOptions sacct_options(const CsvReader &csv) {
  SacctOptions options;
  for (const char *column : {"Comment", "SubmitLine"}) {
    const std::string_view type = option_in(csv.text(column), "harmony-type");
    if (is_type(type)) options.type = type;
    std::uint32_t number = 0;
    if (read_ps(option_in(csv.text(column), "harmony-ps"), number)) options.ps = number;
    if (read_epochs(option_in(csv.text(column), "harmony-epochs"), number)) options.epochs = number;
  }
  return options;
}

bool is_sacct_moment(const std::string &text) { return !text.empty() && text != "Unknown" && text != "None"; }

double sacct_moment(const CsvReader &csv, const char *column) {
  const auto value = moment_in(csv.text(column));
  if (!value)
    csv.refuse(fmt::format("{} is \"{}\", not of the form 2026-11-16T07:26:11", column, printable(csv.text(column))));
  return *value;
}

double sacct_elapsed(const CsvReader &csv) {
  if (!csv.text("ElapsedRaw").empty()) return csv.number("ElapsedRaw", 0, most_seconds, 0);
  if (const std::string &text = csv.text("Elapsed"); !text.empty()) {
    const auto value = slurm_duration_in(text);
    if (!value)
      csv.refuse(fmt::format("Elapsed is \"{}\", not of the form [days-]hours:minutes:seconds", printable(text)));
    return *value;
  }
  if (!is_sacct_moment(csv.text("Start")) || !is_sacct_moment(csv.text("End"))) return 0;
  const double seconds = sacct_moment(csv, "End") - sacct_moment(csv, "Start");
  if (seconds < 0) csv.refuse("End is before Start");
  return seconds;
}

double sacct_time_limit(const CsvReader &csv) {
  const auto is_word = [](const std::string &text) { // UNLIMITED, Partition_Limit
    return text.empty() || !detail::is_digit(text.front());
  };
  if (const std::string &minutes = csv.text("TimelimitRaw"); !is_word(minutes))
    return 60 * csv.number("TimelimitRaw", 0, most_seconds / 60, 0);
  const std::string &text = csv.text("Timelimit");
  if (is_word(text)) return 0;
  const auto value = slurm_duration_in(text);
  if (!value)
    csv.refuse(fmt::format("Timelimit is \"{}\", not of the form [days-]hours:minutes:seconds", printable(text)));
  return *value;
}

} // namespace harmony
