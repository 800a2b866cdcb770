/* For LD_PRELOAD: a disk that is slow, full, read-only or broken, for the files below one directory.
 *
 *   SLOW_DISK_DIR     the directory; all else is as it is
 *   SLOW_DISK_MS      every write and sync there takes so many milliseconds longer
 *   SLOW_DISK_ERROR   ENOSPC: half of a write is done, and then nothing more; EROFS: nothing can be written, made, renamed
 *                     or removed; EIO: writes, syncs and truncations fail
 *   SLOW_DISK_SWITCH  only while this file is there. What it says ("MS 500", "ERROR EIO", one a line) goes before the
 *                     variables, so that a running process can be given one disk after another */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

struct disk {
  long ms;
  int error; /* 0: none */
};

static int error_of(const char *name) {
  return !strcmp(name, "ENOSPC") ? ENOSPC : !strcmp(name, "EROFS") ? EROFS : !strcmp(name, "EIO") ? EIO : 0;
}

static struct disk disk_now(void) {
  struct disk disk = {0, 0};
  const char *file = getenv("SLOW_DISK_SWITCH"), *ms = getenv("SLOW_DISK_MS"), *error = getenv("SLOW_DISK_ERROR");
  char text[128] = "", name[16];
  if (file) {
    int fd = REAL(open)(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return disk;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
  }
  if (ms) disk.ms = atol(ms);
  if (error) disk.error = error_of(error);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (sscanf(line, "MS %ld", &disk.ms) == 1) continue;
    if (sscanf(line, "ERROR %15s", name) == 1) disk.error = error_of(name);
  }
  return disk;
}

static int is_below(const char *path) {
  const char *directory = getenv("SLOW_DISK_DIR");
  size_t length = directory ? strlen(directory) : 0;
  return length && !strncmp(path, directory, length) && (path[length] == '/' || !path[length]);
}

static int is_ours(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static int is_ours_at(int at, const char *path) {
  return path[0] == '/' ? is_below(path) : at != AT_FDCWD && is_ours(at);
}

static void wait_for(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (ms > 0 && nanosleep(&time, &time) && errno == EINTR) continue;
}

static int refuse(int error) {
  errno = error;
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  struct disk disk = {0, 0};
  if (is_ours(fd)) disk = disk_now();
  wait_for(disk.ms);
  if (disk.error == ENOSPC && size > 1) {
    static __thread const void *half; /* the second half comes next, and finds no room */
    if (half == bytes) return half = NULL, refuse(ENOSPC);
    half = (const char *)bytes + size / 2;
    return REAL(write)(fd, bytes, size / 2);
  }
  return disk.error ? refuse(disk.error) : REAL(write)(fd, bytes, size);
}

#define SYNC(name, parameters, arguments)                                                                              \
  int name parameters {                                                                                                \
    if (is_ours(fd)) {                                                                                                 \
      struct disk disk = disk_now();                                                                                   \
      wait_for(disk.ms);                                                                                               \
      if (disk.error == EROFS || disk.error == EIO) return refuse(disk.error);                                         \
    }                                                                                                                  \
    return REAL(name) arguments;                                                                                       \
  }
SYNC(fsync, (int fd), (fd))
SYNC(fdatasync, (int fd), (fd))
SYNC(ftruncate, (int fd, off_t size), (fd, size))
SYNC(ftruncate64, (int fd, off64_t size), (fd, size))

#define OPENING(name)                                                                                                  \
  int name(int at, const char *path, int flags, ...) {                                                                 \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                            \
    va_end(rest);                                                                                                      \
    if (flags & (O_CREAT | O_WRONLY | O_RDWR) && is_ours_at(at, path) && disk_now().error == EROFS)                    \
      return refuse(EROFS);                                                                                            \
    return REAL(name)(at, path, flags, mode);                                                                          \
  }
OPENING(openat)
OPENING(openat64)

int renameat(int from_at, const char *from, int to_at, const char *to) {
  if (is_ours_at(from_at, from) && disk_now().error == EROFS) return refuse(EROFS);
  return REAL(renameat)(from_at, from, to_at, to);
}

int unlinkat(int at, const char *path, int flags) {
  if (is_ours_at(at, path) && disk_now().error == EROFS) return refuse(EROFS);
  return REAL(unlinkat)(at, path, flags);
}
