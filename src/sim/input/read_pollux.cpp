// Workloads of the Pollux artifact: name,time,application,num_replicas,batch_size. A replica is a worker with a GPU of
// its own; they exchange by all-reduce. Jobs are counted from 1 in the order of the file.
//
// A job of Pollux trains until its model is good enough; how long that takes is not in the file. Here its duration is
//   steps to quality x (passes x fixed + per sample x samples of a replica and step)
// on the NVIDIA T4s that Pollux was measured on, the exchange not counted:
// - fixed and per sample: least squares over the measured step times of one replica (placement 1 in
//   simulator/traces/APPLICATION/placements.csv), within 8 % of each but for deepspeech2 (12 %) and yolov3 (26 %);
// - passes: a batch above the largest measured goes in several;
// - steps at the smallest batch, and by how much fewer a larger one needs: from the artifact's training logs
//   (simulator/traces/APPLICATION/validation-*.csv, epochs as in simulator/applications.py): with batch b there are
//   first_steps x first_batch / b x (1 + (b - first_batch) / noise) steps.
#include "src/sim/input/read_formats.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

struct Application {
  const char *name;
  const char *type;
  double fixed_s, per_sample_s;
  int most_samples; // in one pass
  double first_batch, first_steps, noise;
};

constexpr Application applications[] = {
    {"bert", "bert", 0.2233, 0.05825, 12, 12, 14778, 4080},
    {"cifar10", "resnet18", 0.0204, 0.00065, 1024, 128, 39068, 5210},
    {"deepspeech2", "deepspeech2", 0.1908, 0.02549, 80, 20, 28541, 1110},
    {"imagenet", "resnet50", 0.0719, 0.00431, 200, 200, 576526, 14200},
    {"ncf", "ncf", 0.0075, 0.0000005, 32768, 256, 194177, 450000},
    {"yolov3", "yolov3", 0.1763, 0.02651, 8, 8, 103446, 440},
};

double duration(const Application &application, int replicas, double batch) {
  const double samples = std::ceil(batch / replicas);
  const double passes = std::ceil(samples / application.most_samples);
  const double step = passes * application.fixed_s + samples * application.per_sample_s;
  const double more = std::max(0.0, batch - application.first_batch) / application.noise;
  return application.first_steps * application.first_batch / batch * (1 + more) * step;
}

const Application &application_of(const CsvReader &csv) {
  const std::string &name = csv.text("application");
  for (const Application &each : applications)
    if (name == each.name) return each;
  std::string known;
  for (const Application &each : applications) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  csv.refuse(fmt::format("application is \"{}\", not one of {}", printable(name), known));
}

} // namespace

Workload read_pollux(const std::string &path, const ReadJobs &how) {
  CsvReader csv(path, {"time", "application", "num_replicas", "batch_size"}, {"name"});
  JobRows rows(path, how);
  rows.each(csv, [&](SimJob &job) {
    const Application &application = application_of(csv);
    job.type = application.type;
    if (csv.text("time").empty()) csv.refuse("the line has no time");
    job.submit_s = csv.number("time", 0, most_seconds, 0);
    job.workers = static_cast<int>(csv.whole("num_replicas", 1, most_workers, 1));
    job.duration_s = duration(application, job.workers, csv.number("batch_size", 1, 1e9, application.first_batch));
    job.cpus_per_worker = job.cpus_per_ps = trace_cpus;
    JobRows::id_later(job);
    return true;
  });
  rows.ignored(csv.ignored());
  return rows.finish();
}

} // namespace harmony
