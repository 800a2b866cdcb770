// The files behind the truth of tables, read and looked up. Plain values; const functions may be called from any
// thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

class SpeedTable {
public:
  SpeedTable() = default;
  explicit SpeedTable(const std::string &path); // throws BadInput

  // Nothing if the type has no row. The rule of the nearest row is told in tables.h.
  std::optional<double> speed(const std::string &type, int workers, int nodes) const;

private:
  struct Row {
    int workers = 0, nodes = 0;
    double speed = 0;
  };
  std::map<std::string, std::vector<Row>> rows_; // by nodes, then by workers
};

// A job as the pair table tells jobs apart.
struct JobKind {
  std::string type;
  int workers = 0, nodes = 0;
  bool operator<(const JobKind &other) const;
};

class PairTable {
public:
  PairTable() = default;
  explicit PairTable(const std::string &path); // throws BadInput

  double ratio(const JobKind &victim, const JobKind &aggressor) const; // 1 if there is no row

private:
  std::map<std::pair<std::string, std::string>, double> ratios_;
};

} // namespace harmony
