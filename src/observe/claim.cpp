#include "src/observe/claim.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace harmony {
namespace {

constexpr std::string_view opening = "harmony[";
constexpr std::int64_t latest = 253402300799; // the last second that has a year of four digits
constexpr std::size_t longest_number = 32;

// By to_chars, which knows no locale: the shortest text that reads back as the same figure.
std::string number(double value) {
  char text[longest_number];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// Digits, with sign, point and exponent where they belong. from_chars alone would take "inf" and "nan" too.
std::optional<double> read_number(std::string_view text) {
  const std::string_view digits = text.substr(!text.empty() && text[0] == '-');
  if (digits.empty() || digits.size() > longest_number || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_seconds(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// A not-a-number is in no range, so that all is refused that is not known to be inside.
std::string problem_with_figure(const char *name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return fmt::format("{} is {}; allowed is {} to {}", name, value, number(least), number(most));
}

// The keys of a mark, taken one by one in their order.
class Keys {
public:
  explicit Keys(std::string_view body) : rest_(body) {}

  // The value of the next key, if that is `key`.
  std::optional<std::string_view> take(std::string_view key) {
    if (rest_.substr(0, key.size()) != key || rest_.size() <= key.size() || rest_[key.size()] != '=')
      return std::nullopt;
    const std::size_t end = rest_.find(';');
    const std::string_view value = rest_.substr(0, end).substr(key.size() + 1);
    at_end_ = end == rest_.npos;
    rest_ = at_end_ ? std::string_view() : rest_.substr(end + 1);
    return value;
  }

  bool take(std::string_view key, std::optional<double> &figure) {
    const std::optional<std::string_view> text = take(key);
    if (text) figure = read_number(*text);
    return !text || figure;
  }

  bool at_end() const { return at_end_; }

private:
  std::string_view rest_;
  bool at_end_ = false;
};

// Never quotes the text: it goes into logs, and whoever wrote it chose what it says.
std::string read_body(std::string_view body, Claim &claim) {
  Keys keys(body);
  std::optional<double> epoch;
  if (!keys.take("epoch", epoch) || !epoch) return "its epoch is missing or no number";
  claim.epoch = *epoch;
  if (!keys.take("of", claim.of)) return "its of is no number";
  if (!keys.take("samples_per_s", claim.samples_per_s)) return "its samples_per_s is no number";
  if (!keys.take("loss", claim.loss)) return "its loss is no number";
  const std::optional<std::string_view> at = keys.take("at");
  const std::optional<std::int64_t> seconds = at ? read_seconds(*at) : std::nullopt;
  if (!seconds) return "its at is missing or no number, or a key is unknown, twice there or out of order";
  claim.at = *seconds;
  if (!keys.at_end()) return "something follows its last key";
  return problem_with(claim);
}

} // namespace

std::string problem_with(const Claim &claim) {
  std::string problem = problem_with_figure("epoch", claim.epoch, 0, most_claimed_epochs);
  if (problem.empty() && claim.of) problem = problem_with_figure("of", *claim.of, 0, most_claimed_epochs);
  if (problem.empty() && claim.samples_per_s)
    problem = problem_with_figure("samples_per_s", *claim.samples_per_s, 0, most_samples_per_s);
  if (problem.empty() && claim.loss) problem = problem_with_figure("loss", *claim.loss, -most_loss, most_loss);
  if (problem.empty() && (claim.at < 0 || claim.at > latest))
    problem = fmt::format("at is {}; allowed is 0 to {}", claim.at, latest);
  return problem;
}

std::string claim_mark(const Claim &claim) {
  std::string mark = std::string(opening) + "epoch=" + number(claim.epoch);
  if (claim.of) mark += ";of=" + number(*claim.of);
  if (claim.samples_per_s) mark += ";samples_per_s=" + number(*claim.samples_per_s);
  if (claim.loss) mark += ";loss=" + number(*claim.loss);
  return mark + ";at=" + std::to_string(claim.at) + "]";
}

ClaimField read_claim_field(std::string_view text) {
  ClaimField field;
  field.owner = text;
  if (text.empty() || text.back() != ']') return field;
  // Only the end is looked at: a mark is short, and the text may be the tail of a longer one.
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), longest_mark));
  const std::size_t found = tail.rfind(opening);
  if (found == tail.npos) return field;
  const std::size_t start = text.size() - tail.size() + found;
  if (start > 0 && text[start - 1] != ' ') return field;
  field.mark = text.substr(start);
  field.owner = text.substr(0, start > 0 ? start - 1 : 0);
  Claim claim;
  field.problem = read_body(field.mark.substr(opening.size(), field.mark.size() - opening.size() - 1), claim);
  if (field.problem.empty()) field.claim = claim;
  return field;
}

std::string with_claim(std::string_view text, const Claim &claim) {
  const ClaimField field = read_claim_field(text);
  // A mark that is not sound may be words of the owner that look like one.
  std::string result(field.claim ? field.owner : text);
  if (!result.empty()) result += ' ';
  return result + claim_mark(claim);
}

} // namespace harmony
