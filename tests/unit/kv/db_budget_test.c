/* Goal: the filters of a store keep a budget of bytes, or of bits per key: at most 5 % more
 * while it grows, 8 % less to 2 % more after a full compaction; budgets that are too small or
 * larger than useful are reported. Method: loads of several orders under fixed seeds,
 * deterministic, in memory, with budgets of 2 to 14 bits for each final key; the tables' bytes are
 * checked all the time. (Found by measuring: 81 to 120 % occurred when the target was computed from
 * the present runs.) */
#include "tests/support/store.h"

#include <math.h>

#include "base/assert.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEYS 24000
/* The excess of the first tables' filters, which were planned without existing tables: it matters
 * in stores of a thousand keys. */
#define UNFORESEEN_BYTES 80

enum order {
    ORDER_RANDOM,
    ORDER_ASCENDING,
    ORDER_UPDATES, /* each key four times */
    ORDER_COUNT,
};

static const char *const order_names[] = {"random", "ascending", "updates"};

struct load {
    enum order order;
    double bits_per_key;
    bool grows; /* given per key, and not as bytes for all that there will be */
    enum bb_filter_kind kind;
    uint32_t block_size_bytes;
};

/* secret must live as long as the store. */
static void init(struct store *store, const struct load *load, struct bb_hash_secret *secret)
{
    bb_hash_secret_from_seed(7, secret);
    store_init(store);
    store->options.secret = secret;
    store->options.block_size_bytes = load->block_size_bytes;
    store->options.filter_kind = load->kind;
    store->options.level_size_ratio = 6;
    /* Some thousand keys in each: in tables of one filter the bits of a key are whole numbers. */
    store->options.table_size_bytes = (uint64_t)256 * 1024;
    store->options.filter_amount =
        load->grows
            ? (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, load->bits_per_key}
            : (struct bb_filter_amount){BB_FILTER_BYTES, floor(load->bits_per_key * KEYS / 8)};
}

static uint64_t key_number(enum order order, struct bb_rng *rng, uint64_t i)
{
    switch (order) {
    case ORDER_ASCENDING:
        return i;
    case ORDER_UPDATES:
        return bb_rng_below(rng, KEYS / 4);
    default:
        return bb_rng_next(rng) >> 20;
    }
}

static double share_of_budget(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t bytes = 0;
    uint64_t keys = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        bytes += stats.levels[level].filter_bytes;
        keys += stats.levels[level].key_count;
    }
    assert_int_equal(stats.filter_bytes, bytes);
    const struct bb_filter_amount *amount = &store->options.filter_amount;
    if (amount->unit == BB_FILTER_BITS_PER_KEY)
        assert_true(fabs((double)stats.filter_budget_bytes - amount->value * (double)keys / 8) <=
                    1);
    else
        assert_true((double)stats.filter_budget_bytes == amount->value);
    return keys == 0 ? 0 : (double)bytes / (double)stats.filter_budget_bytes;
}

static double share_used(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    if (store->options.filter_amount.unit == BB_FILTER_BYTES || stats.filter_budget_bytes == 0)
        return share_of_budget(store);
    return share_of_budget(store) - UNFORESEEN_BYTES / (double)stats.filter_budget_bytes;
}

/* Returns the highest share of the budget that was used. */
static double fill(struct store *store, enum order order, uint64_t seed)
{
    struct bb_rng rng;
    char key[32];
    double worst = 0;
    bb_rng_init(&rng, seed);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%016llu", (unsigned long long)key_number(order, &rng, i));
        store_put(store, key, "some value");
        if (i % 200 == 199)
            worst = fmax(worst, share_used(store));
    }
    assert_ok(bb_db_flush(store->db));
    return fmax(worst, share_used(store));
}

static void run_load(const struct load *load, uint64_t seed)
{
    struct store store;
    struct bb_hash_secret secret;
    init(&store, load, &secret);
    store_open(&store);
    double worst = fill(&store, load->order, seed);
    double loaded = share_of_budget(&store);
    struct bb_db_stats before = store_stats(&store);
    assert_ok(bb_db_compact(store.db));
    /* Keys that were written again are counted for certain now. */
    assert_ok(bb_db_compact(store.db));
    double compacted = share_of_budget(&store);
    struct bb_db_stats after = store_stats(&store);
    printf(
        "%-9s %4.1f bits%s, blocks of %4u: worst %.3f, loaded %.3f, compacted %.3f; target %.2g, "
        "expected %.2g, compacted %.2g\n",
        order_names[load->order], load->bits_per_key, load->grows ? " per key" : "",
        load->block_size_bytes, worst, loaded, compacted, before.target_wasted_reads,
        before.expected_wasted_reads, after.expected_wasted_reads);
    assert_true(worst <= 1.05);
    /* A budget that grows with the keys need not be reserved for them. */
    assert_true(!load->grows || load->bits_per_key < 8 || loaded >= 0.8);
    assert_true(compacted <= 1.02);
    /* The updates leave a quarter of the keys, and 20 bits for each of them are the most. Lines of
     * 64 bytes are not divided. */
    if (after.expected_wasted_reads > 2e-6)
        assert_true(compacted >= (load->kind == BB_FILTER_BLOCKED_BLOOM ? 0.75 : 0.92));
    else
        assert_int_equal(load->order, ORDER_UPDATES);
    store_deinit(&store);
}

