// A dataset as tables for spreadsheets and data frames: a header, then a line an interval, or a line a run. Written as
// it is read; what is held are the runs that have not ended. For one thread.
#pragma once

#include "src/record/dataset_reader.h"

#include <functional>
#include <string>

namespace harmony {

struct CsvExport {
  std::string directory;
  std::function<void(const std::string &line)> write; // with its end
  std::function<void()> step;                         // called for every record that is read; may be empty
};

// A line an interval, with the speeds that read_intervals() has, empty where there is none. Those of a run stand
// together, in the order in which runs end. Reads the dataset twice: speeds are relative to all of it.
DatasetReading export_intervals(const CsvExport &to);

// A line a run: its start joined with its end, in the order in which runs end; those that have not ended come last.
DatasetReading export_runs(const CsvExport &to);

// A text as a field: in quotes where that is needed, and never taken for a formula by a spreadsheet.
std::string csv_text(const std::string &text);

} // namespace harmony
