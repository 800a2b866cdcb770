#include "src/observe/usage.h"

#include "src/values/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace harmony {
namespace {

constexpr std::string_view opening = usage_mark_begin;
constexpr std::uint32_t highest_job = 0xfffffff0;   // what is above means something else to Slurm
constexpr std::int64_t latest_begin = 253402300799; // the year 9999
constexpr double longest_watch = 1e9;
constexpr double most_cores = max_cores;
constexpr double most_mb_s = 1e7;
constexpr double most_memory_mb = 1e9;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a mark from its beginning; the first thing that is not as it should be makes all that follows fail too.
class MarkReader {
public:
  explicit MarkReader(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  void skip(std::string_view text) {
    good_ = good_ && rest_.substr(0, text.size()) == text;
    if (good_) rest_.remove_prefix(text.size());
  }

  bool skip_if(char c) {
    if (!good_ || rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view until(std::string_view stops) {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(word.size());
    return word;
  }

  std::int64_t whole(std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const char *end = rest_.data() + rest_.size();
    good_ = good_ && !rest_.empty() && is_digit(rest_.front());
    if (!good_) return 0;
    const auto [next, error] = std::from_chars(rest_.data(), end, value);
    good_ = error == std::errc() && value >= least && value <= most;
    rest_.remove_prefix(static_cast<std::size_t>(next - rest_.data()));
    return value;
  }

  double figure(double most) {
    double value = 0;
    const char *end = rest_.data() + rest_.size();
    good_ = good_ && !rest_.empty() && is_digit(rest_.front());
    if (!good_) return 0;
    const auto [next, error] = std::from_chars(rest_.data(), end, value, std::chars_format::fixed);
    good_ = error == std::errc() && value >= 0 && value <= most;
    rest_.remove_prefix(static_cast<std::size_t>(next - rest_.data()));
    return value;
  }

  double figure_if_known(double most) {
    return good_ && !rest_.empty() && is_digit(rest_.front()) ? figure(most) : not_known;
  }

  void refuse_unless(bool condition) { good_ = good_ && condition; }

private:
  std::string_view rest_;
  bool good_ = true;
};

void read_gpus(MarkReader &reader, std::vector<GpuUsage> &gpus) {
  do {
    GpuUsage gpu;
    gpu.gpu = static_cast<int>(reader.whole(gpus.empty() ? 0 : gpus.back().gpu + 1, max_gpus - 1));
    reader.skip(":");
    gpu.busy = reader.figure_if_known(100);
    reader.skip(":");
    gpu.memory_mb = reader.figure_if_known(most_memory_mb);
    reader.skip(":");
    gpu.pcie_in_mb_s = reader.figure_if_known(most_mb_s);
    reader.skip(":");
    gpu.pcie_out_mb_s = reader.figure_if_known(most_mb_s);
    gpus.push_back(gpu);
  } while (reader.skip_if(','));
}

// False: not sound, and `usage` is half filled.
bool read_mark(std::string_view word, StepUsage &usage) {
  if (word.size() > longest_usage_mark) return false;
  MarkReader reader(word);
  reader.skip(opening);
  reader.skip("job=");
  usage.job = static_cast<std::uint32_t>(reader.whole(1, highest_job));
  reader.skip(";step=");
  usage.step = reader.until(";");
  reader.refuse_unless(is_step_name(usage.step));
  reader.skip(";begin=");
  usage.begin_s = reader.whole(0, latest_begin);
  reader.skip(";seconds=");
  usage.seconds = reader.figure(longest_watch);
  reader.skip(";cpu=");
  usage.cpu = reader.figure(most_cores);
  reader.skip(";rx=");
  usage.nic_rx_mb_s = reader.figure(most_mb_s);
  reader.skip(";tx=");
  usage.nic_tx_mb_s = reader.figure(most_mb_s);
  if (reader.skip_if(';')) {
    reader.skip("gpus=");
    read_gpus(reader, usage.gpus);
  }
  reader.skip("]");
  return reader.at_end();
}

double within(double value, double most) { return std::isfinite(value) ? std::clamp(value, 0.0, most) : 0.0; }

std::string figure_text(double value, double most) {
  return std::isfinite(value) ? fmt::format("{:.1f}", within(value, most)) : std::string();
}

std::string mark_of(const StepUsage &usage) {
  std::string text = fmt::format(
      "{}job={};step={};begin={};seconds={:.1f};cpu={:.2f};rx={:.1f};tx={:.1f}", opening,
      std::clamp<std::uint32_t>(usage.job, 1, highest_job), is_step_name(usage.step) ? usage.step : "0",
      std::clamp<std::int64_t>(usage.begin_s, 0, latest_begin), within(usage.seconds, longest_watch),
      within(usage.cpu, most_cores), within(usage.nic_rx_mb_s, most_mb_s), within(usage.nic_tx_mb_s, most_mb_s));
  const char *before = ";gpus=";
  int least = 0;
  for (const GpuUsage &gpu : usage.gpus) {
    if (gpu.gpu < least || gpu.gpu >= max_gpus) continue;
    least = gpu.gpu + 1;
    fmt::format_to(std::back_inserter(text), "{}{}:{}:{}:{}:{}", before, gpu.gpu, figure_text(gpu.busy, 100),
                   figure_text(gpu.memory_mb, most_memory_mb), figure_text(gpu.pcie_in_mb_s, most_mb_s),
                   figure_text(gpu.pcie_out_mb_s, most_mb_s));
    before = ",";
  }
  return text + "]";
}

struct FoundMark {
  std::size_t at = 0, size = 0;
  bool sound = false;
  StepUsage usage;
};

// Every word of the field that begins like a mark.
std::vector<FoundMark> find_marks(std::string_view extra) {
  std::vector<FoundMark> marks;
  for (std::size_t start = 0; start < extra.size();) {
    std::size_t end = start;
    while (end < extra.size() && !is_space(extra[end])) ++end;
    const std::string_view word = extra.substr(start, end - start);
    if (word.substr(0, opening.size()) == opening) {
      FoundMark mark{start, word.size(), false, {}};
      mark.sound = read_mark(word, mark.usage);
      marks.push_back(std::move(mark));
    }
    start = end + 1;
  }
  return marks;
}

// With the blank that parted it from the text before; at the field's beginning with the one behind it.
void take_out(std::string &field, const FoundMark &mark) {
  std::size_t at = mark.at, size = mark.size;
  if (at > 0 && field[at - 1] == ' ') {
    --at;
    ++size;
  } else if (at == 0 && size < field.size() && field[size] == ' ') {
    ++size;
  }
  field.erase(at, size);
}

bool same_watch(const StepUsage &one, const StepUsage &other) {
  return one.job == other.job && one.step == other.step && one.begin_s == other.begin_s;
}

} // namespace

bool is_step_name(std::string_view text) {
  if (text == "batch" || text == "interactive" || text == "extern") return true;
  return !text.empty() && text.size() <= 10 && std::all_of(text.begin(), text.end(), is_digit);
}

std::string with_usage(std::string_view extra, const StepUsage &usage) {
  const std::string added = mark_of(usage);
  std::string field(extra);
  std::size_t bytes = added.size();
  const std::vector<FoundMark> marks = find_marks(extra);
  bool full = false;
  // From the last, so that positions before it stay as they are.
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    const bool replaced = !mark->sound || same_watch(mark->usage, usage);
    full = full || (!replaced && bytes + 1 + mark->size > most_usage_marks);
    if (replaced || full)
      take_out(field, *mark);
    else
      bytes += 1 + mark->size;
  }
  if (!field.empty()) field += ' ';
  return field + added;
}

UsageField read_usage_field(std::string_view extra, const std::string &node) {
  UsageField result;
  for (FoundMark &mark : find_marks(extra)) {
    if (!mark.sound) {
      ++result.refused;
      continue;
    }
    mark.usage.node = node;
    result.usages.push_back(std::move(mark.usage));
  }
  return result;
}

} // namespace harmony
