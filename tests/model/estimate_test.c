/* Goal: an estimate of a hypothetical index agrees with the built index: its size within 10 %, the
 * granules that a selection reads within 20 %, from a part of the store. Method: logs drawn from
 * seeds in stores of about 50 tables, as loaded with rows overwritten, and compacted. For indexes
 * of every kind the estimate is compared with the index, which is built after it. */
#include "tests/support/store.h"

#include <math.h>

#include "bb/select.h"
#include "bench/skip_log.h"
#include "tests/support/step.h"

#define LOG_BYTES  (UINT64_C(40) << 20)
#define PARTS      4 /* of the log: after each, some of its rows are written again */
#define SIZE_SLACK 0.10
#define READ_SLACK 0.20
#define SHARE_MAX  0.5 /* of the store, that the estimates may read */

struct question {
    const char *spec;
    const char *where;
};

static const char *const APACHE_ATTRIBUTES[] = {
    "line bytes = value",      "host bytes = clf(host)",   "time time(clf) = clf(time)",
    "path bytes = clf(path)",  "status u64 = clf(status)", "bytes u64 = clf(bytes)",
    "agent bytes = clf(agent)"};
static const struct question APACHE[] = {
    {"min_max(time)", "time >= '2015-05-01T04:00:00Z' AND time < '2015-05-01T06:00:00Z'"},
    {"min_max(bytes)", "bytes > 92000"},
    {"set(status, values=100)", "status = 206"},
    {"set(host, values=2800)", "host IN ('5.24.114.48', '110.110.206.191')"},
    {"values(host, rate=0.01)", "host IN ('11.22.134.56', '85.24.111.28')"},
    {"values(host, rate=0.001)", "host IN ('11.22.134.56', '85.24.111.28', '118.199.81.76')"},
    {"tokens(line, rate=0.001)", "has_token(line, 'inmoconmo')"},
    {"tokens(path, rate=0.01)", "has_token(path, '1002') OR has_token(path, '28')"},
    {"tokens(agent, fold=lower)", "has_token(agent, '5') AND has_token(agent, 'iPhone')"},
    {"ngrams(path, n=3, rate=0.1)", "contains(path, 'vergrak')"},
    {"column(status)", "status = 301"},
    {"column(host)", "starts_with(host, '5.24.')"},
};

static const char *const ZEEK_ATTRIBUTES[] = {
    "line bytes = value",     "ts f64 = zeek(1)",       "uid bytes = zeek(2)",
    "client bytes = zeek(3)", "server bytes = zeek(5)", "id u64 = zeek(8)",
    "rtt f64 = zeek(9)",      "query bytes = zeek(10)", "answers bytes = zeek(22)"};
static const struct question ZEEK[] = {
    {"min_max(ts)", "ts >= 1521911780 AND ts < 1521911870"},
    {"min_max(rtt)", "rtt < 0.00001"},
    {"set(query, values=40000)", "query = 'verstanet.delo.org'"},
    {"set(client, values=300)", "client IN ('10.47.4.36', '10.47.5.30', '10.47.2.33')"},
    {"values(uid, rate=0.1)", "uid IN ('Cnone', 'Cnever', 'Cnowhere')"},
    {"values(query, rate=0.01)", "query = 'verstanet.delo.org'"},
    {"values(id, rate=0.1)", "id IN (1, 22, 333, 4444)"},
    {"tokens(line, rate=0.001)", "has_token(line, 'bati')"},
    {"tokens(query, rate=0.01)", "has_token(query, 'inloolo')"},
    {"ngrams(query, n=3, rate=0.1)", "contains(query, 'vermomo')"},
    {"column(query)", "ends_with(query, '.barilolo.org')"},
    {"column(rtt)", "rtt BETWEEN 0.0011 AND 0.001104"},
};

/* ---- stores ---- */

static void put_line(struct store *store, uint64_t row, const char *line, size_t size)
{
    char key[32];
    snprintf(key, sizeof(key), "%010llu", (unsigned long long)row);
    assert_ok(bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(line, size)));
}

