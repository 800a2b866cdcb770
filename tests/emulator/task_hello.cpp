#include "tests/emulator/task_hello.h"

#include "src/sim/input/line_reader.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace harmony {
namespace {

constexpr int most_gpus = 64, most_tasks = 4096;
constexpr std::size_t most_name = 64;

std::optional<int> within(const std::string &text, int least, int most) {
  const auto number = whole_in(text, least, most);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::vector<std::string> words_of(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word && words.size() < 16;) words.push_back(word);
  return words;
}

} // namespace

std::optional<std::vector<int>> gpu_list(const std::string &text) {
  std::set<int> gpus;
  if (text.empty() || text == "-") return std::vector<int>();
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = within(part.substr(0, dash), 0, most_gpus - 1);
    const auto last = dash == std::string::npos ? first : within(part.substr(dash + 1), 0, most_gpus - 1);
    if (!first || !last || *first > *last) return std::nullopt;
    for (int gpu = *first; gpu <= *last; ++gpu) gpus.insert(gpu);
  }
  return std::vector<int>(gpus.begin(), gpus.end());
}

std::string hello_text(const TaskHello &hello) {
  return fmt::format("task {} {} {} {} {} {} {} {}", hello.job, hello.slurm_job, hello.run, hello.rank, hello.tasks,
                     hello.node, hello.gpus.empty() ? "-" : fmt::format("{}", fmt::join(hello.gpus, ",")), hello.cpus);
}

std::optional<TaskHello> hello_of_text(const std::string &line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() != 9 || words[0] != "task" || words[6].size() > most_name) return std::nullopt;
  const auto job = within(words[1], 0, 1 << 30), slurm_job = within(words[2], 1, 1 << 30);
  const auto run = within(words[3], 0, 1000);
  const auto tasks = within(words[5], 1, most_tasks);
  const auto rank = within(words[4], 0, tasks.value_or(1) - 1);
  const auto gpus = gpu_list(words[7]);
  const auto cpus = within(words[8], 1, 4096);
  if (!job || !slurm_job || !run || !tasks || !rank || !gpus || !cpus) return std::nullopt;
  TaskHello hello;
  hello.job = static_cast<std::uint32_t>(*job);
  hello.slurm_job = static_cast<std::uint32_t>(*slurm_job);
  hello.run = *run;
  hello.rank = *rank;
  hello.tasks = *tasks;
  hello.node = words[6];
  hello.gpus = *gpus;
  hello.cpus = *cpus;
  return hello;
}

} // namespace harmony
