// For the tests of the dataset, to be killed, slowed down and looked at from outside.
//
//   write_records lines N SEED                             N lines of random records, to standard output
//   write_records read DIR                                 the jobs of DIR in their order, gaps as gap:LOST
//   write_records pack DIR                                 compresses what is ended in DIR
//   write_records write DIR N [FILE_BYTES [QUEUE_LINES]]   puts ends of jobs 1 to N, one flush every 100
//   write_records burst DIR N [FILE_BYTES [QUEUE_LINES]]   the same at once, without waiting for any
//
// The last two say what was counted when all had been put, and again when all was written or 60 s were over.

#include "src/record/dataset_files.h"
#include "src/record/dataset_reader.h"
#include "src/record/dataset_upkeep.h"
#include "src/record/dataset_writer.h"
#include "tests/unit/record_fixtures.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace harmony;

void say(bool is_error, const std::string &line) {
  std::fprintf(stderr, "%s: %s\n", is_error ? "error" : "info", line.c_str());
}

int lines(int count, unsigned seed) {
  fixtures::RandomRecords random(seed);
  for (int i = 0; i < count; ++i) std::puts(to_line(random.any()).c_str());
  return 0;
}

int pack(const std::string &directory) {
  const std::atomic<bool> stop{false};
  const UpkeepResult result = keep_dataset(open_dataset_directory(directory), UINT64_MAX, stop);
  if (!result.problem.empty()) say(true, result.problem);
  return result.problem.empty() ? 0 : 1;
}

int read(const std::string &directory) {
  const DatasetReading reading = read_dataset(directory, [](const Record &record) {
    if (const auto *end = std::get_if<EndRecord>(&record)) std::printf("%u\n", end->id.job);
    if (const auto *gap = std::get_if<GapRecord>(&record))
      std::printf("gap:%lu\n", static_cast<unsigned long>(gap->lost));
  });
  for (const DatasetFault &fault : reading.faults)
    std::fprintf(stderr, "%s:%d: %s\n", fault.file.c_str(), fault.line, fault.what.c_str());
  return reading.faulty == 0 ? 0 : 1;
}

void tell(const char *when, const DatasetFigures &figures) {
  std::printf("%s: written %lu lost %lu problem %s\n", when, static_cast<unsigned long>(figures.written),
              static_cast<unsigned long>(figures.lost), figures.problem.c_str());
}

int write(const DatasetOptions &options, std::uint32_t count, bool flush) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  DatasetWriter writer(say);
  writer.set_options(options);
  for (std::uint32_t i = 1; i <= count; ++i) {
    EndRecord record;
    record.id = {"c", i, 0};
    record.type = std::string(i % 97, 'x');
    writer.put(record);
    if (flush && i % 100 == 0 && writer.flush(60000)) std::printf("flushed %u\n", i);
  }
  tell("put", writer.figures());
  writer.flush(60000);
  tell("end", writer.figures());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  if (what == "lines" && argc == 4) return lines(std::atoi(argv[2]), static_cast<unsigned>(number(3, 1)));
  if (what == "read" && argc == 3) return read(argv[2]);
  if (what == "pack" && argc == 3) return pack(argv[2]);
  if ((what == "write" || what == "burst") && argc >= 4) {
    DatasetOptions options;
    options.directory = argv[2];
    options.cluster = "c";
    options.file_bytes = number(4, options.file_bytes);
    options.queue_lines = number(5, options.queue_lines);
    return write(options, static_cast<std::uint32_t>(number(3, 0)), what == "write");
  }
  std::fputs("usage: write_records lines N SEED | read DIR | pack DIR | write|burst DIR N [FILE_BYTES [QUEUE_LINES]]\n",
             stderr);
  return 2;
}
