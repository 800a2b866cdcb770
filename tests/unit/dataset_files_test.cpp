#include "src/record/dataset_files.h"
#include "src/record/dataset_names.h"
#include "src/record/dataset_reader.h"
#include "src/record/dataset_upkeep.h"
#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <atomic>

namespace harmony {

namespace {

constexpr std::time_t noon = 1763294400; // 16 November 2025
constexpr std::uint64_t large = 1 << 20;

std::string gap_line(std::uint64_t lost) { return to_line(GapRecord{"c", lost, 1, ""}) + "\n"; }

} // namespace

class DatasetFilesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetFilesTest);
  CPPUNIT_TEST(names_sort_in_the_order_of_writing);
  CPPUNIT_TEST(names_of_others_are_not_ours);
  CPPUNIT_TEST(a_file_is_ended_by_its_size_and_at_midnight);
  CPPUNIT_TEST(a_clock_that_is_turned_back_begins_a_file_that_sorts_behind);
  CPPUNIT_TEST(a_small_step_of_the_clock_changes_nothing);
  CPPUNIT_TEST(files_are_for_their_owner_and_group);
  CPPUNIT_TEST(only_the_last_part_of_a_path_is_made);
  CPPUNIT_TEST(a_link_and_a_directory_of_everybody_are_refused);
  CPPUNIT_TEST(a_file_that_was_removed_or_cut_is_not_written_on);
  CPPUNIT_TEST(a_directory_that_was_removed_is_made_again);
  CPPUNIT_TEST(a_directory_that_was_moved_is_left);
  CPPUNIT_TEST(two_writers_have_files_of_their_own);
  CPPUNIT_TEST(ended_files_are_packed_and_the_one_being_written_is_not);
  CPPUNIT_TEST(packing_again_after_a_kill_keeps_every_record);
  CPPUNIT_TEST(the_oldest_are_taken_away);
  CPPUNIT_TEST(files_of_others_are_never_touched);
  CPPUNIT_TEST_SUITE_END();

  Place place_;
  std::string path_ = place_ / "dataset";
  DatasetFiles files_;
  const std::atomic<bool> go_on_{false};

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string read() const {
    std::string all;
    const DatasetReading reading = read_dataset(path_, [&all](const Record &record) {
      all += (all.empty() ? "" : " ") + std::to_string(std::get<GapRecord>(record).lost);
    });
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, reading.faulty);
    return all;
  }
  void append(std::uint64_t lost, std::time_t now) {
    CPPUNIT_ASSERT_EQUAL(std::string(), files_.append(gap_line(lost), now));
  }
  UpkeepResult keep(std::uint64_t most_bytes = large) const {
    return keep_dataset(open_dataset_directory(path_), most_bytes, go_on_);
  }
  void kept(std::uint64_t most_bytes = large) const { CPPUNIT_ASSERT_EQUAL(std::string(), keep(most_bytes).problem); }

  void names_sort_in_the_order_of_writing() {
    CPPUNIT_ASSERT_EQUAL(std::string("20251116T120000Z-0000"), next_stem(noon, ""));
    CPPUNIT_ASSERT_EQUAL(std::string("20251116T120000Z-0001"), next_stem(noon, "20251116T120000Z-0000"));
    CPPUNIT_ASSERT_EQUAL(std::string("20251116T120000Z-0010"), next_stem(noon, "20251116T120000Z-0009"));
    CPPUNIT_ASSERT_EQUAL(std::string("20991231T235959Z-0001"), next_stem(noon, "20991231T235959Z-0000"));
    CPPUNIT_ASSERT_EQUAL(std::string("21000101T000000Z-0000"), next_stem(noon, "20991231T235959Z-9999"));
    std::string before;
    for (const std::time_t now : {noon, noon, noon - 100000, noon + 1, std::time_t{0}, std::time_t{-5}, noon + 2}) {
      const std::string stem = next_stem(now, before);
      CPPUNIT_ASSERT(is_own_stem(stem) && stem > before);
      before = stem;
    }
  }

  void names_of_others_are_not_ours() {
    for (const char *name : {"", "servers_6", "20251116T120000Z-000", "20251116T120000Z-00000", "20251116T120000Z_0000",
                             "2025111aT120000Z-0000", "20251116T120000Z-0000.jsonl"})
      CPPUNIT_ASSERT(!is_own_stem(name));
  }

  void a_file_is_ended_by_its_size_and_at_midnight() {
    files_.set(path_, 2 * gap_line(1).size());
    for (std::uint64_t i = 1; i <= 5; ++i) append(i, noon);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, names().size());
    append(6, noon + 12 * 3600 - 1);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, names().size());
    append(7, noon + 12 * 3600);
    CPPUNIT_ASSERT_EQUAL(std::string("20251117T000000Z-0000.jsonl"), names().back());
    CPPUNIT_ASSERT_EQUAL(std::string("1 2 3 4 5 6 7"), read());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{4}, files_.generation());
  }

  void a_clock_that_is_turned_back_begins_a_file_that_sorts_behind() {
    files_.set(path_, large);
    append(1, noon);
    append(2, noon - 3600);
    append(3, noon - 3599);
    append(4, noon - 100 * 24 * 3600);
    CPPUNIT_ASSERT(names() == (std::vector<std::string>{"20251116T120000Z-0000.jsonl", "20251116T120000Z-0001.jsonl",
                                                        "20251116T120000Z-0002.jsonl"}));
    CPPUNIT_ASSERT_EQUAL(std::string("1 2 3 4"), read());
  }

  void a_small_step_of_the_clock_changes_nothing() {
    files_.set(path_, large);
    append(1, noon);
    append(2, noon - 1);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, names().size());
  }

  void files_are_for_their_owner_and_group() {
    const mode_t before = umask(077);
    files_.set(path_, large);
    append(1, noon);
    umask(before);
    struct stat facts {};
    CPPUNIT_ASSERT_EQUAL(0, stat(files_.file().c_str(), &facts));
    CPPUNIT_ASSERT_EQUAL(0640U, facts.st_mode & 07777);
    files_.end();
    kept();
    CPPUNIT_ASSERT_EQUAL(0, stat((path_ + "/" + names().at(0)).c_str(), &facts));
    CPPUNIT_ASSERT_EQUAL(0640U, facts.st_mode & 07777);
  }

  void only_the_last_part_of_a_path_is_made() {
    files_.set(place_ / "no/where", large);
    CPPUNIT_ASSERT(has(files_.append(gap_line(1), noon), "cannot make " + (place_ / "no/where")));
    CPPUNIT_ASSERT(!std::filesystem::exists(place_ / "no"));
    files_.set("relative", large);
    CPPUNIT_ASSERT_EQUAL(std::string("relative is no absolute path"), files_.append(gap_line(1), noon));
  }

  void a_link_and_a_directory_of_everybody_are_refused() {
    make_directory(place_ / "real");
    std::filesystem::create_symlink(place_ / "real", path_);
    files_.set(path_, large);
    CPPUNIT_ASSERT(has(files_.append(gap_line(1), noon), "is a symbolic link"));
    files_.set(place_ / "real", large);
    chmod((place_ / "real").c_str(), 0777);
    CPPUNIT_ASSERT(has(files_.append(gap_line(1), noon), "can be written by others"));
    write_text(place_ / "file", "");
    files_.set(place_ / "file", large);
    CPPUNIT_ASSERT(has(files_.append(gap_line(1), noon), "Not a directory"));
    CPPUNIT_ASSERT(std::filesystem::is_empty(place_ / "real"));
  }

  void a_file_that_was_removed_or_cut_is_not_written_on() {
    files_.set(path_, large);
    append(1, noon);
    append(2, noon);
    CPPUNIT_ASSERT_EQUAL(0, truncate(files_.file().c_str(), static_cast<off_t>(gap_line(1).size())));
    append(3, noon);
    CPPUNIT_ASSERT_EQUAL(std::string("1 3"), read());
    std::filesystem::remove(files_.file());
    append(4, noon);
    CPPUNIT_ASSERT_EQUAL(std::string("1 4"), read());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, files_.generation());
  }

  void a_directory_that_was_removed_is_made_again() {
    files_.set(path_, large);
    append(1, noon);
    std::filesystem::remove_all(path_);
    append(2, noon);
    CPPUNIT_ASSERT_EQUAL(std::string("2"), read());
  }

  void a_directory_that_was_moved_is_left() {
    files_.set(path_, large);
    append(1, noon);
    std::filesystem::rename(path_, place_ / "old");
    CPPUNIT_ASSERT_EQUAL(std::string(), files_.sync());
    append(2, noon);
    CPPUNIT_ASSERT_EQUAL(std::string("2"), read());
  }

  void two_writers_have_files_of_their_own() {
    DatasetFiles other;
    files_.set(path_, large);
    other.set(path_, large);
    append(1, noon);
    CPPUNIT_ASSERT_EQUAL(std::string(), other.append(gap_line(2), noon));
    append(3, noon);
    CPPUNIT_ASSERT(files_.file() != other.file());
    CPPUNIT_ASSERT_EQUAL(std::string("1 3 2"), read());
    kept(0); // neither is touched by the other's upkeep
    CPPUNIT_ASSERT_EQUAL(std::string("1 3 2"), read());
  }

  void ended_files_are_packed_and_the_one_being_written_is_not() {
    files_.set(path_, gap_line(1).size());
    for (std::uint64_t i = 1; i <= 3; ++i) append(i, noon);
    const UpkeepResult result = keep();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, result.files);
    CPPUNIT_ASSERT(names() ==
                   (std::vector<std::string>{"20251116T120000Z-0000.jsonl.gz", "20251116T120000Z-0001.jsonl.gz",
                                             "20251116T120000Z-0002.jsonl"}));
    append(4, noon);
    CPPUNIT_ASSERT_EQUAL(std::string("1 2 3 4"), read());
    CPPUNIT_ASSERT_EQUAL(std::string("20251116T120000Z-0003.jsonl"), names().back());
  }

  void packing_again_after_a_kill_keeps_every_record() {
    files_.set(path_, large);
    append(1, noon);
    append(2, noon);
    const std::string plain = files_.file(), text = read_text(plain);
    files_.end();
    kept();
    write_text(plain, text); // killed before it was removed
    write_text(path_ + "/.20251116T120000Z-0000.jsonl.gz", "half");
    write_text(path_ + "/.20200101T000000Z-0000.jsonl.gz", "half"); // whose plain file is gone
    CPPUNIT_ASSERT_EQUAL(std::string("1 2"), read());
    kept();
    CPPUNIT_ASSERT(names() == std::vector<std::string>{"20251116T120000Z-0000.jsonl.gz"});
    CPPUNIT_ASSERT_EQUAL(std::string("1 2"), read());
  }

  void the_oldest_are_taken_away() {
    files_.set(path_, gap_line(1).size());
    for (std::uint64_t i = 1; i <= 9; ++i) append(i, noon + static_cast<std::time_t>(i));
    kept();
    const std::uint64_t each = std::filesystem::file_size(path_ + "/" + names().at(0));
    const UpkeepResult result = keep(3 * each + each / 2);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, result.files);
    CPPUNIT_ASSERT(result.bytes > 2 * each && result.bytes <= 3 * each + each / 2);
    CPPUNIT_ASSERT_EQUAL(std::string("6 7 8 9"), read());
    kept(0);
    CPPUNIT_ASSERT_EQUAL(std::string("9"), read()); // being written
  }

  void files_of_others_are_never_touched() {
    make_directory(path_);
    for (const char *name : {"notes", "a.jsonl", "b.jsonl.gz", ".a.jsonl.gz", "20251116T120000Z-0000.jsonl.old"})
      write_text(path_ + "/" + name, "notes");
    write_text(place_ / "elsewhere", "notes");
    std::filesystem::create_symlink(place_ / "elsewhere", path_ + "/20251116T120000Z-0000.jsonl");
    const std::vector<std::string> before = names();
    keep(0);
    CPPUNIT_ASSERT(names() == before);
    CPPUNIT_ASSERT_EQUAL(std::string("notes"), read_text(place_ / "elsewhere"));
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(DatasetFilesTest);

} // namespace harmony
