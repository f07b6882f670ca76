/* Goal: a selection returns exactly the records that match the condition, in key order, in both
 * directions, in ranges, up to limits and at snapshots, under overwrites, deletions and deleted
 * ranges, with any indexes; and indexes avoid reads. Method: stores under random operations with
 * indexes that are added and dropped; each condition is tested on every record of an iterator, and
 * the two lists are compared. */
#include "tests/support/store.h"

#include "base/buf.h"
#include "bb/select.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEYS 3000

static const char *const ATTRIBUTES[] = {
    "status u64 = csv(1)",
    "user bytes = csv(2)",
    "size i64 = csv(3)",
    "text bytes = csv(4)",
};

static const char *const INDEXES[][2] = {
    {"status_set", "set(status, values=100)"}, {"size_bounds", "min_max(size)"},
    {"users", "values(user, rate=0.01)"},      {"words", "tokens(text, rate=0.01)"},
    {"status_column", "column(status)"},       {"size_column", "column(size)"},
};

static const char *const CONDITIONS[] = {
    "status = 404",
    "status != 200",
    "NOT (status = 200)",
    "status IN (500, 503) OR user = 'user7'",
    "user = 'user123'",
    "user IS NULL",
    "user IS NOT NULL AND size < 10",
    "size BETWEEN 100 AND 120",
    "status = 404 AND user = 'user7'",
    "status = 404 AND NOT has_token(text, 'alpha')",
    "NOT (size BETWEEN 0 AND 900)",
    "size IS NULL AND status = 404",
    "has_token(text, 'needle')",
    "has_token(text, 'absent')",
    "has_token(text, 'alpha') AND status = 500",
    "text LIKE '%eedl%'",
    "text LIKE 'gamma %'",
    "NOT (text LIKE '%a%' OR status > 300)",
    "status = 200 OR status != 200 OR status IS NULL",
    "FALSE",
    "TRUE",
};

static size_t make_value(struct bb_rng *rng, char *value, size_t capacity)
{
    static const char *const words[] = {"alpha", "beta", "gamma", "delta", "omega", "needles"};
    static const unsigned statuses[] = {200, 200, 200, 200, 200, 304, 404, 500};
    char user[32] = "";
    char size[32] = "";
    unsigned status = bb_rng_one_in(rng, 500) ? 503 : statuses[bb_rng_below(rng, 8)];
    if (!bb_rng_one_in(rng, 7))
        snprintf(user, sizeof(user), "user%u", (unsigned)bb_rng_skewed(rng, 400));
    if (!bb_rng_one_in(rng, 5))
        snprintf(size, sizeof(size), "%u", (unsigned)bb_rng_below(rng, 1000));
    int length = snprintf(value, capacity, "%u,%s,%s,%s %s%s", status, user, size,
                          words[bb_rng_below(rng, 6)], words[bb_rng_below(rng, 6)],
                          bb_rng_one_in(rng, 300) ? " needle" : "");
    return (size_t)length;
}

static struct bb_bytes key_of(uint64_t number, char key[16])
{
    snprintf(key, 16, "%08u", (unsigned)number);
    return bb_bytes_of_text(key);
}

/* ---- the right answer ---- */

struct expected {
    struct bb_buf keys; /* of eight bytes each */
    size_t count;
};

static bool matches(const struct bb_condition *condition, struct bb_record_reader *reader,
                    struct bb_bytes key, struct bb_bytes value)
{
    struct bb_attribute attributes[4];
    struct bb_condition_run *run = NULL;
    enum bb_truth truth = BB_TRUTH_FALSE;
    assert_ok(bb_record_read(reader, key, value, attributes));
    assert_ok(bb_condition_run_create(condition, &run));
    assert_ok(bb_condition_test(run, attributes, &truth));
    bb_condition_run_destroy(run);
    return truth == BB_TRUTH_TRUE;
}

