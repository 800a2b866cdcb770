// Writes a report of made-up comparisons: make-report FILE plain|many|large|hostile [TRAP]. For report_test.sh and for
// looking at the page while it is being worked on.
#include "src/sim/report/report.h"
#include "tests/unit/report_fixture.h"

#include <fmt/format.h>

#include <exception>

namespace {

using namespace harmony;
using namespace harmony::fixtures;

std::vector<Comparison> made(const std::string &kind, const std::string &trap) {
  ReportSize size;
  std::vector<Comparison> comparisons;
  if (kind == "plain") return {comparison("servers6", 0.7, size), comparison("mixed64", 0.9, size)};
  if (kind == "hostile") return {hostile_comparison(trap), hostile_comparison(trap)};
  if (kind == "many") {
    size.policies = 12;
    for (const char *name : {"servers6", "pcie8", "mixed64", "unseen", "shift"})
      comparisons.push_back(comparison(name, 0.9, size));
  }
  if (kind == "large") {
    size.nodes = 512;
    size.seeds = 1;
    comparisons.push_back(comparison("scale512", 0, size));
  }
  return comparisons;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  try {
    harmony::write_report(argv[1], made(argv[2], argc > 3 ? argv[3] : ""));
  } catch (const std::exception &error) {
    fmt::print(stderr, "make-report: {}\n", error.what());
    return 1;
  }
  return 0;
}
