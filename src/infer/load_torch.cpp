#include "src/infer/load_torch.h"

#include "src/values/printable.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>

namespace harmony {
namespace {

// Any numbers will do, as long as they are the same everywhere: between 0 and 1, like most features.
float some_value(std::uint32_t i) { return static_cast<float>((i * 2654435761u) >> 8) / static_cast<float>(1u << 24); }

Rows some_rows(int count, int width) {
  Rows rows{count, width, {}};
  rows.values.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] = some_value(static_cast<std::uint32_t>(i));
  return rows;
}

Rows backwards(const Rows &rows) {
  Rows turned{rows.count, rows.width, {}};
  for (int i = rows.count; i-- > 0;) {
    const auto row = rows.values.begin() + static_cast<std::ptrdiff_t>(i) * rows.width;
    turned.values.insert(turned.values.end(), row, row + rows.width);
  }
  return turned;
}

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

using Ask = std::function<std::vector<float>(const Rows &)>;

// More rows than go through a model at once, so that whole and filled-up blocks are both asked.
bool rows_stand_alone(const Ask &ask, int width) {
  constexpr int count = 200;
  const Rows rows = some_rows(count, width);
  const std::vector<float> all = ask(rows), turned = ask(backwards(rows));
  for (int i = 0; i < count; ++i)
    if (!same(all[i], turned[count - 1 - i])) return false;
  for (const int i : {0, 1, 63, 64, count - 1}) {
    const auto row = rows.values.begin() + static_cast<std::ptrdiff_t>(i) * width;
    if (!same(ask({1, width, {row, row + width}})[0], all[i])) return false;
  }
  return true;
}

} // namespace

TorchLibrary open_torch_library(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    return {nullptr, fmt::format("{} cannot be opened: {}", path, one_line(why ? why : "no reason given", 300))};
  }
  const auto table_of = reinterpret_cast<decltype(&harmony_torch_library)>(dlsym(library, "harmony_torch_library"));
  if (!table_of) return {nullptr, fmt::format("{} has no function harmony_torch_library", path)};
  const HarmonyTorchLibrary *table = table_of();
  if (!table) return {nullptr, fmt::format("{} could not start LibTorch", path)};
  if (table->layout != torch_library_layout)
    return {nullptr, fmt::format("{} is of another version of slurm-harmony (layout {}, not {})", path, table->layout,
                                 torch_library_layout)};
  return {table, {}};
}

std::shared_ptr<Model> load_model(const TorchLibrary &library, const std::string &bytes, const ModelShape &shape,
                                  std::string &problem) {
  problem.clear();
  Model *model = library.table->load(bytes.data(), bytes.size(), shape, problem);
  if (!model) return nullptr;
  return std::shared_ptr<Model>(model, library.table->unload);
}

std::string warm_up(Model &model, const ModelShape &shape) {
  const JobRow job{0, some_rows(1, shape.job).values};
  if (!rows_stand_alone([&](const Rows &rows) { return model.score_candidates(job, rows); }, shape.candidate))
    return "score_candidates gives a row another score when other rows are beside it";
  if (!rows_stand_alone([&](const Rows &rows) { return model.score_gangs(job, rows); }, shape.gang))
    return "score_gangs gives a row another score when other rows are beside it";
  return {};
}

} // namespace harmony
