// The report of a simulation: what it says, what it refuses to say, and that names of others stay names in it.
#include "src/sim/metrics.h"
#include "src/sim/report/report.h"
#include "src/sim/report/headline.h"
#include "src/sim/report/map.h"
#include "src/sim/report/text.h"
#include "tests/unit/report_fixture.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace harmony {
namespace {

namespace fs = std::filesystem;
using namespace fixtures;

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

std::vector<std::string> between(const std::string &text, const std::string &from, const std::string &to) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    at += from.size();
    const std::size_t end = text.find(to, at);
    if (end == std::string::npos) break;
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

std::string problem_of(const std::function<void()> &action) {
  try {
    action();
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

ReportSize small() {
  ReportSize size;
  size.policies = 5;
  size.seeds = 3;
  size.jobs = 40;
  size.nodes = 4;
  size.frames = 5;
  return size;
}

// An environment variable, put back at the end.
class Environment {
public:
  Environment(const char *name, const std::string &value)
      : name_(name), was_(std::getenv(name) ? std::getenv(name) : "") {
    had_ = std::getenv(name) != nullptr;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (had_)
      setenv(name_, was_.c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  const char *name_;
  std::string was_;
  bool had_ = false;
};

// A comparison of policies whose jobs all took so long, by policy and seed.
Comparison with_times(const std::vector<std::pair<std::string, std::vector<double>>> &times) {
  Comparison made;
  made.scenario = "hand-made";
  for (const auto &[policy, jcts] : times) {
    std::vector<SimResult> results;
    for (std::size_t seed = 0; seed < jcts.size(); ++seed) {
      SimResult result;
      result.policy = policy;
      result.seed = seed + 1;
      JobResult job;
      job.end_s = jcts[seed];
      result.jobs = {job};
      results.push_back(result);
    }
    made.results.push_back(results);
  }
  summarise(made);
  return made;
}

} // namespace

class ReportTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ReportTest);
  CPPUNIT_TEST(the_best_policy_is_named_with_its_gain_over_the_second_and_over_load_balancing);
  CPPUNIT_TEST(policies_whose_gain_is_uncertain_are_not_told_apart);
  CPPUNIT_TEST(one_workload_gives_no_interval_and_the_page_says_so);
  CPPUNIT_TEST(a_bound_is_never_called_the_best);
  CPPUNIT_TEST(gains_are_taken_workload_by_workload);
  CPPUNIT_TEST(figures_keep_three_digits_and_intervals_as_many_decimals);
  CPPUNIT_TEST(the_same_comparisons_make_the_same_bytes);
  CPPUNIT_TEST(the_page_fetches_nothing);
  CPPUNIT_TEST(every_id_of_the_page_is_there_once);
  CPPUNIT_TEST(the_page_says_what_was_compared_and_how_to_do_it_again);
  CPPUNIT_TEST(the_table_holds_every_figure_exactly);
  CPPUNIT_TEST(two_comparisons_of_8_policies_8_seeds_and_600_jobs_stay_below_3_megabytes);
  CPPUNIT_TEST(hostile_names_stay_text);
  CPPUNIT_TEST(comparisons_without_anything_in_them_still_make_a_page);
  CPPUNIT_TEST(figures_that_are_no_numbers_are_dashes);
  CPPUNIT_TEST(the_map_shows_the_domains_of_each_node);
  CPPUNIT_TEST(a_map_that_is_too_large_loses_moments_first_and_then_nodes);
  CPPUNIT_TEST(cells_of_nodes_that_do_not_exist_are_left_out);
  CPPUNIT_TEST(a_missing_gnuplot_is_an_error_that_names_the_package);
  CPPUNIT_TEST(what_a_failing_gnuplot_says_is_in_the_error_and_nothing_is_left_behind);
  CPPUNIT_TEST(a_report_that_cannot_be_written_is_an_error_with_its_path);
  CPPUNIT_TEST_SUITE_END();

public:
  void setUp() override {
    std::string name = (fs::temp_directory_path() / "report-test-XXXXXX").string();
    CPPUNIT_ASSERT(mkdtemp(name.data()));
    directory_ = name;
  }
  void tearDown() override { fs::remove_all(directory_); }

  void the_best_policy_is_named_with_its_gain_over_the_second_and_over_load_balancing() {
    const std::string text =
        headline(with_times({{"spread", {200, 202}}, {"pack", {90, 91}}, {"lif", {100, 101}}, {"stock", {150, 151}}}));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "<b>pack</b> is best: mean JCT 90.5"));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "10.0 % (± 0.6) shorter than <b>lif</b> (the second)"));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "55.0 % (± 0.3) shorter than load balancing (<b>spread</b>)"));
  }

  void policies_whose_gain_is_uncertain_are_not_told_apart() {
    const std::string text =
        headline(with_times({{"pack", {100, 90, 110}}, {"lif", {90, 110, 101}}, {"spread", {300, 301, 302}}}));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "<b>pack</b> and <b>lif</b> cannot be told apart"));
    CPPUNIT_ASSERT_MESSAGE(text, !contains(text, "is best"));
  }

  void one_workload_gives_no_interval_and_the_page_says_so() {
    const std::string text = headline(with_times({{"pack", {90}}, {"lif", {100}}}));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "10.0 % shorter than <b>lif</b>"));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "One workload only: no interval can be given."));
    CPPUNIT_ASSERT_MESSAGE(text, !contains(text, "±"));
  }

  void a_bound_is_never_called_the_best() {
    const Comparison comparison = with_times(
        {{"no-interference", {50, 50.5}}, {"oracle-greedy", {60, 61}}, {"pack", {90, 91}}, {"spread", {200, 202}}});
    const std::string text = headline(comparison);
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "<b>pack</b> is best"));
    CPPUNIT_ASSERT_MESSAGE(text, contains(text, "With the bound <b>no-interference</b> it is 44."));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, ranked(comparison).front());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, ranked(comparison).back());
  }

  void gains_are_taken_workload_by_workload() {
    // The workloads differ a hundredfold, the policies by a tenth in each: that is certain.
    const Comparison comparison = with_times({{"a", {9, 90, 900}}, {"b", {10, 100, 1000}}});
    const Gain found = gain(comparison, 0, 1).value();
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1, found.mean, 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, found.half, 1e-9);
    CPPUNIT_ASSERT(found.certain());
    CPPUNIT_ASSERT(!gain(comparison, 1, 0)->certain());
    CPPUNIT_ASSERT(!gain(comparison, 0, 7));
  }

  void figures_keep_three_digits_and_intervals_as_many_decimals() {
    CPPUNIT_ASSERT_EQUAL(std::string("12.3"), figure(12.34));
    CPPUNIT_ASSERT_EQUAL(std::string("0.123"), figure(0.1234));
    CPPUNIT_ASSERT_EQUAL(std::string("10.0"), figure(9.996));
    CPPUNIT_ASSERT_EQUAL(std::string("12345"), figure(12345.4));
    CPPUNIT_ASSERT_EQUAL(std::string("0"), figure(0.0));
    CPPUNIT_ASSERT_EQUAL(std::string("46.7 ± 1.3"), figure({2802, 80.4}, 60));
    CPPUNIT_ASSERT_EQUAL(std::string("46.7"), figure({2802, 0}, 60));
    CPPUNIT_ASSERT_EQUAL(std::string("2.50 h"), duration(9000));
  }

  void the_same_comparisons_make_the_same_bytes() {
    if (!drawing()) return;
    const std::vector<Comparison> comparisons = {comparison("a", 0.7, small()), comparison("b", 0.9, small())};
    const std::string first = report_html(comparisons);
    const Environment other("LC_ALL", "de_DE.UTF-8");
    CPPUNIT_ASSERT(first == report_html(comparisons));
    CPPUNIT_ASSERT(!contains(first, "GNUPLOT"));
    CPPUNIT_ASSERT(!contains(first, "Gnuplot"));
  }

  void the_page_fetches_nothing() {
    if (!drawing()) return;
    const std::string page = report_html({comparison("a", 0.7, small()), comparison("b", 0.9, small())});
    for (const char *reference : {"http://", "https://", " src=", "url(", "@import", "xlink", "fetch(", "<iframe"})
      CPPUNIT_ASSERT_MESSAGE(reference, !contains(page, reference));
    CPPUNIT_ASSERT(contains(page, "default-src 'none'"));
    for (const std::string &target : between(page, "href=\"", "\""))
      CPPUNIT_ASSERT_MESSAGE(target, target[0] == '#' || target == "data:,");
  }

  void every_id_of_the_page_is_there_once() {
    if (!drawing()) return;
    std::set<std::string> seen;
    for (const std::string &id :
         between(report_html({comparison("a", 0.7, small()), comparison("b", 0.9, small())}), " id=\"", "\""))
      CPPUNIT_ASSERT_MESSAGE(id, seen.insert(id).second);
    CPPUNIT_ASSERT(seen.count("table1"));
  }

  void the_page_says_what_was_compared_and_how_to_do_it_again() {
    if (!drawing()) return;
    const std::string page = report_html({comparison("mixed64", 0.7, small())});
    for (const char *words : {"mixed64, load 0.7", "mechanistic", "submit time", "4 nodes, 32 GPUs", "(seeds 1, 2, 3)",
                              "harmony sim --scenario mixed64 --load 0.7 --seeds 3 --report report.html"})
      CPPUNIT_ASSERT_MESSAGE(words, contains(page, words));
    CPPUNIT_ASSERT(!contains(page, "as multiples of the best")); // that needs several
  }

  void the_table_holds_every_figure_exactly() {
    if (!drawing()) return;
    const Comparison shown = comparison("mixed64", 0.7, small());
    const std::string page = report_html({shown});
    for (const PolicySummary &each : shown.summaries)
      for (const Mean &mean : {each.mean_jct, each.median_jct, each.p95_jct, each.p99_jct, each.waiting, each.running,
                               each.makespan, each.slowdown, each.fairness_mean, each.fairness_max, each.gpus_allocated,
                               each.gpus_useful, each.gpus_stranded, each.against_best}) {
        const std::string cell = fmt::format("data-v=\"{:.9g}\" data-h=\"{:.9g}\"", mean.mean, mean.half);
        CPPUNIT_ASSERT_MESSAGE(cell, contains(page, cell));
      }
  }

  void two_comparisons_of_8_policies_8_seeds_and_600_jobs_stay_below_3_megabytes() {
    if (!drawing()) return;
    const std::string page = report_html({comparison("a", 0.7, {}), comparison("b", 0.9, {})});
    CPPUNIT_ASSERT_MESSAGE(std::to_string(page.size()), page.size() < 3000000);
  }

  void hostile_names_stay_text() {
    if (!drawing()) return;
    const std::string trap = directory_ + "/trap";
    const Comparison shown = hostile_comparison(trap);
    const std::string page = report_html({shown, shown});
    CPPUNIT_ASSERT(!fs::exists(trap));
    CPPUNIT_ASSERT(!contains(page, "<script>window"));
    CPPUNIT_ASSERT(!contains(page, "<img"));
    CPPUNIT_ASSERT(!contains(page, std::string(3000, 'x')));
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, between(page, "<script", "</script>").size()); // two maps and ours
    CPPUNIT_ASSERT(contains(page, "[[0]]@x")); // and not what stands at place 0
    const std::vector<std::string> data = between(page, "<script type=\"application/json\" id=\"map0\">", "</script>");
    Json::Value map;
    std::istringstream in(data.at(0));
    in >> map;
    CPPUNIT_ASSERT_EQUAL(shown.summaries[ranked(shown)[0]].policy.substr(0, 60), map["policies"][0]["name"].asString());
    CPPUNIT_ASSERT_EQUAL(shown.node_names[0].substr(0, 40) + "...", map["nodes"][0][0].asString());
  }

  void comparisons_without_anything_in_them_still_make_a_page() {
    if (!drawing()) return;
    ReportSize no_jobs = small();
    no_jobs.jobs = 0;
    Comparison only_summaries = comparison("only summaries", 0.7, small());
    only_summaries.results.clear();
    const std::string page = report_html({Comparison(), comparison("no jobs", 0, no_jobs), only_summaries});
    CPPUNIT_ASSERT(contains(page, "No policy was compared here, or none finished a job."));
    CPPUNIT_ASSERT(contains(page, "not recorded"));
    CPPUNIT_ASSERT(contains(report_html({}), "0 policies, 0 comparisons"));
  }

  void figures_that_are_no_numbers_are_dashes() {
    if (!drawing()) return;
    Comparison shown = comparison("mixed64", 0.7, small());
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    shown.summaries[0].mean_jct = {nan, nan};
    shown.summaries[1].mean_jct = {inf, inf};
    shown.summaries[2].slowdown = {nan, inf};
    shown.results[2][0].usage[3].gpus_useful = nan;
    shown.results[2][0].map[1].cells[0].slowdown = nan;
    shown.results[2][0].jobs[0].end_s = inf;
    const std::string page = report_html({shown});
    CPPUNIT_ASSERT(contains(page, "data-v=\"\" data-h=\"\">-</td>"));
    CPPUNIT_ASSERT(!contains(page, ">nan"));
    CPPUNIT_ASSERT(!contains(page, ">inf"));
  }

  void the_map_shows_the_domains_of_each_node() {
    Comparison shown = comparison("a", 0.7, {});
    shown.node_shapes[1] = {{3, 1}, {5, 7}};
    const Json::Value nodes = map_data(shown, map_extent(shown, 1000000))["nodes"];
    CPPUNIT_ASSERT_EQUAL(3, nodes[1][1].asInt());
    CPPUNIT_ASSERT_EQUAL(1, nodes[1][2].asInt());
    CPPUNIT_ASSERT_EQUAL(5, nodes[1][3].asInt());
    CPPUNIT_ASSERT_EQUAL(7, nodes[1][4].asInt());
  }

  void a_map_that_is_too_large_loses_moments_first_and_then_nodes() {
    const Comparison shown = comparison("a", 0.7, {});
    const MapExtent all = map_extent(shown, 1000000);
    CPPUNIT_ASSERT_EQUAL(16, all.nodes);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all.stride);
    const MapExtent fewer = map_extent(shown, 7000);
    CPPUNIT_ASSERT_EQUAL(16, fewer.nodes);
    CPPUNIT_ASSERT(fewer.stride > 1);
    const MapExtent least = map_extent(shown, 1000);
    CPPUNIT_ASSERT(least.nodes < 16 && least.nodes > 0);
    CPPUNIT_ASSERT(map_data(shown, least)["policies"][0]["frames"].size() >= 8);
    CPPUNIT_ASSERT_EQUAL(static_cast<unsigned>(least.nodes), map_data(shown, least)["nodes"].size());
  }

  void cells_of_nodes_that_do_not_exist_are_left_out() {
    Comparison shown = comparison("a", 0.7, small());
    shown.results[0][0].map[0].cells = {{-1, 0, 1, 1, 0, 1}, {99, 0, 1, 1, 0, 1}, {0, 99, 1, 1, 0, 1}};
    const MapExtent extent = map_extent(shown, 1000000);
    CPPUNIT_ASSERT_EQUAL(6u, map_data(shown, extent)["policies"][0]["frames"][0]["cells"].size());
    CPPUNIT_ASSERT(!map_pictures(shown, extent, 0).empty());
  }

  void a_missing_gnuplot_is_an_error_that_names_the_package() {
    const Environment path("PATH", directory_), temporary("TMPDIR", directory_);
    const std::string file = directory_ + "/report.html";
    const std::string said = problem_of([&] { write_report(file, {comparison("a", 0.7, small())}); });
    CPPUNIT_ASSERT_MESSAGE(said, contains(said, "Debian package gnuplot-nox; no report was written"));
    CPPUNIT_ASSERT(fs::is_empty(directory_));
  }

  void what_a_failing_gnuplot_says_is_in_the_error_and_nothing_is_left_behind() {
    const std::string programs = directory_ + "/bin", temporary_path = directory_ + "/tmp";
    fs::create_directory(programs);
    fs::create_directory(temporary_path);
    std::ofstream(programs + "/gnuplot") << "#!/bin/sh\necho 'line 3: no such\033 thing' >&2\nexit 3\n";
    fs::permissions(programs + "/gnuplot", fs::perms::owner_all);
    const Environment path("PATH", programs), temporary("TMPDIR", temporary_path);
    const std::string said = problem_of([&] { report_html({comparison("a", 0.7, small())}); });
    CPPUNIT_ASSERT_MESSAGE(said, contains(said, "gnuplot ended with 3 and said: line 3: no such? thing"));
    CPPUNIT_ASSERT(fs::is_empty(temporary_path));
    std::ofstream(programs + "/gnuplot") << "#!/bin/sh\nexit 0\n";
    const std::string nothing = problem_of([&] { report_html({comparison("a", 0.7, small())}); });
    CPPUNIT_ASSERT_MESSAGE(nothing, contains(nothing, "something else than a picture"));
    CPPUNIT_ASSERT(fs::is_empty(temporary_path));
  }

  void a_report_that_cannot_be_written_is_an_error_with_its_path() {
    if (!drawing()) return;
    const std::string file = directory_ + "/no/such/report.html";
    const std::string said = problem_of([&] { write_report(file, {comparison("a", 0.7, small())}); });
    CPPUNIT_ASSERT_MESSAGE(said, contains(said, "cannot write the report " + file));
  }

private:
  static bool drawing() {
    for (std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : ""); path;) {
      std::string directory;
      std::getline(path, directory, ':');
      if (access((directory + "/gnuplot").c_str(), X_OK) == 0) return true;
    }
    std::cout << " (skipped: gnuplot is not installed, Debian package gnuplot-nox)";
    return false;
  }

  std::string directory_;
};

CPPUNIT_TEST_SUITE_REGISTRATION(ReportTest);

} // namespace harmony
