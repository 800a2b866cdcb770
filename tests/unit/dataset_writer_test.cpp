#include "src/record/dataset_reader.h"
#include "src/record/dataset_writer.h"
#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace harmony {

namespace {

constexpr int patience_ms = 30000; // only a failed test waits so long

std::mutex said_mutex;
std::string said;

void listen(bool is_error, const std::string &line) {
  const std::lock_guard lock(said_mutex);
  said += (is_error ? "error: " : "info: ") + line + "\n";
}
std::string all_said() {
  const std::lock_guard lock(said_mutex);
  return said;
}

EndRecord end_of(std::uint32_t job, int run = 0) {
  EndRecord record;
  record.id = {"c", job, run};
  return record;
}

void wait_for(const std::string &what, const std::function<bool()> &is_so) {
  for (int i = 0; i < patience_ms / 10; ++i) {
    if (is_so()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CPPUNIT_FAIL(what);
}

// No file of this process grows beyond so many bytes while it is there: what is written stops in the middle of a line.
class SmallDisk {
public:
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
  rlimit before_{};
};

} // namespace

class DatasetWriterTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetWriterTest);
  CPPUNIT_TEST(what_is_put_is_read_back_in_its_order);
  CPPUNIT_TEST(many_threads_may_put);
  CPPUNIT_TEST(without_a_directory_nothing_is_written_or_lost);
  CPPUNIT_TEST(a_new_directory_gets_what_is_put_after_it_was_set);
  CPPUNIT_TEST(what_waits_where_nothing_can_be_written_goes_to_the_new_directory);
  CPPUNIT_TEST(a_full_queue_counts_what_it_loses_and_a_gap_tells_of_it_at_its_place);
  CPPUNIT_TEST(a_queue_is_full_by_its_memory_too);
  CPPUNIT_TEST(a_disk_that_is_full_in_the_middle_of_a_line_tears_nothing);
  CPPUNIT_TEST(a_directory_removed_under_it_is_made_again);
  CPPUNIT_TEST(turning_it_off_counts_what_could_not_be_written);
  CPPUNIT_TEST(off_and_on_again_in_a_moment_loses_nothing);
  CPPUNIT_TEST(texts_of_megabytes_are_written_short);
  CPPUNIT_TEST(files_are_rotated_packed_and_taken_away_while_it_goes_on);
  CPPUNIT_TEST(what_an_earlier_process_left_is_packed_at_the_start);
  CPPUNIT_TEST(its_end_writes_what_is_queued);
  CPPUNIT_TEST(its_end_does_not_wait_for_a_disk_that_cannot_be_written);
  CPPUNIT_TEST(killed_at_any_moment_it_leaves_only_whole_records_and_all_that_were_flushed);
  CPPUNIT_TEST_SUITE_END();

