/* For LD_PRELOAD: ends the process by SIGKILL at its KILL_AT-th change to the file system, before the change is made.
 * A write counts twice: the second time half of it has been done. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long count;

static int is_the_one(void) {
  const char *at = getenv("KILL_AT");
  return at && atomic_fetch_add(&count, 1) + 1 == atol(at);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void change(void) {
  if (is_the_one()) die();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENING(name)                                                                                                  \
  int name(const char *path, int flags, ...) {                                                                         \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                            \
    va_end(rest);                                                                                                      \
    if (flags & (O_CREAT | O_TRUNC)) change();                                                                         \
    return REAL(name)(path, flags, mode);                                                                              \
  }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                                               \
  int name(int at, const char *path, int flags, ...) {                                                                 \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                            \
    va_end(rest);                                                                                                      \
    if (flags & (O_CREAT | O_TRUNC)) change();                                                                         \
    return REAL(name)(at, path, flags, mode);                                                                          \
  }
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int fd, const void *bytes, size_t size) {
  change();
  if (is_the_one()) {
    if (REAL(write)(fd, bytes, size / 2) < 0) abort();
    die();
  }
  return REAL(write)(fd, bytes, size);
}

#define CHANGE(name, parameters, arguments)                                                                            \
  int name parameters {                                                                                                \
    change();                                                                                                          \
    return REAL(name) arguments;                                                                                       \
  }
CHANGE(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGE(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CHANGE(fsync, (int fd), (fd))
CHANGE(fdatasync, (int fd), (fd))
CHANGE(fchmod, (int fd, mode_t mode), (fd, mode))
CHANGE(fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
CHANGE(ftruncate, (int fd, off_t size), (fd, size))
CHANGE(rename, (const char *from, const char *to), (from, to))
CHANGE(renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to))
CHANGE(renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags),
       (from_at, from, to_at, to, flags))
CHANGE(unlink, (const char *path), (path))
CHANGE(unlinkat, (int at, const char *path, int flags), (at, path, flags))
CHANGE(rmdir, (const char *path), (path))
