#include "src/record/dataset_reader.h"

#include "src/record/dataset_names.h"
#include "src/record/gzip.h"
#include "src/record/record_fields.h"
#include "src/store/list_directory.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <type_traits>

namespace harmony {
namespace {

constexpr std::size_t most_faults = 20; // that are told one by one, of records and of files
constexpr std::size_t piece = 64 << 10;

using Take = std::function<void(const Record &, const RecordPlace &)>;

class FileOfLines {
public:
  FileOfLines(std::string path, const std::string &stem, const Take &take, DatasetReading &reading)
      : path_(std::move(path)), stem_(stem.substr(0, longest_record_name)), take_(take), reading_(reading) {}

  void read(int fd) {
    GzipReader file(fd);
    std::string buffer(piece, '\0');
    while (const std::size_t got = file.read(buffer.data(), buffer.size())) take_piece({buffer.data(), got});
    if (!file.problem().empty()) {
      forget_faults();
      damage(fmt::format("damaged: nothing behind line {} can be read ({})", sound_line_, file.problem()));
    } else if (file.torn() || !rest_.empty() || too_long_) {
      ++reading_.torn;
    }
  }

  void damage(const std::string &what) {
    if (++reading_.damaged <= most_faults) reading_.faults.push_back({path_, 0, one_line(what)});
  }

private:
  // What was garbled before zlib noticed is part of the damage.
  void forget_faults() {
    reading_.faulty -= static_cast<std::uint64_t>(line_ - sound_line_);
    const auto is_behind = [this](const DatasetFault &fault) {
      return fault.file == path_ && fault.line > sound_line_;
    };
    reading_.faults.erase(std::remove_if(reading_.faults.begin(), reading_.faults.end(), is_behind),
                          reading_.faults.end());
  }

  void fault(const std::string &what) {
    if (++reading_.faulty <= most_faults) reading_.faults.push_back({path_, line_, one_line(what)});
  }

  void take_piece(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      take_line();
      bytes.remove_prefix(end + 1);
    }
  }

  // No more of a line than it takes to see that it is too long.
  void keep(std::string_view part) {
    if (rest_.size() + part.size() > longest_record)
      too_long_ = true;
    else if (!too_long_)
      rest_ += part;
  }

  void take_line() {
    ++line_;
    std::optional<Record> record;
    try {
      if (too_long_) throw std::runtime_error(fmt::format("the line is longer than {} bytes", longest_record));
      record = record_of_line(rest_);
    } catch (const std::runtime_error &wrong) {
      fault(wrong.what());
    }
    rest_.clear();
    too_long_ = false;
    if (record) take(*record);
  }

  void take(Record &record) {
    std::visit(
        [this](auto &each) {
          std::string *cluster = nullptr;
          using R = std::decay_t<decltype(each)>;
          if constexpr (std::is_same_v<R, NodeRecord> || std::is_same_v<R, GapRecord>)
            cluster = &each.cluster;
          else
            cluster = &each.id.cluster;
          if (cluster->empty()) *cluster = stem_;
        },
        record);
    ++reading_.records;
    sound_line_ = line_;
    take_(record, {path_, line_});
  }

  const std::string path_, stem_;
  const Take &take_;
  DatasetReading &reading_;
  std::string rest_; // of the line that is not yet whole
  bool too_long_ = false;
  int line_ = 0, sound_line_ = 0; // the latest; the latest that was a record
};

// -1 if there is none such any more: while a dataset is read it may be written.
int open_entry(const OpenDirectory &directory, const DatasetEntry &entry, std::string &name) {
  for (const std::string_view ending : {plain_ending, packed_ending}) {
    name = entry.stem + std::string(ending);
    // O_NONBLOCK: a FIFO must not stop us
    const int fd = openat(directory.fd.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 || errno != ENOENT) return fd;
  }
  return -1;
}

void read_entry(const OpenDirectory &directory, const DatasetEntry &entry, const Take &take, DatasetReading &reading) {
  std::string name;
  const int fd = open_entry(directory, entry, name);
  const int error = errno;
  if (fd < 0 && error == ENOENT) return;
  FileOfLines lines(fmt::format("{}/{}", directory.path, printable(name, 255)), printable(entry.stem, 255), take,
                    reading);
  ++reading.files;
  struct stat facts {};
  if (fd < 0) return lines.damage(fmt::format("cannot be read: {}", std::strerror(error)));
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(fd);
    return lines.damage("is no regular file");
  }
  reading.bytes += static_cast<std::uint64_t>(facts.st_size);
  lines.read(fd);
}

OpenDirectory open_directory(const std::string &path) {
  OpenDirectory opened;
  opened.path = path;
  opened.fd = Descriptor(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.fd.is_open()) throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno)));
  return opened;
}

std::vector<DatasetEntry> entries_of(const OpenDirectory &directory) {
  const DirectoryListing listing = list_directory(directory);
  if (!listing.problem.empty()) throw std::runtime_error(listing.problem);
  return dataset_entries(listing.names);
}

} // namespace

std::string fault_text(const DatasetFault &fault) {
  if (fault.line == 0) return fmt::format("{}: {}", fault.file, fault.what);
  return fmt::format("{}:{}: {}", fault.file, fault.line, fault.what);
}

DatasetReading read_dataset(const std::string &directory, const std::function<void(const Record &)> &take) {
  return read_dataset(directory, [&take](const Record &record, const RecordPlace &) { take(record); });
}

bool has_dataset(const std::string &directory) {
  struct stat there {};
  if (stat(directory.c_str(), &there) != 0 && errno == ENOENT) return false;
  return !entries_of(open_directory(directory)).empty();
}

DatasetReading read_dataset(const std::string &directory, const Take &take) {
  const OpenDirectory opened = open_directory(directory);
  const std::vector<DatasetEntry> entries = entries_of(opened);
  if (entries.empty()) throw std::runtime_error(fmt::format("{}: no *.jsonl or *.jsonl.gz file there", directory));
  DatasetReading reading;
  for (const DatasetEntry &entry : entries) read_entry(opened, entry, take, reading);
  return reading;
}

} // namespace harmony
