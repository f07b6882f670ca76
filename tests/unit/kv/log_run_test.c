/* Goal: the contents of logs are sorted in table order, for any keys, within the given memory.
 * Method: an array sorted by comparison, over kinds of keys that are hard for a sort by eight bytes
 * at a time: common prefixes, prefixes of one another, zeros, chains that end one by one, deeper
 * than the sort goes; many versions of one key; a comparator. */
#include "tests/support/assert_status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "kv/recovery/log_run.h"
#include "tests/support/entry_array.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define KEY_SIZE_MAX 1200
#define COUNT        3000
#define CAPACITY     (UINT64_C(16) << 20)

enum shape {
    SHAPE_RANDOM,
    SHAPE_ASCENDING,
    SHAPE_DESCENDING,
    SHAPE_TABLES,  /* heads that groups of keys have in common */
    SHAPE_HOSTILE, /* bb_rng_key */
    SHAPE_CHAIN,   /* each key a prefix of the longer ones, some end in another byte */
    SHAPE_ZEROS,   /* of one byte, in every length */
    SHAPE_FEW,     /* many versions */
    SHAPE_COUNT,
};

static size_t make_key(struct bb_rng *rng, enum shape shape, uint64_t i, uint8_t *key)
{
    char *text = (char *)key;
    size_t size = bb_rng_below(rng, KEY_SIZE_MAX);
    switch (shape) {
    case SHAPE_RANDOM:
        return (size_t)snprintf(text, KEY_SIZE_MAX, "%016llx",
                                (unsigned long long)bb_rng_next(rng));
    case SHAPE_ASCENDING:
        return (size_t)snprintf(text, KEY_SIZE_MAX, "%016llu", (unsigned long long)i);
    case SHAPE_DESCENDING:
        return (size_t)snprintf(text, KEY_SIZE_MAX, "%016llu", (unsigned long long)(COUNT - i));
    case SHAPE_TABLES:
        return (size_t)snprintf(text, KEY_SIZE_MAX, "table%u/a long name of a column/%u",
                                (unsigned)bb_rng_below(rng, 5), (unsigned)bb_rng_below(rng, 900));
    case SHAPE_CHAIN:
        memset(key, 'a', KEY_SIZE_MAX);
        if (size > 0 && bb_rng_one_in(rng, 3))
            key[size - 1] = 'b';
        return size;
    case SHAPE_ZEROS:
        memset(key, 0, KEY_SIZE_MAX);
        return bb_rng_below(rng, 40);
    case SHAPE_FEW:
        return (size_t)snprintf(text, KEY_SIZE_MAX, "%u", (unsigned)bb_rng_below(rng, 4));
    default:
        return bb_rng_key(rng, key, 300);
    }
}

static uint64_t count_keys(const struct bb_entry_array *sorted)
{
    uint64_t count = sorted->count > 0;
    for (size_t i = 1; i < sorted->count; i++)
        count += bb_key_compare(sorted->comparator, sorted->entries[i - 1].key,
                                sorted->entries[i].key) != 0;
    return count;
}

/* The value in a buffer that the run takes. */
static void add_in_place(struct bb_log_run *run, const struct bb_entry *entry)
{
    struct bb_entry in_place = *entry;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_assign(&buf, entry->value));
    in_place.value = bb_buf_bytes(&buf);
    assert_ok(bb_log_run_add_in_place(run, &in_place));
    assert_ok(bb_log_run_keep(run, &buf));
    assert_null(buf.data);
}

static void add_many(struct bb_rng *rng, enum shape shape, struct bb_log_run *run,
                     struct bb_entry_array *model)
{
    static uint8_t key[KEY_SIZE_MAX];
    uint8_t value[50];
    bb_rng_bytes(rng, value, sizeof(value));
    for (uint64_t i = 0; i < COUNT; i++) {
        struct bb_entry entry = {.sequence = 100 + 2 * i, .kind = BB_ENTRY_DELETE};
        entry.key = bb_bytes_of(key, make_key(rng, shape, i, key));
        if (!bb_rng_one_in(rng, 4)) {
            entry.kind = BB_ENTRY_PUT;
            entry.value = bb_bytes_of(value, bb_rng_below(rng, sizeof(value)));
        }
        assert_true(bb_log_run_fits(run, entry.key.size + entry.value.size));
        if (entry.kind == BB_ENTRY_PUT && bb_rng_one_in(rng, 5))
            add_in_place(run, &entry);
        else
            assert_ok(bb_log_run_add(run, &entry));
        bb_entry_array_add(model, &entry);
    }
}

static void check(struct bb_rng *rng, enum shape shape, const struct bb_comparator *comparator)
{
    struct bb_log_run *run = NULL;
    struct bb_entry_array model = {.comparator = comparator};
    struct bb_entry_array read = {.comparator = comparator};
    struct bb_iter *iter = NULL;
    assert_ok(bb_log_run_create(comparator, CAPACITY, 0, &run));
    assert_true(bb_log_run_is_empty(run));
    add_many(rng, shape, run, &model);
    bb_entry_array_sort(&model);
    assert_ok(bb_log_run_sort(run));
    assert_ok(bb_log_run_iter_create(run, &iter));
    bb_entry_array_read(&read, iter);
    assert_true(bb_entry_array_equal(&model, &read));
    assert_int_equal(bb_log_run_key_count(run), count_keys(&model));
    bb_iter_destroy(iter);
    bb_log_run_destroy(run);
    bb_entry_array_deinit(&model);
    bb_entry_array_deinit(&read);
}

