/* Reading records: nanoseconds per record and megabytes per second of each extractor, on records of
 * four kinds that are drawn from a seed: a combined log, the same as JSON, as CSV (every tenth with
 * quotes) and as logfmt, and rows of a Zeek log. Thread CPU time; the median of 9 rounds over some
 * 32 MB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "bb/record.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/thread_clock.h"

#define ROUNDS  9
#define RECORDS 100000

enum kind { COMBINED, JSON, CSV, LOGFMT, ZEEK, KIND_COUNT };

struct records {
    struct bb_bytes items[RECORDS];
    struct bb_buf bytes;
};

/* The fields of a record. */
struct visit {
    unsigned host;
    unsigned second;
    const char *path;
    const char *agent;
    const char *referer;
    unsigned status;
    unsigned bytes;
};

static const char *const PATHS[] = {
    "/presentations/logstash-monitorama-2013/images/kibana-search.png",
    "/favicon.ico",
    "/blog/geekery/disabling-battery-in-ubuntu-vms.html?utm_source=feedburner",
    "/projects/xdotool/",
    "/reset.css",
};
static const char *const AGENTS[] = {
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 Chrome/32.0 Safari/537.36",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/",
};
static const char *const REFERERS[] = {
    "http://semicomplete.com/presentations/logstash-monitorama-2013/",
    "-",
};

static struct visit visit_of(uint64_t number)
{
    uint64_t random = bb_hash_mix(number + 1);
    static const unsigned statuses[] = {200, 200, 200, 200, 200, 304, 404, 206};
    return (struct visit){
        .host = (unsigned)random,
        .second = (unsigned)(number % 60),
        .path = PATHS[(random >> 8) % BB_ARRAY_LENGTH(PATHS)],
        .agent = AGENTS[(random >> 16) % BB_ARRAY_LENGTH(AGENTS)],
        .referer = REFERERS[(random >> 24) % BB_ARRAY_LENGTH(REFERERS)],
        .status = statuses[(random >> 32) % BB_ARRAY_LENGTH(statuses)],
        .bytes = (unsigned)(random >> 44),
    };
}

static int print_visit(char *text, size_t size, enum kind kind, const struct visit *visit)
{
    unsigned a = visit->host >> 24, b = visit->host >> 16 & 255, c = visit->host >> 8 & 255;
    switch (kind) {
    case COMBINED:
        return snprintf(text, size,
                        "%u.%u.%u.7 - - [17/May/2015:10:05:%02u +0000] \"GET %s HTTP/1.1\" %u %u "
                        "\"%s\" \"%s\"",
                        a, b, c, visit->second, visit->path, visit->status, visit->bytes,
                        visit->referer, visit->agent);
    case JSON:
        return snprintf(
            text, size,
            "{\"@timestamp\":\"2015-05-17T10:05:%02u.000Z\",\"remote_ip\":\"%u.%u.%u.7\","
            "\"http\":{\"method\":\"GET\",\"path\":\"%s\",\"version\":\"1.1\","
            "\"referrer\":\"%s\"},\"agent\":\"%s\",\"response\":%u,\"bytes\":%u}",
            visit->second, a, b, c, visit->path, visit->referer, visit->agent, visit->status,
            visit->bytes);
    case CSV:
        return snprintf(text, size, "%u.%u.%u.7,2015-05-17T10:05:%02uZ,GET,%s,%u,%u,%s,%s%s%s", a,
                        b, c, visit->second, visit->path, visit->status, visit->bytes,
                        visit->referer, visit->host % 10 == 0 ? "\"" : "", visit->agent,
                        visit->host % 10 == 0 ? "\"" : "");
    case LOGFMT:
        return snprintf(
            text, size,
            "ts=2015-05-17T10:05:%02uZ level=info host=%u.%u.%u.7 msg=\"request served\" "
            "path=%s status=%u bytes=%u agent=\"%s\"",
            visit->second, a, b, c, visit->path, visit->status, visit->bytes, visit->agent);
    default:
        return snprintf(
            text, size,
            "1521911720.%06u\tCHhAvV%xgNNbYQ\t%u.%u.%u.7\t%u\t8.8.8.8\t53\tudp\t%u\t"
            "0.000%u\twww.%x.example.com\t1\tC_INTERNET\t1\tA\t0\tNOERROR\tF\tF\tT\tT\t0"
            "\t93.184.216.34\t300.000000\tF",
            visit->bytes, visit->host, a, b, c, visit->second + 1024, visit->status, visit->bytes,
            visit->host);
    }
}