static void db_budget__is_kept(void **state)
{
    (void)state;
    static const double budgets[] = {2, 3, 5, 8, 11, 14};
    size_t count = BB_ARRAY_LENGTH(budgets);
    uint64_t seed = bb_rng_seed("db_budget__is_kept", 9);
    for (size_t i = 0; i < ORDER_COUNT * count; i += bb_test_step()) {
        struct load load = {.order = (enum order)(i / count),
                            .bits_per_key = budgets[i % count],
                            .block_size_bytes = i % 2 == 0 ? 4096 : 2048};
        run_load(&load, seed + i);
    }
}

/* It grows with the keys, and the load uses it; updates, which leave fewer keys, also have it. */
static void db_budget__of_bits_per_key_is_kept(void **state)
{
    (void)state;
    static const double budgets[] = {2, 3, 5, 8, 11, 14};
    size_t count = BB_ARRAY_LENGTH(budgets);
    uint64_t seed = bb_rng_seed("db_budget__of_bits_per_key_is_kept", 5);
    for (size_t i = 0; i < ORDER_COUNT * count; i += bb_test_step()) {
        struct load load = {.order = (enum order)(i / count),
                            .bits_per_key = budgets[i % count],
                            .grows = true,
                            .block_size_bytes = i % 2 == 0 ? 4096 : 2048};
        run_load(&load, seed + i);
    }
    run_load(
        &(struct load){
            .bits_per_key = 10, .grows = true, .kind = BB_FILTER_BLOOM, .block_size_bytes = 4096},
        seed);
}

static void db_budget__of_other_kinds_is_kept(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("db_budget__of_other_kinds_is_kept", 4);
    run_load(&(struct load){.bits_per_key = 8, .kind = BB_FILTER_BLOOM, .block_size_bytes = 4096},
             seed);
    run_load(&(struct load){.bits_per_key = 12,
                            .kind = BB_FILTER_BLOCKED_BLOOM,
                            .block_size_bytes = 4096},
             seed + 1);
}

/* Less than the smallest filter takes: there is no filter, and the statistics report that. */
static void db_budget__too_small_for_any_filter(void **state)
{
    (void)state;
    struct store store;
    struct bb_hash_secret secret;
    struct load load = {.bits_per_key = 0.001, .block_size_bytes = 4096};
    init(&store, &load, &secret);
    store_open(&store);
    assert_true(fill(&store, ORDER_RANDOM, 3) <= 1);
    struct bb_db_stats stats = store_stats(&store);
    double runs = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        runs += (double)stats.levels[level].run_count;
    assert_int_equal(stats.filter_bytes, 0);
    /* Nearly all runs contain nearly all keys. */
    assert_true(stats.expected_wasted_reads <= runs && stats.expected_wasted_reads > 0.9 * runs);
    assert_true(stats.target_wasted_reads >= 1);
    assert_ok(bb_db_compact(store.db));
    stats = store_stats(&store);
    assert_int_equal(stats.filter_bytes, 0);
    assert_true(stats.expected_wasted_reads == 1);
    store_deinit(&store);
}

/* More than useful: about 20 bits per key, and the rest is unused. */
static void db_budget__larger_than_useful(void **state)
{
    (void)state;
    struct store store;
    struct bb_hash_secret secret;
    struct load load = {.bits_per_key = 100, .block_size_bytes = 4096};
    init(&store, &load, &secret);
    store_open(&store);
    assert_true(fill(&store, ORDER_RANDOM, 3) < 0.3);
    assert_ok(bb_db_compact(store.db));
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.target_wasted_reads == 1e-6);
    assert_true(stats.expected_wasted_reads <= 1.05e-6);
    assert_true((double)stats.filter_bytes * 8 / KEYS < 21.5);
    store_deinit(&store);
}

/* A budget that is made smaller is kept from the next work on, a larger one is used by the next
 * full compaction. */
