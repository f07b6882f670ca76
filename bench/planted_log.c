/* See planted_log.h. */
#include "bench/planted_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bench/die.h"

struct kind {
    const char *text; /* of a token, host or user */
    uint32_t rows;
    uint32_t bursts; /* 0: rows are anywhere */
};

static const struct kind kinds[PLANTED_COUNT] = {
    [PLANTED_TOKEN_1] = {"qzone0", 1, 0},
    [PLANTED_TOKEN_10] = {"qzten0", 10, 0},
    [PLANTED_TOKEN_100_A] = {"qzhuna", 100, 0},
    [PLANTED_TOKEN_100_B] = {"qzhunb", 100, 0},
    [PLANTED_TOKEN_1000] = {"qzthou", 1000, 0},
    [PLANTED_TOKEN_10000] = {"qzmyri", 10000, 0},
    [PLANTED_TOKEN_BURSTS] = {"qzburst", 10000, 3},
    [PLANTED_INSIDE] = {"zteninside", 20, 0},
    [PLANTED_HOST_1] = {"203.0.113.1", 1, 0},
    [PLANTED_HOST_10] = {"203.0.113.10", 10, 0},
    [PLANTED_HOST_1000] = {"203.0.113.100", 1000, 0},
    [PLANTED_STATUS_418] = {"418", 20, 0},
    [PLANTED_STATUS_503] = {"503", 500, 2},
    [PLANTED_USER] = {"alice", 100, 0},
    [PLANTED_LARGE] = {"large", 89, 0},
};

uint64_t planted_row_count(enum planted what)
{
    return kinds[what].rows;
}

/* --- Places --- */

static int compare_places(const void *left, const void *right)
{
    const struct planted_place *a = left;
    const struct planted_place *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* Every kind has a stratum for each of its rows, so that no row is drawn twice. */
static uint64_t spread_row(uint64_t row_count, uint32_t rows, uint32_t number, uint64_t random)
{
    uint64_t begin = row_count * number / rows;
    uint64_t end = row_count * (number + 1) / rows;
    return begin + random % (end - begin);
}

/* Every second row of a burst. */
static uint64_t burst_row(uint64_t row_count, const struct kind *kind, uint32_t number)
{
    uint32_t size = (kind->rows + kind->bursts - 1) / kind->bursts;
    uint64_t begin = row_count * (1 + number / size) / (kind->bursts + 2);
    return begin + (uint64_t)(number % size) * 2;
}

static void add_places(struct planted_log *log, enum planted what, uint64_t row_count,
                       uint64_t seed)
{
    const struct kind *kind = &kinds[what];
    for (uint32_t i = 0; i < kind->rows; i++) {
        uint64_t random = bb_hash_mix(seed ^ bb_hash_mix((uint64_t)what << 32 | i));
        uint64_t row = kind->bursts > 0 ? burst_row(row_count, kind, i)
                                        : spread_row(row_count, kind->rows, i, random);
        log->places[log->place_count++] = (struct planted_place){.row = row, .what = what};
    }
}

void planted_log_init(struct planted_log *log, uint64_t row_count, uint64_t seed)
{
    size_t count = 0;
    for (int what = 0; what < PLANTED_COUNT; what++)
        count += kinds[what].rows;
    *log = (struct planted_log){.places = bench_allocate(count * sizeof(*log->places))};
    skip_log_init(&log->log, SKIP_LOG_APACHE, seed);
    for (int what = 0; what < PLANTED_COUNT; what++)
        add_places(log, (enum planted)what, row_count, seed);
    qsort(log->places, count, sizeof(*log->places), compare_places);
}

void planted_log_deinit(struct planted_log *log)
{
    free(log->places);
}

/* --- Lines --- */

/* Parts of a line of skip_log.h. */
struct parts {
    const char *host;
    int host_size;
    const char *request; /* from the time on, up to the protocol */
    int request_size;
    const char *rest; /* from the referer on */
};

static void split(char *line, size_t size, struct parts *ret_parts, struct planted_facts *facts)
{
    static const char protocol[] = " HTTP/1.1\" ";
    line[size] = '\0';
    const char *host_end = strchr(line, ' ');
    const char *request_end = strstr(line, protocol);
    char *end = NULL;
    facts->status = (uint32_t)strtoul(request_end + sizeof(protocol) - 1, &end, 10);
    facts->bytes = strtoull(end, &end, 10);
    *ret_parts = (struct parts){.host = line,
                                .host_size = (int)(host_end - line),
                                .request = host_end + 5,
                                .request_size = (int)(request_end - host_end) - 5,
                                .rest = end};
}

static int print_tags(const struct planted_facts *facts, char *to)
{
    int size = 0;
    for (int what = PLANTED_TOKEN_1; what <= PLANTED_INSIDE; what++) {
        if (!planted_has(facts, (enum planted)what))
            continue;
        bool is_inside = what == PLANTED_INSIDE;
        size += sprintf(to + size, "%ctag=%s%s%s", size == 0 ? '?' : '&', is_inside ? "a" : "",
                        kinds[what].text, is_inside ? "b" : "");
    }
    return size;
}

static void change(const struct planted_facts *facts, struct parts *parts)
{
    for (int what = PLANTED_HOST_1; what <= PLANTED_HOST_1000; what++) {
        if (!planted_has(facts, (enum planted)what))
            continue;
        parts->host = kinds[what].text;
        parts->host_size = (int)strlen(kinds[what].text);
    }
}

static void set_fields(struct planted_facts *facts, uint64_t row)
{
    if (planted_has(facts, PLANTED_STATUS_418))
        facts->status = 418;
    if (planted_has(facts, PLANTED_STATUS_503))
        facts->status = 503;
    if (planted_has(facts, PLANTED_LARGE))
        facts->bytes = 100000001 + row % 1000;
    facts->has_bytes = facts->status != 304 || planted_has(facts, PLANTED_LARGE);
}

/* A row has one host: the last one planted there. */
static uint32_t next_planted(struct planted_log *log)
{
    uint32_t planted = 0;
    uint32_t hosts = UINT32_C(1) << PLANTED_HOST_1 | UINT32_C(1) << PLANTED_HOST_10 |
                     UINT32_C(1) << PLANTED_HOST_1000;
    for (; log->place < log->place_count && log->places[log->place].row == log->row; log->place++) {
        uint32_t bit = UINT32_C(1) << log->places[log->place].what;
        planted = (bit & hosts) != 0 ? (planted & ~hosts) | bit : planted | bit;
    }
    log->row++;
    return planted;
}

size_t planted_log_next(struct planted_log *log, char *line, struct planted_facts *ret_facts)
{
    char plain[SKIP_LOG_LINE_MAX];
    char tags[512];
    char bytes[24] = "-";
    struct parts parts = {0};
    struct planted_facts facts = {.second = (uint32_t)(log->log.time / 1000 % (28 * 86400))};
    split(plain, skip_log_next(&log->log, plain), &parts, &facts);
    facts.planted = next_planted(log);
    set_fields(&facts, log->row);
    change(&facts, &parts);
    int tags_size = print_tags(&facts, tags);
    if (facts.has_bytes)
        sprintf(bytes, "%" PRIu64, facts.bytes);
    *ret_facts = facts;
    return (size_t)sprintf(line, "%.*s - %s %.*s%.*s HTTP/1.1\" %u %s%s", parts.host_size,
                           parts.host, planted_has(&facts, PLANTED_USER) ? "alice" : "-",
                           parts.request_size, parts.request, tags_size, tags, facts.status, bytes,
                           parts.rest);
}
