#include "src/sim/report/page.h"

#include "src/sim/report/assets.h"
#include "src/sim/report/headline.h"
#include "src/sim/report/map.h"
#include "src/sim/report/table.h"
#include "src/sim/report/text.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

namespace harmony {
namespace {

constexpr std::size_t cells_of_a_page = 150000; // of maps: about 3 MB

std::string scripts() { return std::string(report_map_script()) + report_script(); }

// Only our scripts run, and nothing is fetched, even if a name should find a way into the page as markup.
std::string content_policy() {
  const std::string script = scripts();
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char *>(script.data()), script.size());
  char text[sodium_base64_ENCODED_LEN(sizeof digest, sodium_base64_VARIANT_ORIGINAL)];
  sodium_bin2base64(text, sizeof text, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
  return fmt::format("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}'; "
                     "base-uri 'none'; form-action 'none'",
                     text);
}

std::string head(const std::string &title) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n",
                     content_policy(), title, report_style());
}

std::string swatch(const std::vector<std::string> &policies, const std::string &policy) {
  return fmt::format("<i class=\"swatch\" style=\"background:{}\"></i>{}",
                     policy_style(index_of(policies, policy)).colour, page_text(policy, 60));
}

std::string policy_key(const std::vector<std::string> &policies) {
  std::string html = "<ul class=\"key\">";
  for (const std::string &policy : policies) html += fmt::format("<li>{}</li>", swatch(policies, policy));
  return html + "</ul>\n";
}

std::string fact(const char *what, const std::string &is) {
  return fmt::format("<li><span>{}</span> {}</li>", what, is);
}

std::string facts(const Comparison &comparison) {
  int workloads = 0;
  std::string seeds;
  if (!comparison.results.empty())
    for (const SimResult &result : comparison.results.front())
      seeds += fmt::format("{}{}", workloads++ ? ", " : "", result.seed);
  return "<ul class=\"facts\">" +
         (comparison.live ? fact("run:", "live, on a real Slurm with emulated training") : std::string()) +
         fact("ground truth:", page_text(comparison.truth, 300)) +
         fact("queue order:", page_text(comparison.order, 100)) +
         fact("load:", comparison.load > 0 ? fmt::format("{:g}", comparison.load) : "as in the trace") +
         fact("cluster:", fmt::format("{} nodes, {} GPUs", comparison.nodes, comparison.gpus)) +
         fact("jobs of a workload:", fmt::format("{}", comparison.jobs)) +
         fact("workloads:", fmt::format("{} (seeds {})", workloads, seeds.substr(0, 200))) + "</ul>\n";
}

std::string bar_cards(const ComparisonCharts &charts) {
  return fmt::format(
      "<div class=\"pair\"><div class=\"card\"><h3>Mean JCT</h3><p>From submission to end; the thin lines are 95 % "
      "intervals over the workloads.</p>{}</div>\n"
      "<div class=\"card\"><h3>Where the time went</h3><ul class=\"key\"><li><i "
      "style=\"background:#c3c9d1\"></i>waiting</li>"
      "<li><i style=\"background:#44546a\"></i>running, as if alone at its best</li>"
      "<li><i style=\"background:#e8b14c\"></i>lost to the place</li>"
      "<li><i style=\"background:#b2182b\"></i>lost to neighbours</li></ul>{}</div></div>\n",
      charts.jct, charts.times);
}

// With the lines that the charts of distributions have; best first.
std::string line_key(const Comparison &comparison, const std::vector<std::string> &policies) {
  std::string html = "<ul class=\"key\">";
  for (const std::size_t i : ranked(comparison)) {
    const PolicyStyle style = policy_style(index_of(policies, comparison.summaries[i].policy));
    html += fmt::format("<li><svg class=\"sample\" viewBox=\"0 0 30 8\" aria-hidden=\"true\"><path d=\"M0 4h30\" "
                        "stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"/></svg>{}</li>",
                        style.colour, style.dashes.empty() ? "none" : style.dashes,
                        page_text(comparison.summaries[i].policy, 40));
  }
  return html + "</ul>\n";
}