static struct expected expect(struct bb_db *db, const char *where, const struct bb_key_range *range,
                              const struct bb_snapshot *snapshot)
{
    struct expected expected = {0};
    struct bb_schema *schema = NULL;
    struct bb_condition *condition = NULL;
    struct bb_record_reader *reader = NULL;
    struct bb_db_iter *iter = NULL;
    struct bb_get_options options = {.snapshot = snapshot};
    assert_ok(bb_db_schema(db, &schema));
    assert_ok(bb_condition_parse(schema, bb_bytes_of_text(where), &condition));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    assert_ok(bb_db_iter_create_range(db, &options, range, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        if (!matches(condition, reader, bb_db_iter_key(iter), bb_db_iter_value(iter)))
            continue;
        assert_int_equal(bb_db_iter_key(iter).size, 8);
        assert_ok(bb_buf_append(&expected.keys, bb_db_iter_key(iter).data, 8));
        expected.count++;
    }
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    bb_record_reader_destroy(reader);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
    return expected;
}

/* ---- comparing ---- */

static void compare(struct bb_db *db, const struct bb_select_options *options,
                    const struct expected *expected)
{
    struct bb_select *select = NULL;
    bool has_record = true;
    size_t count = expected->count;
    size_t found = 0;
    if (options->limit > 0 && options->limit < count)
        count = (size_t)options->limit;
    assert_ok(bb_db_select(db, options, &select));
    for (;;) {
        assert_ok(bb_select_next(select, &has_record));
        if (!has_record)
            break;
        assert_true(found < count);
        size_t place = options->backward ? expected->count - 1 - found : found;
        assert_memory_equal(bb_select_key(select).data, expected->keys.data + 8 * place, 8);
        found++;
    }
    assert_int_equal(found, count);
    assert_ok(bb_select_next(select, &has_record));
    assert_false(has_record);
    bb_select_destroy(select);
}

static void compare_count(struct bb_db *db, const struct bb_select_options *options,
                          const struct expected *expected)
{
    uint64_t count = UINT64_MAX;
    assert_ok(bb_db_select_count(db, options, &count, NULL));
    assert_int_equal(count, expected->count);
}

static void check_condition(struct bb_db *db, const char *where, const struct bb_key_range *range,
                            const struct bb_snapshot *snapshot)
{
    struct expected expected = expect(db, where, range, snapshot);
    struct bb_select_options options = {.where = where, .range = range, .snapshot = snapshot};
    compare(db, &options, &expected);
    compare_count(db, &options, &expected);
    options.backward = true;
    compare(db, &options, &expected);
    options.limit = 3;
    compare(db, &options, &expected);
    options.backward = false;
    compare(db, &options, &expected);
    options.limit = 0;
    options.ignore_indexes = true;
    compare_count(db, &options, &expected);
    bb_buf_deinit(&expected.keys);
}

static void check_all(struct bb_db *db, struct bb_rng *rng, const struct bb_snapshot *snapshot)
{
    char low_text[16];
    char high_text[16];
    size_t step = bb_test_step();
    for (size_t i = bb_rng_below(rng, step); i < sizeof(CONDITIONS) / sizeof(CONDITIONS[0]);
         i += step) {
        uint64_t from = bb_rng_below(rng, KEYS);
        struct bb_bytes low = key_of(from, low_text);
        struct bb_bytes high = key_of(from + bb_rng_skewed(rng, KEYS), high_text);
        struct bb_key_range range = {.low = bb_rng_one_in(rng, 4) ? NULL : &low,
                                     .high = bb_rng_one_in(rng, 4) ? NULL : &high};
        check_condition(db, CONDITIONS[i], NULL, snapshot);
        check_condition(db, CONDITIONS[i], &range, snapshot);
    }
}

/* ---- stores ---- */

static void write_some(struct store *store, struct bb_rng *rng, size_t count)
{
    char key[16];
    char other[16];
    char value[200];
    for (size_t i = 0; i < count; i++) {
        uint64_t number = bb_rng_below(rng, KEYS);
        struct bb_bytes at = key_of(number, key);
        if (bb_rng_one_in(rng, 10)) {
            assert_ok(bb_db_delete(store->db, NULL, at));
        } else if (bb_rng_one_in(rng, 400)) {
            struct bb_bytes end = key_of(number + bb_rng_below(rng, 100), other);
            assert_ok(bb_db_delete_range(store->db, NULL, at, end));
        } else {
            size_t size = make_value(rng, value, sizeof(value));
            assert_ok(bb_db_put(store->db, NULL, at, bb_bytes_of(value, size)));
        }
    }
}

static void create_attributes(struct store *store)
{
    for (size_t i = 0; i < sizeof(ATTRIBUTES) / sizeof(ATTRIBUTES[0]); i++)
        assert_ok(bb_db_attribute_create(store->db, ATTRIBUTES[i]));
}

static void create_indexes(struct store *store)
{
    for (size_t i = 0; i < sizeof(INDEXES) / sizeof(INDEXES[0]); i++)
        assert_ok(bb_db_index_create(store->db, INDEXES[i][0], INDEXES[i][1]));
}

static void run_store(uint64_t seed, bool has_indexes_first)
{
    struct store store;
    struct bb_rng rng;
    struct bb_snapshot *snapshot = NULL;
    bb_rng_init(&rng, seed);
    store_init(&store);
    store_open(&store);
    create_attributes(&store);
    assert_ok(bb_db_granule_set(store.db, BB_GRANULE_BYTES_MIN));
    if (has_indexes_first)
        create_indexes(&store);
    write_some(&store, &rng, 6000);
    check_all(store.db, &rng, NULL);
    assert_ok(bb_snapshot_create(store.db, &snapshot));
    write_some(&store, &rng, 4000);
    check_all(store.db, &rng, snapshot);
    if (!has_indexes_first) {
        create_indexes(&store);
        write_some(&store, &rng, 2000);
        check_all(store.db, &rng, NULL);
        assert_ok(bb_db_index_materialize(store.db, NULL));
    }
    check_all(store.db, &rng, NULL);
    check_all(store.db, &rng, snapshot);
    bb_snapshot_release(store.db, snapshot);
    store_reopen(&store);
    check_all(store.db, &rng, NULL);
    assert_ok(bb_db_compact(store.db));
    check_all(store.db, &rng, NULL);
    store_close(&store);
    (void)store_verify(&store);
    bb_file_memory_destroy(store.memory);
}

static void select__indexes_from_the_beginning(void **state)
{
    (void)state;
    run_store(bb_rng_seed("select__indexes_from_the_beginning", 31), true);
}

static void select__indexes_are_materialized(void **state)
{
    (void)state;
    run_store(bb_rng_seed("select__indexes_are_materialized", 32), false);
}

/* ---- the benefit of indexes ---- */

static void open_filled(struct store *store, struct bb_rng *rng)
{
    store_init(store);
    store->options.table_size_bytes = 256 * 1024;
    store_open(store);
    create_attributes(store);
    assert_ok(bb_db_granule_set(store->db, BB_GRANULE_BYTES_MIN));
    create_indexes(store);
    write_some(store, rng, 12000);
    assert_ok(bb_db_compact(store->db));
}

static struct bb_select_account account_of(struct store *store, const char *where)
{
    uint64_t count = 0;
    struct bb_select_account account = {0};
    struct bb_select_options options = {.where = where};
    assert_ok(bb_db_select_count(store->db, &options, &count, &account));
    assert_int_equal(account.granules,
                     account.granules_excluded + account.granules_counted + account.granules_read);
    assert_int_equal(account.records_matching, account.records_returned + account.records_hidden);
    return account;
}

static void select__indexes_spare_reading(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("select__indexes_spare_reading", 33));
    open_filled(&store, &rng);
    /* One record has the word. The rate of the index allows one granule more. */
    char key[16];
    assert_ok(bb_db_put(store.db, NULL, key_of(KEYS / 2, key), bb_bytes_of_text("200,,,once")));
    assert_ok(bb_db_compact(store.db));
    struct bb_select_account rare = account_of(&store, "has_token(text, 'once')");
    assert_true(rare.granules > 5);
    assert_int_equal(rare.granules_matching, 1);
    assert_true(rare.granules_excluded >= rare.granules - 2);
    struct bb_select_account absent = account_of(&store, "has_token(text, 'absent')");
    assert_true(absent.granules > 5);
    assert_true(absent.granules_excluded >= absent.granules - 1);
    assert_true(absent.data_reads <= 1);
    struct bb_select_account all = account_of(&store, "status >= 200 AND status < 1000");
    assert_int_equal(all.granules_counted, all.granules);
    assert_int_equal(all.data_reads, 0);
    struct bb_select_account columns = account_of(&store, "status = 404 AND NOT size < 500");
    assert_int_equal(columns.data_reads, 0);
    assert_int_equal(columns.records_examined, 0);
    struct bb_select_account none = account_of(&store, "size > 1000000");
    assert_int_equal(none.tables_excluded, none.tables);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* A newer version covers each granule, so matches are looked up and not counted: only the blocks
 * with matches are read. */
static void select__columns_lead_to_blocks(void **state)
{
    (void)state;
    static const char where[] = "status = 503";
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("select__columns_lead_to_blocks", 36));
    open_filled(&store, &rng);
    for (uint64_t number = 0; number < KEYS; number += 20) {
        char key[16];
        assert_ok(bb_db_put(store.db, NULL, key_of(number, key), bb_bytes_of_text("200,,,")));
    }
    struct bb_select_account account = account_of(&store, where);
    assert_true(account.granules_read > 0);
    assert_int_equal(account.granules_counted, 0);
    assert_true(account.blocks_read <= account.records_matching);
    assert_int_equal(account.blocks_passed, 0);
    check_condition(store.db, where, NULL, NULL);
    check_condition(store.db, "status = 404", NULL, NULL);
    check_condition(store.db, "size < 3 OR status IS NULL", NULL, NULL);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

static uint64_t count_of(struct store *store, const char *where, bool ignore_indexes)
{
    uint64_t count = 0;
    struct bb_select_options options = {.where = where, .ignore_indexes = ignore_indexes};
    assert_ok(bb_db_select_count(store->db, &options, &count, NULL));
    return count;
}

/* Words are counted where nothing newer lies over a table, and read where something does. */
static void select__words_are_counted_unread(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "has_token(text, 'needle')",
        "NOT has_token(text, 'alpha')",
        "has_token(text, 'absent')",
        "user IS NULL",
        "text IS NOT NULL AND has_token(text, 'gamma')",
    };
    struct store store;
    struct bb_rng rng;
    struct bb_materialize_options materialize = {0};
    bb_rng_init(&rng, bb_rng_seed("select__words_are_counted_unread", 37));
    open_filled(&store, &rng);
    assert_ok(bb_db_index_create(store.db, "text", "text(text, counts=yes)"));
    assert_ok(bb_db_index_materialize(store.db, &materialize));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bb_select_account account = account_of(&store, texts[i]);
        assert_int_equal(account.data_reads, 0);
        assert_int_equal(account.granules_read, 0);
        assert_int_equal(count_of(&store, texts[i], false), count_of(&store, texts[i], true));
    }
    write_some(&store, &rng, 300);
    assert_ok(bb_db_flush(store.db));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(count_of(&store, texts[i], false), count_of(&store, texts[i], true));
    assert_true(account_of(&store, texts[0]).granules_read > 0);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