/* Rows first ... */
static uint64_t put_part(struct store *store, struct skip_log *log, uint64_t first, uint64_t bytes)
{
    char line[SKIP_LOG_LINE_MAX];
    uint64_t row = first;
    for (uint64_t put = 0; put < bytes; row++) {
        size_t size = skip_log_next(log, line);
        put_line(store, row, line, size);
        put += size;
    }
    return row;
}

/* Every tenth row again, with another line. */
static void put_again(struct store *store, struct skip_log *log, uint64_t first, uint64_t end)
{
    char line[SKIP_LOG_LINE_MAX];
    for (uint64_t row = first; row < end; row += 10) {
        size_t size = skip_log_next(log, line);
        put_line(store, row, line, size);
    }
}

static void create_attributes(struct store *store, const char *const *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(bb_db_attribute_create(store->db, definitions[i]));
    assert_ok(bb_db_granule_set(store->db, BB_GRANULE_BYTES_MIN));
}

static void load(struct store *store, enum skip_log_kind kind)
{
    struct skip_log log;
    uint64_t row = 0;
    skip_log_init(&log, kind, 11);
    for (int part = 0; part < PARTS; part++) {
        uint64_t first = row;
        row = put_part(store, &log, first, LOG_BYTES / PARTS);
        put_again(store, &log, first, row);
    }
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

static void open_store(struct store *store)
{
    store_init(store);
    store->options.write_buffer_bytes = 2 * 1024 * 1024;
    store->options.block_size_bytes = 2048;
    store->options.table_size_bytes = 512 * 1024;
    store->options.level1_size_bytes = 4 * 1024 * 1024;
    store_open(store);
}

/* ---- comparing ---- */

static uint64_t granules_read(struct store *store, const char *where)
{
    struct bb_select_options options = {.where = where};
    struct bb_select *select = NULL;
    struct bb_select_account account;
    bool has_record = true;
    assert_ok(bb_db_select(store->db, &options, &select));
    while (has_record)
        assert_ok(bb_select_next(select, &has_record));
    bb_select_account(select, &account);
    bb_select_destroy(select);
    assert_true(account.granules > 0);
    return account.granules_read;
}

static uint64_t built_size(struct store *store, uint64_t *ret_granules)
{
    struct bb_db_index_list list = {0};
    assert_ok(bb_db_index_list(store->db, &list));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.indexes[0].tables_built, list.indexes[0].tables);
    uint64_t size = list.indexes[0].size_bytes;
    *ret_granules = list.indexes[0].granules;
    bb_db_index_list_deinit(&list);
    return size;
}

static double deviation(uint64_t estimated, uint64_t built)
{
    return built == 0 ? (double)estimated : (double)estimated / (double)built - 1;
}

static void compare(struct store *store, const char *state, const struct question *question)
{
    struct bb_index_estimate estimate = {0};
    struct bb_index_estimate_options options = {
        .spec = question->spec, .where = question->where, .segments = 8, .granules = 1024};
    struct bb_materialize_options all = {0};
    uint64_t granules = 0;
    assert_ok(bb_db_index_estimate(store->db, &options, &estimate));
    assert_ok(bb_db_index_create(store->db, "built", question->spec));
    assert_ok(bb_db_index_materialize(store->db, &all));
    uint64_t size = built_size(store, &granules);
    uint64_t read = granules_read(store, question->where);
    assert_ok(bb_db_index_drop(store->db, "built"));
    double size_off = deviation(estimate.size_bytes, size);
    double read_off = deviation(estimate.granules_read, read);
    print_message("%-10s %-30s size %8llu %+5.1f %%   granules %llu of %llu (%llu) %+5.1f %% +- "
                  "%llu   of %.2f of the store\n",
                  state, question->spec, (unsigned long long)size, 100 * size_off,
                  (unsigned long long)read, (unsigned long long)granules,
                  (unsigned long long)estimate.granules, 100 * read_off,
                  (unsigned long long)estimate.granules_read_error,
                  (double)estimate.raw_bytes_sampled / (double)estimate.raw_bytes);
    assert_false(estimate.is_whole);
    assert_true((double)estimate.raw_bytes_sampled < SHARE_MAX * (double)estimate.raw_bytes);
    assert_true(fabs(size_off) <= SIZE_SLACK);
    assert_true(fabs(read_off) <= READ_SLACK);
    assert_true(fabs(deviation(estimate.granules, granules)) <= SIZE_SLACK);
}

