/* Goal: a count sketch never counts too low, exceeds its error only as rarely as documented, finds
 * the most frequent keys, reports full cells, and continues after being stored. Method: streams
 * with few frequent and many rare keys compared with exact counts. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "base/bytes.h"
#include "standalone/sketch/count_min.h"

#define KEYS 4000

/* Key i comes total / (i + 1) times: frequent ones first. */
static uint64_t true_count(uint64_t i)
{
    return 20000 / (i + 1);
}

static struct bb_bytes key_of(uint64_t i, char space[32])
{
    int size = snprintf(space, 32, "key %llu", (unsigned long long)i);
    return bb_bytes_of(space, (size_t)size);
}

static void add_key(struct bb_count_sketch *sketch, uint64_t set, uint64_t i, uint64_t count)
{
    char space[32];
    assert_ok(bb_count_sketch_add(sketch, member_hash(set, i), key_of(i, space), count));
}

static struct bb_count_sketch *sketch_of(struct bb_count_sketch_options options)
{
    struct bb_count_sketch *sketch = NULL;
    assert_ok(bb_count_sketch_create(&options, &sketch));
    return sketch;
}

static struct bb_count_sketch_info info_of(const struct bb_count_sketch *sketch)
{
    struct bb_count_sketch_info info;
    bb_count_sketch_info(sketch, &info);
    return info;
}

/* All keys, in an order that mixes frequent and rare ones; several times the most frequent. */
static uint64_t add_stream(struct bb_count_sketch *sketch, uint64_t set)
{
    uint64_t total = 0;
    for (uint64_t round = 0; round < 4; round++)
        for (uint64_t j = 0; j < KEYS; j++) {
            uint64_t i = (j * 1237 + round) % KEYS, count = true_count(i);
            uint64_t part = count / 4 + (round < count % 4);
            add_key(sketch, set, i, part);
            total += part;
        }
    return total;
}

/* --- Counts --- */

static void count_sketch__errors_are_as_rare_as_stated(void **state)
{
    (void)state;
    struct bb_count_sketch_options options = {.error = 0.005, .error_probability = 0.1, .salt = 3};
    uint64_t above = 0, above_conservative = 0, too_high = 0, too_high_conservative = 0;
    const uint64_t sets = 20;
    for (uint64_t set = 0; set < sets; set++) {
        options.is_conservative = false;
        struct bb_count_sketch *plain = sketch_of(options);
        options.is_conservative = true;
        struct bb_count_sketch *conservative = sketch_of(options);
        uint64_t total = add_stream(plain, set);
        assert_int_equal(add_stream(conservative, set), total);
        double allowed = options.error * (double)total;
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t count = bb_count_sketch_count(plain, member_hash(set, i));
            uint64_t smaller = bb_count_sketch_count(conservative, member_hash(set, i));
            assert_true(smaller >= true_count(i) && smaller <= count);
            above += (double)(count - true_count(i)) > allowed;
            above_conservative += (double)(smaller - true_count(i)) > allowed;
            too_high += count - true_count(i);
            too_high_conservative += smaller - true_count(i);
        }
        assert_int_equal(info_of(plain).total, total);
        bb_count_sketch_destroy(plain);
        bb_count_sketch_destroy(conservative);
    }
    double limit = 0.1 * (double)(sets * KEYS);
    assert_true((double)above <= limit && above_conservative <= above);
    /* Measured: 0.56. */
    assert_true((double)too_high_conservative < 0.7 * (double)too_high);
}

static void count_sketch__shape_follows_from_the_error(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = sketch_of((struct bb_count_sketch_options){0});
    struct bb_count_sketch_info info = info_of(sketch);
    assert_int_equal(info.columns, 2719);
    assert_int_equal(info.rows, 5);
    assert_int_equal(info.cells_size_bytes, 2719 * 5 * 4);
    assert_true(info.error == 0.001 && info.error_probability == 0.01);
    bb_count_sketch_destroy(sketch);
}