static void select__each_index_has_its_account(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    struct bb_select *select = NULL;
    const struct bb_select_index_account *accounts = NULL;
    size_t count = 0;
    bool has_record = true;
    bb_rng_init(&rng, bb_rng_seed("select__each_index_has_its_account", 35));
    open_filled(&store, &rng);
    struct bb_select_options options = {.where = "has_token(text, 'absent') OR status = 503"};
    assert_ok(bb_db_select(store.db, &options, &select));
    while (has_record)
        assert_ok(bb_select_next(select, &has_record));
    bb_select_index_accounts(select, &accounts, &count);
    assert_int_equal(count, 6);
    assert_string_equal(accounts[0].name, "status_set");
    assert_true(accounts[0].account.granules_excluded > 0);
    assert_int_equal(accounts[1].account.leaves, 0);
    assert_int_equal(accounts[2].account.leaves, 0);
    assert_true(accounts[3].account.granules_excluded > 0);
    bb_select_destroy(select);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* If the sample is everything, the estimate equals the result of building. */
static void select__an_estimate_is_what_is_built(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    struct bb_db_index_list list = {0};
    struct bb_index_estimate estimate = {0};
    bb_rng_init(&rng, bb_rng_seed("select__an_estimate_is_what_is_built", 36));
    open_filled(&store, &rng);
    assert_ok(bb_db_index_list(store.db, &list));
    struct bb_index_estimate_options options = {
        .spec = "tokens(text, rate=0.01)", .where = "has_token(text, 'absent')", .segments = 1000};
    assert_ok(bb_db_index_estimate(store.db, &options, &estimate));
    assert_true(estimate.is_whole);
    assert_int_equal(estimate.tables, list.indexes[3].tables);
    assert_int_equal(estimate.granules, list.indexes[3].granules);
    assert_int_equal(estimate.granules_sampled, list.indexes[3].granules);
    assert_int_equal(estimate.raw_bytes_sampled, estimate.raw_bytes);
    /* Offsets in a file with other indexes have more digits. */
    assert_in_range(estimate.size_bytes, list.indexes[3].size_bytes - 8 * estimate.tables,
                    list.indexes[3].size_bytes);
    assert_int_equal(estimate.granules - estimate.granules_read,
                     account_of(&store, "has_token(text, 'absent')").granules_excluded);
    assert_int_equal(estimate.granules_read_error, 0);
    options.spec = "tokens(nothing)";
    assert_status(bb_db_index_estimate(store.db, &options, &estimate), BB_INVALID);
    bb_db_index_list_deinit(&list);
    store_close(&store);
    assert_int_equal(store_verify(&store).orphans, 0);
    bb_file_memory_destroy(store.memory);
}

/* Calls a function with the bytes of each index file of the closed store; how many there are. */
static size_t for_index_files(struct store *store, struct bb_rng *rng,
                              void (*change)(struct bb_rng *rng, uint8_t *bytes, size_t size))
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[300];
        size_t size = 0;
        if (strstr(names.names[i], ".bbi") == NULL)
            continue;
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        uint8_t *bytes = bb_file_memory_bytes(store->memory, path, &size);
        if (change == NULL)
            assert_ok(fs->ops->remove(fs, path));
        else
            change(rng, bytes, size);
        count++;
    }
    bb_file_names_deinit(&names);
    return count;
}

