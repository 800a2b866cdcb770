#include "src/sim/report/text.h"

#include "src/show/topology_text.h"

#include <fmt/format.h>
#include <json/writer.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace harmony {
namespace {

// Okabe and Ito's without yellow and black, which vanish on white and among axes, then Tol's.
constexpr std::array<const char *, 12> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                                  "#882255", "#999933", "#332288", "#777777", "#44aa99", "#aa4499"};
constexpr std::size_t lines_of_one_dash = 4;
constexpr std::array<const char *, 4> dashes = {"", "9,4", "3,3", "9,3,2,3"};

// So many that three digits count.
int decimals(double value) {
  const double size = std::abs(value);
  // Rounded first, so that 9.996 is 10.0 and not 10.00.
  return size < 0.0005 ? 0 : std::clamp(2 - static_cast<int>(std::floor(std::log10(size * 1.0005))), 0, 3);
}

} // namespace

std::string page_text(std::string_view text, std::size_t most) {
  constexpr std::size_t piece = 500; // xml_escaped() cuts what is long
  const std::string_view kept = text.substr(0, most);
  std::string safe;
  for (std::size_t at = 0; at < kept.size(); at += piece) safe += xml_escaped(kept.substr(at, piece));
  if (text.size() > most) safe += "…";
  return safe;
}

std::string script_json(const Json::Value &value) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  builder["precision"] = 6;
  std::string safe;
  for (const char c : Json::writeString(builder, value)) {
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      safe += c;
  }
  return safe;
}

TimeUnit time_unit(double typical_s) {
  if (!(typical_s >= 200)) return {1, "s"};
  if (typical_s < 2 * 3600) return {60, "min"};
  if (typical_s < 72 * 3600) return {3600, "h"};
  return {86400, "days"};
}

std::string figure(double value) {
  if (!std::isfinite(value)) return "-";
  const std::string text = fmt::format("{:.{}f}", value, decimals(value));
  return std::strtod(text.c_str(), nullptr) == 0 ? "0" : text;
}

std::string half_width(const Mean &mean, double unit) {
  const double half = mean.half / unit;
  if (!(half > 1e-9 * std::abs(mean.mean / unit)) || !std::isfinite(half) || !std::isfinite(mean.mean)) return {};
  const int digits = std::abs(mean.mean / unit) < half ? decimals(half) : decimals(mean.mean / unit);
  return fmt::format("{:.{}f}", half, digits);
}

std::string figure(const Mean &mean, double unit) {
  const std::string half = half_width(mean, unit);
  return figure(mean.mean / unit) + (half.empty() ? half : " ± " + half);
}

std::string percent(double part) {
  if (!std::isfinite(part)) return "-";
  return fmt::format("{:.{}f} %", 100 * part, std::abs(part) < 0.0995 ? 1 : 0);
}

std::string duration(double seconds) {
  const TimeUnit unit = time_unit(seconds);
  return fmt::format("{} {}", figure(seconds / unit.seconds), unit.name);
}

std::string number_for_programs(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

PolicyStyle policy_style(std::size_t index) {
  return {colours[index % colours.size()], dashes[index / lines_of_one_dash % dashes.size()]};
}

std::vector<std::string> all_policies(const std::vector<Comparison> &comparisons) {
  std::vector<std::string> policies;
  for (const Comparison &comparison : comparisons)
    for (const PolicySummary &summary : comparison.summaries)
      if (index_of(policies, summary.policy) == policies.size()) policies.push_back(summary.policy);
  return policies;
}

std::size_t index_of(const std::vector<std::string> &policies, const std::string &policy) {
  return static_cast<std::size_t>(std::find(policies.begin(), policies.end(), policy) - policies.begin());
}

bool is_bound(const std::string &policy) { return !is_baseline(policy) && policy.rfind("learned", 0) != 0; }

std::vector<std::size_t> ranked(const Comparison &comparison) {
  std::vector<std::size_t> order(comparison.summaries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const PolicySummary &summary = comparison.summaries[i];
    const double mean = summary.mean_jct.mean;
    return std::make_pair(is_bound(summary.policy), std::isfinite(mean) ? mean : HUGE_VAL);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::string title_of(const Comparison &comparison) {
  if (!(comparison.load > 0)) return comparison.scenario;
  return fmt::format("{}, load {:g}", comparison.scenario, comparison.load);
}

} // namespace harmony
