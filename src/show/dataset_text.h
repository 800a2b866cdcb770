// What is in a dataset, for people and for programs. Types and states are texts of others: no byte of them is printed
// that a terminal would act upon. May be called from any thread.
#pragma once

#include "src/record/dataset_stats.h"

#include <string>

namespace harmony {

std::string dataset_stats_text(const DatasetStats &stats, const std::string &dataset);
std::string dataset_stats_json(const DatasetStats &stats, const std::string &dataset); // a line

// 12 B, 3.4 MB
std::string bytes_text(std::uint64_t bytes);

} // namespace harmony
