/* Promises of contrib/progress/harmony_progress.c, with a stand-in for the command. Each runs in a process of its own.
 * usage: c-test DIR, with DIR/harmony the stand-in, which writes its words to $SAID, a line a call, and sleeps $SLEEPS.
 * Compiled with HARMONY_INTERVAL_MS=300. */
#define _DEFAULT_SOURCE
#include "contrib/progress/harmony_progress.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define U HARMONY_UNKNOWN
#define check(what)                                                                                                    \
  do                                                                                                                   \
    if (!(what)) {                                                                                                     \
      printf("c_test.c:%d: not so: %s; the command was given: %s\n", __LINE__, #what, said());                         \
      fflush(stdout);                                                                                                  \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  while (0)

static char file[4096];

static const char *said(void) {
  static char text[65536];
  FILE *in = fopen(file, "r");
  size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
  text[length] = '\0';
  if (in) fclose(in);
  return text;
}

static int calls(void) {
  int count = 0;
  const char *c;
  for (c = said(); *c; ++c) count += *c == '\n';
  return count;
}

static void pause_ms(int ms) { usleep((unsigned)ms * 1000); }

static void await_calls(int count) {
  int i;
  for (i = 0; i < 500 && calls() < count; ++i) pause_ms(10);
  check(calls() == count);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Looks without taking a child away from who has to. */
static void leaves_no_child(void) {
  int i;
  siginfo_t info;
  for (i = 0; i < 500 && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0; ++i) pause_ms(10);
  check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void the_first_call_starts_the_command_and_the_rest_only_look_at_a_clock(void) {
  int i;
  double begin;
  check(harmony_progress(1, 90, 812.5, -0.25) == 1);
  begin = seconds();
  for (i = 0; i < 1000; ++i) harmony_progress(1 + i * 1e-4, U, U, U);
  check(seconds() - begin < 0.2);
  await_calls(1);
  check(strcmp(said(), "progress --quiet --epoch 1 --of 90 --samples-per-s 812.5 --loss -0.25\n") == 0);
}

static void what_came_in_between_goes_with_the_next_report(void) {
  check(harmony_progress(1, 90, U, U) == 1);
  await_calls(1);
  check(harmony_progress(2, U, 100, 0.5) == 0);
  check(harmony_progress(3, U, U, 0.4) == 0);
  pause_ms(400);
  check(harmony_progress(4, U, U, U) == 1);
  await_calls(2);
  check(strstr(said(), "\nprogress --quiet --epoch 4 --of 90 --samples-per-s 100 --loss 0.4\n"));
}

static void no_zombie_is_left(void) {
  check(harmony_progress(1, U, U, U) == 1);
  await_calls(1);
  leaves_no_child();
}

static void it_works_with_sigchld_ignored(void) {
  signal(SIGCHLD, SIG_IGN);
  check(harmony_progress(1, U, U, U) == 1);
  await_calls(1);
  leaves_no_child();
  pause_ms(400);
  check(harmony_progress_last(2, U, U, U) == 1);
  check(calls() == 2);
}

static void a_command_that_is_missing_does_no_harm(void) {
  setenv("HARMONY_COMMAND", "/nonexistent/harmony", 1);
  harmony_progress(1, U, U, U);
  harmony_progress_last(1, U, U, U);
  setenv("HARMONY_COMMAND", "", 1);
  setenv("PATH", "/nonexistent", 1);
  pause_ms(400);
  harmony_progress(1, U, U, U);
  leaves_no_child();
  check(calls() == 0);
}

static void a_command_that_hangs_holds_nobody_up(void) {
  double begin = seconds();
  int i;
  setenv("SLEEPS", "3", 1);
  for (i = 0; i < 100; ++i) {
    harmony_progress(1, U, U, U);
    pause_ms(10);
  }
  check(seconds() - begin < 2.5);
  check(calls() == 1);
}

static void values_that_make_no_sense_are_left_out(void) {
  check(harmony_progress(NAN, U, U, U) == -1);
  check(harmony_progress(INFINITY, U, U, U) == -1);
  check(harmony_progress(-1, U, U, U) == -1);
  check(harmony_progress(1e7, U, U, U) == -1);
  check(harmony_progress(U, U, U, U) == -1);
  pause_ms(100);
  check(calls() == 0);
  check(harmony_progress(1.0 / 3, NAN, -INFINITY, INFINITY) == 1);
  await_calls(1);
  check(strcmp(said(), "progress --quiet --epoch 0.333333333\n") == 0);
}

static void only_task_0_that_is_no_ps_reports(void) {
  setenv("SLURM_PROCID", "1", 1);
  check(harmony_progress(1, U, U, U) == 0 && harmony_progress_last(1, U, U, U) == 0);
  setenv("SLURM_PROCID", "0", 1);
  setenv("HARMONY_ROLE", "ps", 1);
  check(harmony_progress(1, U, U, U) == 0);
  setenv("HARMONY_ROLE", "worker", 1);
  unsetenv("SLURM_JOB_ID");
  check(harmony_progress(1, U, U, U) == 0);
  pause_ms(100);
  check(calls() == 0);
  setenv("SLURM_JOB_ID", "17", 1);
  check(harmony_progress(1, U, U, U) == 1);
  await_calls(1);
}

static void the_last_report_waits_until_it_was_sent(void) {
  double begin;
  check(harmony_progress(1, U, U, U) == 1);
  setenv("SLEEPS", "0.5", 1);
  begin = seconds();
  check(harmony_progress_last(2, U, U, U) == 1);
  check(seconds() - begin >= 0.5);
  check(calls() == 2);
  check(strstr(said(), "progress --quiet --wait --epoch 2\n"));
  leaves_no_child();
}

static void a_locale_with_a_decimal_comma_changes_nothing(void) {
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) puts("(no such locale is installed)");
  check(harmony_progress(3.5, U, U, U) == 1);
  await_calls(1);
  check(strcmp(said(), "progress --quiet --epoch 3.5\n") == 0);
}

static void the_programs_signals_and_files_are_left_alone(void) {
  sigset_t before, after;
  struct sigaction action;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  close(0);
  check(harmony_progress(1, U, U, U) == 1);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  check(memcmp(&before, &after, sizeof(unsigned long)) == 0);
  sigaction(SIGCHLD, NULL, &action);
  check(action.sa_handler == SIG_DFL);
  await_calls(1);
  check(dup(1) == 0); /* nobody took the place of the file that was closed */
}

static void *call_often(void *unused) {
  int i;
  for (i = 0; i < 200; ++i) harmony_progress(i, U, U, U);
  return unused;
}

static void many_threads_may_call(void) {
  pthread_t threads[8];
  int i;
  for (i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, call_often, NULL);
  for (i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  pause_ms(100);
  check(calls() >= 1 && calls() <= 2);
}

static int failures, passes;

static void keep(const char *name, void (*promise)(void)) {
  int status = 0;
  pid_t pid;
  unlink(file);
  fflush(stdout);
  if ((pid = fork()) == 0) {
    alarm(60);
    promise();
    fflush(stdout);
    _exit(0);
  }
  waitpid(pid, &status, 0);
  printf("%s %s\n", status ? "FAILED  " : "ok      ", name);
  if (status)
    ++failures;
  else
    ++passes;
}
#define KEEP(name) keep(#name, name)

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  snprintf(file, sizeof file, "%s/said", argv[1]);
  setenv("SAID", file, 1);
  setenv("SLEEPS", "0", 1);
  setenv("SLURM_JOB_ID", "17", 1);
  setenv("SLURM_PROCID", "0", 1);
  unsetenv("HARMONY_ROLE");
  unsetenv("HARMONY_COMMAND");
  KEEP(the_first_call_starts_the_command_and_the_rest_only_look_at_a_clock);
  KEEP(what_came_in_between_goes_with_the_next_report);
  KEEP(no_zombie_is_left);
  KEEP(it_works_with_sigchld_ignored);
  KEEP(a_command_that_is_missing_does_no_harm);
  KEEP(a_command_that_hangs_holds_nobody_up);
  KEEP(values_that_make_no_sense_are_left_out);
  KEEP(only_task_0_that_is_no_ps_reports);
  KEEP(the_last_report_waits_until_it_was_sent);
  KEEP(a_locale_with_a_decimal_comma_changes_nothing);
  KEEP(the_programs_signals_and_files_are_left_alone);
  KEEP(many_threads_may_call);
  printf("c_test: %d passed, %d failed\n", passes, failures);
  return failures != 0;
}
