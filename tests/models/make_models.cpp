// Writes small TorchScript models for tests and benchmarks: good ones whose weights are given by column, and one of
// every kind that is wrong. Only model.pt; manifests are written by the tests.
//   make-test-models --kind linear --job-width 4 --candidate-width 8 --gang-width 6 --candidate-weights 3=1,7=-2.5
//                    --gang-weights 0=100 model.pt
//   make-test-models --kind all ... DIRECTORY

#include "tests/models/kinds.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char **argv) {
  CLI::App app("Writes a TorchScript model for tests.", "make-test-models");
  models::Wanted wanted;
  std::string file;
  app.add_option("--kind", wanted.kind, "one of: " + models::kinds())->required();
  app.add_option("--types", wanted.types, "rows of the type embedding");
  app.add_option("--job-width", wanted.job);
  app.add_option("--candidate-width", wanted.candidate);
  app.add_option("--gang-width", wanted.gang);
  app.add_option("--candidate-weights", wanted.candidate_weights, "COLUMN=WEIGHT,...");
  app.add_option("--gang-weights", wanted.gang_weights, "COLUMN=WEIGHT,...");
  app.add_option("file", file, "where to write it")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    models::write(wanted, file);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "make-test-models: %s\n", error.what());
    return 1;
  }
}