static void make_records(struct records *records, enum kind kind)
{
    size_t size = 0;
    size_t space = (size_t)RECORDS * 512;
    uint8_t *bytes = bench_allocate(space);
    for (size_t i = 0; i < RECORDS; i++) {
        struct visit visit = visit_of(i);
        int length = print_visit((char *)bytes + size, space - size, kind, &visit);
        records->items[i] = (struct bb_bytes){bytes + size, (size_t)length};
        size += (size_t)length;
    }
    records->bytes = (struct bb_buf){.data = bytes, .size = size};
}

/* --- Reading --- */

#define ATTRIBUTES_MAX 8

struct sample {
    const char *name;
    enum kind kind;
    const char *definitions[ATTRIBUTES_MAX];
};

static const struct sample SAMPLES[] = {
    {"value", COMBINED, {"a bytes = value"}},
    {"clf: host, status, bytes",
     COMBINED,
     {"a bytes = clf(host)", "b u64 = clf(status)", "c u64 = clf(bytes)"}},
    {"clf: status", COMBINED, {"b u64 = clf(status)"}},
    {"clf: time", COMBINED, {"b time(clf) = clf(time)"}},
    {"clf: agent", COMBINED, {"b bytes = clf(agent)"}},
    {"split: field 4 and 9", COMBINED, {"a bytes = split(' ', 4)", "b u64 = split(' ', 9)"}},
    {"split quoted: field 6 and 7",
     COMBINED,
     {"a bytes = split(' ', 6, quoted)", "b u64 = split(' ', 7, quoted)"}},
    {"json: 3 paths, the last one at the end",
     JSON,
     {"a bytes = json($.remote_ip)", "b bytes = json($.http.path)", "c u64 = json($.response)"}},
    {"json: 1 path that is not there", JSON, {"a bytes = json($.user)"}},
    {"json: time", JSON, {"a time(rfc3339) = json($.@timestamp)"}},
    {"csv: fields 1, 5, 6", CSV, {"a bytes = csv(1)", "b u64 = csv(5)", "c u64 = csv(6)"}},
    {"csv: field 8", CSV, {"a bytes = csv(8)"}},
    {"logfmt: host, status, bytes",
     LOGFMT,
     {"a bytes = logfmt(host)", "b u64 = logfmt(status)", "c u64 = logfmt(bytes)"}},
    {"zeek: ts, query, rtt",
     ZEEK,
     {"a time(unix_float) = zeek(1)", "b bytes = zeek(10)", "c f64 = zeek(9)"}},
    {"zeek: field 24", ZEEK, {"a bytes = zeek(24)"}},
};

static struct bb_record_reader *open_reader(const struct sample *sample, struct bb_schema **schema)
{
    struct bb_record_reader *reader;
    bench_must(bb_schema_create(schema));
    for (size_t i = 0; i < ATTRIBUTES_MAX && sample->definitions[i] != NULL; i++)
        bench_must(bb_schema_add(*schema, sample->definitions[i]));
    bench_must(bb_record_reader_create(*schema, NULL, &reader));
    return reader;
}

/* Nanoseconds per record. Attributes found are counted, to expose a reader that finds none. */
static double read_all(struct bb_record_reader *reader, const struct records *records, size_t count,
                       size_t *ret_present)
{
    struct bb_attribute attributes[ATTRIBUTES_MAX];
    struct bb_bytes key = {NULL, 0};
    size_t present = 0;
    double start = thread_clock_now();
    for (size_t i = 0; i < RECORDS; i++) {
        bench_must(bb_record_read(reader, key, records->items[i], attributes));
        for (size_t j = 0; j < count; j++)
            present += attributes[j].state == BB_ATTRIBUTE_PRESENT;
    }
    *ret_present = present;
    return (thread_clock_now() - start) / RECORDS;
}

static void measure(const struct sample *sample, const struct records *records)
{
    struct bb_schema *schema;
    struct bb_record_reader *reader = open_reader(sample, &schema);
    double rounds[ROUNDS];
    size_t present = 0;
    for (size_t i = 0; i < ROUNDS; i++)
        rounds[i] = read_all(reader, records, bb_schema_count(schema), &present);
    double nanoseconds = median_of(rounds, ROUNDS);
    double size = (double)records->bytes.size / RECORDS;
    printf("%-42s %6.0f %9.1f %9.0f %12.2f\n", sample->name, size, nanoseconds,
           size / nanoseconds * 1e3, (double)present / RECORDS);
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
}

int main(void)
{
    static struct records records[KIND_COUNT];
    for (int kind = 0; kind < KIND_COUNT; kind++)
        make_records(&records[kind], (enum kind)kind);
    printf("%-42s %6s %9s %9s %12s\n", "attributes", "bytes", "ns/record", "MB/s", "found");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(SAMPLES); i++)
        measure(&SAMPLES[i], &records[SAMPLES[i].kind]);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        free(records[kind].bytes.data);
    return 0;
}
