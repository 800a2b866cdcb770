#include "src/sim/input/csv.h"

#include "tests/unit/sim_files.h"

namespace harmony {

using namespace fixtures;

class CsvTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(CsvTest);
  CPPUNIT_TEST(fields_are_found_by_the_name_of_their_column);
  CPPUNIT_TEST(columns_may_be_left_out_and_have_defaults_then);
  CPPUNIT_TEST(columns_that_are_not_known_are_named);
  CPPUNIT_TEST(line_ends_of_other_systems_blank_lines_and_byte_order_marks_do_no_harm);
  CPPUNIT_TEST(fields_may_be_in_quotes);
  CPPUNIT_TEST(broken_quotes_are_refused);
  CPPUNIT_TEST(a_header_without_a_column_that_is_needed_is_refused);
  CPPUNIT_TEST(a_column_given_twice_is_refused);
  CPPUNIT_TEST(a_line_with_another_number_of_fields_is_refused_and_reading_goes_on);
  CPPUNIT_TEST(what_is_no_number_is_refused_with_its_line);
  CPPUNIT_TEST(numbers_out_of_range_are_refused);
  CPPUNIT_TEST(what_is_not_text_is_refused);
  CPPUNIT_TEST(a_line_that_is_too_long_is_refused_and_reading_goes_on);
  CPPUNIT_TEST(files_that_cannot_be_read_are_named);
  CPPUNIT_TEST(printed_input_is_escaped_and_cut);
  CPPUNIT_TEST_SUITE_END();

  Files files_;

  CsvReader read(const std::string &text) const { return CsvReader(files_.write("t.csv", text), {"a"}, {"b", "c"}); }
  std::string refused(const std::string &text) const {
    return thrown(
        [&] {
          CsvReader csv = read(text);
          while (csv.next()) {
            csv.whole("a", 0, 100, 0);
            csv.number("b", -1, 1, 0);
          }
        },
        files_.path());
  }