static void flip_some(struct bb_rng *rng, uint8_t *bytes, size_t size)
{
    for (int i = 0; i < 3; i++)
        bytes[bb_rng_below(rng, size)] ^= (uint8_t)(1u << bb_rng_below(rng, 8));
}

/* Of all conditions: a single one asks few bytes of an index file, which may be sound. */
static uint64_t count_damaged_indexes(struct store *store)
{
    uint64_t damaged = 0;
    for (size_t i = 0; i < sizeof(CONDITIONS) / sizeof(CONDITIONS[0]); i++)
        damaged += account_of(store, CONDITIONS[i]).damaged_indexes;
    return damaged;
}

static void select__damaged_index_files_cost_reads_and_no_rows(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("select__damaged_index_files_cost_reads_and_no_rows", 34));
    open_filled(&store, &rng);
    for (int round = 0; round < 10; round++) {
        store_close(&store);
        assert_true(for_index_files(&store, &rng, flip_some) > 0);
        store_open(&store);
        struct bb_error before = *bb_error_last();
        check_all(store.db, &rng, NULL);
        /* Selections that skip damage succeed, so they leave the last error as it was. */
        assert_string_equal(bb_error_last()->message, before.message);
    }
    assert_true(count_damaged_indexes(&store) > 0);
    store_close(&store);
    assert_true(for_index_files(&store, &rng, NULL) > 0);
    store_open(&store);
    check_all(store.db, &rng, NULL);
    struct bb_materialize_options all = {0};
    assert_ok(bb_db_index_materialize(store.db, &all));
    assert_int_equal(count_damaged_indexes(&store), 0);
    store_close(&store);
    assert_true(for_index_files(&store, &rng, flip_some) > 0);
    bb_file_memory_destroy(store.memory);
}

