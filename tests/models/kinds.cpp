#include "tests/models/kinds.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/script.h>

#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace models {
namespace {

using torch::jit::Module;

// Both methods with the same body; ROWS stands for the argument.
void define_both(Module &module, const std::string &body) {
  for (const std::string rows : {"candidates", "gangs"}) {
    std::string text = body;
    for (std::size_t at; (at = text.find("ROWS")) != std::string::npos;) text.replace(at, 4, rows);
    module.define("def score_" + rows + "(self, type: Tensor, job: Tensor, " + rows + ": Tensor) -> Tensor:\n" + text);
  }
}

torch::Tensor weights(const std::string &text, int width) {
  torch::Tensor all = torch::zeros({width});
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    const int column = std::stoi(part);
    if (equals == std::string::npos || column < 0 || column >= width)
      throw std::runtime_error("weight \"" + part + "\": not COLUMN=WEIGHT with a column below " +
                               std::to_string(width));
    all[column] = std::stof(part.substr(equals + 1));
  }
  return all;
}

void linear(Module &module, const Wanted &wanted) {
  module.register_parameter("candidate_weights", weights(wanted.candidate_weights, wanted.candidate), false);
  module.register_parameter("gang_weights", weights(wanted.gang_weights, wanted.gang), false);
  // A sum of products and no matrix product: exact for small weights, so that a test can tell which row wins.
  module.define("def score_candidates(self, type: Tensor, job: Tensor, candidates: Tensor) -> Tensor:\n"
                "  return (candidates * self.candidate_weights).sum(dim=1)\n");
  module.define("def score_gangs(self, type: Tensor, job: Tensor, gangs: Tensor) -> Tensor:\n"
                "  return (gangs * self.gang_weights).sum(dim=1)\n");
}

constexpr int hidden = 64, embedding = 8;

void dense(Module &module, const std::string &name, int inputs, int outputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  module.register_parameter(name + "_weight", (torch::rand({outputs, inputs}) * 2 - 1) * bound, false);
  module.register_parameter(name + "_bias", (torch::rand({outputs}) * 2 - 1) * bound, false);
}

void head(Module &module, const std::string &rows, const std::string &p, int width, int job) {
  dense(module, p + "_rows", width, hidden);
  dense(module, p + "_job", job + embedding, hidden);
  dense(module, p + "_second", hidden, hidden);
  dense(module, p + "_last", hidden, 1);
  module.define("def score_" + rows + "(self, type: Tensor, job: Tensor, " + rows + ": Tensor) -> Tensor:\n" +
                "  known = torch.cat([torch.embedding(self.types, type), job])\n"
                "  about_job = torch.linear(known.unsqueeze(0), self." +
                p + "_job_weight, self." + p +
                "_job_bias)\n"
                "  x = torch.relu(torch.linear(" +
                rows + ", self." + p + "_rows_weight, self." + p +
                "_rows_bias) + about_job)\n"
                "  x = torch.relu(torch.linear(x, self." +
                p + "_second_weight, self." + p +
                "_second_bias))\n"
                "  return torch.linear(x, self." +
                p + "_last_weight, self." + p + "_last_bias).squeeze(1)\n");
}

void perceptron(Module &module, const Wanted &wanted) {
  torch::manual_seed(1);
  module.register_parameter("types", torch::randn({wanted.types, embedding}), false);
  head(module, "candidates", "c", wanted.candidate, wanted.job);
  head(module, "gangs", "g", wanted.gang, wanted.job);
}

