#include "src/record/dataset_reader.h"
#include "src/record/gzip.h"
#include "tests/unit/record_fixtures.h"
#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <stdexcept>

namespace harmony {

namespace {

std::string gap_line(std::uint64_t lost, const std::string &cluster = "c") {
  return to_line(GapRecord{cluster, lost, 1, ""}) + "\n";
}

void write_packed(const std::string &path, const std::string &text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
  GzipWriter writer(file.get());
  CPPUNIT_ASSERT(writer.write(text.data(), text.size()) && writer.finish());
}

} // namespace

class DatasetReaderTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetReaderTest);
  CPPUNIT_TEST(files_are_read_in_the_order_of_their_names_packed_or_not);
  CPPUNIT_TEST(a_file_that_is_there_in_both_forms_is_read_once);
  CPPUNIT_TEST(a_last_line_without_its_end_is_passed_over);
  CPPUNIT_TEST(a_packed_file_that_stops_anywhere_gives_what_is_whole);
  CPPUNIT_TEST(a_packed_file_that_was_changed_is_damaged);
  CPPUNIT_TEST(garbled_lines_of_a_damaged_file_are_no_faults_of_their_own);
  CPPUNIT_TEST(faults_are_told_by_file_and_line_and_passed_over);
  CPPUNIT_TEST(a_line_without_end_takes_no_memory);
  CPPUNIT_TEST(without_a_cluster_the_file_names_it);
  CPPUNIT_TEST(what_is_no_file_of_a_dataset_is_left_alone);
  CPPUNIT_TEST(a_fifo_or_a_directory_by_such_a_name_stops_nobody);
  CPPUNIT_TEST(what_the_taker_throws_comes_through);
  CPPUNIT_TEST(a_directory_with_nothing_to_read_is_refused);
  CPPUNIT_TEST_SUITE_END();

  Place place_;
  DatasetReading reading_;

  // The gaps' figures, one after the other.
  std::string read() {
    std::string all;
    reading_ = read_dataset(place_.path(), [&all](const Record &record) {
      all += (all.empty() ? "" : " ") + std::to_string(std::get<GapRecord>(record).lost);
    });
    return all;
  }
  void tells(std::uint64_t torn, std::uint64_t faulty, std::uint64_t damaged = 0) const {
    CPPUNIT_ASSERT_EQUAL(damaged, reading_.damaged);
    CPPUNIT_ASSERT_EQUAL(torn, reading_.torn);
    CPPUNIT_ASSERT_EQUAL(faulty, reading_.faulty);
  }

  void files_are_read_in_the_order_of_their_names_packed_or_not() {
    write_text(place_ / "b.jsonl", gap_line(3) + gap_line(4));
    write_packed(place_ / "a.jsonl.gz", gap_line(1) + gap_line(2));
    write_packed(place_ / "c.jsonl.gz", gap_line(5));
    CPPUNIT_ASSERT_EQUAL(std::string("1 2 3 4 5"), read());
    tells(0, 0);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, reading_.files);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{5}, reading_.records);
    CPPUNIT_ASSERT(reading_.bytes > gap_line(3).size() * 2);
  }

  void a_file_that_is_there_in_both_forms_is_read_once() {
    write_text(place_ / "a.jsonl", gap_line(1));
    write_packed(place_ / "a.jsonl.gz", gap_line(1));
    CPPUNIT_ASSERT_EQUAL(std::string("1"), read());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, reading_.files);
  }

  void a_last_line_without_its_end_is_passed_over() {
    const std::string last = gap_line(2);
    for (std::size_t length = 1; length < last.size(); ++length) { // also if only the newline is missing
      write_text(place_ / "a.jsonl", gap_line(1) + last.substr(0, length));
      CPPUNIT_ASSERT_EQUAL(std::string("1"), read());
      tells(1, 0);
    }
  }

  void a_packed_file_that_stops_anywhere_gives_what_is_whole() {
    std::string text;
    fixtures::RandomRecords random(1);
    for (std::uint64_t i = 1; i <= 20; ++i) text += to_line(GapRecord{"c", i, 1, random.text(500)}) + "\n";
    write_packed(place_ / "a.jsonl.gz", text);
    const std::string all = read(), packed = read_text(place_ / "a.jsonl.gz");
    CPPUNIT_ASSERT(has(all, "19 20"));
    for (std::size_t length = 1; length < packed.size(); length += 1 + length / 50) {
      write_text(place_ / "a.jsonl.gz", packed.substr(0, length));
      CPPUNIT_ASSERT_EQUAL(std::size_t{0}, all.find(read()));
      tells(1, 0);
    }
  }

  void a_packed_file_that_was_changed_is_damaged() {
    write_packed(place_ / "a.jsonl.gz", gap_line(1));
    std::string packed = read_text(place_ / "a.jsonl.gz");
    packed[packed.size() - 6] ^= 1; // the check sum
    write_text(place_ / "a.jsonl.gz", packed);
    read();
    tells(0, 0, 1);
    CPPUNIT_ASSERT_EQUAL(place_ / "a.jsonl.gz: damaged: nothing behind line 0 can be read (incorrect data check)",
                         fault_text(reading_.faults.at(0)));
  }

  // zlib notices late, and what it has given until then may be anything.
  void garbled_lines_of_a_damaged_file_are_no_faults_of_their_own() {
    std::string text;
    for (std::uint64_t i = 1; i <= 10000; ++i) text += to_line(GapRecord{"c", i, 1, std::to_string(i * i)}) + "\n";
    write_packed(place_ / "a.jsonl.gz", text);
    std::string packed = read_text(place_ / "a.jsonl.gz");
    packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
    write_text(place_ / "a.jsonl.gz", packed);
    int last = 0;
    reading_ = read_dataset(place_.path(), [&](const Record &, const RecordPlace &place) { last = place.line; });
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, reading_.damaged);
    CPPUNIT_ASSERT(last > 1000 && last < 10000);
    for (const DatasetFault &fault : reading_.faults) CPPUNIT_ASSERT(fault.line < last);
    CPPUNIT_ASSERT(has(reading_.faults.back().what, fmt::format("damaged: nothing behind line {} can be read", last)));
  }

  void faults_are_told_by_file_and_line_and_passed_over() {
    std::string text = gap_line(1) + "{}\n" + gap_line(2) + std::string("\x1b\0[\n", 4);
    for (int i = 0; i < 30; ++i) text += "nothing\n";
    write_text(place_ / "a.jsonl", text + gap_line(3));
    CPPUNIT_ASSERT_EQUAL(std::string("1 2 3"), read());
    tells(0, 32);
    CPPUNIT_ASSERT_EQUAL(std::size_t{20}, reading_.faults.size());
    CPPUNIT_ASSERT_EQUAL(place_ / "a.jsonl", reading_.faults[0].file);
    CPPUNIT_ASSERT_EQUAL(2, reading_.faults[0].line);
    CPPUNIT_ASSERT_EQUAL(place_ / "a.jsonl:4: no JSON object", fault_text(reading_.faults[1]));
    CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), reading_.faults[1].what);
  }

  void a_line_without_end_takes_no_memory() {
    const std::string much(longest_record + 5, ' ');
    write_packed(place_ / "a.jsonl.gz", gap_line(1) + much + much + "\n" + gap_line(2) + much);
    CPPUNIT_ASSERT_EQUAL(std::string("1 2"), read());
    tells(1, 1);
    CPPUNIT_ASSERT_EQUAL(2, reading_.faults.at(0).line);
  }

  void without_a_cluster_the_file_names_it() {
    write_packed(place_ / "servers_6.jsonl.gz", gap_line(1, ""));
    RunId id;
    write_text(place_ / "z.jsonl", to_line(EndRecord()) + "\n");
    std::string named;
    read_dataset(place_.path(), [&](const Record &record) {
      if (const auto *gap = std::get_if<GapRecord>(&record)) named = gap->cluster;
      if (const auto *end = std::get_if<EndRecord>(&record)) id = end->id;
    });
    CPPUNIT_ASSERT_EQUAL(std::string("servers_6"), named);
    CPPUNIT_ASSERT_EQUAL(std::string("z"), id.cluster);
  }

  void what_is_no_file_of_a_dataset_is_left_alone() {
    write_text(place_ / "a.jsonl", gap_line(1));
    for (const char *name : {".b.jsonl.gz", ".b.jsonl", "b.json", "b.jsonl.old", "jsonl", ".jsonl"})
      write_text(place_ / name, "nothing");
    CPPUNIT_ASSERT_EQUAL(std::string("1"), read());
    tells(0, 0);
  }

  void a_fifo_or_a_directory_by_such_a_name_stops_nobody() {
    CPPUNIT_ASSERT_EQUAL(0, mkfifo((place_ / "a.jsonl").c_str(), 0600));
    make_directory(place_ / "b.jsonl");
    write_text(place_ / "c.jsonl", gap_line(1));
    CPPUNIT_ASSERT_EQUAL(std::string("1"), read());
    tells(0, 0, 2);
    CPPUNIT_ASSERT_EQUAL(place_ / "a.jsonl: is no regular file", fault_text(reading_.faults.at(0)));
  }

  void what_the_taker_throws_comes_through() {
    write_text(place_ / "a.jsonl", gap_line(1));
    const auto refuse = [](const Record &) { throw std::runtime_error("enough"); };
    CPPUNIT_ASSERT_THROW(read_dataset(place_.path(), refuse), std::runtime_error);
  }

  void a_directory_with_nothing_to_read_is_refused() {
    CPPUNIT_ASSERT_THROW(read(), std::runtime_error);
    CPPUNIT_ASSERT(!has_dataset(place_.path()) && !has_dataset(place_ / "nowhere"));
    write_text(place_ / "other", "");
    CPPUNIT_ASSERT(!has_dataset(place_.path()));
    CPPUNIT_ASSERT_THROW(has_dataset(place_ / "other"), std::runtime_error);
    write_packed(place_ / "a.jsonl.gz", "");
    CPPUNIT_ASSERT(has_dataset(place_.path()));
    CPPUNIT_ASSERT_THROW(read_dataset(place_ / "nowhere", [](const Record &) {}), std::runtime_error);
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(DatasetReaderTest);

} // namespace harmony
