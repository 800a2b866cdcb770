#include "src/sim/report/map.h"

#include "src/sim/report/text.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace harmony {
namespace {

constexpr std::size_t fewest_frames = 8;

const std::vector<MapFrame> &frames(const Comparison &comparison, std::size_t policy) {
  static const std::vector<MapFrame> none;
  if (policy >= comparison.results.size() || comparison.results[policy].empty()) return none;
  return comparison.results[policy].front().map;
}

bool shown(const MapFrame::Cell &cell, int nodes) { return cell.node >= 0 && cell.node < nodes; }

std::size_t cells_of(const Comparison &comparison, std::size_t stride) {
  std::size_t count = 0;
  for (std::size_t policy = 0; policy < comparison.results.size(); ++policy) {
    const std::vector<MapFrame> &all = frames(comparison, policy);
    for (std::size_t i = 0; i < all.size(); i += stride) count += all[i].cells.size();
  }
  return count;
}

int node_count(const Comparison &comparison) { return static_cast<int>(comparison.node_shapes.size()); }

double bounded(double slowdown) { return std::isfinite(slowdown) ? std::clamp(slowdown, 0.0, 999.0) : 1; }

} // namespace

const std::vector<SlowdownBin> &slowdown_bins() {
  // Blue for unhurt, then Brewer's YlOrBr: lightness falls all the way, so it also reads in grey.
  static const std::vector<SlowdownBin> bins = {{1.05, "#c6dbef", "none"},     {1.25, "#fee391", "up to 1.25"},
                                                {1.5, "#fdb93f", "up to 1.5"}, {2, "#ec7014", "up to 2"},
                                                {3, "#b34304", "up to 3"},     {HUGE_VAL, "#5a1f04", "above 3"}};
  return bins;
}

bool has_map(const Comparison &comparison) {
  for (std::size_t policy = 0; policy < comparison.results.size(); ++policy)
    if (!frames(comparison, policy).empty()) return true;
  return false;
}

MapExtent map_extent(const Comparison &comparison, std::size_t most_cells) {
  MapExtent extent;
  extent.nodes = node_count(comparison);
  std::size_t longest = 0;
  for (std::size_t policy = 0; policy < comparison.results.size(); ++policy)
    longest = std::max(longest, frames(comparison, policy).size());
  while (cells_of(comparison, extent.stride) > most_cells && longest / (extent.stride + 1) >= fewest_frames)
    ++extent.stride;
  const std::size_t cells = cells_of(comparison, extent.stride);
  if (cells > most_cells)
    extent.nodes = std::max(1, static_cast<int>(static_cast<double>(extent.nodes) * static_cast<double>(most_cells) /
                                                static_cast<double>(cells)));
  return extent;
}

namespace {

Json::Value frames_data(const std::vector<MapFrame> &all, const MapExtent &extent) {
  Json::Value list(Json::arrayValue);
  for (std::size_t i = 0; i < all.size(); i += extent.stride) {
    Json::Value cells(Json::arrayValue);
    for (const MapFrame::Cell &cell : all[i].cells) {
      if (!shown(cell, extent.nodes)) continue;
      for (const Json::Int64 each :
           {Json::Int64{cell.node}, Json::Int64{cell.domain}, Json::Int64{cell.job}, Json::Int64{cell.gpus},
            Json::Int64{cell.ps}, Json::Int64{std::lround(100 * bounded(cell.slowdown))}})
        cells.append(each);
    }
    Json::Value frame(Json::objectValue);
    frame["at"] = std::round(all[i].at_s);
    frame["cells"] = cells;
    list.append(frame);
  }
  return list;
}

// Of the jobs that the maps show: type (as an index), workers, PS, GPUs.
void add_jobs(Json::Value &data, const Comparison &comparison) {
  std::map<std::uint32_t, bool> seen;
  for (std::size_t policy = 0; policy < comparison.results.size(); ++policy)
    for (const MapFrame &frame : frames(comparison, policy))
      for (const MapFrame::Cell &cell : frame.cells) seen[cell.job] = true;
  std::map<std::string, int> types;
  data["types"] = Json::Value(Json::arrayValue);
  data["jobs"] = Json::Value(Json::objectValue);
  for (const std::vector<SimResult> &results : comparison.results) {
    if (results.empty()) continue;
    for (const JobResult &job : results.front().jobs) {
      const auto wanted = seen.find(job.job);
      if (wanted == seen.end() || !wanted->second) continue;
      wanted->second = false; // the same under every policy: once is enough
      const auto [type, added] = types.emplace(job.type, static_cast<int>(types.size()));
      if (added) data["types"].append(one_line(job.type, 60));
      Json::Value &one = data["jobs"][fmt::format("{}", job.job)];
      for (const int each : {type->second, job.workers, job.ps, job.gpus}) one.append(each);
    }
  }
}

// Which of the policies the right side shows at first: the worst that is no bound.
int beside(const Comparison &comparison) {
  int place = -1, worst = 0;
  for (const std::size_t i : ranked(comparison)) {
    if (frames(comparison, i).empty()) continue;
    ++place;
    if (place == 0 || !is_bound(comparison.summaries[i].policy)) worst = place;
  }
  return worst;
}

} // namespace

Json::Value map_data(const Comparison &comparison, const MapExtent &extent) {
  Json::Value data(Json::objectValue);
  data["policies"] = Json::Value(Json::arrayValue);
  for (const std::size_t i : ranked(comparison)) {
    if (frames(comparison, i).empty()) continue;
    Json::Value policy(Json::objectValue);
    policy["name"] = one_line(comparison.summaries[i].policy, 60);
    policy["ends"] = std::round(comparison.results[i].front().makespan_s);
    policy["frames"] = frames_data(frames(comparison, i), extent);
    data["policies"].append(policy);
  }
  data["nodes"] = Json::Value(Json::arrayValue);
  for (int node = 0; node < extent.nodes; ++node) {
    const auto index = static_cast<std::size_t>(node);
    Json::Value one(Json::arrayValue);
    one.append(index < comparison.node_names.size() ? one_line(comparison.node_names[index], 40)
                                                    : std::to_string(node));
    for (const auto &[domain, gpus] : comparison.node_shapes[index]) {
      one.append(domain);
      one.append(gpus);
    }
    data["nodes"].append(one);
  }
  data["bins"] = Json::Value(Json::arrayValue);
  for (const SlowdownBin &bin : slowdown_bins()) {
    Json::Value one(Json::arrayValue);
    one.append(std::isfinite(bin.below) ? bin.below : 1e9);
    one.append(bin.colour);
    data["bins"].append(one);
  }
  data["beside"] = beside(comparison);
  add_jobs(data, comparison);
  return data;
}

} // namespace harmony