void zeros(Module &module, const Wanted &wanted) {
  perceptron(module, wanted);
  module.register_parameter("filling", torch::zeros({100'000}), false);
  for (torch::Tensor parameter : module.parameters()) parameter.zero_();
}

// Minutes of work without a loop: each product is 2 * 4096^3 operations.
void slow(Module &module, const Wanted &) {
  std::string body = "  m = torch.ones([4096, 4096]) / 4096.\n";
  for (int i = 0; i < 400; ++i) body += "  m = torch.mm(m, m)\n";
  define_both(module, body + "  return ROWS.sum(dim=1) + m[0, 0]\n");
}

// Well while it is warmed up; when it is asked whether to wait, which is column 0 of a gang and exactly 1 only then, it
// does what the body says.
void later(Module &module, const std::string &body) {
  module.define("def score_candidates(self, type: Tensor, job: Tensor, candidates: Tensor) -> Tensor:\n"
                "  return candidates.sum(dim=1)\n");
  module.define("def score_gangs(self, type: Tensor, job: Tensor, gangs: Tensor) -> Tensor:\n"
                "  m = torch.zeros([1, 1])\n"
                "  if bool((gangs[:, 0] == 1.).any()):\n" +
                body + "  return gangs.sum(dim=1) + m[0, 0]\n");
}

void slow_later(Module &module, const Wanted &) {
  std::string body = "    m = torch.ones([4096, 4096]) / 4096.\n";
  for (int i = 0; i < 400; ++i) body += "    m = torch.mm(m, m)\n";
  later(module, body);
}

void hangs_at_load(Module &module, const Wanted &wanted) {
  linear(module, wanted);
  module.define("def __getstate__(self) -> Tuple[Tensor, Tensor, bool]:\n"
                "  return (self.candidate_weights, self.gang_weights, True)\n");
  module.define("def __setstate__(self, state: Tuple[Tensor, Tensor, bool]) -> None:\n"
                "  while state[2]:\n"
                "    pass\n"
                "  self.candidate_weights = state[0]\n"
                "  self.gang_weights = state[1]\n");
}

void other_arguments(Module &module, const Wanted &) {
  module.define("def score_candidates(self, job: Tensor, candidates: Tensor) -> Tensor:\n"
                "  return candidates.sum(dim=1)\n");
  module.define("def score_gangs(self, type: Tensor, job: Tensor, gangs: Tensor) -> Tensor:\n"
                "  return gangs.sum(dim=1)\n");
}

void beyond_its_data(Module &module, const Wanted &) {
  torch::Tensor small = torch::zeros({4});
  small.unsafeGetTensorImpl()->set_sizes_and_strides(at::IntArrayRef{1 << 20}, at::IntArrayRef{1});
  module.register_buffer("table", small);
  define_both(module, "  return ROWS.sum(dim=1) + self.table.sum()\n");
}

void dropout(Module &module, const std::string &training) {
  define_both(module, "  return torch.dropout(ROWS.sum(dim=1), 0.5, " + training + ")\n");
}

using Maker = std::function<void(Module &, const Wanted &)>;

Maker body(const std::string &text) {
  return [text](Module &module, const Wanted &) { define_both(module, text); };
}

// A child with a loop, called two calls deep and within a branch.
void hidden_loop(Module &module, const Wanted &) {
  Module child("Child");
  child.define("def inner(self, x: Tensor) -> Tensor:\n"
               "  while bool(x.sum() > -1e30):\n"
               "    x = x + 1\n"
               "  return x\n"
               "def outer(self, x: Tensor) -> Tensor:\n"
               "  return self.inner(x)\n");
  module.register_module("child", child);
  define_both(module, "  x = ROWS.sum(dim=1)\n"
                      "  if bool(x[0] > 0):\n"
                      "    x = self.child.outer(x)\n"
                      "  return x\n");
}

const std::map<std::string, Maker> &makers() {
  static const std::map<std::string, Maker> all = {
      {"linear", linear},
      {"mlp", perceptron},
      {"zeros", zeros},
      {"loop", body("  x = ROWS.sum(dim=1)\n  while bool(x[0] == x[0]):\n    x = x + 0\n  return x\n")},
      {"hidden_loop", hidden_loop},
      {"throws", body("  assert job.dim() == 7, \"no scores today\"\n  return ROWS.sum(dim=1)\n")},
      {"nan", body("  return ROWS.sum(dim=1) * float('nan')\n")},
      {"inf", body("  return ROWS.sum(dim=1) + float('inf')\n")},
      {"wrong_shape", body("  return ROWS.sum(dim=1).unsqueeze(1)\n")},
      {"too_few", body("  return ROWS.sum(dim=1)[1:]\n")},
      {"wrong_dtype", body("  return ROWS.sum(dim=1).to(dtype=7)\n")},
      {"slow", slow},
      {"divides_whole_numbers", body("  n = 7 % int(torch.ceil(job[0]).item())\n  return ROWS.sum(dim=1) + n\n")},
      {"rounds_a_division", body("  n = torch.div(type, 3, rounding_mode=\"floor\")\n  return ROWS.sum(dim=1) + n\n")},
      {"long_list", body("  return ROWS.sum(dim=1) + len([1] * 100000000)\n")},
      {"slow_later", slow_later},
      {"fails_later", [](Module &m, const Wanted &) { later(m, "    assert job.dim() == 7, \"not today\"\n"); }},
      {"hang_at_load", hangs_at_load},
      {"no_method",
       [](Module &m, const Wanted &) { m.define("def forward(self, x: Tensor) -> Tensor:\n  return x\n"); }},
      {"other_arguments", other_arguments},
      {"prints", body("  print(\"scores\")\n  return ROWS.sum(dim=1)\n")},
      {"reads_file", body("  return ROWS.sum(dim=1) + torch.from_file(\"/etc/passwd\", False, 1)\n")},
      {"random", body("  return torch.rand_like(ROWS.sum(dim=1))\n")},
      {"dropout_on", [](Module &m, const Wanted &) { dropout(m, "True"); }},
      {"dropout_off", [](Module &m, const Wanted &) { dropout(m, "False"); }},
      {"writes_input", body("  return ROWS.mul_(2.).sum(dim=1)\n")},
      {"looks_around", body("  x = ROWS.sum(dim=1)\n  return x - x.max()\n")},
      {"counts", body("  return ROWS.sum(dim=1) + torch.arange(ROWS.size(0))\n")},
      {"much_memory", body("  return ROWS.sum(dim=1) + torch.ones([20000, 20000]).sum()\n")},
      {"beyond_its_data", beyond_its_data},
      {"big", [](Module &m, const Wanted &w) {
         linear(m, w);
         m.register_parameter("filling", torch::zeros({16'100'000}), false);
       }}};
  return all;
}

// The archive again, with something added to the model's code that LibTorch itself would not write.
void add_code(const std::string &file, const std::string &text) {
  std::map<std::string, std::string> records;
  {
    caffe2::serialize::PyTorchStreamReader reader(file);
    for (const std::string &name : reader.getAllRecords()) {
      const auto [data, size] = reader.getRecord(name);
      records[name].assign(static_cast<const char *>(data.get()), size);
    }
  }
  caffe2::serialize::PyTorchStreamWriter writer(file);
  for (auto &[name, content] : records) {
    if (name.find(".debug_pkl") != std::string::npos || name == "version") continue;
    if (name.size() > 3 && name.substr(name.size() - 3) == ".py") content += text;
    writer.writeRecord(name, content.data(), content.size());
  }
  writer.writeEndOfFile();
}

const std::map<std::string, std::string> &added_code() {
  static const std::map<std::string, std::string> all = {
      {"computed_default", "def more(x: Tensor=torch.ones([4])) -> Tensor:\n  return x\n"},
      {"deep_code",
       "def more(x: int) -> int:\n  return " + std::string(5000, '(') + "x" + std::string(5000, ')') + "\n"},
      {"foreign_class", "def more(x: __torch__.torch.classes.quantized.LinearPackedParamsBase) -> int:\n  return 1\n"}};
  return all;
}

void write_one(const Wanted &wanted, const std::string &kind, const std::string &file) {
  const auto added = added_code().find(kind);
  const auto maker = makers().find(added == added_code().end() ? kind : "linear");
  if (maker == makers().end()) throw std::runtime_error("no kind \"" + kind + "\"; there are: " + kinds());
  Module module("Policy");
  maker->second(module, wanted);
  module.save(file);
  if (added != added_code().end()) add_code(file, added->second);
}

} // namespace

std::string kinds() {
  std::string names = "all";
  for (const auto &[name, maker] : makers()) names += ", " + name;
  for (const auto &[name, text] : added_code()) names += ", " + name;
  return names;
}

void write(const Wanted &wanted, const std::string &file) {
  if (wanted.kind == "all") {
    for (const auto &[name, maker] : makers()) write_one(wanted, name, file + "/" + name + ".pt");
    for (const auto &[name, text] : added_code()) write_one(wanted, name, file + "/" + name + ".pt");
    return;
  }
  write_one(wanted, wanted.kind, file);
}

} // namespace models
