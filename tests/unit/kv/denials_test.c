/* Goal: the results for one key in several runs, and the batch result for many keys, agree with the
 * runs and their table filters for each key. Method: stores of several runs, reopened and with
 * their tables used before or not, under options with and without ready table filters, and with
 * damaged ones; keys in and out of all bounds, in windows of every size. */
#include "kv/read/denials.h"

#include "kv/store/current_view.h"
#include "kv/store/store.h"
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"
#include "tests/support/rng.h"
#include "tests/support/store.h"

#define KEYS 3000

/* Half of the keys in one run of several tables, the others in runs of flush_step keys. */
static void fill(struct store *store, uint32_t flush_step)
{
    char key[32];
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%06u and a tail", (uint32_t)(i * 7919ULL % KEYS) * 2);
        store_put(store, key, "a value that is some bytes long");
        if (i == KEYS / 2)
            assert_ok(bb_db_compact(store->db));
        else if (i > KEYS / 2 && i % flush_step == 0)
            assert_ok(bb_db_flush(store->db));
    }
    assert_ok(bb_db_flush(store->db));
}

struct window {
    char texts[BB_DENIALS_KEYS][32];
    struct bb_bytes keys[BB_DENIALS_KEYS];
    uint64_t hashes[BB_DENIALS_KEYS];
};

/* A few are shorter than the shared prefix of all bounds, or begin differently. */
static void draw(struct window *window, const struct bb_db *db, struct bb_rng *rng)
{
    for (size_t k = 0; k < BB_DENIALS_KEYS; k++) {
        uint32_t number = (uint32_t)bb_rng_below(rng, 2 * KEYS + 200);
        if (bb_rng_one_in(rng, 20))
            snprintf(window->texts[k], sizeof(window->texts[k]), "k%u", number);
        else
            snprintf(window->texts[k], sizeof(window->texts[k]), "key%06u and a tail", number);
        window->keys[k] = bb_bytes_of_text(window->texts[k]);
        window->hashes[k] = bb_hash_key(&db->secret, window->keys[k]);
    }
}

struct verdicts {
    uint64_t denied;
    uint64_t let_through;
    uint64_t outside;
    uint64_t damaged;
};

/* One key and one run, the simple way. */
static void assert_key(const struct bb_levels *levels, const struct window *window, size_t k,
                       size_t run, const struct bb_denials *found, struct verdicts *sum)
{
    const struct bb_run *asked = levels->turns[run].run;
    struct bb_table_file *file = bb_run_find(asked, levels->comparator, window->keys[k]);
    struct bb_table *table = file == NULL ? NULL : atomic_load(&file->table);
    const struct bb_table_filter *table_filter =
        table == NULL ? NULL : bb_table_lookup_ready_filter(table);
    bool is_outside = (found->outside[run] >> k & 1) != 0;
    bool is_denied = (found->denied[run] >> k & 1) != 0;
    bool is_let_through = (found->let_through[run] >> k & 1) != 0;
    bool may_go_on = false;
    assert_true(is_outside + is_denied + is_let_through <= 1);
    if (is_outside)
        assert_null(file);
    if (is_denied || is_let_through) {
        assert_non_null(table_filter);
        assert_int_equal(bb_table_filter_denies(table_filter, window->hashes[k], &may_go_on),
                         is_denied);
        assert_int_equal(may_go_on, is_let_through);
    }
    if (!is_outside && !is_denied)
        assert_true((found->open >> k & 1) != 0);
    size_t index = 0;
    if (table_filter != NULL && !is_denied && !is_let_through &&
        bb_run_find_at_once(asked, window->keys[k], &index)) {
        assert_false(bb_table_filter_denies(table_filter, window->hashes[k], &may_go_on) ||
                     may_go_on);
        sum->damaged++;
    }
    sum->denied += is_denied;
    sum->let_through += is_let_through;
    sum->outside += is_outside;
}

/* One key in several runs, prepared together. */
static void assert_prepared(const struct bb_levels *levels, const struct window *window, size_t k,
                            const struct bb_denials *found)
{
    struct bb_denial_runs runs = {.end = 0};
    for (size_t run = 0; run < levels->turn_count; run++) {
        if (run == runs.end)
            bb_denial_prepare(levels, run, window->keys[k], window->hashes[k], &runs);
        assert_true(runs.begin <= run && run < runs.end);
        enum bb_denial denial =
            bb_denial_probe(levels->turns[run].run, runs.table_filters[run - runs.begin],
                            runs.indexes[run - runs.begin], window->hashes[k]);
        assert_int_equal(denial == BB_DENIAL_OUTSIDE, found->outside[run] >> k & 1);
        assert_int_equal(denial == BB_DENIAL_DENIED, found->denied[run] >> k & 1);
        assert_int_equal(denial == BB_DENIAL_LET_THROUGH, found->let_through[run] >> k & 1);
    }
}

static struct verdicts check(struct bb_db *db, struct bb_rng *rng)
{
    struct verdicts sum = {0};
    struct bb_view *view = bb_current_view_pin(db);
    const struct bb_levels *levels = view->levels;
    assert_true(levels->turn_count > 1 && levels->turn_count < BB_DENIALS_RUNS);
    for (size_t count = 1; count <= BB_DENIALS_KEYS; count++) {
        struct window window;
        struct bb_denials found;
        draw(&window, db, rng);
        memset(&found, 0xee, sizeof(found));
        bb_denials_find(levels, window.keys, window.hashes, count, &found);
        for (size_t run = 0; run < levels->turn_count; run++) {
            for (size_t k = 0; k < count; k++)
                assert_key(levels, &window, k, run, &found, &sum);
        }
        for (size_t k = 0; k < count; k++)
            assert_prepared(levels, &window, k, &found);
        assert_true(count == 64 || found.open >> count == 0);
    }
    bb_current_view_unpin(db, view);
    return sum;
}