  Place place_;
  DatasetOptions options_;

public:
  void setUp() override {
    const std::lock_guard lock(said_mutex);
    said.clear();
    options_.directory = place_ / "dataset";
    options_.cluster = "c";
  }

private:
  // Jobs in the order they are read, gaps as -LOST.
  std::vector<std::int64_t> read(const std::string &name = "dataset") const {
    std::vector<std::int64_t> all;
    const DatasetReading reading = read_dataset(place_ / name, [&all](const Record &record) {
      if (const auto *gap = std::get_if<GapRecord>(&record))
        all.push_back(-static_cast<std::int64_t>(gap->lost));
      else
        all.push_back(std::get<EndRecord>(record).id.job);
    });
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, reading.faulty + reading.torn);
    return all;
  }
  static std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> all;
    for (; first <= last; ++first) all.push_back(first);
    return all;
  }
  static void put(DatasetWriter &writer, std::uint32_t first, std::uint32_t last) {
    for (; first <= last; ++first) CPPUNIT_ASSERT(writer.put(end_of(first)));
  }
  static void flush(DatasetWriter &writer) { CPPUNIT_ASSERT(writer.flush(patience_ms)); }
  static bool has_problem(const DatasetWriter &writer) { return !writer.figures().problem.empty(); }

  void what_is_put_is_read_back_in_its_order() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    put(writer, 1, 1000);
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 1000));
    const DatasetFigures figures = writer.figures();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1000}, figures.written);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, figures.lost);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, figures.generation);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{std::filesystem::file_size(figures.file)}, figures.bytes);
    CPPUNIT_ASSERT_EQUAL(std::string(), all_said());
  }

  void many_threads_may_put() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 4; ++i)
      threads.emplace_back([&writer, i] {
        for (std::uint32_t n = 0; n < 500; ++n) {
          writer.put(end_of(i * 500 + n));
          writer.figures();
        }
      });
    for (std::thread &thread : threads) thread.join();
    flush(writer);
    std::vector<std::int64_t> all = read();
    std::sort(all.begin(), all.end());
    CPPUNIT_ASSERT(all == numbers(0, 1999));
  }

  void without_a_directory_nothing_is_written_or_lost() {
    DatasetWriter writer(listen);
    CPPUNIT_ASSERT(writer.put(end_of(1)));
    writer.set_options({});
    CPPUNIT_ASSERT(writer.put(end_of(2)) && writer.flush(0));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, writer.figures().written + writer.figures().lost);
  }

  void a_new_directory_gets_what_is_put_after_it_was_set() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    put(writer, 1, 100);
    options_.directory = place_ / "other";
    writer.set_options(options_);
    put(writer, 101, 200);
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 100));
    CPPUNIT_ASSERT(read("other") == numbers(101, 200));
  }

  void what_waits_where_nothing_can_be_written_goes_to_the_new_directory() {
    const std::string good = options_.directory;
    DatasetWriter writer(listen);
    options_.directory = place_ / "no/where";
    writer.set_options(options_);
    put(writer, 1, 100);
    wait_for("no problem", [&] { return has_problem(writer); });
    CPPUNIT_ASSERT(has(all_said(), "error: dataset: cannot make " + options_.directory + ": No such file"));
    options_.directory = good;
    writer.set_options(options_);
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 100));
    CPPUNIT_ASSERT(has(all_said(), "info: dataset: " + good + " is written again"));
    CPPUNIT_ASSERT(!has_problem(writer));
  }

  void a_full_queue_counts_what_it_loses_and_a_gap_tells_of_it_at_its_place() {
    DatasetWriter writer(listen);
    options_.directory = place_ / "late/dataset";
    options_.queue_lines = 10;
    writer.set_options(options_);
    put(writer, 1, 1);
    wait_for("no problem", [&] { return has_problem(writer); }); // with the first one in hand
    put(writer, 2, 11);
    for (std::uint32_t i = 12; i <= 30; ++i) CPPUNIT_ASSERT(!writer.put(end_of(i)));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{19}, writer.figures().lost);
    make_directory(place_ / "late");
    flush(writer);
    put(writer, 31, 31);
    flush(writer);
    std::vector<std::int64_t> expected = numbers(1, 11);
    expected.insert(expected.end(), {-19, 31});
    CPPUNIT_ASSERT(read("late/dataset") == expected);
    CPPUNIT_ASSERT(has(all_said(), "error: dataset: 19 records were lost: cannot make "));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{19}, writer.figures().lost);
    CPPUNIT_ASSERT(!has_problem(writer));
  }

  void a_queue_is_full_by_its_memory_too() {
    DatasetWriter writer(listen);
    options_.directory = place_ / "late/dataset";
    options_.queue_bytes = 1 << 20;
    writer.set_options(options_);
    EndRecord large = end_of(1);
    large.type = std::string(300 << 10, 'x');
    int taken = 0;
    for (int i = 0; i < 20; ++i) taken += writer.put(large);
    CPPUNIT_ASSERT(taken >= 3 && taken <= 4); // one may be in hand
    large.type = std::string(2 << 20, 'x');
    CPPUNIT_ASSERT(!writer.put(large));
  }

  void a_disk_that_is_full_in_the_middle_of_a_line_tears_nothing() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    put(writer, 1, 10);
    flush(writer);
    {
      const SmallDisk disk(writer.figures().bytes + to_line(end_of(11)).size() / 2);
      put(writer, 11, 40);
      wait_for("no problem", [&] { return has_problem(writer); });
      CPPUNIT_ASSERT(has(all_said(), "File too large"));
      CPPUNIT_ASSERT(read() == numbers(1, 10));
    }
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 40));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, writer.figures().generation);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, writer.figures().lost);
  }

  void a_directory_removed_under_it_is_made_again() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    put(writer, 1, 10);
    flush(writer);
    std::filesystem::remove_all(options_.directory);
    put(writer, 11, 20);
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(11, 20));
  }

  void turning_it_off_counts_what_could_not_be_written() {
    DatasetWriter writer(listen);
    options_.directory = place_ / "no/where";
    writer.set_options(options_);
    put(writer, 1, 20);
    wait_for("no problem", [&] { return has_problem(writer); });
    writer.set_options({});
    flush(writer);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{20}, writer.figures().lost);
    CPPUNIT_ASSERT(!has_problem(writer));
    CPPUNIT_ASSERT(writer.put(end_of(21)));
    options_.directory = place_ / "dataset";
    writer.set_options(options_);
    put(writer, 22, 23);
    flush(writer);
    CPPUNIT_ASSERT(read() == (std::vector<std::int64_t>{-20, 22, 23}));
    CPPUNIT_ASSERT(has(all_said(), "error: dataset: 20 records were lost: cannot make "));
  }

  void off_and_on_again_in_a_moment_loses_nothing() {
    DatasetWriter writer(listen);
    for (std::uint32_t i = 0; i < 50; ++i) {
      writer.set_options(options_);
      put(writer, 10 * i + 1, 10 * i + 10);
      writer.set_options({});
    }
    writer.set_options(options_);
    flush(writer);
    put(writer, 501, 501);
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 501));
  }

  void texts_of_megabytes_are_written_short() {
    DatasetWriter writer(listen);
    writer.set_options(options_);
    EndRecord record = end_of(1);
    record.type = std::string(10 << 20, '\n');
    CPPUNIT_ASSERT(writer.put(record));
    flush(writer);
    CPPUNIT_ASSERT(read() == numbers(1, 1));
    CPPUNIT_ASSERT(writer.figures().bytes < 1000);
  }

  void files_are_rotated_packed_and_taken_away_while_it_goes_on() {
    DatasetWriter writer(listen);
    options_.file_bytes = 20000;
    options_.most_bytes = 40000; // so a file has 10,000
    writer.set_options(options_);
    std::uint32_t last = 0;
    wait_for("files are not taken away", [&] {
      put(writer, last + 1, last + 500);
      last += 500;
      flush(writer);
      return read().at(0) > 1;
    });
    wait_for("more than is allowed", [&] {
      std::uint64_t bytes = 0, packed = 0;
      for (const auto &entry : std::filesystem::directory_iterator(options_.directory)) {
        std::error_code gone; // being compressed just now
        const std::uint64_t size = entry.file_size(gone);
        bytes += gone ? 0 : size;
        packed += entry.path().extension() == ".gz" ? 1 : 0;
      }
      const DatasetFigures figures = writer.figures();
      return bytes <= options_.most_bytes && packed > 1 && figures.directory_bytes == bytes &&
             figures.files == packed + 1;
    });
    const std::vector<std::int64_t> all = read(); // once nothing is taken away under the reader
    CPPUNIT_ASSERT(all == numbers(all.at(0), last));
  }

  void what_an_earlier_process_left_is_packed_at_the_start() {
    make_directory(options_.directory);
    const std::string plain = options_.directory + "/20251116T120000Z-0000.jsonl";
    write_text(plain, to_line(end_of(1)) + "\n" + to_line(end_of(2)) + "\n");
    DatasetWriter writer(listen);
    writer.set_options(options_);
    wait_for("not packed", [&] { return !std::filesystem::exists(plain); });
    CPPUNIT_ASSERT(read() == numbers(1, 2));
  }

  void its_end_writes_what_is_queued() {
    {
      DatasetWriter writer(listen);
      writer.set_options(options_);
      put(writer, 1, 200);
    }
    CPPUNIT_ASSERT(read() == numbers(1, 200));
  }

  void its_end_does_not_wait_for_a_disk_that_cannot_be_written() {
    const auto begin = std::chrono::steady_clock::now();
    {
      DatasetWriter writer(listen);
      options_.directory = place_ / "no/where";
      writer.set_options(options_);
      put(writer, 1, 20);
      CPPUNIT_ASSERT(!writer.flush(50));
    }
    CPPUNIT_ASSERT(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)); // 2 s, and a busy machine
  }

  // Writes until it is killed, and tells through the pipe what was flushed.
  [[noreturn]] void write_for_ever(int to, int round) const {
    DatasetOptions options = options_;
    options.file_bytes = 20000;
    DatasetWriter writer(nullptr);
    writer.set_options(options);
    for (std::uint32_t job = 1;; ++job) {
      writer.put(end_of(job, round));
      if (job % 16 == 0 && writer.flush(patience_ms) && write(to, &job, sizeof job) != sizeof job) _exit(1);
    }
  }

  // The last job that the child was sure of when it was killed, after so long.
  std::uint32_t killed_after(int microseconds, int round) const {
    int ends[2];
    CPPUNIT_ASSERT_EQUAL(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) write_for_ever(ends[1], round);
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::uint32_t job = 0, flushed = 0;
    while (::read(ends[0], &job, sizeof job) == sizeof job) flushed = job;
    close(ends[0]);
    return flushed;
  }

  void killed_at_any_moment_it_leaves_only_whole_records_and_all_that_were_flushed() {
    constexpr int rounds = 200;
    std::mt19937 random(7);
    std::vector<std::uint32_t> flushed, seen(rounds);
    for (int round = 0; round < rounds; ++round)
      flushed.push_back(killed_after(std::uniform_int_distribution<int>(0, 20000)(random), round));
    const DatasetReading reading = read_dataset(options_.directory, [&](const Record &record) {
      const RunId &id = std::get<EndRecord>(record).id;
      CPPUNIT_ASSERT_EQUAL(seen.at(static_cast<std::size_t>(id.run)) + 1, id.job); // none twice, none left out
      seen[static_cast<std::size_t>(id.run)] = id.job;
    });
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, reading.faulty);
    std::uint64_t sure = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CPPUNIT_ASSERT(seen[i] >= flushed[i]);
      sure += flushed[i];
    }
    CPPUNIT_ASSERT(sure > rounds); // or nothing was shown
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(DatasetWriterTest);

} // namespace harmony
