#include "src/sim/report/headline.h"

#include "src/sim/metrics.h"
#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace harmony {
namespace {

double mean_jct(const SimResult &result) {
  double sum = 0;
  for (const JobResult &job : result.jobs) sum += job.jct();
  return result.jobs.empty() ? 0 : sum / static_cast<double>(result.jobs.size());
}

std::string name(const Comparison &comparison, std::size_t policy) {
  return fmt::format("<b>{}</b>", page_text(comparison.summaries[policy].policy, 40));
}

std::string listed(const std::vector<std::string> &names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return all;
}

std::string amount(const Gain &gain) {
  const char *direction = gain.mean < 0 ? "longer" : "shorter";
  if (gain.workloads < 2) return fmt::format("{:.1f} % {}", 100 * std::abs(gain.mean), direction);
  return fmt::format("{:.1f} % (± {:.1f}) {}", 100 * std::abs(gain.mean), 100 * gain.half, direction);
}

std::string against(const Comparison &comparison, std::size_t best, std::size_t other, const std::string &who) {
  const std::optional<Gain> by = gain(comparison, best, other);
  if (by && std::abs(by->mean) < 0.0005) return fmt::format("the same as with {}", who);
  return by ? fmt::format("{} than {}", amount(*by), who) : fmt::format("shorter than {}", who);
}

// The bound that is best, if it is better than the best policy.
std::string bound_sentence(const Comparison &comparison, const std::vector<std::size_t> &order, std::size_t best) {
  for (const std::size_t i : order) {
    if (!is_bound(comparison.summaries[i].policy)) continue;
    const std::optional<Gain> left = gain(comparison, i, best);
    if (!left || !(left->mean > 0)) return {};
    return fmt::format(" With the bound {} it is {} still.", name(comparison, i), amount(*left));
  }
  return {};
}

std::string usage_sentence(const Comparison &comparison, std::size_t best, std::size_t second) {
  const PolicySummary &a = comparison.summaries[best], &b = comparison.summaries[second];
  return fmt::format(" GPUs usefully busy: {} with {}, {} with {}.", percent(a.gpus_useful.mean),
                     name(comparison, best), percent(b.gpus_useful.mean), name(comparison, second));
}

} // namespace

std::optional<Gain> gain(const Comparison &comparison, std::size_t better, std::size_t worse) {
  if (better >= comparison.results.size() || worse >= comparison.results.size()) return std::nullopt;
  std::vector<double> parts;
  for (const SimResult &a : comparison.results[better])
    for (const SimResult &b : comparison.results[worse]) {
      if (a.seed != b.seed) continue;
      const double longer = mean_jct(b), part = 1 - mean_jct(a) / longer;
      if (longer > 0 && std::isfinite(part)) parts.push_back(part);
    }
  if (parts.empty()) return std::nullopt;
  const Mean over = mean_of(parts);
  const Gain found{over.mean, over.half, static_cast<int>(parts.size())};
  return found;
}

std::string headline(const Comparison &comparison) {
  const std::vector<std::size_t> order = ranked(comparison);
  std::vector<std::size_t> real;
  for (const std::size_t i : order)
    if (!is_bound(comparison.summaries[i].policy) && comparison.summaries[i].mean_jct.mean > 0 &&
        std::isfinite(comparison.summaries[i].mean_jct.mean))
      real.push_back(i);
  if (real.empty()) return "No policy was compared here, or none finished a job.";
  const std::size_t best = real.front();
  const Mean &jct = comparison.summaries[best].mean_jct;
  const TimeUnit unit = time_unit(jct.mean);
  const std::string best_jct = fmt::format("{} {}", figure(jct, unit.seconds), unit.name);
  if (real.size() == 1)
    return fmt::format("{} was run alone: mean JCT {}.", name(comparison, best), best_jct) +
           bound_sentence(comparison, order, best);

  std::vector<std::string> tied;
  bool spread_tied = false;
  std::optional<std::size_t> spread;
  for (const std::size_t i : real) {
    if (i != best && comparison.summaries[i].policy == "spread") spread = i;
    const std::optional<Gain> by = gain(comparison, best, i);
    if (i == best || !by || by->workloads < 2 || by->certain()) continue;
    tied.push_back(name(comparison, i));
    spread_tied = spread_tied || comparison.summaries[i].policy == "spread";
  }
  const std::size_t second = real[1];
  const std::optional<Gain> by = gain(comparison, best, second);
  std::string text;
  if (tied.empty())
    text = fmt::format("{} is best: mean JCT {}, {}", name(comparison, best), best_jct,
                       against(comparison, best, second, name(comparison, second) + " (the second)"));
  else {
    tied.insert(tied.begin(), name(comparison, best));
    text = fmt::format("{} cannot be told apart: the lowest mean JCT is {} with {}, {}", listed(tied), best_jct,
                       name(comparison, best), against(comparison, best, second, name(comparison, second)));
  }
  if (spread && *spread != second && !spread_tied)
    text += fmt::format(" and {}", against(comparison, best, *spread, "load balancing (<b>spread</b>)"));
  else if (spread && *spread == second && tied.empty())
    text += fmt::format(", which is load balancing");
  text += by && by->workloads == 1 ? ". One workload only: no interval can be given." : ".";
  return text + bound_sentence(comparison, order, best) + usage_sentence(comparison, best, second);
}

} // namespace harmony
