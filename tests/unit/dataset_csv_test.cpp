#include "src/record/dataset_csv.h"

#include "src/sim/input/csv.h"
#include "tests/unit/dataset_fixture.h"

namespace harmony {

using namespace fixtures;

class DatasetCsvTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetCsvTest);
  CPPUNIT_TEST(an_interval_is_a_line_with_its_speed);
  CPPUNIT_TEST(an_interval_without_a_speed_is_a_line_too);
  CPPUNIT_TEST(a_run_is_its_start_joined_with_its_end);
  CPPUNIT_TEST(a_run_without_start_or_end_is_a_line_too);
  CPPUNIT_TEST(a_run_that_was_disturbed_is_marked);
  CPPUNIT_TEST(a_run_that_was_resumed_is_one_line);
  CPPUNIT_TEST(texts_are_quoted_and_never_formulas);
  CPPUNIT_TEST_SUITE_END();

  using Table = std::vector<std::map<std::string, std::string>>;

  // Read again by another reader, which refuses a line that has not as many fields as the header.
  static Table table(const std::vector<Record> &records, DatasetReading (*write)(const CsvExport &)) {
    const Files files;
    files.write("a.jsonl", lines_of(records));
    std::string text;
    std::size_t steps = 0;
    write({files.path(), [&](const std::string &line) { text += line; }, [&] { ++steps; }});
    CPPUNIT_ASSERT(steps >= records.size());
    std::vector<std::string> columns;
    const std::string header = text.substr(0, text.find('\n'));
    for (std::size_t at = 0; at <= header.size();) {
      const std::size_t end = std::min(header.find(',', at), header.size());
      columns.push_back(header.substr(at, end - at));
      at = end + 1;
    }
    CsvReader csv(files.write("a.csv", text), columns, {});
    Table rows;
    while (csv.next())
      for (const std::string &column : columns) {
        if (column == columns.front()) rows.emplace_back();
        rows.back()[column] = csv.text(column);
      }
    return rows;
  }

  void an_interval_is_a_line_with_its_speed() {
    IntervalRecord first = claiming(interval_of(1, "a", 0, 50, {"c", "b", "b"}), 4, 50);
    first.neighbours[0].on.push_back({"n1", 3, 1, {}, {}, {}});
    first.terms.cores = 0.25;
    Table rows = table({first, interval_of(1, "a", 50, 100.5), end_of(1, "a", 0, 100, 10)}, export_intervals);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, rows.size());
    CPPUNIT_ASSERT_EQUAL(std::string("4"), rows[0]["epochs"]);
    CPPUNIT_ASSERT_EQUAL(std::string("0.8"), rows[0]["relative_speed"]);
    CPPUNIT_ASSERT_EQUAL(std::string("3"), rows[0]["neighbours"]);
    CPPUNIT_ASSERT_EQUAL(std::string("b;c"), rows[0]["neighbour_types"]);
    CPPUNIT_ASSERT_EQUAL(std::string("3"), rows[0]["neighbour_workers"]);
    CPPUNIT_ASSERT_EQUAL(std::string("1"), rows[0]["neighbour_ps"]);
    CPPUNIT_ASSERT_EQUAL(std::string("0.25"), rows[0]["cores"]);
    CPPUNIT_ASSERT_EQUAL(std::string("4"), rows[0]["claim_epoch"]);
    CPPUNIT_ASSERT_EQUAL(std::string("100.5"), rows[1]["end_s"]);
    CPPUNIT_ASSERT_EQUAL(std::string(""), rows[1]["claim_epoch"]);
  }

  void an_interval_without_a_speed_is_a_line_too() {
    Table rows = table({interval_of(1, "a", 0, 50), interval_of(2, "a", 0, 60), end_of(2, "a", 0, 100, 10, "FAILED"),
                        simulated(interval_of(3, "a", 0, 10), 0.5)},
                       export_intervals);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, rows.size());
    CPPUNIT_ASSERT_EQUAL(std::string("2"), rows[0]["job"]);
    CPPUNIT_ASSERT_EQUAL(std::string(""), rows[0]["relative_speed"]);
    CPPUNIT_ASSERT_EQUAL(std::string("0.5"), rows[1]["relative_speed"]);
    CPPUNIT_ASSERT_EQUAL(std::string("1"), rows[2]["job"]); // it runs still
  }

  void a_run_is_its_start_joined_with_its_end() {
    StartRecord start = start_of(1, "a", 5);
    start.placement.resize(2);
    start.placement[0].node = "n2";
    start.placement[1].node = "n1";
    start.epochs = 90;
    start.by_plan = true;
    start.array_job = 7;
    start.components = {3, 4};
    EndRecord end = end_of(1, "a", 5, 15, 90);
    end.exit_code = 3;
    Table rows = table({start, end}, export_runs);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, rows.size());
    for (const auto &[column, value] : std::map<std::string, std::string>{{"cluster", "c1"},
                                                                          {"job", "1"},
                                                                          {"type", "a"},
                                                                          {"node_names", "n1;n2"},
                                                                          {"declared_epochs", "90"},
                                                                          {"by_plan", "1"},
                                                                          {"array_job", "7"},
                                                                          {"array_task", ""},
                                                                          {"components", "3;4"},
                                                                          {"begin_s", "5"},
                                                                          {"end_s", "15"},
                                                                          {"state", "COMPLETED"},
                                                                          {"epochs", "90"},
                                                                          {"exit_code", "3"}})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(column, value, rows[0][column]);
  }

  void a_run_without_start_or_end_is_a_line_too() {
    Table rows = table({start_of(1, "a", 5), end_of(2, "b", 6, 15)}, export_runs);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, rows.size());
    CPPUNIT_ASSERT_EQUAL(std::string("b"), rows[0]["type"]);
    CPPUNIT_ASSERT_EQUAL(std::string("6"), rows[0]["begin_s"]);
    CPPUNIT_ASSERT_EQUAL(std::string(""), rows[0]["policy"]);
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), rows[1]["policy"]);
    CPPUNIT_ASSERT_EQUAL(std::string(""), rows[1]["state"]);
  }

  void a_run_that_was_disturbed_is_marked() {
    EndRecord disturbed = end_of(2, "a", 0, 10);
    disturbed.disturbed = true;
    Table rows = table({end_of(1, "a", 0, 10), disturbed}, export_runs);
    CPPUNIT_ASSERT_EQUAL(std::string("0"), rows[0]["disturbed"]);
    CPPUNIT_ASSERT_EQUAL(std::string("1"), rows[1]["disturbed"]);
  }

  void a_run_that_was_resumed_is_one_line() {
    StartRecord resumed = start_of(1, "a", 5);
    resumed.resumed = true;
    Table rows = table({start_of(1, "a", 5), resumed, end_of(1, "a", 5, 10)}, export_runs);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, rows.size());
    CPPUNIT_ASSERT_EQUAL(std::string("1"), rows[0]["resumed"]);
  }

  void texts_are_quoted_and_never_formulas() {
    CPPUNIT_ASSERT_EQUAL(std::string("plain"), csv_text("plain"));
    CPPUNIT_ASSERT_EQUAL(std::string("\"a,\"\"b\"\"\""), csv_text("a,\"b\""));
    CPPUNIT_ASSERT_EQUAL(std::string("'=1+1"), csv_text("=1+1"));
    CPPUNIT_ASSERT_EQUAL(std::string("\"'@SUM(1,2)\""), csv_text("@SUM(1,2)"));
    StartRecord start = start_of(1, "a", 5);
    start.why_stock = "no plan, \"yet\"";
    CPPUNIT_ASSERT_EQUAL(start.why_stock, table({start}, export_runs)[0]["why_stock"]);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DatasetCsvTest);

} // namespace harmony
