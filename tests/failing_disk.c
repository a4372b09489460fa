/* A disk that fails on demand, for LD_PRELOAD.
 *
 * While the file named by $DISK_ERROR exists, every write to, opening for writing of, and making of anything below
 * $DISK_BELOW fails with the error number that the file holds, as a file system that turned read-only, ran over its
 * quota or lost its device would have it.
 */
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
#include <unistd.h>

static int below(const char *path) {
    const char *top = getenv("DISK_BELOW");
    return top && path && strncmp(path, top, strlen(top)) == 0;
}

static int error_now(void) {
    static int (*real_open)(const char *, int, ...);
    static ssize_t (*real_read)(int, void *, size_t);
    const char *file = getenv("DISK_ERROR");
    char text[16] = {0};
    int fd;
    if (!file) return 0;
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open");
    if (!real_read) real_read = dlsym(RTLD_NEXT, "read");
    fd = real_open(file, O_RDONLY);
    if (fd < 0) return 0;
    if (real_read(fd, text, sizeof text - 1) < 0) text[0] = 0;
    close(fd);
    return atoi(text);
}

static int fails_path(const char *path) {
    int error, saved = errno;
    if (!below(path) || !(error = error_now())) { errno = saved; return 0; }
    errno = error;
    return 1;
}

static int fails_fd(int fd) {
    char link[64], path[PATH_MAX];
    int saved = errno;
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length < 0) return 0;
    path[length] = 0;
    return fails_path(path);
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return fails_fd(fd) ? -1 : real(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return fails_fd(fd) ? -1 : real(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return fails_fd(fd) ? -1 : real(fd, data, size, at);
}

int ftruncate(int fd, off_t size) {
    REAL(int, "ftruncate", int, off_t);
    return fails_fd(fd) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    return fails_fd(fd) ? -1 : real(fd, size);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return fails_path(path) ? -1 : real(path, mode);
}

static int opens(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && fails_path(path) ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
    return opens("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
    return opens("open64", path, flags, mode);
}
