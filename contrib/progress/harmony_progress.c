/* See harmony_progress.h. C99 and POSIX.
 *
 * posix_spawn and not fork: a training program may have hundreds of gigabytes mapped, and threads. From a thread of its
 * own, as the file system that the command is on may hang, and so that somebody waits for the command's end. */
#define _POSIX_C_SOURCE 200809L
#include "harmony_progress.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <errno.h>

extern char **environ;

#ifndef HARMONY_INTERVAL_MS /* shorter for tests only: the command keeps to its own */
#define HARMONY_INTERVAL_MS 10000
#endif
enum { interval_ms = HARMONY_INTERVAL_MS, longest_wait_ms = 30000, number_size = 40 };

/* One command at a time, so its words can stand here. */
static struct {
  char text[4][number_size];
  char *words[16];
} command;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below; held for moments */
static int is_running;
static long long next_ms; /* when a report may be sent; 0: now */
static double known_of = HARMONY_UNKNOWN, known_speed = HARMONY_UNKNOWN, known_loss = HARMONY_UNKNOWN;

static long long now_ms(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Neither "not a number" nor the unknown is within. */
static int is_within(double value, double least, double most) { return value >= least && value <= most; }

/* As the command reads it, whatever the program's locale has for a decimal point. */
static char *number(char *text, double value) {
  char *to = text;
  const char *from;
  char raw[number_size];
  snprintf(raw, sizeof raw, "%.9g", value);
  for (from = raw; *from; ++from)
    if (strchr("0123456789e+-", *from))
      *to++ = *from;
    else if (to == text || to[-1] != '.')
      *to++ = '.';
  *to = '\0';
  return text;
}

static int is_ours_to_report(void) {
  const char *job = getenv("SLURM_JOB_ID"), *task = getenv("SLURM_PROCID"), *role = getenv("HARMONY_ROLE");
  return job && *job && (!task || !*task || strcmp(task, "0") == 0) && (!role || strcmp(role, "ps") != 0);
}

static void prepare(double epoch, int wait) {
  const char *named = getenv("HARMONY_COMMAND");
  char **word = command.words;
  *word++ = named && *named ? (char *)named : (char *)"harmony";
  *word++ = (char *)"progress";
  *word++ = (char *)"--quiet";
  if (wait) *word++ = (char *)"--wait";
  *word++ = (char *)"--epoch";
  *word++ = number(command.text[0], epoch);
  if (is_within(known_of, 0, 1e6)) {
    *word++ = (char *)"--of";
    *word++ = number(command.text[1], known_of);
  }
  if (is_within(known_speed, 0, 1e9)) {
    *word++ = (char *)"--samples-per-s";
    *word++ = number(command.text[2], known_speed);
  }
  if (is_within(known_loss, -1e9, 1e9)) {
    *word++ = (char *)"--loss";
    *word++ = number(command.text[3], known_loss);
  }
  *word = NULL;
}

static int spawn(pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  int problem = posix_spawn_file_actions_init(&files);
  if (problem) return problem;
  if ((problem = posix_spawnattr_init(&attributes)) == 0) {
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGCHLD); /* that a program ignores it is handed down */
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    problem = posix_spawnp(pid, command.words[0], &files, &attributes, command.words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  return problem;
}

static void *run(void *unused) {
  pid_t pid;
  (void)unused;
  if (spawn(&pid) == 0)
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
  pthread_mutex_lock(&lock);
  is_running = 0;
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* The program's signals are for its own threads. */
static int start_thread(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  int problem;
  if (pthread_attr_init(&attributes) != 0) return -1;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  problem = pthread_create(&thread, &attributes, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return problem ? -1 : 1;
}

/* With the lock held. */
static int start(double epoch, int wait) {
  prepare(epoch, wait);
  known_speed = known_loss = HARMONY_UNKNOWN; /* of the past once they were sent */
  next_ms = now_ms() + interval_ms;
  is_running = 1;
  if (start_thread() == 1) return 1;
  is_running = 0;
  return -1;
}

static int report(double epoch, double of, double samples_per_s, double loss, int wait, int *is_busy) {
  int result = 0;
  *is_busy = 0;
  if (!is_ours_to_report()) return 0;
  if (!is_within(epoch, 0, 1e6)) return -1;
  if (pthread_mutex_trylock(&lock) != 0) {
    *is_busy = 1;
    return 0;
  }
  if (is_within(of, 0, 1e6)) known_of = of;
  if (is_within(samples_per_s, 0, 1e9)) known_speed = samples_per_s;
  if (is_within(loss, -1e9, 1e9)) known_loss = loss;
  *is_busy = is_running;
  if (!is_running && (wait || now_ms() >= next_ms)) result = start(epoch, wait);
  pthread_mutex_unlock(&lock);
  return result;
}

int harmony_progress(double epoch, double of, double samples_per_s, double loss) {
  int is_busy;
  return report(epoch, of, samples_per_s, loss, 0, &is_busy);
}

static int still_runs(void) {
  int result;
  pthread_mutex_lock(&lock);
  result = is_running;
  pthread_mutex_unlock(&lock);
  return result;
}

int harmony_progress_last(double epoch, double of, double samples_per_s, double loss) {
  const struct timespec moment = {0, 10000000};
  const long long end = now_ms() + longest_wait_ms;
  int is_busy, result = report(epoch, of, samples_per_s, loss, 1, &is_busy);
  while (is_busy && now_ms() < end) {
    nanosleep(&moment, NULL);
    result = report(epoch, of, samples_per_s, loss, 1, &is_busy);
  }
  while (result == 1 && still_runs() && now_ms() < end) nanosleep(&moment, NULL);
  return is_busy ? -1 : result;
}