static void log_run__is_sorted(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("log_run__is_sorted", 41));
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        check(&rng, (enum shape)shape, NULL);
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static void log_run__under_a_comparator(void **state)
{
    (void)state;
    const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("log_run__under_a_comparator", 42));
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        check(&rng, (enum shape)shape, &backward);
}

static void log_run__of_none_and_of_one(void **state)
{
    (void)state;
    for (int count = 0; count < 2; count++) {
        struct bb_log_run *run = NULL;
        struct bb_iter *iter = NULL;
        struct bb_range_tombstones *ranges = NULL;
        assert_ok(bb_log_run_create(NULL, 1000, 0, &run));
        if (count == 1)
            assert_ok(bb_log_run_add(run, &(struct bb_entry){.sequence = 1}));
        assert_int_equal(bb_log_run_is_empty(run), count == 0);
        assert_ok(bb_log_run_sort(run));
        assert_ok(bb_log_run_ranges(run, &ranges));
        assert_null(ranges);
        assert_ok(bb_log_run_iter_create(run, &iter));
        bb_iter_seek_first(iter);
        assert_int_equal(iter->is_valid, count == 1);
        assert_int_equal(bb_log_run_key_count(run), count);
        bb_iter_destroy(iter);
        bb_log_run_destroy(run);
    }
}

/* As many as fit are taken; and one is, however large. */
static void log_run__has_a_capacity(void **state)
{
    (void)state;
    struct bb_log_run *run = NULL;
    uint8_t *bytes = bb_must_alloc_zeroed(100000);
    struct bb_entry entry = {.kind = BB_ENTRY_PUT, .key = bb_bytes_of_text("k")};
    assert_ok(bb_log_run_create(NULL, 10000, 0, &run));
    for (; bb_log_run_fits(run, entry.key.size + 100); entry.sequence++) {
        entry.value = bb_bytes_of(bytes, 100);
        assert_ok(bb_log_run_add(run, &entry));
    }
    assert_in_range(entry.sequence, 50, 99);
    entry.value = bb_bytes_of(bytes, 100000);
    assert_status(bb_log_run_add(run, &entry), BB_NO_SPACE);
    bb_log_run_destroy(run);
    assert_ok(bb_log_run_create(NULL, 10000, 100001, &run));
    assert_true(bb_log_run_fits(run, 100001));
    assert_ok(bb_log_run_add(run, &entry));
    bb_log_run_destroy(run);
    assert_status(bb_log_run_create(NULL, UINT64_C(25) << 30, 0, &run), BB_TOO_LARGE);
    assert_ok(bb_log_run_create(NULL, 10000, 0, &run));
    entry.value = bb_bytes_of(bytes, 9000); /* bytes that are not copied count, too */
    assert_true(bb_log_run_fits(run, 2000));
    assert_ok(bb_log_run_add_in_place(run, &entry));
    assert_false(bb_log_run_fits(run, 2000));
    bb_log_run_destroy(run);
    free(bytes);
}

static struct bb_entry range_of(const char *low, const char *high, uint64_t sequence)
{
    return (struct bb_entry){.kind = BB_ENTRY_DELETE_RANGE,
                             .key = bb_bytes_of_text(low),
                             .value = bb_bytes_of_text(high),
                             .sequence = sequence};
}

static void log_run__keeps_ranges_apart(void **state)
{
    (void)state;
    struct bb_log_run *run = NULL;
    struct bb_range_tombstones *ranges = NULL;
    assert_ok(bb_log_run_create(NULL, CAPACITY, 0, &run));
    struct bb_entry empty = range_of("f", "f", 1);
    struct bb_entry first = range_of("a", "f", 2);
    struct bb_entry second = range_of("c", "m", 3);
    assert_ok(bb_log_run_add(run, &empty));
    assert_true(bb_log_run_is_empty(run));
    assert_ok(bb_log_run_add(run, &first));
    assert_ok(bb_log_run_add(run, &second));
    assert_false(bb_log_run_is_empty(run));
    assert_ok(bb_log_run_sort(run));
    assert_int_equal(bb_log_run_key_count(run), 0);
    assert_ok(bb_log_run_ranges(run, &ranges));
    assert_int_equal(bb_range_tombstones_covering(ranges, bb_bytes_of_text("b"), 9), 2);
    assert_int_equal(bb_range_tombstones_covering(ranges, bb_bytes_of_text("d"), 9), 3);
    assert_int_equal(bb_range_tombstones_covering(ranges, bb_bytes_of_text("m"), 9), 0);
    bb_range_tombstones_destroy(ranges);
    bb_log_run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_run__is_sorted),
        cmocka_unit_test(log_run__under_a_comparator),
        cmocka_unit_test(log_run__of_none_and_of_one),
        cmocka_unit_test(log_run__has_a_capacity),
        cmocka_unit_test(log_run__keeps_ranges_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