std::string cdf_cards(const ComparisonCharts &charts, const std::string &key) {
  return fmt::format(
      "<div class=\"pair\"><div class=\"card\"><h3>How long jobs took</h3><p>Part of the jobs that took at "
      "most so long; all workloads together.</p>{}{}</div>\n<div class=\"card\"><h3>How much jobs were slowed "
      "down</h3><p>Part of the jobs whose time running was at most so many times the time alone at its "
      "best.</p>{}{}</div></div>\n",
      key, charts.jct_cdf, key, charts.slowdown_cdf);
}

std::string usage_card(const Comparison &comparison, const std::vector<std::string> &policies,
                       const ComparisonCharts &charts) {
  std::string html =
      "<div class=\"card long\"><h3>GPUs and queue over time</h3><ul class=\"key\">"
      "<li><i style=\"background:#cdd5de\"></i>allocated</li><li>the policy's colour: of these, useful</li>"
      "<li><i class=\"line\"></i>jobs waiting (right axis)</li><li>first workload</li></ul>"
      "<div class=\"panels\">\n";
  for (const std::size_t i : ranked(comparison))
    html += fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n",
                        swatch(policies, comparison.summaries[i].policy), charts.usage.at(i));
  return html + "</div></div>\n";
}

std::string slowdown_key() {
  std::string html = "<ul class=\"key\"><li>slowdown now:</li>";
  for (const SlowdownBin &bin : slowdown_bins())
    html += fmt::format("<li><i style=\"background:{}\"></i>{}</li>", bin.colour, bin.label);
  return html + "<li><i style=\"background:#fff\"></i>free GPU</li><li class=\"needs-script\"><i class=\"dot\" "
                "style=\"background:#c6dbef\"></i>PS</li></ul>\n";
}

std::string small_maps(const Comparison &comparison, const MapExtent &extent, const std::string &id) {
  std::string html = fmt::format("<div class=\"glance folded\" id=\"{}\">\n", id);
  for (const std::size_t i : ranked(comparison)) {
    const std::string pictures = map_pictures(comparison, extent, i);
    if (!pictures.empty())
      html += fmt::format("<span>{}</span>{}\n", page_text(comparison.summaries[i].policy, 40), pictures);
  }
  return html + "</div>\n";
}

std::string map_card(const Comparison &comparison, std::size_t number, std::size_t most_cells) {
  if (!has_map(comparison)) return {};
  const MapExtent extent = map_extent(comparison, most_cells);
  const std::string cut = extent.nodes < comparison.nodes
                              ? fmt::format(" The first {} of {} nodes are shown.", extent.nodes, comparison.nodes)
                              : std::string();
  const auto panel = [](const char *label) {
    return fmt::format("<div class=\"panel\"><select aria-label=\"{}\"></select></div>", label);
  };
  return fmt::format(
      "<div class=\"card long\"><h3>Who shared which node</h3><p>Boxes are nodes, groups of squares in them the "
      "domains of their GPUs. First workload.{}<span class=\"needs-script\"> Numbers are jobs: point at one to find "
      "all "
      "of it, on both sides; click to keep it marked.</span></p>{}"
      "<figure class=\"map needs-script\" data-source=\"map{}\"><div class=\"controls\">"
      "<button type=\"button\" class=\"play\">▶ Play</button><input type=\"range\" min=\"0\" max=\"0\" value=\"0\" "
      "aria-label=\"Time\"><output></output></div><div class=\"maps\">{}{}</div></figure>\n"
      "<p class=\"actions needs-script\"><button type=\"button\" data-unfold=\"glance{}\" aria-expanded=\"false\">Show "
      "all policies at a glance</button></p>{}<script type=\"application/json\" id=\"map{}\">{}</script></div>\n",
      cut, slowdown_key(), number, panel("Policy on the left"), panel("Policy on the right"), number,
      small_maps(comparison, extent, fmt::format("glance{}", number)), number,
      script_json(map_data(comparison, extent)));
}

