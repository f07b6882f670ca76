/* See counters.h. */
#include "bench/counters.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/die.h"

/* The counts of an empty interval. */
static struct counters reading_cost;

/* One open, one read, one close, for any size. */
static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_die("cannot open %s", path);
    ssize_t length = read(fd, text, size - 1);
    if (length < 0)
        bench_die("cannot read %s", path);
    text[length] = '\0';
    close(fd);
}

static uint64_t field(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line == NULL ? 0 : strtoull(line + strlen(name), NULL, 10);
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_usec * 1000;
}

void counters_read(struct counters *ret_counters)
{
    char text[1024];
    struct rusage usage;
    read_text("/proc/self/io", text, sizeof(text));
    getrusage(RUSAGE_SELF, &usage);
    *ret_counters = (struct counters){
        .read_calls = field(text, "syscr: "),
        .read_bytes = field(text, "rchar: "),
        .write_calls = field(text, "syscw: "),
        .written_bytes = field(text, "wchar: "),
        .device_read = field(text, "\nread_bytes: "),
        .device_written = field(text, "\nwrite_bytes: "),
        .minor_faults = (uint64_t)usage.ru_minflt,
        .major_faults = (uint64_t)usage.ru_majflt,
        .cpu_nanoseconds = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
    };
}

static uint64_t difference(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

static void subtract(struct counters *from, const struct counters *what)
{
#define COUNTERS_SUBTRACT(name) from->name = difference(from->name, what->name);
    COUNTERS_FIELDS(COUNTERS_SUBTRACT)
#undef COUNTERS_SUBTRACT
}

void counters_since(const struct counters *before, struct counters *ret_difference)
{
    counters_read(ret_difference);
    subtract(ret_difference, before);
    subtract(ret_difference, &reading_cost);
}

void counters_init(void)
{
    struct counters before;
    struct counters cost;
    reading_cost = (struct counters){0};
    counters_read(&before);
    counters_since(&before, &cost);
    reading_cost = cost;
}

uint64_t counters_anonymous_bytes(void)
{
    char text[4096];
    read_text("/proc/self/status", text, sizeof(text));
    return field(text, "RssAnon:") * 1024;
}

uint64_t clock_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
