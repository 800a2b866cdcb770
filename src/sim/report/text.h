// Words and numbers of the report. Names and commands come from files of others: whatever goes into the page goes
// through here. Everything may be called from any thread.
#pragma once

#include "src/sim/result.h"

#include <json/value.h>

#include <string>
#include <string_view>
#include <vector>

namespace harmony {

// Printable ASCII, safe between tags and quotes; more than `most` characters are cut.
std::string page_text(std::string_view text, std::size_t most = 20000);

// Safe inside <script type="application/json">, whatever the strings hold.
std::string script_json(const Json::Value &value);

// The unit in which times of about this size are read best.
struct TimeUnit {
  double seconds = 1;
  const char *name = "s";
};
TimeUnit time_unit(double typical_s);

std::string figure(double value);                      // three digits that count: 0.123, 12.3, 1230; "-" if not finite
std::string figure(const Mean &mean, double unit);     // 12.3 ± 0.4
std::string half_width(const Mean &mean, double unit); // 0.4, with as many digits as the mean; empty if there is none
std::string percent(double part);                      // 12.3 %
std::string duration(double seconds);                  // 3.2 h
std::string number_for_programs(double value);         // as exact as it is; empty if not finite

// How a policy looks in every chart of the page: the colours can be told apart by the colour-blind, and where there are
// more policies than colours, lines differ by their dashes.
struct PolicyStyle {
  std::string colour; // #rrggbb
  std::string dashes; // on and off, in pixels: "9,4"; empty: a solid line
};
PolicyStyle policy_style(std::size_t index);

// Every policy of the comparisons once, in the order of their first appearance.
std::vector<std::string> all_policies(const std::vector<Comparison> &comparisons);
std::size_t index_of(const std::vector<std::string> &policies, const std::string &policy);

// Those that know the truth, or run in a world without interference: shown, and never called the best.
bool is_bound(const std::string &policy);

// Indices into comparison.summaries: by mean JCT, the bounds last.
std::vector<std::size_t> ranked(const Comparison &comparison);

std::string title_of(const Comparison &comparison); // "mixed64, load 0.9"; not escaped

} // namespace harmony
