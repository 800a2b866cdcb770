// The names of a dataset's files, and their order. DatasetWriter names its files by the time they are begun at, so that
// their names sort in the order of writing, by whatever program; simulations name theirs as they like. Any thread.
//
//   20261116T103000Z-0000.jsonl      plain
//   20261116T103000Z-0000.jsonl.gz   compressed
//   .20261116T103000Z-0000.jsonl.gz  being compressed
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

constexpr std::string_view plain_ending = ".jsonl";
constexpr std::string_view packed_ending = ".jsonl.gz";

// Without the ending; empty if the name is that of no file of a dataset. Hidden files are none.
std::string dataset_stem(std::string_view name);

// Whether it is a stem that next_stem() gives. Only such files are ever removed.
bool is_own_stem(std::string_view stem);

// For a file begun now, behind `newest` (empty: there is none), however the clock was turned.
std::string next_stem(std::time_t now, const std::string &newest);

// A file by its stem, and in which forms it is there.
struct DatasetEntry {
  std::string stem;
  bool plain = false, packed = false;
};

// Those among the names of a directory, in the order of their stems.
std::vector<DatasetEntry> dataset_entries(const std::vector<std::string> &names);

} // namespace harmony
