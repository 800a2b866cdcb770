#include "src/infer/torch/module_check.h"

#include "src/infer/torch/allowed_operators.h"
#include "src/values/printable.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <fmt/format.h>

#include <stdexcept>
#include <unordered_set>

namespace harmony {
namespace {

using namespace torch::jit;

[[noreturn]] void refuse(const std::string &problem) { throw std::runtime_error(problem); }

void check_signature(const c10::FunctionSchema &schema, const std::string &name, const std::string &rows) {
  const std::string wanted = fmt::format("{}(self, type: Tensor, job: Tensor, {}: Tensor) -> Tensor", name, rows);
  const std::vector<std::string> names = {"self", "type", "job", rows};
  const auto &arguments = schema.arguments();
  bool same = arguments.size() == names.size() && schema.returns().size() == 1 &&
              *schema.returns()[0].type() == *c10::TensorType::get();
  for (std::size_t i = 0; same && i < names.size(); ++i)
    same = arguments[i].name() == names[i] && (i == 0 || *arguments[i].type() == *c10::TensorType::get());
  if (!same) refuse(fmt::format("its method {} is not {}", name, wanted));
}

// The values of all tensors, each storage once. LibTorch believes the sizes that the file gives: a tensor that is
// larger than its storage would be read beyond its end.
class TensorCount {
public:
  void add(const at::Tensor &tensor) {
    if (!tensor.defined()) return;
    if (tensor.layout() != at::kStrided || !tensor.device().is_cpu() || tensor.is_quantized())
      refuse("it holds a tensor that is sparse, quantized or not on the CPU");
    std::int64_t last = tensor.storage_offset();
    bool overflow = last < 0;
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
      std::int64_t reach = 0;
      if (tensor.size(d) < 0 || tensor.stride(d) < 0) overflow = true;
      overflow = overflow || __builtin_mul_overflow(tensor.size(d) - 1, tensor.stride(d), &reach) ||
                 __builtin_add_overflow(last, reach, &last);
    }
    std::int64_t bytes = 0;
    overflow = overflow || __builtin_mul_overflow(last + 1, static_cast<std::int64_t>(tensor.itemsize()), &bytes);
    if (overflow || (tensor.numel() > 0 && bytes > static_cast<std::int64_t>(tensor.storage().nbytes())))
      refuse("it holds a tensor that is larger than its data");
    if (seen_.insert(tensor.storage().unsafeGetStorageImpl()).second)
      values_ += static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize());
    if (values_ > most_values) refuse(fmt::format("it has more than {} parameters and constants", most_values));
  }

  void add(const IValue &value) {
    value.visit([this](const IValue &part) {
      if (part.isTensor()) add(part.toTensor());
      if (part.isCapsule() || part.isPyObject()) refuse("it holds an object of another library");
      return false;
    });
  }

private:
  std::unordered_set<const void *> seen_;
  std::int64_t values_ = 0;
};

// After eval() every module's own flag is off, and SetAttr, which could turn it on, is not allowed.
bool is_off(const Value *flag) {
  if (flag->node()->kind() == prim::GetAttr) return flag->node()->s(attr::name) == "training";
  const auto constant = constant_as<bool>(flag);
  return constant && !*constant;
}

// Lists and texts that grow are not in the memory that is limited, and a rounded division of whole numbers by zero is
// no exception but the end of the process.
void check_result(const Node &node, const std::string &name) {
  const bool grows = name == "aten::add" || name == "aten::mul";
  for (const Value *output : node.outputs()) {
    const c10::TypeKind kind = output->type()->kind();
    if (grows && (kind == c10::TypeKind::ListType || kind == c10::TypeKind::StringType))
      refuse(fmt::format("it uses {} on lists or texts, which is not allowed", printable(name)));
  }
  if ((name == "aten::div" || name == "aten::divide") && node.inputs().size() > 2)
    refuse(fmt::format("it uses {} with a rounding mode, which is not allowed", printable(name)));
}

void check_node(const Node &node) {
  const std::string name = node.kind().toQualString();
  if (!allowed_operators().count(name))
    refuse(name == "prim::Loop" ? std::string("it has a loop")
                                : fmt::format("it uses the operator {}, which is not allowed", printable(name)));
  const c10::FunctionSchema *schema = node.maybeSchema();
  if (!schema) return;
  check_result(node, name);
  if (schema->is_mutable()) refuse(fmt::format("it uses {}, which writes into its input", printable(name)));
  for (std::size_t i = 0; i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    const std::string &argument = schema->arguments()[i].name();
    if ((argument == "train" || argument == "training") && !is_off(node.input(i)))
      refuse(fmt::format("it uses {} in training mode", printable(name)));
    if (argument == "generator" && !node.input(i)->mustBeNone())
      refuse(fmt::format("it uses {} with random numbers", printable(name)));
  }
}

void check_block(const Block &block, TensorCount &tensors) {
  for (const Node *node : block.nodes()) {
    check_node(*node);
    if (node->kind() == prim::Constant && node->hasAttribute(attr::value))
      if (const auto value = toIValue(node->output())) tensors.add(*value);
    for (const auto attribute : node->attributeNames())
      if (node->kindOf(attribute) == AttributeKind::g || node->kindOf(attribute) == AttributeKind::gs)
        refuse("it has a graph within an operator");
    for (const Block *inner : node->blocks()) check_block(*inner, tensors);
  }
}

std::shared_ptr<Graph> check_method(const Module &module, const std::string &name, const std::string &rows,
                                    TensorCount &tensors) {
  const auto method = module.find_method(name);
  if (!method) refuse(fmt::format("it has no method {}", name));
  check_signature(method->function().getSchema(), name, rows);
  const std::shared_ptr<Graph> graph = method->graph()->copy();
  Inline(*graph);
  check_block(*graph->block(), tensors);
  return graph;
}

// Optional: gives one tensor, the same every time.
std::shared_ptr<Graph> check_reward(const Module &module, TensorCount &tensors) {
  const auto method = module.find_method("reward_parameters");
  if (!method) return nullptr;
  const c10::FunctionSchema &schema = method->function().getSchema();
  if (schema.arguments().size() != 1 || schema.returns().size() != 1 ||
      !(*schema.returns()[0].type() == *c10::TensorType::get()))
    refuse("its method reward_parameters is not reward_parameters(self) -> Tensor");
  const std::shared_ptr<Graph> graph = method->graph()->copy();
  Inline(*graph);
  check_block(*graph->block(), tensors);
  return graph;
}

} // namespace

CheckedGraphs check_module(const Module &module) {
  TensorCount tensors;
  tensors.add(IValue(module._ivalue()));
  CheckedGraphs graphs;
  graphs.candidates = check_method(module, "score_candidates", "candidates", tensors);
  graphs.gangs = check_method(module, "score_gangs", "gangs", tensors);
  graphs.reward = check_reward(module, tensors);
  return graphs;
}

} // namespace harmony