static void count_sketch__new_keys_are_counted(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = sketch_of((struct bb_count_sketch_options){0});
    for (uint64_t i = 0; i < 100; i++) {
        add_key(sketch, 1, i, 1);
        add_key(sketch, 1, i, 2);
        add_key(sketch, 1, i, 0);
    }
    assert_true(info_of(sketch).key_count >= 98 && info_of(sketch).key_count <= 100);
    assert_int_equal(info_of(sketch).total, 300);
    bb_count_sketch_reset(sketch);
    assert_int_equal(info_of(sketch).total + info_of(sketch).key_count, 0);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(bb_count_sketch_count(sketch, member_hash(1, i)), 0);
    bb_count_sketch_destroy(sketch);
}

static void count_sketch__full_cells_stay_and_are_reported(void **state)
{
    (void)state;
    for (int conservative = 0; conservative < 2; conservative++) {
        struct bb_count_sketch_options options = {.is_conservative = conservative != 0,
                                                  .top_count = 1};
        struct bb_count_sketch *sketch = sketch_of(options);
        struct bb_count_entry entry;
        add_key(sketch, 1, 0, UINT32_MAX - 1);
        assert_int_equal(bb_count_sketch_count(sketch, member_hash(1, 0)), UINT32_MAX - 1);
        assert_int_equal(info_of(sketch).saturated_count, 0);
        add_key(sketch, 1, 0, 1);
        add_key(sketch, 1, 0, 5);
        add_key(sketch, 1, 0, (UINT64_C(1) << 40) + 5);
        assert_int_equal(bb_count_sketch_count(sketch, member_hash(1, 0)), UINT32_MAX);
        assert_int_equal(info_of(sketch).saturated_count, 5);
        assert_int_equal(bb_count_sketch_top(sketch, &entry, 1), 1);
        assert_int_equal(entry.count, UINT32_MAX);
        char space[32];
        assert_status(bb_count_sketch_add(sketch, 1, key_of(1, space), UINT64_MAX), BB_TOO_LARGE);
        assert_message("18446744073709551615");
        assert_int_equal(bb_count_sketch_count(sketch, 1), 0);
        struct bb_count_sketch *copy = NULL;
        struct bb_buf envelope = {0};
        assert_ok(bb_count_sketch_encode(sketch, &envelope));
        assert_ok(bb_count_sketch_decode(bb_buf_bytes(&envelope), &copy));
        assert_int_equal(info_of(copy).saturated_count, 5);
        bb_buf_deinit(&envelope);
        bb_count_sketch_destroy(copy);
        bb_count_sketch_destroy(sketch);
    }
}

/* --- The keys that come most --- */

static void assert_top(const struct bb_count_sketch *sketch, uint64_t set, uint32_t capacity)
{
    struct bb_count_entry entries[64];
    char space[32];
    size_t count = bb_count_sketch_top(sketch, entries, BB_ARRAY_LENGTH(entries));
    bool listed[KEYS] = {false};
    assert_int_equal(count, capacity);
    for (size_t e = 0; e < count; e++) {
        uint64_t i = 0;
        while (i < KEYS && member_hash(set, i) != entries[e].hash)
            i++;
        assert_true(i < KEYS && !listed[i]);
        listed[i] = true;
        assert_true(bb_bytes_equal(entries[e].key, key_of(i, space)));
        assert_true(entries[e].count >= true_count(i));
        assert_true(entries[e].count <= bb_count_sketch_count(sketch, entries[e].hash));
        assert_true(e == 0 || entries[e].count <= entries[e - 1].count);
    }
    /* Certain for any errors. */
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(listed[i] || true_count(i) <= entries[count - 1].count);
    /* The most frequent are 20,000, 10,000, 6,667 ... of 160,000, the error of most is below 100.
     */
    for (uint64_t i = 0; i < 5 && i < capacity; i++)
        assert_true(listed[i]);
}

