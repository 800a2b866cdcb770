#include "tests/cluster/played/outbox.h"

#include <csignal>
#include <ctime>

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

constexpr int thread_count = 4;
constexpr auto retry_after = std::chrono::milliseconds(300);

int64_t machine_boot_time() {
  struct sysinfo info = {};
  sysinfo(&info);
  return time(nullptr) - info.uptime;
}

char *copy(const std::string &text) { return xstrdup(text.c_str()); }

void add_batch_steps(slurm_node_registration_status_msg_t *msg, const std::vector<uint32_t> &job_ids) {
  msg->job_count = job_ids.size();
  msg->step_id = static_cast<slurm_step_id_t *>(xcalloc(job_ids.size() + 1, sizeof(slurm_step_id_t)));
  for (size_t i = 0; i < job_ids.size(); ++i) {
    msg->step_id[i].job_id = job_ids[i];
    msg->step_id[i].step_id = SLURM_BATCH_SCRIPT;
    msg->step_id[i].step_het_comp = NO_VAL;
  }
}

slurm_node_registration_status_msg_t *registration_of(const Node &node) {
  using Registration = slurm_node_registration_status_msg_t;
  auto *msg = static_cast<Registration *>(xmalloc(sizeof(Registration)));
  msg->node_name = copy(node.name);
  msg->hostname = copy(node.hostname);
  msg->version = xstrdup(SLURM_VERSION_STRING);
  msg->cpus = node.cpus;
  msg->boards = node.boards;
  msg->sockets = node.sockets;
  msg->cores = node.cores;
  msg->threads = node.threads;
  msg->real_memory = node.real_memory;
  msg->free_mem = node.real_memory;
  msg->tmp_disk = node.tmp_disk;
  // slurm.conf is not read again on reconfigure, so its hash would be called different for no reason.
  msg->hash_val = NO_VAL;

  struct utsname os = {};
  uname(&os);
  msg->arch = xstrdup(os.machine);
  msg->os = copy(std::string(os.sysname) + " " + os.release + " (played)");
  msg->gres_info = init_buf(node.gres_info.size() + 16);
  packmem_array(const_cast<char *>(node.gres_info.data()), node.gres_info.size(), msg->gres_info);
  msg->energy = acct_gather_energy_alloc(1);
  msg->timestamp = time(nullptr);
  msg->status = SLURM_SUCCESS;
  return msg;
}

} // namespace

struct Outbox::Address {
  slurm_addr_t addr = {};

  void write_on(slurm_msg_t &msg, uint16_t type, void *data) const {
    slurm_msg_t_init(&msg);
    msg.msg_type = type;
    msg.data = data;
    msg.address = addr;
    slurm_msg_set_r_uid(&msg, slurm_conf.slurm_user_id);
  }

  // False: slurmctld did not answer. rc is its return code.
  bool ask(uint16_t type, void *data, int &rc) const {
    slurm_msg_t request, response;
    write_on(request, type, data);
    slurm_msg_t_init(&response);
    if (slurm_send_recv_node_msg(&request, &response, 0) < 0) return false;
    rc = response.msg_type == RESPONSE_SLURM_RC ? slurm_get_return_code(RESPONSE_SLURM_RC, response.data)
                                                : int(SLURM_SUCCESS);
    slurm_free_msg_members(&response);
    return true;
  }
};

Outbox::Outbox(const std::vector<Node> &nodes, JobTable &jobs)
    : nodes_(nodes), jobs_(jobs), controller_(std::make_unique<Address>()), boot_time_(nodes.size()),
      has_registered_(nodes.size()), start_time_(time(nullptr)) {
  // Not slurm_send_recv_controller_msg(): it sleeps a second between tries for all of MessageTimeout, with our thread.
  slurm_set_addr(&controller_->addr, slurm_conf.slurmctld_port, slurm_conf.control_addr[0]);
  for (auto &booted : boot_time_) booted = machine_boot_time();
}

Outbox::~Outbox() { stop(); }

void Outbox::start() {
  for (int i = 0; i < thread_count; ++i) threads_.emplace_back([this] { work(); });
}

void Outbox::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
}

void Outbox::put(const Letter &letter, Clock::duration delay) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    letters_.emplace(Clock::now() + delay, letter);
  }
  changed_.notify_one();
}

std::optional<Letter> Outbox::next() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (letters_.empty()) {
      changed_.wait(lock);
    } else if (letters_.begin()->first > Clock::now()) {
      const auto until = letters_.begin()->first;
      changed_.wait_until(lock, until);
    } else {
      const Letter letter = letters_.begin()->second;
      letters_.erase(letters_.begin());
      return letter;
    }
  }
  return std::nullopt;
}

