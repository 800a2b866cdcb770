#include "src/values/settings_file.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace harmony {

class SettingsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SettingsTest);
  CPPUNIT_TEST(an_empty_file_means_the_defaults);
  CPPUNIT_TEST(by_default_a_model_decides_among_twelve_gangs_and_pack_stands_in);
  CPPUNIT_TEST(the_shipped_example_has_every_key_at_its_default);
  CPPUNIT_TEST(the_man_page_has_every_key_and_nothing_else);
  CPPUNIT_TEST(every_key_is_read);
  CPPUNIT_TEST(the_syntax_is_slurms);
  CPPUNIT_TEST(a_hash_is_text_in_quotes_and_behind_a_backslash);
  CPPUNIT_TEST(times_have_units_and_ranges);
  CPPUNIT_TEST(a_bad_value_is_named_with_what_is_allowed);
  CPPUNIT_TEST(an_unknown_key_is_named_with_the_known_ones);
  CPPUNIT_TEST(a_key_given_twice_names_both_lines);
  CPPUNIT_TEST(a_missing_value_is_a_problem);
  CPPUNIT_TEST(broken_quotes_are_a_problem);
  CPPUNIT_TEST(a_problem_is_on_the_line_of_its_key_also_after_continuations);
  CPPUNIT_TEST(what_has_a_problem_stays_at_its_default);
  CPPUNIT_TEST(min_interval_may_not_exceed_interval);
  CPPUNIT_TEST(inference_has_a_second_more_than_the_round);
  CPPUNIT_TEST(inference_may_not_have_less_time_than_the_round);
  CPPUNIT_TEST(the_heuristic_is_any_policy_that_needs_no_model);
  CPPUNIT_TEST(a_model_store_is_an_absolute_path_that_can_be_printed);
  CPPUNIT_TEST(what_is_not_text_is_a_problem);
  CPPUNIT_TEST(printed_input_is_escaped_and_cut);
  CPPUNIT_TEST(a_file_of_rubbish_does_not_flood_the_log);
  CPPUNIT_TEST(a_dataset_is_a_path_or_none_and_has_a_size);
  CPPUNIT_TEST(written_settings_read_back_the_same);
  CPPUNIT_TEST_SUITE_END();

  static SettingsReading read(std::string_view text) {
    return read_settings(text, {"pack", "spread", "one-distributed", "learned", "stock"});
  }

  static Settings good(std::string_view text) {
    const SettingsReading reading = read(text);
    CPPUNIT_ASSERT_EQUAL_MESSAGE(all(reading), std::size_t{0}, reading.problems.size());
    return reading.settings;
  }

  // "LINE: text", one after the other.
  static std::string all(const SettingsReading &reading) {
    std::string text;
    for (const SettingsProblem &problem : reading.problems)
      text += std::to_string(problem.line) + ": " + problem.text + "\n";
    return text;
  }

  static void refused(std::string_view text, const std::string &problems) {
    CPPUNIT_ASSERT_EQUAL(problems, all(read(text)));
  }

  static bool bad(const std::string &text) { return !read(text).problems.empty(); }

  void an_empty_file_means_the_defaults() {
    const std::string defaults = settings_text(Settings());
    for (const char *text : {"", "\n", "   ", "# nothing", "\r\n\r\n", "\\", "\\\n\\\n"})
      CPPUNIT_ASSERT_EQUAL(defaults, settings_text(good(text)));
  }

  void by_default_a_model_decides_among_twelve_gangs_and_pack_stands_in() {
    const Settings settings = good("");
    CPPUNIT_ASSERT_EQUAL(std::string("learned"), settings.policy);
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), settings.heuristic);
    CPPUNIT_ASSERT_EQUAL(12, settings.candidates);
    CPPUNIT_ASSERT_EQUAL(3600, settings.max_wait_s);
    CPPUNIT_ASSERT_EQUAL('/', shipped_model[0]);
  }

  static std::string file(const char *name) {
    const char *top = std::getenv("srcdir");
    std::ifstream stream(std::string(top ? top : ".") + "/" + name);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  void the_shipped_example_has_every_key_at_its_default() {
    const std::string example = file("etc/harmony.conf");
    CPPUNIT_ASSERT_EQUAL(settings_text(Settings()), settings_text(good(example)));
    std::istringstream keys(settings_text(Settings()));
    for (std::string line; std::getline(keys, line);) {
      // Where store and dataset are was chosen when this was configured; the example cannot know it.
      if (line.find("ModelStore=") == 0) line = "#ModelStore=/var/lib/slurm-harmony/models";
      if (line.find("Dataset=") == 0) line = "#Dataset=/var/lib/slurm-harmony/dataset";
      // Its default follows RoundBudget, so that one may be changed alone.
      if (line.find("InferenceBudget=") == 0) line = "#" + line;
      CPPUNIT_ASSERT_MESSAGE(line, example.find("\n" + line + "\n") != std::string::npos);
    }
  }

  void the_man_page_has_every_key_and_nothing_else() {
    const std::string page = file("src/tool/harmony.conf.5");
    std::istringstream lines(
        page.substr(page.find("\n.SH KEYS\n"), page.find("\n.SH FILES\n") - page.find("\n.SH KEYS\n")));
    std::set<std::string> told, known;
    // Keys are tagged paragraphs that begin with a capital; policies, below one of them, begin with a small letter.
    for (std::string line, before; std::getline(lines, line); before = line)
      if (before == ".TP" && line.size() > 3 && line[3] >= 'A' && line[3] <= 'Z') told.insert(line.substr(3));
    std::istringstream keys(settings_text(Settings()));
    for (std::string line; std::getline(keys, line);) known.insert(line.substr(0, line.find('=')));
    CPPUNIT_ASSERT(told == known);
  }

  void every_key_is_read() {
    const Settings settings = good("Policy=one-distributed\nManage=gpu\nInterval=1m\nMinInterval=500ms\nRoundBudget=2\n"
                                   "MaxWait=0\nKeepDecisions=7\nHeuristic=spread\nModelStore=/srv/models\n"
                                   "InferenceBudget=3s\nBreakerPause=1\nCandidates=5\nDataset=/srv/dataset\n"
                                   "DatasetMaxSize=3g\nDatasetUsers=Name\n");
    CPPUNIT_ASSERT_EQUAL(std::string("/srv/dataset"), settings.dataset);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3} << 30, settings.dataset_max_bytes);
    CPPUNIT_ASSERT(settings.dataset_users == DatasetUsers::name);
    CPPUNIT_ASSERT_EQUAL(std::string("one-distributed"), settings.policy);
    CPPUNIT_ASSERT(settings.manage == Manage::gpu);
    CPPUNIT_ASSERT_EQUAL(60000, settings.interval_ms);
    CPPUNIT_ASSERT_EQUAL(500, settings.min_interval_ms);
    CPPUNIT_ASSERT_EQUAL(2000, settings.round_budget_ms);
    CPPUNIT_ASSERT_EQUAL(0, settings.max_wait_s);
    CPPUNIT_ASSERT_EQUAL(7, settings.keep_decisions);
    CPPUNIT_ASSERT_EQUAL(std::string("spread"), settings.heuristic);
    CPPUNIT_ASSERT_EQUAL(std::string("/srv/models"), settings.model_store);
    CPPUNIT_ASSERT_EQUAL(3000, settings.inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(1000, settings.breaker_pause_ms);
    CPPUNIT_ASSERT_EQUAL(5, settings.candidates);
  }

  void the_syntax_is_slurms() {
    CPPUNIT_ASSERT_EQUAL(7, good("Policy=pack KeepDecisions=7\tMaxWait=1").keep_decisions);
    CPPUNIT_ASSERT_EQUAL(std::string("spread"), good("pOLICY=Spread").policy);
    CPPUNIT_ASSERT_EQUAL(std::string("spread"), good("  Policy = spread").policy);
    CPPUNIT_ASSERT_EQUAL(std::string("spread"), good("Policy=\"spread\"\r\nManage=gpu\r\n").policy);
    CPPUNIT_ASSERT_EQUAL(7, good("KeepDec\\\nisions=\\\r\n7").keep_decisions);
    CPPUNIT_ASSERT_EQUAL(7, good("Policy=pack \\ # why\n KeepDecisions=7").keep_decisions);
    CPPUNIT_ASSERT_EQUAL(10000, good("Policy=pack # KeepDecisions=7 \\\n").keep_decisions);
  }

  void a_hash_is_text_in_quotes_and_behind_a_backslash() {
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), good("Policy=pack#spread").policy);
    refused("Policy=\"a # b\" # c",
            "1: Policy=\"a # b\" is not allowed; allowed is one of pack, spread, one-distributed, "
            "learned, stock\n");
    refused("Policy=a\\#b # c", "1: Policy=\"a#b\" is not allowed; allowed is one of pack, spread, one-distributed, "
                                "learned, stock\n");
  }

  void times_have_units_and_ranges() {
    CPPUNIT_ASSERT_EQUAL(100, good("Interval=100ms MinInterval=10ms").interval_ms);
    CPPUNIT_ASSERT_EQUAL(3600000, good("Interval=1H").interval_ms);
    CPPUNIT_ASSERT_EQUAL(604800, good("MaxWait=168h").max_wait_s);
    CPPUNIT_ASSERT_EQUAL(604800, good("MaxWait=604800").max_wait_s);
    CPPUNIT_ASSERT_EQUAL(2, good("MaxWait=2000ms").max_wait_s);
    for (const char *time :
         {"99ms", "61m", "3600001ms", "0", "-1", "1.5s", "s", "10 s", "10d", "1e3", "99999999999h", "+5"})
      CPPUNIT_ASSERT_MESSAGE(time, bad(std::string("Interval=\"") + time + "\""));
    CPPUNIT_ASSERT(bad("MinInterval=9ms") && bad("RoundBudget=9ms") && bad("RoundBudget=61"));
    CPPUNIT_ASSERT(bad("MaxWait=169h") && bad("MaxWait=1500ms"));
    CPPUNIT_ASSERT_EQUAL(10, good("RoundBudget=10ms InferenceBudget=10ms").inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(120000, good("InferenceBudget=2m").inference_budget_ms);
    CPPUNIT_ASSERT(bad("RoundBudget=10ms InferenceBudget=9ms") && bad("InferenceBudget=121"));
    CPPUNIT_ASSERT_EQUAL(100, good("BreakerPause=100ms").breaker_pause_ms);
    CPPUNIT_ASSERT_EQUAL(600000, good("BreakerPause=10m").breaker_pause_ms);
    CPPUNIT_ASSERT(bad("BreakerPause=99ms") && bad("BreakerPause=601"));
  }

  void a_bad_value_is_named_with_what_is_allowed() {
    refused("\nManage=all", "2: Manage=\"all\" is not allowed; allowed is annotated or gpu\n");
    refused("KeepDecisions=1000001",
            "1: KeepDecisions=\"1000001\" is not allowed; allowed is a whole number from 0 to 1000000\n");
    for (const char *count : {"0", "65", "-1", "1.5", "many"})
      refused(std::string("Candidates=") + count,
              std::string("1: Candidates=\"") + count + "\" is not allowed; allowed is a whole number from 1 to 64\n");
    CPPUNIT_ASSERT_EQUAL(1, good("Candidates=1").candidates);
    CPPUNIT_ASSERT_EQUAL(64, good("Candidates=64").candidates);
    refused("RoundBudget=2h", "1: RoundBudget=\"2h\" is not allowed; allowed is a time from 10ms to 1m, a whole number "
                              "with ms, s, m or h, or of seconds\n");
  }

  void an_unknown_key_is_named_with_the_known_ones() {
    refused("Policy=pack\nPolizy=pack",
            "2: unknown key \"Polizy\"; the keys are Policy, Heuristic, Manage, Interval, MinInterval, "
            "RoundBudget, InferenceBudget, MaxWait, KeepDecisions, ModelStore, Candidates, BreakerPause, Dataset, "
            "DatasetMaxSize, DatasetUsers\n");
    CPPUNIT_ASSERT(bad("=pack") && bad("Include other.conf") && bad("Policy+=pack"));
  }

  void a_key_given_twice_names_both_lines() {
    refused("KeepDecisions=1\n\nkeepdecisions=2 # again",
            "3: KeepDecisions=\"2\" is given twice, first on line 1; once is allowed\n");
    CPPUNIT_ASSERT_EQUAL(1, read("KeepDecisions=1 KeepDecisions=2").settings.keep_decisions);
  }

  void a_missing_value_is_a_problem() {
    for (const char *text : {"Manage", "Manage=", "Manage=\"\"", "Manage = # gpu", "Manage Policy=pack"})
      refused(text, "1: Manage has no value; allowed is annotated or gpu\n");
  }

  void broken_quotes_are_a_problem() {
    refused("Policy=\"pack Manage=gpu", "1: Policy=\\\"pack Manage=gpu has no closing quote\n");
    refused("Policy=\"pack\"Manage=gpu",
            "1: Policy=\\\"pack\\\"Manage=gpu goes on behind the closing quote; put a blank there\n");
  }

  void a_problem_is_on_the_line_of_its_key_also_after_continuations() {
    const SettingsReading reading = read("Policy=pack \\\n\\\n  Wrong\\\nKey=1 \\\nManage=\\\nall\nOther=1");
    CPPUNIT_ASSERT_EQUAL_MESSAGE(all(reading), std::size_t{3}, reading.problems.size());
    CPPUNIT_ASSERT_EQUAL(3, reading.problems[0].line);
    CPPUNIT_ASSERT(reading.problems[0].text.find("\"WrongKey\"") != std::string::npos);
    CPPUNIT_ASSERT_EQUAL(5, reading.problems[1].line);
    CPPUNIT_ASSERT_EQUAL(7, reading.problems[2].line);
  }

  void what_has_a_problem_stays_at_its_default() {
    const SettingsReading reading = read("Interval=1d Policy=best KeepDecisions=5");
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, reading.problems.size());
    CPPUNIT_ASSERT_EQUAL(10000, reading.settings.interval_ms);
    CPPUNIT_ASSERT_EQUAL(std::string("learned"), reading.settings.policy);
    CPPUNIT_ASSERT_EQUAL(5, reading.settings.keep_decisions);
  }

  void min_interval_may_not_exceed_interval() {
    const SettingsReading reading = read("\nMinInterval=2s\nInterval=1s\nNonsense=1");
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, reading.problems.size());
    CPPUNIT_ASSERT_EQUAL(2, reading.problems[0].line);
    CPPUNIT_ASSERT_EQUAL(std::string("MinInterval=\"2s\" is longer than Interval=\"1s\"; allowed is 10ms to 1s"),
                         reading.problems[0].text);
    CPPUNIT_ASSERT_EQUAL(50, reading.settings.min_interval_ms);
    CPPUNIT_ASSERT_EQUAL(1000, good("MinInterval=1 Interval=1").min_interval_ms);
  }

  void inference_has_a_second_more_than_the_round() {
    CPPUNIT_ASSERT_EQUAL(2000, good("").inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(1010, good("RoundBudget=10ms").inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(61000, good("RoundBudget=1m").inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(6000, read("RoundBudget=5s InferenceBudget=never").settings.inference_budget_ms);
  }

  void inference_may_not_have_less_time_than_the_round() {
    const SettingsReading reading = read("\nInferenceBudget=2s\nRoundBudget=5s\n");
    CPPUNIT_ASSERT_EQUAL(
        std::string("2: InferenceBudget=\"2s\" is shorter than RoundBudget=\"5s\"; allowed is 5s to 2m\n"),
        all(reading));
    CPPUNIT_ASSERT_EQUAL(6000, reading.settings.inference_budget_ms);
    CPPUNIT_ASSERT_EQUAL(5000, good("InferenceBudget=5 RoundBudget=5").inference_budget_ms);
    CPPUNIT_ASSERT(bad("InferenceBudget=999ms"));
  }

  void the_heuristic_is_any_policy_that_needs_no_model() {
    CPPUNIT_ASSERT_EQUAL(std::string("learned"), good("Policy=Learned").policy);
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), good("").heuristic);
    CPPUNIT_ASSERT_EQUAL(std::string("stock"), good("Policy=learned Heuristic=STOCK").heuristic);
    for (const char *name : {"learned", "fastest"}) {
      refused(std::string("Heuristic=") + name, std::string("1: Heuristic=\"") + name +
                                                    "\" is not allowed; allowed is one of pack, spread, "
                                                    "one-distributed, stock\n");
      CPPUNIT_ASSERT_EQUAL(std::string("pack"), read(std::string("Heuristic=") + name).settings.heuristic);
    }
  }

  void a_model_store_is_an_absolute_path_that_can_be_printed() {
    CPPUNIT_ASSERT_EQUAL(std::string(default_model_store), good("").model_store);
    CPPUNIT_ASSERT_EQUAL('/', default_model_store[0]);
    const std::string longest = "/" + std::string(1023, 'x');
    CPPUNIT_ASSERT_EQUAL(longest, good("ModelStore=" + longest).model_store);
    for (const std::string &path :
         {std::string("models"), std::string("./models"), std::string("~/models"), longest + "x",
          std::string("/mod\x1b"
                      "els"),
          std::string("/mod\x7f"
                      "els"),
          std::string("/mod\xc3\xa9ls"), std::string("/mo\"dels")}) {
      CPPUNIT_ASSERT_MESSAGE(path, bad("ModelStore=" + path));
      CPPUNIT_ASSERT_EQUAL(std::string(default_model_store), read("ModelStore=" + path).settings.model_store);
    }
    refused("ModelStore=models", "1: ModelStore=\"models\" is not allowed; allowed is a path from /, of at most 1024 "
                                 "printable ASCII characters, without double quotes\n");
    for (const char *path : {"/a b", "/a#b", "/a\\", "/a\\b ", "/a=b,c;d"}) {
      Settings settings;
      settings.model_store = path;
      CPPUNIT_ASSERT_EQUAL(std::string(path), good(settings_text(settings)).model_store);
    }
  }

  void what_is_not_text_is_a_problem() {
    using namespace std::string_view_literals;
    refused("\nPolicy=pa\0ck\nManage=gpu"sv, "2: the line has a NUL byte; the file has to be text\n");
    good("#" + std::string(4095, 'x'));
    refused("\n#" + std::string(4096, 'x'), "2: the line is longer than 4096 bytes\n");
    std::string file;
    while (file.size() < 64 * 1024) file += "#" + std::string(1022, 'x') + "\n";
    good(file);
    refused(file + "#", "65: the file is longer than 65536 bytes\n");
  }

  void printed_input_is_escaped_and_cut() {
    refused("Manage=\x1b[31m\"\xff", "1: Manage=\"\\x1b[31m\\\"\\xff\" is not allowed; allowed is annotated or gpu\n");
    refused("Manage=" + std::string(65, 'x'),
            "1: Manage=\"" + std::string(64, 'x') + "...\" is not allowed; allowed is annotated or gpu\n");
  }

  void a_file_of_rubbish_does_not_flood_the_log() {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "x\n";
    const SettingsReading reading = read(text);
    CPPUNIT_ASSERT_EQUAL(std::size_t{21}, reading.problems.size());
    CPPUNIT_ASSERT_EQUAL(std::string("980 more problems are not listed"), reading.problems.back().text);
  }

  void a_dataset_is_a_path_or_none_and_has_a_size() {
    CPPUNIT_ASSERT_EQUAL(std::string(default_dataset), good("").dataset);
    CPPUNIT_ASSERT_EQUAL(std::string(), good("Dataset=None").dataset);
    CPPUNIT_ASSERT(bad("Dataset=dataset") && bad("DatasetUsers=some"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1} << 20, good("DatasetMaxSize=1024K").dataset_max_bytes);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1} << 50, good("DatasetMaxSize=1024T").dataset_max_bytes);
    for (const char *size : {"1023K", "1025T", "1G5", "1.5G", "-1G", "1", "G", "999999999T", "16777216T", "0G"})
      CPPUNIT_ASSERT_MESSAGE(size, bad(std::string("DatasetMaxSize=") + size));
    refused("DatasetMaxSize=1", "1: DatasetMaxSize=\"1\" is not allowed; allowed is a whole number with K, M, G or T, "
                                "from 1M to 1024T\n");
  }

  void written_settings_read_back_the_same() {
    Settings settings;
    settings.policy = "one-distributed";
    settings.manage = Manage::gpu;
    settings.interval_ms = 61001;
    settings.min_interval_ms = 60000;
    settings.round_budget_ms = 1500;
    settings.max_wait_s = 604800;
    settings.keep_decisions = 0;
    settings.heuristic = "stock";
    settings.model_store = "/srv/of harmony";
    settings.inference_budget_ms = 1500;
    settings.breaker_pause_ms = 1000;
    settings.candidates = 3;
    settings.dataset.clear();
    settings.dataset_max_bytes = 5 << 20;
    settings.dataset_users = DatasetUsers::none;
    const std::string text =
        "Policy=one-distributed\nHeuristic=stock\nManage=gpu\nInterval=61001ms\nMinInterval=1m\nRoundBudget=1500ms\n"
        "InferenceBudget=1500ms\nMaxWait=168h\nBreakerPause=1s\nKeepDecisions=0\nCandidates=3\n"
        "ModelStore=\"/srv/of harmony\"\nDataset=none\nDatasetMaxSize=5M\nDatasetUsers=none\n";
    CPPUNIT_ASSERT_EQUAL(text, settings_text(settings));
    CPPUNIT_ASSERT_EQUAL(text, settings_text(good(text)));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(SettingsTest);

} // namespace harmony