static void db_budget__may_change(void **state)
{
    (void)state;
    struct store store;
    struct bb_hash_secret secret;
    struct load load = {.bits_per_key = 10, .block_size_bytes = 4096};
    init(&store, &load, &secret);
    store_open(&store);
    (void)fill(&store, ORDER_RANDOM, 3);
    store_close(&store);
    store.options.filter_amount.value = floor(store.options.filter_amount.value / 2);
    store_open(&store);
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(share_of_budget(&store) <= 1.05);
    store_close(&store);
    store.options.filter_amount.value *= 2;
    store_open(&store);
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(share_of_budget(&store) < 0.6);
    /* The first one uses the cost of filters in the earlier small tables. */
    assert_ok(bb_db_compact(store.db));
    assert_true(share_of_budget(&store) >= 0.75 && share_of_budget(&store) <= 1.02);
    assert_ok(bb_db_compact(store.db));
    assert_true(share_of_budget(&store) >= 0.92 && share_of_budget(&store) <= 1.02);
    store_deinit(&store);
}

static int compare_folded(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    (void)a;
    (void)b;
    return 0;
}

/* It was accepted, and the statistics showed a target that nothing kept. */
static void db_budget__without_filters(void **state)
{
    (void)state;
    static const struct bb_comparator folding = {
        .name = "folding", .compare = compare_folded, .equates_different_bytes = true};
    struct store store;
    store_init(&store);
    const struct bb_db_options plain = store.options;
    struct bb_db_options given[3] = {plain, plain, plain};
    given[0].filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.5};
    given[1].filter_amount = (struct bb_filter_amount){BB_FILTER_BYTES, 1};
    given[2].filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 10};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(given); i++) {
        given[i].filter_kind = BB_FILTER_NONE;
        assert_status(bb_db_open(STORE_PATH, &given[i], &store.db), BB_INVALID);
        assert_message("options filter_kind none and filter_amount are both given");
    }
    store.options.filter_kind = BB_FILTER_NONE;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_true(store_stats(&store).target_wasted_reads == 0);
    assert_ok(bb_db_close(store.db));
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    /* Here no filter is possible, because of the comparator: a budget has no effect. */
    store.options = given[2];
    store.options.filter_kind = BB_FILTER_DEFAULT;
    store.options.comparator = &folding;
    store.db = NULL;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_true(store_stats(&store).target_wasted_reads == 0);
    assert_true(store_stats(&store).filter_budget_bytes == 0);
    store_deinit(&store);
}

/* The fixed part of a table filter was counted for each key. Then no table had filters, and
 * the few entries of level 0 were the only sample of their cost. */
static void db_budget__of_tables_with_few_large_values(void **state)
{
    (void)state;
    static uint8_t value[8000];
    struct bb_hash_secret secret = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    struct bb_rng rng;
    struct store store;
    store_init(&store);
    store.options.secret = &secret;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 10};
    store_open(&store);
    bb_rng_init(&rng, 7);
    for (uint64_t i = 0; i < 400; i++) {
        char key[24];
        (void)snprintf(key, sizeof(key), "%016llx", (unsigned long long)bb_rng_next(&rng));
        bb_rng_bytes(&rng, value, sizeof(value));
        assert_ok(
            bb_db_put(store.db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))));
    }
    assert_ok(bb_db_flush(store.db));
    struct bb_db_stats stats = store_stats(&store);
    print_message("expected %.4f, %.1f bits per key\n", stats.expected_wasted_reads,
                  stats.filter_bits_per_key);
    assert_true(stats.expected_wasted_reads < 0.1);
    store_deinit(&store);
}

/* ---- tables of other sizes ---- */

static void fill_randomly(struct store *store, uint64_t count, size_t value_size)
{
    static uint8_t value[16000];
    struct bb_rng rng;
    assert_true(value_size <= sizeof(value));
    bb_rng_init(&rng, 7);
    for (uint64_t i = 0; i < count; i++) {
        char key[24];
        (void)snprintf(key, sizeof(key), "%016llx", (unsigned long long)bb_rng_next(&rng));
        bb_rng_bytes(&rng, value, value_size);
        assert_ok(
            bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, value_size)));
    }
}

static void check_full_compaction(struct store *store)
{
    assert_ok(bb_db_compact(store->db));
    struct bb_db_stats stats = store_stats(store);
    print_message("expected %.4f, %.2f bits per key\n", stats.expected_wasted_reads,
                  stats.filter_bits_per_key);
    assert_in_range((uint64_t)(1000 * share_of_budget(store)), 950, 1020);
    store_deinit(store);
}

struct first_tables {
    enum bb_filter_kind kind;
    double table_filter_bits;
    uint32_t block_size_bytes;
    size_t value_size;
    double bits_per_key;
};