std::string table_card(const Comparison &comparison, const std::vector<std::string> &policies, std::size_t number) {
  const std::string id = fmt::format("table{}", number);
  const auto button = [&](const char *how, const char *words, const std::string &of) {
    return fmt::format("<button type=\"button\" class=\"needs-script\" data-copy=\"{}\" data-of=\"{}\">{}</button>",
                       how, of, words);
  };
  const std::string command = fmt::format("command{}", number);
  return fmt::format(
      "<div class=\"card\"><h3>All figures</h3><p>Means over the workloads, ± half of the 95 % interval. Slowdown: "
      "time running / time alone at its best place and GPUs. Fairness (finish-time fairness): JCT / JCT with an equal "
      "share of the cluster, less is fairer. JCT / best baseline: relative to the baseline with the least mean JCT but "
      "itself. Gap closed: "
      "part of the way from the best baseline to no-interference. Green: the best mean of a column.</p>{}"
      "<div class=\"actions\">{}{}<span role=\"status\"></span></div></div>\n"
      "<div class=\"card\"><h3>To do it again</h3><pre id=\"{}\">{}</pre><div class=\"actions\">{}"
      "<span role=\"status\"></span></div></div>\n",
      figures_table(comparison, policies, id), button("text", "Copy as text", id), button("csv", "Copy as CSV", id),
      command, page_text(comparison.command), button("command", "Copy the command", command));
}

std::string findings(const std::vector<Comparison> &comparisons) {
  std::string html;
  for (std::size_t i = 0; i < comparisons.size(); ++i)
    html += fmt::format("<div class=\"card finding\"><h3>{}</h3><p>{}</p></div>\n",
                        page_text(title_of(comparisons[i]), 120), headline(comparisons[i]));
  return html;
}

std::string navigation(const std::vector<Comparison> &comparisons) {
  std::string html = "<nav aria-label=\"Scenarios\"><ul><li><a href=\"#findings\">At a glance</a></li>";
  for (std::size_t i = 0; i < comparisons.size(); ++i)
    html += fmt::format("<li><a href=\"#scenario{}\">{}</a></li>", i, page_text(title_of(comparisons[i]), 50));
  return html + "</ul></nav>\n";
}

} // namespace

std::string report_page(const std::vector<Comparison> &comparisons, const std::string &overview,
                        const std::vector<ComparisonCharts> &charts) {
  const std::vector<std::string> policies = all_policies(comparisons);
  const bool any_live =
      std::any_of(comparisons.begin(), comparisons.end(), [](const Comparison &each) { return each.live; });
  std::string html = head("Placement policies compared");
  html +=
      fmt::format("<body>\n<header><div><h1>Placement policies compared</h1><p>{} {}, {} {}; the same jobs for every "
                  "policy, {}</p></div></header>\n",
                  policies.size(), policies.size() == 1 ? "policy" : "policies", comparisons.size(),
                  comparisons.size() == 1 ? "comparison" : "comparisons",
                  any_live ? "live on a real Slurm and simulated" : "simulated by <code>harmony sim</code>");
  html += navigation(comparisons) + "<main>\n<section id=\"findings\"><h2>At a glance</h2>\n" + findings(comparisons);
  if (!overview.empty())
    html += fmt::format("<div class=\"card\"><h3>Mean JCT, as multiples of the best policy's</h3>{}{}</div>\n",
                        policy_key(policies), overview);
  html += "</section>\n";
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    html += fmt::format("<section class=\"scenario\" id=\"scenario{}\"><h2>{}</h2>\n", i,
                        page_text(title_of(comparisons[i]), 120));
    html += facts(comparisons[i]) + bar_cards(charts.at(i));
    html += cdf_cards(charts.at(i), line_key(comparisons[i], policies));
    html += usage_card(comparisons[i], policies, charts.at(i));
    html += map_card(comparisons[i], i, cells_of_a_page / comparisons.size());
    html += table_card(comparisons[i], policies, i) + "</section>\n";
  }
  return html +
         fmt::format(
             "</main>\n<footer>JCT: job completion time. A simulation is as good as its ground truth, which is named "
             "with each comparison.</footer>\n<div id=\"tip\" role=\"tooltip\"></div>\n<script>{}</script>\n</body>\n"
             "</html>\n",
             scripts());
}

} // namespace harmony