static void select__catalog_refuses_what_it_cannot_have(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    create_attributes(&store);
    create_indexes(&store);
    assert_status(bb_db_attribute_create(store.db, "user bytes = csv(9)"), BB_EXISTS);
    assert_status(bb_db_attribute_create(store.db, "other bytes = callback(f)"), BB_UNSUPPORTED);
    assert_status(bb_db_attribute_create(store.db, "other bytes = csv(0)"), BB_INVALID);
    assert_status(bb_db_attribute_drop(store.db, "user"), BB_INVALID);
    assert_status(bb_db_attribute_drop(store.db, "nothing"), BB_NOT_FOUND);
    assert_status(bb_db_index_create(store.db, "words", "tokens(text)"), BB_EXISTS);
    assert_status(bb_db_index_create(store.db, "more", "tokens(nothing)"), BB_INVALID);
    assert_status(bb_db_index_create(store.db, "", "tokens(text)"), BB_INVALID);
    assert_status(bb_db_index_drop(store.db, "nothing"), BB_NOT_FOUND);
    assert_status(bb_db_granule_set(store.db, 100), BB_INVALID);
    assert_ok(bb_db_index_drop(store.db, "users"));
    assert_ok(bb_db_attribute_drop(store.db, "user"));
    store_reopen(&store);
    struct bb_db_index_list list = {0};
    assert_ok(bb_db_index_list(store.db, &list));
    assert_int_equal(list.count, 5);
    assert_string_equal(list.indexes[0].name, "status_set");
    assert_string_equal(list.indexes[2].definition, "text bytes = csv(4)");
    bb_db_index_list_deinit(&list);
    struct bb_select *select = NULL;
    struct bb_select_options options = {.where = "user = 'x'"};
    assert_status(bb_db_select(store.db, &options, &select), BB_INVALID);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select__indexes_from_the_beginning),
        cmocka_unit_test(select__indexes_are_materialized),
        cmocka_unit_test(select__indexes_spare_reading),
        cmocka_unit_test(select__columns_lead_to_blocks),
        cmocka_unit_test(select__words_are_counted_unread),
        cmocka_unit_test(select__each_index_has_its_account),
        cmocka_unit_test(select__an_estimate_is_what_is_built),
        cmocka_unit_test(select__damaged_index_files_cost_reads_and_no_rows),
        cmocka_unit_test(select__catalog_refuses_what_it_cannot_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