/* ---- the sum of many conditions ---- */

/* An absent value is in no granule: an index leaves only false granules, some dozens of the sample,
 * so that one estimate says little. The sum of many shows whether estimates are biased. */
#define ABSENT_CONDITIONS 60
#define ABSENT_SPEC       "values(host, rate=0.01)"
/* Two and a half standard errors; a segment that leaves part of its rate unused is 19 % off. */
#define ABSENT_SLACK 0.12

static void write_absent(uint32_t i, char where[64])
{
    snprintf(where, 64, "host IN ('no host %u', 'absent host %u')", i, i);
}

static uint64_t estimate_absent(struct store *store, uint32_t i)
{
    char where[64];
    struct bb_index_estimate estimate = {0};
    struct bb_index_estimate_options options = {
        .spec = ABSENT_SPEC, .where = where, .segments = 8, .granules = 1024};
    write_absent(i, where);
    assert_ok(bb_db_index_estimate(store->db, &options, &estimate));
    return estimate.granules_read;
}

static void compare_absent(struct store *store, const char *state)
{
    char where[64];
    uint64_t estimated = 0;
    uint64_t read = 0;
    struct bb_materialize_options all = {0};
    for (uint32_t i = 0; i < ABSENT_CONDITIONS; i++)
        estimated += estimate_absent(store, i);
    assert_ok(bb_db_index_create(store->db, "built", ABSENT_SPEC));
    assert_ok(bb_db_index_materialize(store->db, &all));
    for (uint32_t i = 0; i < ABSENT_CONDITIONS; i++) {
        write_absent(i, where);
        read += granules_read(store, where);
    }
    assert_ok(bb_db_index_drop(store->db, "built"));
    print_message("%-10s %-30s absent in sum: read %llu, estimated %+5.1f %%\n", state, ABSENT_SPEC,
                  (unsigned long long)read, 100 * deviation(estimated, read));
    assert_true(fabs(deviation(estimated, read)) <= ABSENT_SLACK);
}

/* Every second question, from `first` on. */
static void compare_half(struct store *store, const char *state, const struct question *questions,
                         size_t count, size_t first)
{
    size_t step = 2 * bb_test_step();
    for (size_t i = first; i < count; i += step)
        compare(store, state, &questions[i]);
}

/* Leaves a compacted store. */
static void check(struct store *store, enum skip_log_kind kind, const char *const *attributes,
                  size_t attribute_count, const struct question *questions, size_t count)
{
    open_store(store);
    create_attributes(store, attributes, attribute_count);
    load(store, kind);
    compare_half(store, "loaded", questions, count, 0);
    assert_ok(bb_db_compact(store->db));
    compare_half(store, "compacted", questions, count, 1);
}

static void deinit(struct store *store)
{
    store_close(store);
    bb_file_memory_destroy(store->memory);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void estimate__is_what_is_built_on_an_access_log(void **state)
{
    (void)state;
    struct store store;
    check(&store, SKIP_LOG_APACHE, APACHE_ATTRIBUTES, COUNT(APACHE_ATTRIBUTES), APACHE,
          COUNT(APACHE));
    compare_absent(&store, "compacted");
    deinit(&store);
}

static void estimate__is_what_is_built_on_a_log_of_queries(void **state)
{
    (void)state;
    struct store store;
    check(&store, SKIP_LOG_ZEEK, ZEEK_ATTRIBUTES, COUNT(ZEEK_ATTRIBUTES), ZEEK, COUNT(ZEEK));
    deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimate__is_what_is_built_on_an_access_log),
        cmocka_unit_test(estimate__is_what_is_built_on_a_log_of_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
