/* The cost of a condition: nanoseconds of processor time per record whose attributes have been
 * read.
 *
 *     condition_bench [rounds, default 300]
 *
 * Prints a line of JSON for each condition, on records like a web server's log: the median of seven
 * runs over 4,096 records, and the share of matching records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "bb/condition.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/process_clock.h"

#define RECORDS   4096
#define RUNS      7
#define TEXT_SIZE 160

enum { STATUS, SIZE, TIME, PATH, AGENT, RATIO, FIELDS };

static const char *const definitions[FIELDS] = {
    "status u64 = value", "size i64 = value",    "ts time(rfc3339) = value",
    "path bytes = value", "agent bytes = value", "ratio f64 = value",
};

static const char *const conditions[] = {
    "status = 404",
    "status IN (400, 401, 403, 404, 418, 500, 502, 503)",
    "size BETWEEN 1000 AND 2000",
    "ts >= '2015-05-17' AND ts < '2015-05-17T00:10:00Z'",
    "ratio < 0.01",
    "size IS NULL",
    "path = '/blog/geekery/ssl-latency.html'",
    "path LIKE '/blog/geekery/ssl-l%'",
    "path LIKE '/blog/%.html'",
    "path LIKE '%tag=_zhun1%'",
    "agent ILIKE '%googlebot%'",
    "contains(agent, 'sqlmap')",
    "contains(agent, 'Windows NT 6.1')",
    "has_token(agent, 'sqlmap')",
    "has_token(agent, 'Mozilla')",
    "has_any_token(agent, 'sqlmap', 'nikto', 'masscan')",
    "matches(agent, 'Firefox/(1[0-9]|2[0-9])\\.')",
    "matches(path, '^/blog/.*\\.(html|php)$')",
    "status = 404 AND (has_token(agent, 'sqlmap') OR path LIKE '/admin/%') AND NOT size < 100",
};

static struct bb_attribute records[RECORDS][FIELDS];
static char texts[RECORDS][2][TEXT_SIZE];

static struct bb_attribute text_of(const char *text)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES, .as.bytes = bb_bytes_of_text(text)};
}

static void make_record(size_t number)
{
    static const char *const agents[] = {
        "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/32.0.1700.107 Safari/537.36",
        "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/",
    };
    static const char *const pages[] = {
        "/blog/geekery/ssl-latency",
        "/images/web/2009/banner.png?x=", "/blog/tags/puppet?flav=rss20&tag=qzhun",
        "/presentations/"};
    static const uint64_t statuses[] = {200, 200, 200, 200, 200, 304, 404, 301};
    uint64_t draw = bb_hash_mix(number);
    struct bb_attribute *record = records[number];
    snprintf(texts[number][0], TEXT_SIZE, "%s%s%s", pages[draw % 4],
             draw % 3 == 0 ? "" : texts[(number + RECORDS - 1) % RECORDS][0] + 12,
             draw % 5 == 0 ? ".html" : "1");
    texts[number][0][60] = 0;
    snprintf(texts[number][1], TEXT_SIZE, "%s%s", agents[draw / 8 % 4],
             draw % 1000 == 0 ? " sqlmap/1.0" : "");
    record[STATUS] =
        (struct bb_attribute){.type = BB_ATTRIBUTE_U64, .as.u64 = statuses[draw / 64 % 8]};
    record[SIZE] =
        (struct bb_attribute){.type = BB_ATTRIBUTE_I64,
                              .state = draw % 9 == 0 ? BB_ATTRIBUTE_NULL : BB_ATTRIBUTE_PRESENT,
                              .as.i64 = (int64_t)(draw / 512 % 100000)};
    record[TIME] = (struct bb_attribute){
        .type = BB_ATTRIBUTE_TIME, .as.i64 = 1431820800000000000 + (int64_t)number * 1000000000};
    record[PATH] = text_of(texts[number][0]);
    record[AGENT] = text_of(texts[number][1]);
    record[RATIO] = (struct bb_attribute){.type = BB_ATTRIBUTE_F64,
                                          .as.f64 = (double)(draw >> 12) / 4503599627370496.0};
}

static uint64_t count_matches(struct bb_condition_run *run)
{
    uint64_t count = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        bench_must(bb_condition_test(run, records[i], &truth));
        count += truth == BB_TRUTH_TRUE;
    }
    return count;
}

static void measure(const struct bb_schema *schema, const char *text, size_t rounds)
{
    struct bb_condition *condition = NULL;
    struct bb_condition_run *run = NULL;
    double figures[RUNS];
    bench_must(bb_condition_parse(schema, bb_bytes_of_text(text), &condition));
    bench_must(bb_condition_run_create(condition, &run));
    uint64_t count = count_matches(run);
    for (size_t i = 0; i < RUNS; i++) {
        uint64_t begin = process_clock_now();
        for (size_t round = 0; round < rounds; round++)
            if (count_matches(run) != count)
                bench_die("%s: another count", text);
        figures[i] = process_clock_since(begin) / ((double)rounds * RECORDS);
    }
    printf("{\"bench\":\"condition\",\"ns_per_record\":%.1f,\"share\":%.4f,\"condition\":\"%s\"}\n",
           median_of(figures, RUNS), (double)count / RECORDS, text);
    fflush(stdout);
    bb_condition_run_destroy(run);
    bb_condition_destroy(condition);
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
    struct bb_schema *schema = NULL;
    bench_must(bb_schema_create(&schema));
    for (size_t i = 0; i < FIELDS; i++)
        bench_must(bb_schema_add(schema, definitions[i]));
    for (size_t i = 0; i < RECORDS; i++)
        make_record(i);
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
        measure(schema, conditions[i], rounds);
    bb_schema_destroy(schema);
    return 0;
}