  void fields_are_found_by_the_name_of_their_column() {
    CsvReader csv = read("b,a\n 0.5 ,3\n-1,4\n");
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{3}, csv.whole("a", 0, 9, 0));
    CPPUNIT_ASSERT_EQUAL(0.5, csv.number("b", 0, 1, 0));
    CPPUNIT_ASSERT_EQUAL(std::string("0.5"), csv.text("b"));
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(-1.0, csv.number("b", -1, 1, 0));
    CPPUNIT_ASSERT_EQUAL(3, csv.line());
    CPPUNIT_ASSERT(!csv.next());
    CPPUNIT_ASSERT(!csv.next());
  }

  void columns_may_be_left_out_and_have_defaults_then() {
    CsvReader csv = read("a,b\n1,\n");
    CPPUNIT_ASSERT(csv.has("a") && csv.has("b") && !csv.has("c"));
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(7.5, csv.number("b", 0, 1, 7.5));
    CPPUNIT_ASSERT_EQUAL(std::int64_t{8}, csv.whole("c", 0, 1, 8));
    CPPUNIT_ASSERT_EQUAL(std::string(), csv.text("c"));
  }

  void columns_that_are_not_known_are_named() {
    const std::vector<std::string> expected{"x y", "column 3 (no name)"};
    CPPUNIT_ASSERT(read("x y,a,\n").ignored() == expected);
    CPPUNIT_ASSERT(read("a,b,c\n").ignored().empty());
  }

  void line_ends_of_other_systems_blank_lines_and_byte_order_marks_do_no_harm() {
    CsvReader csv = read("\xef\xbb\xbf\r\n  \na,b\r\n\r\n1,0\r\n\n2,1");
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{1}, csv.whole("a", 0, 9, 0));
    CPPUNIT_ASSERT_EQUAL(5, csv.line());
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{2}, csv.whole("a", 0, 9, 0));
    CPPUNIT_ASSERT_EQUAL(7, csv.line());
    CPPUNIT_ASSERT(!csv.next());
  }

  void fields_may_be_in_quotes() {
    CsvReader csv = read("a,\"b\"\n\"1\",\"x, \"\"y\"\"\"\n");
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{1}, csv.whole("a", 0, 9, 0));
    CPPUNIT_ASSERT_EQUAL(std::string("x, \"y\""), csv.text("b"));
    CsvReader others(files_.write("t.csv", "a|b\n1|\"\n"), {"a"}, {"b"}, '|');
    CPPUNIT_ASSERT(others.next());
    CPPUNIT_ASSERT_EQUAL(std::string("\""), others.text("b"));
  }

  void broken_quotes_are_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a quote is not closed"), refused("a,b\n1,\"0\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a quote is not closed"), refused("a,b\n1,\"0\"\"\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a field goes on behind its closing quote"), refused("a,b\n\"1\"2,0\n"));
  }

  void a_header_without_a_column_that_is_needed_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: the header has no column a"), refused("\nb,A\n1,2\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv: has no header: the file is empty"), refused(""));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv: has no header: the file is empty"), refused("\n \n"));
  }

  void a_column_given_twice_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:1: the header has the column b twice"), refused("a,b,b\n"));
    CPPUNIT_ASSERT_EQUAL(std::string(), refused("a,x,x\n1,2,3\n"));
  }

  void a_line_with_another_number_of_fields_is_refused_and_reading_goes_on() {
    CsvReader csv = read("a,b\n1\n1,0,0\n2,0\n");
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: the line has 1 field, the header 2"),
                         thrown([&] { csv.next(); }, files_.path()));
    CPPUNIT_ASSERT_EQUAL(std::string(), csv.text("a"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:3: the line has 3 fields, the header 2"),
                         thrown([&] { csv.next(); }, files_.path()));
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{2}, csv.whole("a", 0, 9, 0));
  }

  void what_is_no_number_is_refused_with_its_line() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:3: a is \"1.5\", not a whole number from 0 to 100"),
                         refused("a\n1\n1.5\n"));
    for (const char *text : {"x", "1x", "+1", "1 2", "0x1", "1e1", "99999999999999999999"})
      CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a is \"") + text + "\", not a whole number from 0 to 100",
                           refused(std::string("a\n") + text + "\n"));
    for (const char *text : {"x", "1x", "nan", "inf", "-inf", "1e999", "0x1p0", "--1", "1,5"})
      CPPUNIT_ASSERT_MESSAGE(text, !refused(std::string("a,b\n1,") + text + "\n").empty());
    for (const char *text : {"1", "-1", "0.25", "1e-3", "-.5", "0"})
      CPPUNIT_ASSERT_EQUAL(std::string(), refused(std::string("a,b\n1,") + text + "\n"));
  }

  void numbers_out_of_range_are_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a is \"101\", not a whole number from 0 to 100"), refused("a\n101\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a is \"-1\", not a whole number from 0 to 100"), refused("a\n-1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: b is \"1.01\", not a number from -1 to 1"), refused("a,b\n1,1.01\n"));
  }

  void what_is_not_text_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: the line has control characters; the file has to be text"),
                         refused(std::string("a\n1\0\n", 5)));
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:1: the line has control characters; the file has to be text"),
                         refused("\x7f"
                                 "ELF"));
  }

  void a_line_that_is_too_long_is_refused_and_reading_goes_on() {
    const std::string longest(max_line_bytes, '1'), longer(max_line_bytes + 1, '1'), longest_of_all(1000000, '1');
    CsvReader csv = read("a\n" + longest + "\n" + longer + "\n" + longest_of_all + "\n5\n");
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(max_line_bytes, csv.text("a").size());
    for (const char *line : {"3", "4"})
      CPPUNIT_ASSERT_EQUAL("t.csv:" + std::string(line) + ": the line is longer than 65536 bytes",
                           thrown([&] { csv.next(); }, files_.path()));
    CPPUNIT_ASSERT(csv.next());
    CPPUNIT_ASSERT_EQUAL(std::string("5"), csv.text("a"));
    CPPUNIT_ASSERT(!csv.next());
  }

  void files_that_cannot_be_read_are_named() {
    CPPUNIT_ASSERT_EQUAL(std::string("/tmp: is a directory, not a file"), thrown([] { CsvReader("/tmp", {}, {}); }));
    CPPUNIT_ASSERT_EQUAL(std::string("/no/such: cannot be opened: No such file or directory"),
                         thrown([] { CsvReader("/no/such", {}, {}); }));
  }

  void printed_input_is_escaped_and_cut() {
    CPPUNIT_ASSERT_EQUAL(std::string("t.csv:2: a is \"\\xe2\\x82\\xac\", not a whole number from 0 to 100"),
                         refused("a\n\xe2\x82\xac\n"));
    CPPUNIT_ASSERT(refused("a\n" + std::string(1000, 'x') + "\n").size() < 200);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(CsvTest);

} // namespace harmony