static void count_sketch__the_most_frequent_keys_are_found(void **state)
{
    (void)state;
    for (uint64_t set = 0; set < 5; set++)
        for (uint32_t capacity = 1; capacity <= 64; capacity *= 4) {
            struct bb_count_sketch_options options = {
                .top_count = capacity, .salt = set, .is_conservative = set % 2 == 1};
            struct bb_count_sketch *sketch = sketch_of(options);
            add_stream(sketch, set);
            assert_top(sketch, set, capacity);
            bb_count_sketch_destroy(sketch);
        }
}

/* Cells are few, and all shared. */
static void count_sketch__counts_of_a_list_with_space_are_exact(void **state)
{
    (void)state;
    for (int conservative = 0; conservative < 2; conservative++) {
        struct bb_count_sketch_options options = {
            .error = 0.4, .top_count = 50, .is_conservative = conservative != 0};
        struct bb_count_sketch *sketch = sketch_of(options);
        struct bb_count_entry entries[50];
        for (uint64_t round = 0; round < 3; round++)
            for (uint64_t i = 0; i < 50; i++)
                add_key(sketch, 1, i, i + 1);
        assert_true(bb_count_sketch_count(sketch, member_hash(1, 0)) > 3);
        assert_int_equal(bb_count_sketch_top(sketch, entries, 50), 50);
        for (uint64_t i = 0; i < 50; i++) {
            assert_int_equal(entries[i].hash, member_hash(1, 49 - i));
            assert_int_equal(entries[i].count, 3 * (50 - i));
        }
        bb_count_sketch_destroy(sketch);
    }
}

#define FEW_KEYS 60

/* Each key's count is no lower than the true count, up to the maximum of a cell. */
static void assert_bounds(const struct bb_count_sketch *sketch, const uint64_t true_counts[],
                          uint64_t *least, uint64_t *spared)
{
    struct bb_count_entry entries[8];
    size_t count = bb_count_sketch_top(sketch, entries, 8);
    bool is_listed[FEW_KEYS] = {false};
    for (size_t e = 0; e < count; e++)
        for (uint64_t i = 0; i < FEW_KEYS; i++) {
            uint64_t known = true_counts[i] < UINT32_MAX ? true_counts[i] : UINT32_MAX;
            uint64_t estimate = bb_count_sketch_count(sketch, member_hash(1, i));
            if (entries[e].hash != member_hash(1, i))
                continue;
            is_listed[i] = true;
            assert_true(entries[e].count >= known && entries[e].count <= estimate);
            *spared += estimate - entries[e].count;
        }
    uint64_t bound = count < 8 ? 0 : entries[7].count;
    assert_true(bound >= *least);
    *least = bound;
    for (uint64_t i = 0; i < FEW_KEYS; i++)
        assert_true(is_listed[i] || true_counts[i] <= bound || bound == UINT32_MAX);
}

/* Streams of keys of all frequencies into far too few cells, some up to their end. */
static void count_sketch__counts_of_the_list_are_never_too_low(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint64_t spared = 0, full = 0;
    bb_rng_init(&rng, key_seed);
    for (int round = 0; round < 60; round++) {
        struct bb_count_sketch_options options = {
            .error = round % 3 == 0 ? 0.4 : 0.1, .top_count = 8, .is_conservative = round % 2 == 1};
        struct bb_count_sketch *sketch = sketch_of(options);
        uint64_t true_counts[FEW_KEYS] = {0}, least = 0;
        uint64_t most = round % 4 < 2 ? 3 : UINT64_C(1) << 29;
        for (int step = 0; step < 500; step++) {
            uint64_t i = bb_rng_skewed(&rng, FEW_KEYS - 1), added = 1 + bb_rng_below(&rng, most);
            add_key(sketch, 1, i, added);
            true_counts[i] += added;
            if (step % 10 == 0)
                assert_bounds(sketch, true_counts, &least, &spared);
        }
        full += info_of(sketch).saturated_count;
        bb_count_sketch_destroy(sketch);
    }
    assert_true(spared > 10000 && full > 50);
}

