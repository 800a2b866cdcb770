#include "src/infer/torch/torch_model.h"

#include "src/infer/torch/memory_limit.h"
#include "src/values/printable.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

using namespace torch::jit;

// OpenMP keeps its number of threads for every thread of its own.
void one_thread() {
  thread_local const bool done = (at::set_num_threads(1), true);
  (void)done;
}

std::string shape_of(const IValue &answer) {
  if (!answer.isTensor()) return "no tensor";
  const at::Tensor &tensor = answer.toTensor();
  return fmt::format("{} [{}]", c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

void take(const IValue &answer, const char *method, int count, float *scores) {
  const bool right = answer.isTensor() && answer.toTensor().defined() && answer.toTensor().is_cpu() &&
                     answer.toTensor().layout() == at::kStrided && answer.toTensor().scalar_type() == at::kFloat &&
                     answer.toTensor().dim() == 1 && answer.toTensor().size(0) == count;
  if (!right)
    throw ModelShapeWrong(
        fmt::format("{} answered {} instead of Float [{}]", method, one_line(shape_of(answer), 100), count));
  const at::Tensor flat = answer.toTensor().contiguous();
  std::copy_n(flat.data_ptr<float>(), count, scores);
}

std::string_view first_line(std::string_view text) {
  while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
  return text.substr(0, text.find('\n'));
}

} // namespace

std::string what_happened(std::exception_ptr thrown) {
  std::string text;
  try {
    std::rethrow_exception(thrown);
  } catch (const c10::Error &error) {
    text = error.msg();
  } catch (const std::exception &error) {
    text = error.what();
  } catch (...) {
    text = "something that is no exception of C++'s was thrown";
  }
  // The interpreter puts the place first and what happened last.
  constexpr std::string_view mark = "\nRuntimeError: ";
  const std::size_t last = text.rfind(mark);
  return one_line(first_line(last == std::string::npos ? text : std::string_view(text).substr(last + mark.size())),
                  300);
}

TorchModel::TorchModel(Module module, const CheckedGraphs &graphs, const ModelShape &shape)
    : module_(std::move(module)),
      shape_(shape), candidates_{"score_candidates", shape.candidate, Code(graphs.candidates, "score_candidates"), {}},
      gangs_{"score_gangs", shape.gang, Code(graphs.gangs, "score_gangs"), {}} {
  if (graphs.reward) reward_.emplace(graphs.reward, "reward_parameters");
}

std::vector<float> TorchModel::score_candidates(const JobRow &job, const Rows &rows) {
  return score(candidates_, job, rows);
}
std::vector<float> TorchModel::score_gangs(const JobRow &job, const Rows &rows) { return score(gangs_, job, rows); }

std::vector<float> TorchModel::reward_parameters() {
  if (!reward_) return {};
  try {
    one_thread();
    const MemoryLimit limit(model_memory_limit);
    const c10::InferenceMode inference;
    Stack stack{module_._ivalue()};
    InterpreterState(*reward_).run(stack);
    if (stack.size() != 1 || !stack[0].isTensor() || stack[0].toTensor().dim() != 1)
      throw ModelShapeWrong("reward_parameters answered no list of numbers");
    const auto count = static_cast<int>(std::min<std::int64_t>(stack[0].toTensor().size(0), most_values));
    std::vector<float> parameters(static_cast<std::size_t>(count));
    take(stack[0], "reward_parameters", count, parameters.data());
    return parameters;
  } catch (const ModelShapeWrong &) {
    throw;
  } catch (...) {
    throw ModelFailed(fmt::format("reward_parameters failed: {}", what_happened(std::current_exception())));
  }
}

void TorchModel::ask(const Head &head, const JobRow &job, const float *rows, int count, float *scores) const {
  // LibTorch takes no const memory; no operator that is allowed writes into its input.
  Stack stack{module_._ivalue(), at::from_blob(const_cast<std::int64_t *>(&job.type), {}, at::kLong),
              at::from_blob(const_cast<float *>(job.features.data()), {shape_.job}, at::kFloat),
              at::from_blob(const_cast<float *>(rows), {count, head.width}, at::kFloat)};
  InterpreterState(head.code).run(stack);
  if (stack.size() != 1) throw ModelShapeWrong(fmt::format("{} answered {} values", head.method, stack.size()));
  take(stack[0], head.method, count, scores);
}

std::vector<float> TorchModel::score(Head &head, const JobRow &job, const Rows &rows) {
  if (rows.count == 0) return {};
  if (job.type < 0 || job.type >= shape_.types)
    throw ModelFailed(fmt::format("type {} is none of the model's {}", job.type, shape_.types));
  if (job.features.size() != static_cast<std::size_t>(shape_.job) || rows.width != head.width ||
      rows.values.size() != static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(rows.width))
    throw ModelFailed(fmt::format("{} was asked with {} features of the job and {} a row; the model takes {} and {}",
                                  head.method, job.features.size(), rows.width, shape_.job, head.width));
  try {
    one_thread();
    const MemoryLimit limit(model_memory_limit);
    const c10::InferenceMode inference;
    const AskBlock ask_block = [&](const JobRow &of, const float *block, int count, float *scores) {
      ask(head, of, block, count, scores);
    };
    if (!head.blocks) head.blocks = find_places(ask_block, shape_, head.width);
    return score_in_blocks(ask_block, *head.blocks, job, rows);
  } catch (const ModelShapeWrong &) {
    throw;
  } catch (...) {
    throw ModelFailed(fmt::format("{} failed: {}", head.method, what_happened(std::current_exception())));
  }
}

} // namespace harmony