void Outbox::work() {
  while (const std::optional<Letter> letter = next()) {
    const bool taken = deliver(*letter);
    // One line an outage, not one a letter: a slurmctld that restarts is nothing to fill a log with.
    if (!taken && !outage_.exchange(true))
      info("%s: slurmctld takes no message (%m); trying again until it does", nodes_[letter->node].name.c_str());
    if (taken && outage_.exchange(false)) info("slurmctld takes messages again");
    if (!taken) put(*letter, retry_after);
  }
}

bool Outbox::deliver(const Letter &letter) {
  switch (letter.kind) {
  case Letter::Kind::Register: return send_registration(letter.node);
  case Letter::Kind::Boot: boot_time_[letter.node] = time(nullptr); return send_registration(letter.node);
  case Letter::Kind::CompleteBatch: return send_completion(letter.completion);
  case Letter::Kind::Epilog: return send_epilog(letter.node, letter.job_id);
  case Letter::Kind::Prolog: return send_prolog(letter.node, letter.job_id);
  case Letter::Kind::EndProgram: return kill(getpid(), SIGTERM) == 0;
  }
  return true;
}

bool Outbox::send_registration(size_t node) {
  slurm_node_registration_status_msg_t *msg = registration_of(nodes_[node]);
  msg->slurmd_start_time = start_time_;
  msg->up_time = time(nullptr) - boot_time_[node];
  add_batch_steps(msg, jobs_.on_node(node));
  int rc = SLURM_SUCCESS;
  const bool answered = controller_->ask(MESSAGE_NODE_REGISTRATION_STATUS, msg, rc);
  slurm_free_node_registration_status_msg(msg);
  if (!answered) return false;
  if (rc != SLURM_SUCCESS)
    error("%s: slurmctld refuses the registration: %s; the node stays unregistered until slurmctld asks again",
          nodes_[node].name.c_str(), slurm_strerror(rc));
  else if (!has_registered_[node].exchange(true))
    ++registered_;
  return true;
}

bool Outbox::send_completion(const Completion &completion) {
  if (!jobs_.waits_for_completion(completion)) return true; // aborted meanwhile
  complete_batch_script_msg_t msg = {};
  std::string node_name = nodes_[completion.node].name;
  msg.job_id = completion.job_id;
  msg.job_rc = completion.status;
  msg.slurm_rc = SLURM_SUCCESS;
  msg.user_id = completion.uid;
  msg.node_name = node_name.data();
  int rc = SLURM_SUCCESS;
  if (!controller_->ask(REQUEST_COMPLETE_BATCH_SCRIPT, &msg, rc)) return false;
  // A job that was cancelled is done for slurmctld before its script is: a slurmstepd ignores these two as well.
  if (rc != SLURM_SUCCESS && rc != ESLURM_ALREADY_DONE && rc != ESLURM_INVALID_JOB_ID)
    error("job %u on %s: slurmctld refuses the completion: %s; the job is forgotten here", completion.job_id,
          node_name.c_str(), slurm_strerror(rc));
  debug2("%s: completion of job %u is with slurmctld: %s", node_name.c_str(), completion.job_id, slurm_strerror(rc));
  if (jobs_.completed(completion)) {
    Letter epilog;
    epilog.kind = Letter::Kind::Epilog;
    epilog.node = completion.node;
    epilog.job_id = completion.job_id;
    put(epilog);
  }
  return true;
}

bool Outbox::send_epilog(size_t node, uint32_t job_id) {
  epilog_complete_msg_t msg = {};
  std::string node_name = nodes_[node].name;
  msg.job_id = job_id;
  msg.return_code = SLURM_SUCCESS;
  msg.node_name = node_name.data();
  slurm_msg_t request;
  controller_->write_on(request, MESSAGE_EPILOG_COMPLETE, &msg);
  return slurm_send_only_node_msg(&request) == SLURM_SUCCESS;
}

bool Outbox::send_prolog(size_t node, uint32_t job_id) {
  complete_prolog_msg_t msg = {};
  std::string node_name = nodes_[node].name;
  msg.job_id = job_id;
  msg.node_name = node_name.data();
  msg.prolog_rc = SLURM_SUCCESS;
  int rc = SLURM_SUCCESS;
  if (!controller_->ask(REQUEST_COMPLETE_PROLOG, &msg, rc)) return false;
  // Nothing is done about rc, as in slurmd: the job may be gone by now.
  debug2("%s: prolog of job %u is with slurmctld: %s", node_name.c_str(), job_id, slurm_strerror(rc));
  return true;
}

} // namespace played