static void count_sketch__fewer_are_given_where_fewer_fit(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = sketch_of((struct bb_count_sketch_options){.top_count = 10});
    struct bb_count_entry all[10], some[10];
    for (uint64_t i = 0; i < 7; i++)
        add_key(sketch, 1, i, 1 + i % 3);
    assert_int_equal(bb_count_sketch_top(sketch, all, 10), 7);
    for (size_t capacity = 0; capacity < 7; capacity++) {
        assert_int_equal(bb_count_sketch_top(sketch, some, capacity), capacity);
        for (size_t i = 0; i < capacity; i++)
            assert_true(some[i].hash == all[i].hash && some[i].count == all[i].count);
    }
    bb_count_sketch_reset(sketch);
    assert_int_equal(bb_count_sketch_top(sketch, all, 10), 0);
    bb_count_sketch_destroy(sketch);
}

/* The copies of the keys of before must not be released a second time. */
static void count_sketch__is_used_again_after_a_reset(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = sketch_of((struct bb_count_sketch_options){.top_count = 4});
    struct bb_count_entry entry;
    for (uint64_t hour = 0; hour < 3; hour++) {
        for (uint64_t i = 0; i < 10; i++)
            add_key(sketch, 1, 100 * hour + i, 1 + i);
        assert_int_equal(bb_count_sketch_top(sketch, &entry, 1), 1);
        assert_int_equal(entry.count, 10);
        bb_count_sketch_reset(sketch);
    }
    bb_count_sketch_destroy(sketch);
}

static void count_sketch__keys_are_copied(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = sketch_of((struct bb_count_sketch_options){.top_count = 2});
    struct bb_count_entry entry;
    char key[] = "volatile";
    assert_ok(bb_count_sketch_add(sketch, 1, bb_bytes_of(NULL, 0), 5));
    assert_ok(bb_count_sketch_add(sketch, 2, bb_bytes_of_text(key), 9));
    memset(key, '?', sizeof(key));
    assert_int_equal(bb_count_sketch_top(sketch, &entry, 1), 1);
    assert_true(bb_bytes_equal(entry.key, bb_bytes_of_text("volatile")));
    static uint8_t large[BB_COUNT_KEY_SIZE_MAX + 1];
    assert_status(bb_count_sketch_add(sketch, 3, bb_bytes_of(large, sizeof(large)), 1),
                  BB_TOO_LARGE);
    assert_message("the limit is 65536");
    assert_ok(bb_count_sketch_add(sketch, 3, bb_bytes_of(large, sizeof(large) - 1), 7));
    assert_int_equal(bb_count_sketch_count(sketch, 1), 5);
    bb_count_sketch_destroy(sketch);
}

/* --- Storing --- */

static void assert_same(const struct bb_count_sketch *sketch, const struct bb_buf *envelope,
                        struct bb_count_sketch **ret_copy)
{
    struct bb_buf again = {0};
    struct bb_filter_view view;
    struct bb_filter_info info;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    assert_ok(bb_filter_info(bb_buf_bytes(envelope), &info));
    assert_true(info.key_count == info_of(sketch).key_count && info.kind == BB_FILTER_COUNT_MIN);
    assert_true(info.target_rate == info_of(sketch).error_probability);
    assert_ok(bb_count_sketch_decode(bb_buf_bytes(envelope), ret_copy));
    assert_ok(bb_count_sketch_encode(*ret_copy, &again));
    assert_int_equal(again.size, envelope->size);
    assert_memory_equal(again.data, envelope->data, again.size);
    uint64_t passed = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t count = bb_count_sketch_count(sketch, absent_hash(i));
        assert_true(bb_count_sketch_count(*ret_copy, absent_hash(i)) == count);
        assert_true(bb_filter_may_contain(&view, absent_hash(i)) == (count > 0));
        passed += count > 0;
    }
    assert_rate(passed, 5000, info.predicted_rate, "non-member keys of a count sketch");
    bb_buf_deinit(&again);
}

