// Traces of Gavel: a line a job, fields parted by tabs, no header, in two forms.
//    7: job type, command, argument of steps, needs data, steps, arrival in seconds, GPUs
//   10: job type, command, directory, argument of steps, needs data, steps, GPUs, weight, objective, arrival in seconds
// A GPU is a worker of its own; workers exchange by all-reduce. Jobs are counted from 1 in the order of the file.
// Commands are not looked at. The work of a job is what it does in steps / measured steps a second, on V100s.
#include "src/sim/input/read_formats.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace harmony {
namespace {

struct GavelType {
  const char *name;
  const char *type;
  std::array<double, 4> steps_per_s; // on 1, 2, 4 and 8 V100s; 0: not measured
};

// From Gavel's scheduler/simulation_throughputs.json. CycleGAN has no type of ours: it goes by its own name.
constexpr GavelType gavel_types[] = {
    {"A3C", "dqn", {7.176, 0, 0, 0}},
    {"CycleGAN", "cyclegan", {4.426, 0, 0, 0}},
    {"LM (batch size 5)", "lstm", {109.2, 185.7, 126.7, 698.8}},
    {"LM (batch size 10)", "lstm", {81.65, 163.1, 121.5, 615.1}},
    {"LM (batch size 20)", "lstm", {64.74, 132.2, 111, 497.3}},
    {"LM (batch size 40)", "lstm", {45.24, 91.59, 96.03, 359.3}},
    {"LM (batch size 80)", "lstm", {28.24, 58.09, 74.81, 231.2}},
    {"Recommendation (batch size 512)", "ncf", {23.32, 0, 0, 0}},
    {"Recommendation (batch size 1024)", "ncf", {13.28, 0, 0, 0}},
    {"Recommendation (batch size 2048)", "ncf", {7.47, 0, 0, 0}},
    {"Recommendation (batch size 4096)", "ncf", {3.906, 0, 0, 0}},
    {"Recommendation (batch size 8192)", "ncf", {2.842, 0, 0, 0}},
    {"ResNet-18 (batch size 16)", "resnet18", {32.35, 100.1, 123.9, 382.6}},
    {"ResNet-18 (batch size 32)", "resnet18", {29.95, 94.25, 114.7, 340}},
    {"ResNet-18 (batch size 64)", "resnet18", {24.09, 74.14, 95.59, 255.8}},
    {"ResNet-18 (batch size 128)", "resnet18", {17.99, 23.99, 69.95, 162.1}},
    {"ResNet-18 (batch size 256)", "resnet18", {10.3, 15.88, 27.78, 81.51}},
    {"ResNet-50 (batch size 16)", "resnet50", {11.4, 13.86, 23.2, 27.8}},
    {"ResNet-50 (batch size 32)", "resnet50", {7.787, 10.83, 13.76, 24.07}},
    {"ResNet-50 (batch size 64)", "resnet50", {4.395, 7.922, 9.452, 17.3}},
    {"ResNet-50 (batch size 128)", "resnet50", {2.497, 4.223, 7.029, 10.29}},
    {"Transformer (batch size 16)", "transformer", {11.06, 14.15, 20.08, 71.65}},
    {"Transformer (batch size 32)", "transformer", {10.62, 13.33, 22.82, 63.98}},
    {"Transformer (batch size 64)", "transformer", {8.618, 15.88, 19.66, 49.65}},
    {"Transformer (batch size 128)", "transformer", {5.446, 10.07, 14.17, 30.88}},
    {"Transformer (batch size 256)", "transformer", {1.595, 2.885, 4.763, 9.717}},
};

// In proportion from the next smaller number of GPUs that was measured: assumed.
double steps_per_s(const GavelType &type, int gpus) {
  double speed = 0;
  for (int i = 0, measured = 1; i < 4 && measured <= gpus; ++i, measured *= 2)
    if (type.steps_per_s[static_cast<std::size_t>(i)] > 0)
      speed = type.steps_per_s[static_cast<std::size_t>(i)] / measured * gpus;
  return speed;
}

class GavelReader {
public:
  explicit GavelReader(const std::string &path) : lines_(path) {}

  bool next() {
    do {
      if (!lines_.next()) return false;
    } while (without_blanks(lines_.text()).empty());
    fields_.clear();
    for (std::string_view rest = lines_.text();;) {
      const std::size_t end = std::min(rest.find('\t'), rest.size());
      fields_.push_back(without_blanks(rest.substr(0, end)));
      if (end == rest.size()) break;
      rest.remove_prefix(end + 1);
    }
    if (fields_.size() != 7 && fields_.size() != 10)
      lines_.refuse(fmt::format("the line has {} fields, not 7 or 10", fields_.size()));
    return true;
  }

  void fill(SimJob &job) const {
    const bool longer = fields_.size() == 10;
    const GavelType &type = type_of(fields_[0]);
    const double steps = number(longer ? 5 : 4, "steps", 1, 1e15);
    job.submit_s = number(longer ? 9 : 5, "arrival", 0, most_seconds);
    const auto gpus = whole_in(fields_[6], 1, most_workers);
    if (!gpus)
      lines_.refuse(fmt::format("field 7 (GPUs) is \"{}\", not a whole number from 1 to {}", printable(fields_[6]),
                                most_workers));
    job.type = type.type;
    job.workers = static_cast<int>(*gpus);
    job.duration_s = steps / steps_per_s(type, job.workers);
    if (job.duration_s > most_seconds) lines_.refuse(fmt::format("the job would take {:.0f} s", job.duration_s));
    job.cpus_per_worker = job.cpus_per_ps = trace_cpus;
    if (longer) job.priority = number(7, "weight", 0, 1e15);
  }

private:
  const GavelType &type_of(std::string_view name) const {
    for (const GavelType &type : gavel_types)
      if (name == type.name) return type;
    lines_.refuse(fmt::format("\"{}\" is no job type of Gavel's", printable(name)));
  }

  double number(std::size_t index, const char *name, double least, double most) const {
    const auto value = number_in(fields_[index], least, most);
    if (!value)
      lines_.refuse(fmt::format("field {} ({}) is \"{}\", not a number from {} to {}", index + 1, name,
                                printable(fields_[index]), least, most));
    return *value;
  }

  LineReader lines_;
  std::vector<std::string_view> fields_;
};

} // namespace

Workload read_gavel(const std::string &path, const ReadJobs &how) {
  GavelReader gavel(path);
  JobRows rows(path, how);
  rows.each(gavel, [&](SimJob &job) {
    gavel.fill(job);
    JobRows::id_later(job);
    return true;
  });
  return rows.finish();
}

} // namespace harmony
