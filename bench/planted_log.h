/* The Apache log of skip_log.h with planted rows, so that conditions of every selectivity have a
 * match, and the generator knows how many.
 *
 *     host - user [time] "GET path?tag=qzten0&tag=... HTTP/1.1" status bytes "referer" "agent"
 *
 * Tokens, addresses, statuses and users are planted in planted_row_count rows, at places drawn from
 * the seed: everywhere, or in two or three bursts. A response of status 304 has no bytes ("-").
 */
#ifndef BB_BENCH_PLANTED_LOG_H
#define BB_BENCH_PLANTED_LOG_H

#include <stdbool.h>

#include "bench/skip_log.h"

enum planted {
    PLANTED_TOKEN_1,
    PLANTED_TOKEN_10,
    PLANTED_TOKEN_100_A, /* two tokens that differ in their last byte */
    PLANTED_TOKEN_100_B,
    PLANTED_TOKEN_1000,
    PLANTED_TOKEN_10000,
    PLANTED_TOKEN_BURSTS, /* 10,000 rows in three bursts */
    PLANTED_INSIDE,       /* "zteninside" in the middle of a token */
    PLANTED_HOST_1,
    PLANTED_HOST_10,
    PLANTED_HOST_1000,
    PLANTED_STATUS_418,
    PLANTED_STATUS_503, /* two bursts */
    PLANTED_USER,
    PLANTED_LARGE, /* more than 1e8 bytes */
    PLANTED_COUNT
};

/* The properties of a row. */
struct planted_facts {
    uint32_t planted; /* a bit each */
    uint32_t status;
    bool has_bytes;
    uint64_t bytes;
    uint32_t second; /* since 1 May 2015; the month has 28 days */
};

struct planted_place {
    uint64_t row;
    enum planted what;
};

struct planted_log {
    struct skip_log log;
    struct planted_place *places; /* ascending by row; owned */
    size_t place_count;
    size_t place; /* the next one */
    uint64_t row;
};

#define PLANTED_LINE_MAX (SKIP_LOG_LINE_MAX + 512)

uint64_t planted_row_count(enum planted what);
/* The log has row_count lines; at least 40,000. */
void planted_log_init(struct planted_log *log, uint64_t row_count, uint64_t seed);
void planted_log_deinit(struct planted_log *log);
/* The next line, without a line end. line: PLANTED_LINE_MAX bytes. Gives its size. */
size_t planted_log_next(struct planted_log *log, char *line, struct planted_facts *ret_facts);

static inline bool planted_has(const struct planted_facts *facts, enum planted what)
{
    return (facts->planted >> what & 1) != 0;
}

#endif
