#include "src/sim/report/report.h"

#include "src/sim/report/charts.h"
#include "src/sim/report/page.h"
#include "src/sim/report/text.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace harmony {
namespace {

std::vector<Drawing> drawings_of(const std::vector<Comparison> &comparisons) {
  const std::vector<std::string> policies = all_policies(comparisons);
  std::vector<Drawing> drawings;
  if (comparisons.size() > 1) drawings.push_back(overview_chart(comparisons, policies));
  for (const Comparison &comparison : comparisons) {
    drawings.push_back(jct_chart(comparison, policies));
    drawings.push_back(time_chart(comparison, policies));
    drawings.push_back(jct_cdf_chart(comparison, policies));
    drawings.push_back(slowdown_cdf_chart(comparison, policies));
    for (std::size_t i = 0; i < comparison.summaries.size(); ++i)
      drawings.push_back(usage_chart(comparison, policies, i));
  }
  return drawings;
}

} // namespace

std::string report_html(const std::vector<Comparison> &comparisons) {
  const std::vector<std::string> pictures = draw(drawings_of(comparisons));
  std::size_t next = 0;
  const std::string overview = comparisons.size() > 1 ? pictures.at(next++) : std::string();
  std::vector<ComparisonCharts> charts;
  for (const Comparison &comparison : comparisons) {
    ComparisonCharts one;
    one.jct = pictures.at(next++);
    one.times = pictures.at(next++);
    one.jct_cdf = pictures.at(next++);
    one.slowdown_cdf = pictures.at(next++);
    for (std::size_t i = 0; i < comparison.summaries.size(); ++i) one.usage.push_back(pictures.at(next++));
    charts.push_back(std::move(one));
  }
  return report_page(comparisons, overview, charts);
}

void write_report(const std::string &path, const std::vector<Comparison> &comparisons) {
  const std::string html = report_html(comparisons);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << html;
  out.close();
  if (!out)
    throw std::runtime_error(fmt::format("cannot write the report {}: {}", printable(path, 500), strerror(errno)));
}

} // namespace harmony
