// What stands in each record, told once for both ways: records_to_json.cpp writes by it and records_of_json.cpp reads
// by it, so that keys and limits cannot come apart. `Io` is the one or the other; `R` is the record, const or not.
//
// dataset.schema.json says the same to others; tests hold the two together.
#pragma once

#include "src/publish/compact.h"
#include "src/record/records.h"

namespace harmony {

// No honest record comes near these; they bound what a dishonest one can make us allocate.
constexpr std::size_t longest_record_name = 128;
constexpr std::size_t longest_record_text = 512;
constexpr std::size_t most_record_rows = 65536;
constexpr int most_record_cores = 8192;
constexpr int most_record_gpus = 1024;
constexpr double most_record_count = 1e6;
constexpr double most_record_time = 1e12;               // on either side of 0
constexpr double most_record_lost = 9007199254740992.0; // whole numbers are exact up to here

template <class Io, class R> void run_fields(Io &io, R &id) {
  io.text("cluster", id.cluster, longest_record_name);
  io.number("job", id.job, 0, 4294967295.0);
  io.number("run", id.run, 0, most_record_count);
}

template <class Io, class R> void time_field(Io &io, const char *key, R &time) {
  io.number(key, time, -most_record_time, most_record_time);
}

template <class Io, class R> void span_fields(Io &io, R &record) {
  time_field(io, "begin_s", record.begin_s);
  io.number("end_s", record.end_s, record.begin_s, most_record_time);
}

template <class Io, class R> void role_fields(Io &io, R &gang) {
  io.number("workers", gang.workers, 0, most_record_count);
  io.number("ps", gang.ps, 0, most_record_count);
}

template <class Io, class R> void domain_fields(Io &io, R &in) {
  io.number("domain", in.domain, 0, most_record_count);
  io.bits("gpus", in.gpus, most_record_gpus);
}

template <class Io, class R> void tasks_fields(Io &io, R &tasks) {
  io.name("node", tasks.node);
  role_fields(io, tasks);
  io.bits("cores", tasks.cores, most_record_cores);
  io.bits("gpus", tasks.gpus, most_record_gpus);
  io.rows("domains", tasks.domains, 1024, [](auto &in, auto &domain) { domain_fields(in, domain); });
}

template <class Io, class R> void tasks_rows(Io &io, const char *key, R &rows) {
  io.rows(key, rows, most_record_rows, [](auto &in, auto &tasks) { tasks_fields(in, tasks); });
}

template <class Io, class R> void neighbour_rows(Io &io, R &rows) {
  io.rows("neighbours", rows, most_record_rows, [](auto &in, auto &neighbour) {
    in.number("job", neighbour.job, 0, 4294967295.0);
    in.name("type", neighbour.type);
    role_fields(in, neighbour);
    in.number("nodes", neighbour.nodes, 0, most_record_count);
    tasks_rows(in, "on", neighbour.on);
  });
}

template <class Io, class R> void claim_field(Io &io, R &claim) {
  io.part("claim", claim, [](auto &in, auto &figures) {
    in.number("epoch", figures.epoch, 0, most_claimed_epochs);
    in.maybe("of", figures.of, 0, most_claimed_epochs);
    in.maybe("samples_per_s", figures.samples_per_s, 0, most_samples_per_s);
    in.maybe("loss", figures.loss, -most_loss, most_loss);
    in.number("at_s", figures.at, 0, most_record_time);
  });
}

template <class Io, class R> void node_fields(Io &io, R &record) {
  io.text("cluster", record.cluster, longest_record_name);
  io.name("node", record.node);
  io.text("topology", record.topology, max_compact_size);
}

template <class Io, class R> void start_fields(Io &io, R &record) {
  run_fields(io, record.id);
  io.maybe("array_job", record.array_job, 0, 4294967295.0);
  io.maybe("array_task", record.array_task, 0, 4294967295.0);
  io.numbers("components", record.components, 1024);
  io.text("user", record.user, longest_record_name);
  io.name("type", record.type);
  role_fields(io, record);
  io.number("gpus", record.gpus, 0, most_record_count);
  io.declared("epochs", record.epochs);
  io.declared("model_kb", record.model_kb);
  io.declared("cpus_per_task", record.cpus_per_task);
  io.declared("time_limit_min", record.time_limit_min);
  io.name("policy", record.policy);
  io.flag("by_plan", record.by_plan);
  io.text("why_stock", record.why_stock, longest_record_text);
  io.text("model", record.model, longest_record_name);
  io.maybe("predicted_speed", record.predicted_speed, 0, 100);
  time_field(io, "submit_s", record.submit_s);
  time_field(io, "begin_s", record.begin_s);
  tasks_rows(io, "placement", record.placement);
  neighbour_rows(io, record.neighbours);
  io.mark("cut", record.cut);
}

template <class Io, class R> void interval_fields(Io &io, R &record) {
  run_fields(io, record.id);
  io.name("type", record.type);
  role_fields(io, record);
  io.number("nodes", record.nodes, 0, most_record_count);
  span_fields(io, record);
  io.maybe("epochs", record.epochs, 0, 1e12);
  io.maybe("relative_speed", record.relative_speed, 0, 100);
  io.part("terms", record.terms, [](auto &in, auto &terms) {
    in.number("same_domain", terms.same_domain, 0, most_record_count);
    in.number("same_socket", terms.same_socket, 0, most_record_count);
    in.number("same_nic", terms.same_nic, 0, most_record_count);
    in.number("cores", terms.cores, 0, most_record_count);
    in.number("across_nodes", terms.across_nodes, 0, most_record_count);
  });
  neighbour_rows(io, record.neighbours);
  io.mark("cut", record.cut);
  claim_field(io, record.claim);
}

template <class Io, class R> void end_fields(Io &io, R &record) {
  run_fields(io, record.id);
  io.name("type", record.type);
  io.name("state", record.state);
  span_fields(io, record);
  io.number("elapsed_s", record.elapsed_s, 0, most_record_time);
  io.maybe("epochs", record.epochs, 0, 1e12);
  io.maybe("mean_speed", record.mean_speed, 0, 1e12);
  io.number("requeues", record.requeues, 0, most_record_count);
  io.number("exit_code", record.exit_code, -2147483648.0, 2147483647.0);
  io.mark("disturbed", record.disturbed);
  claim_field(io, record.claim);
}

template <class Io, class R> void shadow_fields(Io &io, R &record) {
  run_fields(io, record.id);
  io.name("type", record.type);
  io.name("policy", record.policy);
  io.text("model", record.model, longest_record_name);
  io.text("verdict", record.verdict, longest_record_name);
  io.text("reason", record.reason, longest_record_text);
  time_field(io, "decided_s", record.decided_s);
  tasks_rows(io, "plan", record.plan);
  io.mark("cut", record.cut);
  io.flag("same", record.same);
  io.maybe("predicted_speed", record.predicted_speed, 0, 100);
}

template <class Io, class R> void usage_fields(Io &io, R &record) {
  run_fields(io, record.id);
  auto &usage = record.usage;
  io.number("step_job", usage.job, 0, 4294967295.0);
  io.name("step", usage.step);
  io.name("node", usage.node);
  io.number("begin_s", usage.begin_s, -most_record_time, most_record_time);
  io.number("watched_s", usage.seconds, 0, most_record_time);
  io.number("busy_cores", usage.cpu, 0, most_record_count);
  io.number("nic_rx_mb_s", usage.nic_rx_mb_s, 0, 1e9);
  io.number("nic_tx_mb_s", usage.nic_tx_mb_s, 0, 1e9);
  io.rows("gpu_usage", usage.gpus, most_record_gpus, [](auto &in, auto &gpu) {
    in.number("gpu", gpu.gpu, 0, most_record_count);
    in.known("busy_percent", gpu.busy, 0, 100);
    in.known("memory_mb", gpu.memory_mb, 0, 1e9);
    in.known("pcie_in_mb_s", gpu.pcie_in_mb_s, 0, 1e9);
    in.known("pcie_out_mb_s", gpu.pcie_out_mb_s, 0, 1e9);
  });
}

template <class Io, class R> void gap_fields(Io &io, R &record) {
  io.text("cluster", record.cluster, longest_record_name);
  io.number("lost", record.lost, 0, most_record_lost);
  time_field(io, "at_s", record.at_s);
  io.text("why", record.why, longest_record_text);
}

} // namespace harmony