/* One flush of all keys, then full compactions. WHY several: the first one plans with the cost of
 * the filters that it finds, or of none. Ribbons can use every budget; Bloom filters of few keys
 * and lines of 64 bytes may be too large. */
static void check_first_tables(const struct first_tables *how)
{
    struct store store;
    store_init(&store);
    store.options.write_buffer_bytes = (uint64_t)16 << 20;
    store.options.filter_kind = how->kind;
    store.options.table_filter_bits = how->table_filter_bits;
    store.options.block_size_bytes = how->block_size_bytes;
    store.options.table_size_bytes = (uint64_t)2 << 20; /* more than 64 keys in each */
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.filter_amount =
        (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, how->bits_per_key};
    store_open(&store);
    fill_randomly(&store, 4000, how->value_size);
    assert_ok(bb_db_flush(store.db));
    bool is_used = how->kind == BB_FILTER_RIBBON && how->table_filter_bits == 0;
    for (int i = 0; i < 4; i++) {
        double used = store_stats(&store).filter_bits_per_key / how->bits_per_key;
        if (used > 1.05 || (is_used && used < (i == 0 ? 0.8 : 0.9)))
            fail_msg("kind %d, %g bits of table filters, blocks of %u, values of %zu: %.2f of %g "
                     "bits after %d compactions",
                     (int)how->kind, how->table_filter_bits, how->block_size_bytes, how->value_size,
                     used, how->bits_per_key, i);
        store_put(&store, "again", "value");
        assert_ok(bb_db_compact(store.db));
    }
    store_deinit(&store);
}

/* Before a table had filters, each filter was planned with 50 keys: 16 of 8 bits per key were used.
 * A budget between the costs of one kind of filter and of both was used to two thirds. Bloom
 * filters of few keys were planned without a fixed cost, and lines as if they could be cut. */
static void db_budget__of_first_tables_with_few_keys_per_block(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_BLOCKED_BLOOM};
    static const size_t values[] = {0, 100, 400, 800, 2000};
    static const double budgets[] = {8, 10, 20};
    size_t count = BB_ARRAY_LENGTH(kinds) * BB_ARRAY_LENGTH(values) * BB_ARRAY_LENGTH(budgets);
    for (size_t i = 0; i < count; i++) {
        struct first_tables how = {
            .kind = kinds[i % BB_ARRAY_LENGTH(kinds)],
            .block_size_bytes = 4096,
            .value_size = values[i / BB_ARRAY_LENGTH(kinds) % BB_ARRAY_LENGTH(values)],
            .bits_per_key = budgets[i / BB_ARRAY_LENGTH(kinds) / BB_ARRAY_LENGTH(values)]};
        check_first_tables(&how);
        how.block_size_bytes = 512;
        check_first_tables(&how);
        how.table_filter_bits = BB_TABLE_FILTER_NONE;
        check_first_tables(&how);
        how.block_size_bytes = 65536;
        check_first_tables(&how);
    }
}

/* It planned with the costs of filters in the small tables: 2.5 of 4 bits were used. */
static void db_budget__of_small_tables_is_used_by_a_full_compaction(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.block_size_bytes = 4096;
    store.options.table_size_bytes = 8192;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 4};
    store_open(&store);
    fill_randomly(&store, 24000, 30);
    store.options.table_size_bytes = (uint64_t)2 << 20;
    store_reopen(&store);
    check_full_compaction(&store);
}

/* Block filters of one key each took more than the budget, so only the bits of a table filter
 * next to them were used: 8.0 of 10. */
static void db_budget__of_some_hundred_large_values_is_used(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.write_buffer_bytes = (uint64_t)16 << 20;
    store.options.block_size_bytes = 4096;
    store.options.table_size_bytes = 4500000;
    store.options.level1_size_bytes = (uint64_t)64 << 20;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 10};
    store_open(&store);
    fill_randomly(&store, 2000, 16000);
    check_full_compaction(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_budget__is_kept),
        cmocka_unit_test(db_budget__of_bits_per_key_is_kept),
        cmocka_unit_test(db_budget__of_other_kinds_is_kept),
        cmocka_unit_test(db_budget__too_small_for_any_filter),
        cmocka_unit_test(db_budget__larger_than_useful),
        cmocka_unit_test(db_budget__may_change),
        cmocka_unit_test(db_budget__without_filters),
        cmocka_unit_test(db_budget__of_tables_with_few_large_values),
        cmocka_unit_test(db_budget__of_first_tables_with_few_keys_per_block),
        cmocka_unit_test(db_budget__of_small_tables_is_used_by_a_full_compaction),
        cmocka_unit_test(db_budget__of_some_hundred_large_values_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