static void count_sketch__a_decoded_sketch_counts_on(void **state)
{
    (void)state;
    struct bb_count_sketch_options options = {.error = 0.002, .top_count = 16, .salt = 77};
    for (int conservative = 0; conservative < 2; conservative++) {
        options.is_conservative = conservative != 0;
        struct bb_count_sketch *sketch = sketch_of(options), *copy = NULL;
        for (uint64_t n = 0; n < 600; n += 150) {
            struct bb_buf envelope = {0};
            assert_ok(bb_count_sketch_encode(sketch, &envelope));
            assert_same(sketch, &envelope, &copy);
            bb_count_sketch_destroy(sketch);
            sketch = copy;
            for (uint64_t i = n; i < n + 150; i++)
                add_key(sketch, 1, i, 1 + i % 40);
            bb_buf_deinit(&envelope);
        }
        for (uint64_t i = 0; i < 600; i++)
            assert_true(bb_count_sketch_count(sketch, member_hash(1, i)) >= 1 + i % 40);
        bb_count_sketch_destroy(sketch);
    }
}

static void count_sketch__bad_arguments_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct bb_count_sketch_options options;
        enum bb_status expected;
        const char *message;
    } cases[] = {
        {{.error = 0.6}, BB_INVALID, "error of a count sketch is 0.6"},
        {{.error = 1e-8}, BB_INVALID, "error of a count sketch is 1e-08"},
        {{.error_probability = 0.6}, BB_INVALID, "probability of a larger error is 0.6"},
        {{.error_probability = -1}, BB_INVALID, "probability of a larger error is -1"},
        {{.top_count = 1025}, BB_TOO_LARGE, "keeps 1025 top keys, the limit is 1024"},
    };
    struct bb_count_sketch *sketch = NULL;
    struct bb_filter_builder *builder = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        assert_status(bb_count_sketch_create(&cases[i].options, &sketch), cases[i].expected);
        assert_message(cases[i].message);
    }
    struct bb_buf bloom = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 10);
    assert_status(bb_count_sketch_decode(bb_buf_bytes(&bloom), &sketch), BB_INVALID);
    assert_message("of kind bloom, expected count-min");
    bloom.data[64] ^= 1;
    assert_status(bb_count_sketch_decode(bb_buf_bytes(&bloom), &sketch), BB_CORRUPT);
    struct bb_filter_options options = {.kind = BB_FILTER_COUNT_MIN};
    assert_status(bb_filter_builder_create(&options, &builder), BB_INVALID);
    assert_message("kind count-min are not built from a set of keys");
    assert_null(sketch);
    assert_null(builder);
    bb_count_sketch_destroy(NULL);
    bb_buf_deinit(&bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_sketch__errors_are_as_rare_as_stated),
        cmocka_unit_test(count_sketch__shape_follows_from_the_error),
        cmocka_unit_test(count_sketch__new_keys_are_counted),
        cmocka_unit_test(count_sketch__full_cells_stay_and_are_reported),
        cmocka_unit_test(count_sketch__the_most_frequent_keys_are_found),
        cmocka_unit_test(count_sketch__counts_of_a_list_with_space_are_exact),
        cmocka_unit_test(count_sketch__counts_of_the_list_are_never_too_low),
        cmocka_unit_test(count_sketch__fewer_are_given_where_fewer_fit),
        cmocka_unit_test(count_sketch__is_used_again_after_a_reset),
        cmocka_unit_test(count_sketch__keys_are_copied),
        cmocka_unit_test(count_sketch__a_decoded_sketch_counts_on),
        cmocka_unit_test(count_sketch__bad_arguments_are_refused),
    };
    keys_init("count_sketch");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
