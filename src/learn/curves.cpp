#include "src/learn/curves.h"

#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

constexpr double width = 640, height = 260, left = 64, right = 16, top = 16, bottom = 36;

std::string chart(const Curve &curve) {
  double low_x = curve.points.front().first, high_x = low_x, low = curve.points.front().second, high = low;
  for (const auto &[x, y] : curve.points) {
    low_x = std::min(low_x, x);
    high_x = std::max(high_x, x);
    low = std::min(low, y);
    high = std::max(high, y);
  }
  if (high_x <= low_x) high_x = low_x + 1;
  const double room = std::max(1e-6, (high - low) * 0.1);
  low -= room;
  high += room;
  const auto across = [&](double x) { return left + (x - low_x) / (high_x - low_x) * (width - left - right); };
  const auto up = [&](double y) { return height - bottom - (y - low) / (high - low) * (height - top - bottom); };
  std::string line,
      svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">",
                        width, height, page_text(curve.name));
  for (int i = 0; i <= 4; ++i) {
    const double y = low + (high - low) * i / 4, x = low_x + (high_x - low_x) * i / 4;
    svg += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/><text "
                       "x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>",
                       left, width - right, up(y), up(y), left - 6, up(y) + 4, y);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>", across(x),
                       height - bottom + 18, x);
  }
  for (const auto &[x, y] : curve.points) line += fmt::format("{:.1f},{:.1f} ", across(x), up(y));
  return svg + fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\"/></svg>", line);
}

} // namespace

std::string curves_html(const std::string &title, const std::vector<Curve> &curves) {
  std::string page =
      fmt::format("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title><style>body{{font:14px "
                  "sans-serif;margin:2em;max-width:44em}}"
                  "svg text{{font:11px sans-serif;fill:#444}}</style><h1>{0}</h1>",
                  page_text(title));
  for (const Curve &curve : curves)
    if (!curve.points.empty()) page += fmt::format("<h2>{}</h2>{}", page_text(curve.name), chart(curve));
  return page + "</html>\n";
}

} // namespace harmony
