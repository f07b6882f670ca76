/* See system_counters.h. */
#include "tools/measure/system_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNTER_PATH     "/proc/self/io"
#define PROBE_READ_COUNT 8

void system_counters_disable(struct system_counters *counters, const char *reason)
{
    if (counters->fd >= 0)
        close(counters->fd);
    counters->fd = -1;
    snprintf(counters->reason, sizeof(counters->reason), "%s", reason);
}

bool system_counters_are_available(const struct system_counters *counters)
{
    return counters->fd >= 0;
}

/* The number after "NAME: " at the beginning of a line. */
static bool find_number(const char *text, const char *name, uint64_t *ret_number)
{
    size_t name_size = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, name_size) == 0) {
            *ret_number = strtoull(line + name_size, NULL, 10);
            return true;
        }
    }
    return false;
}

struct system_reading system_counters_read(struct system_counters *counters)
{
    struct system_reading reading = {0};
    char text[512] = "";
    ssize_t size = pread(counters->fd, text, sizeof(text) - 1, 0);
    if (size <= 0 || !find_number(text, "syscr: ", &reading.read_calls) ||
        !find_number(text, "read_bytes: ", &reading.read_bytes)) {
        system_counters_disable(counters, COUNTER_PATH " cannot be read");
        return (struct system_reading){0};
    }
    return reading;
}

struct system_reading system_counters_between(const struct system_counters *counters,
                                              struct system_reading before,
                                              struct system_reading after)
{
    uint64_t calls = after.read_calls - before.read_calls;
    return (struct system_reading){
        .read_calls = calls < counters->empty_calls ? 0 : calls - counters->empty_calls,
        .read_bytes = after.read_bytes - before.read_bytes,
    };
}

static void measure_empty_interval(struct system_counters *counters)
{
    struct system_reading before = system_counters_read(counters);
    if (!system_counters_are_available(counters))
        return;
    struct system_reading after = system_counters_read(counters);
    counters->empty_calls = after.read_calls - before.read_calls;
}

/* Makes a known number of reads. Disables the counters if they count another number. */
static void probe(struct system_counters *counters)
{
    struct system_reading before = system_counters_read(counters);
    for (int i = 0; i < PROBE_READ_COUNT && system_counters_are_available(counters); i++) {
        char byte = 0;
        if (pread(counters->fd, &byte, 1, 0) < 0)
            system_counters_disable(counters, COUNTER_PATH " cannot be read");
    }
    if (!system_counters_are_available(counters))
        return;
    struct system_reading after = system_counters_read(counters);
    uint64_t counted = system_counters_between(counters, before, after).read_calls;
    if (system_counters_are_available(counters) && counted != PROBE_READ_COUNT) {
        char reason[sizeof(counters->reason)] = "";
        snprintf(reason, sizeof(reason),
                 COUNTER_PATH " counted %" PRIu64 " calls where %d were made", counted,
                 PROBE_READ_COUNT);
        system_counters_disable(counters, reason);
    }
}

void system_counters_open(struct system_counters *counters)
{
    *counters = (struct system_counters){.fd = open(COUNTER_PATH, O_RDONLY | O_CLOEXEC)};
    if (counters->fd < 0) {
        snprintf(counters->reason, sizeof(counters->reason), COUNTER_PATH ": %s", strerror(errno));
        return;
    }
    measure_empty_interval(counters);
    if (system_counters_are_available(counters))
        probe(counters);
}

void system_counters_close(struct system_counters *counters)
{
    if (counters->fd >= 0)
        close(counters->fd);
    counters->fd = -1;
}
