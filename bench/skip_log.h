/* Logs for measuring skip indexes, drawn from a seed: the same on every machine.
 *
 * APACHE: combined log of a site. Some visitors are new, most return, robots more often than
 * people. Paths, agents and referers are drawn with the skew of real sites, and time advances.
 * ZEEK: a log of DNS queries as tab-separated lines, in which most fields hardly repeat.
 *
 * JSON: requests with unique ids. SYSTEM: messages of daemons on 200 machines; half of their tokens
 * are numbers that hardly repeat.
 */
#ifndef BB_BENCH_SKIP_LOG_H
#define BB_BENCH_SKIP_LOG_H

#include <stddef.h>
#include <stdint.h>

enum skip_log_kind { SKIP_LOG_APACHE, SKIP_LOG_ZEEK, SKIP_LOG_JSON, SKIP_LOG_SYSTEM };
#define SKIP_LOG_KINDS 4

#define SKIP_LOG_LINE_MAX 1024

struct skip_log {
    enum skip_log_kind kind;
    uint64_t state; /* of the random numbers */
    uint64_t time;  /* milliseconds since the log began */
    uint32_t newest_visitor;
};

void skip_log_init(struct skip_log *log, enum skip_log_kind kind, uint64_t seed);
/* The next line, without a line end. line: SKIP_LOG_LINE_MAX bytes. Gives its size. */
size_t skip_log_next(struct skip_log *log, char *line);

#endif
