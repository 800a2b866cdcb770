// The small pictures of the map: no names, only who is crowded where and when.
#include "src/sim/report/map.h"

#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace harmony {
namespace {

constexpr int slot = 6, gap = 2, node_gap = 6, row = 9; // pixels
constexpr std::size_t moments = 6;

// Where each domain of each node begins.
struct Layout {
  int width = 0, height = 0;
  std::map<std::pair<int, int>, std::pair<int, int>> corners; // of (node, domain)
  std::string empty;                                          // a path with every domain
};

std::string box(int x, int y, int slots) {
  return fmt::format("M{} {}h{}v{}h-{}z", x, y, slots * slot - 1, slot, slots * slot - 1);
}

Layout laid_out(const std::vector<Comparison::NodeShape> &shapes, int nodes) {
  int widest = 1;
  for (int node = 0; node < nodes; ++node) {
    int width = 0;
    for (const auto &[domain, gpus] : shapes[static_cast<std::size_t>(node)]) width += gpus * slot + gap;
    widest = std::max(widest, width);
  }
  // About as wide as high.
  const int columns = std::max(1, static_cast<int>(std::lround(std::sqrt(1.3 * nodes * row / (widest + node_gap)))));
  Layout layout;
  layout.width = columns * (widest + node_gap);
  layout.height = (nodes + columns - 1) / columns * row + gap;
  for (int node = 0; node < nodes; ++node) {
    int x = node % columns * (widest + node_gap);
    const int y = node / columns * row + gap;
    for (const auto &[domain, gpus] : shapes[static_cast<std::size_t>(node)]) {
      layout.corners[{node, domain}] = {x, y};
      layout.empty += box(x, y, gpus);
      x += gpus * slot + gap;
    }
  }
  return layout;
}

std::string picture(const MapFrame &frame, const Layout &layout, const MapExtent &extent) {
  std::vector<std::string> paths(slowdown_bins().size());
  std::map<std::pair<int, int>, int> taken;
  for (const MapFrame::Cell &cell : frame.cells) {
    const auto corner = layout.corners.find({cell.node, cell.domain});
    if (cell.gpus <= 0 || cell.node >= extent.nodes || corner == layout.corners.end()) continue;
    std::size_t bin = 0;
    while (bin + 1 < paths.size() && cell.slowdown > slowdown_bins()[bin].below) ++bin;
    int &used = taken[{cell.node, cell.domain}];
    paths[bin] += box(corner->second.first + used * slot, corner->second.second, cell.gpus);
    used += cell.gpus;
  }
  std::string drawn;
  for (std::size_t bin = 0; bin < paths.size(); ++bin)
    if (!paths[bin].empty())
      drawn += fmt::format("<path fill=\"{}\" d=\"{}\"/>", slowdown_bins()[bin].colour, paths[bin]);
  return drawn;
}

} // namespace

std::string map_pictures(const Comparison &comparison, const MapExtent &extent, std::size_t policy) {
  if (policy >= comparison.results.size() || comparison.results[policy].empty()) return {};
  const std::vector<MapFrame> &frames = comparison.results[policy].front().map;
  if (frames.empty()) return {};
  const Layout layout = laid_out(comparison.node_shapes, extent.nodes);
  const std::size_t kept = std::min(moments, frames.size());
  std::string html = fmt::format("<div class=\"moments\" role=\"img\" aria-label=\"Small maps of {}\">",
                                 page_text(comparison.summaries[policy].policy, 60));
  for (std::size_t k = 0; k < kept; ++k) {
    const MapFrame &frame = frames[kept == 1 ? 0 : k * (frames.size() - 1) / (kept - 1)];
    html +=
        fmt::format("<div><svg viewBox=\"0 0 {} {}\"><path fill=\"#eceff2\" d=\"{}\"/>{}</svg><small>{}</small></div>",
                    layout.width, layout.height, layout.empty, picture(frame, layout, extent), duration(frame.at_s));
  }
  return html + "</div>";
}

} // namespace harmony
