// Traces of Muri, and of Tiresias and ElasticFlow, which have most columns in common: job_id, num_gpu, submit_time,
// model_name, duration. Muri's times are in milliseconds, the others' in seconds; they are told apart by Muri's column
// iteration_time. A GPU is a worker of its own, workers exchange by all-reduce (Muri ran Horovod). The work of a job is
// what it does in `duration`; iterations, batch sizes, stage times and deadlines are not used.
//
// Models that have no type of their own go by the nearest one in size.
#include "src/sim/input/read_formats.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>

namespace harmony {
namespace {

constexpr std::pair<const char *, const char *> stand_ins[] = {
    {"shufflenet_v2_x1_0", "mobilenet"}, // 2.3 million parameters and 3.5
    {"googlenet", "mobilenet"},          // 6.6
    {"a2c", "dqn"},                      // both are bound by their environment, on CPUs
    {"inception4", "inception3"},        // 43 and 24
    {"resnet152", "resnet101"},          // 60 and 45
    {"resnet50_cifar10", "resnet50"},
};

std::string type_of(const CsvReader &csv) {
  const std::string &model = csv.text("model_name");
  for (const auto &[name, type] : stand_ins)
    if (model == name) return type;
  if (!is_type(model)) csv.refuse(fmt::format("model_name is \"{}\", not {}", printable(model), type_allowed));
  return model;
}

} // namespace

Workload read_muri(const std::string &path, const ReadJobs &how) {
  CsvReader csv(path, {"job_id", "num_gpu", "submit_time", "model_name", "duration"},
                {"iteration_time", "iterations", "batch_size", "interval", "resource_time_0", "resource_time_1",
                 "resource_time_2", "priority", "real_iteration", "ddl", "real_duration", "iteration"});
  const double seconds = csv.has("iteration_time") ? 0.001 : 1;
  JobRows rows(path, how);
  rows.each(csv, [&](SimJob &job) {
    const std::int64_t id = csv.whole("job_id", 0, most_id, -1);
    if (id < 0) csv.refuse("the line has no job_id");
    if (csv.text("submit_time").empty()) csv.refuse("the line has no submit_time");
    job.submit_s = csv.number("submit_time", 0, most_seconds / seconds, 0) * seconds;
    job.duration_s = csv.number("duration", 0, most_seconds / seconds, 0) * seconds;
    job.workers = static_cast<int>(csv.whole("num_gpu", 0, most_workers, 0));
    job.cpus_per_worker = job.cpus_per_ps = trace_cpus;
    job.priority = csv.number("priority", 0, 1e15, 0);
    job.type = type_of(csv);
    job.id = static_cast<std::uint32_t>(id);
    if (job.workers == 0) rows.pass_over("no GPUs");
    if (job.workers > 0 && job.duration_s == 0) rows.pass_over("never ran");
    if (job.workers == 0 || job.duration_s == 0) return false;
    if (!rows.take_id(job.id)) csv.refuse(fmt::format("job_id is {}, which an earlier line has already", id));
    return true;
  });
  rows.ignored(csv.ignored());
  return rows.finish();
}

} // namespace harmony