/* So that table filters are read, and ready where they ever will be. Every second key is stored. */
static void ask_all(struct bb_db *db)
{
    char key[32];
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        snprintf(key, sizeof(key), "key%06u and a tail", i);
        assert_status(bb_db_get(db, NULL, bb_bytes_of_text(key), NULL),
                      i % 2 == 0 ? BB_OK : BB_NOT_FOUND);
    }
}

/* As if their chunks could not be read. */
static void damage_every_second_table_filter(struct bb_db *db)
{
    struct bb_view *view = bb_current_view_pin(db);
    const struct bb_levels *levels = view->levels;
    for (size_t run = 0; run < levels->turn_count; run++) {
        for (size_t i = 0; i < levels->turns[run].run->count; i += 2) {
            struct bb_table *table = atomic_load(&levels->turns[run].run->files[i]->table);
            struct bb_table_filter *table_filter = table == NULL ? NULL : table->table_filter;
            for (uint64_t s = 0; table_filter != NULL && s < table_filter->shard_count; s++)
                table_filter->places[s] = BB_TABLE_FILTER_DAMAGED;
            if (table_filter != NULL)
                bb_table_filter_make_ready(table_filter, &table->table_filter_format);
        }
    }
    bb_current_view_unpin(db, view);
}

static void denials__damaged_table_filters_say_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    bb_rng_init(&rng, 73);
    store_open(&store);
    fill(&store, KEYS);
    ask_all(store.db);
    assert_int_equal(check(store.db, &rng).damaged, 0);
    damage_every_second_table_filter(store.db);
    struct verdicts sum = check(store.db, &rng);
    assert_true(sum.damaged > 500 && sum.denied > 200 && sum.let_through > 100);
    store_deinit(&store);
}

static struct verdicts check_store(enum bb_filter_kind kind)
{
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store.options.filter_kind = kind;
    bb_rng_init(&rng, 71);
    store_open(&store);
    fill(&store, KEYS);
    store_reopen(&store);
    struct verdicts before = check(store.db, &rng);
    assert_int_equal(before.denied + before.let_through, 0);
    ask_all(store.db);
    struct verdicts after = check(store.db, &rng);
    store_deinit(&store);
    return after;
}

static void denials__are_those_of_each_key(void **state)
{
    (void)state;
    struct verdicts sum = check_store(BB_FILTER_RIBBON);
    assert_true(sum.denied > 1000 && sum.let_through > 500 && sum.outside > 20);
}

/* More runs than a lookup prepares together. The last one has several tables. */
static void denials__of_many_runs(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store.options.level0_run_count_compact = 100;
    store.options.level0_run_count_busy = 100;
    store.options.level0_run_count_stop = 200;
    store.options.table_size_bytes = 16 * 1024;
    bb_rng_init(&rng, 75);
    store_open(&store);
    fill(&store, KEYS / 40);
    assert_true(store_stats(&store).run_count > 2 * BB_DENIAL_PREPARED_MAX);
    for (int i = 0; i < 2; i++) /* the second time with table filters that are ready */
        ask_all(store.db);
    struct verdicts sum = check(store.db, &rng);
    assert_true(sum.denied > 1000 && sum.let_through > 500);
    store_deinit(&store);
}

static void expect(struct bb_db *db, uint32_t number, const char *expected)
{
    char key[32];
    struct bb_buf value = {0};
    snprintf(key, sizeof(key), "key%06u and a tail", number);
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(key), &value);
    assert_status(status, expected == NULL ? BB_NOT_FOUND : BB_OK);
    if (expected != NULL)
        assert_true(bb_bytes_equal(bb_buf_bytes(&value), bb_bytes_of_text(expected)));
    bb_buf_deinit(&value);
}

/* A lookup guesses from the last one whether to search the memtable first. Right or wrong, it has
 * the same result, and visits the memtable once. */
static void denials__after_lookups_in_a_memtable(void **state)
{
    (void)state;
    enum { NEW = 300 };
    struct store store;
    char key[32];
    store_init(&store);
    store_open(&store);
    fill(&store, KEYS);
    ask_all(store.db);
    for (uint32_t i = 0; i < NEW; i++) {
        snprintf(key, sizeof(key), "key%06u and a tail", i * 4);
        store_put(&store, key, "a new value");
    }
    struct bb_db_stats before = store_stats(&store);
    assert_true(before.run_count > 1);
    for (uint32_t i = 0; i < NEW; i++) {
        expect(store.db, i * 4, "a new value");
        expect(store.db, i * 4 + 1, NULL);
        expect(store.db, i * 4 + 2, "a value that is some bytes long");
        expect(store.db, i * 4, "a new value");
        expect(store.db, i * 4, "a new value");
    }
    struct bb_db_stats after = store_stats(&store);
    assert_int_equal(after.memtable_visits - before.memtable_visits, 5 * NEW);
    assert_int_equal(after.memtable_hits - before.memtable_hits, 3 * NEW);
    store_deinit(&store);
}

static void denials__none_where_no_table_filter_is_ready(void **state)
{
    (void)state;
    struct verdicts sum = check_store(BB_FILTER_BLOOM);
    assert_int_equal(sum.denied + sum.let_through, 0);
    assert_true(sum.outside > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denials__are_those_of_each_key),
        cmocka_unit_test(denials__damaged_table_filters_say_nothing),
        cmocka_unit_test(denials__of_many_runs),
        cmocka_unit_test(denials__after_lookups_in_a_memtable),
        cmocka_unit_test(denials__none_where_no_table_filter_is_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
