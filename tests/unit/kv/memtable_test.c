/* Goal: a memtable is a sorted set of versions: every lookup and every walk agrees with a sorted
 * array, under any comparator, any kind of keys and any order of arrival.
 *
 * Method: a model (an array, sorted with bb_entry_compare), over kinds of keys that are hard for
 * prefixes, skips and tags: random, ascending, descending, long common prefixes, hostile bytes,
 * prefixes of one another. Checked: gets at random snapshots, walks in both directions, random
 * walks with turns and seeks, counts. The limits of the capacity: memtable_fits_test.c. Threads:
 * memtable_thread_test.c.
 */
#include "tests/support/assert_status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "kv/memtable/memtable.h"
#include "sstable/entry.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEY_SIZE_MAX   300
#define VALUE_SIZE_MAX 40

static const struct bb_hash_secret secret; /* of zeros: as good as any here */

enum shape {
    SHAPE_RANDOM,
    SHAPE_ASCENDING,
    SHAPE_DESCENDING,
    SHAPE_URL,     /* a long head in common, then little that decides */
    SHAPE_HOSTILE, /* bb_rng_key: NUL, 0xff, repetitions, empty keys */
    SHAPE_NESTED,  /* every key a prefix of the longer ones */
    SHAPE_BLOCKS,  /* ascending within a few interleaved ranges */
    SHAPE_COUNT,
};

static struct bb_bytes make_key(struct bb_rng *rng, enum shape shape, uint64_t i, uint8_t *buffer)
{
    char *text = (char *)buffer;
    int size = 0;
    switch (shape) {
    case SHAPE_RANDOM:
        size = snprintf(text, KEY_SIZE_MAX, "%016llx", (unsigned long long)bb_rng_next(rng));
        break;
    case SHAPE_ASCENDING:
        size = snprintf(text, KEY_SIZE_MAX, "%016llu", (unsigned long long)i);
        break;
    case SHAPE_DESCENDING:
        size = snprintf(text, KEY_SIZE_MAX, "%016llu", (unsigned long long)(1000000000 - i));
        break;
    case SHAPE_URL:
        size = snprintf(text, KEY_SIZE_MAX,
                        "https://www.example.org/some/common/head/%s/page-%04u?rev=%u",
                        bb_rng_one_in(rng, 2) ? "articles" : "articles-of-old",
                        (unsigned)bb_rng_below(rng, 900), (unsigned)bb_rng_below(rng, 20));
        break;
    case SHAPE_NESTED:
        size = (int)bb_rng_below(rng, KEY_SIZE_MAX);
        memset(buffer, 'a', (size_t)size);
        break;
    case SHAPE_BLOCKS:
        size = snprintf(text, KEY_SIZE_MAX, "range-%u-%012llu", (unsigned)(i % 5),
                        (unsigned long long)i);
        break;
    default:
        return bb_bytes_of(buffer, bb_rng_key(rng, buffer, KEY_SIZE_MAX));
    }
    return bb_bytes_of(buffer, (size_t)size);
}

static int compare_reverse(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

/* Orders without regard to case: keys that differ in bytes may be one. */
static int compare_caseless(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        int order = tolower(a.data[i]) - tolower(b.data[i]);
        if (order != 0)
            return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static const struct bb_comparator reverse = {.name = "reverse", .compare = compare_reverse};
static const struct bb_comparator caseless = {
    .name = "caseless", .compare = compare_caseless, .equates_different_bytes = true};

/* ---- the model ---- */

struct model {
    const struct bb_comparator *comparator;
    struct bb_entry *entries; /* sorted after sort_model; keys and values are the model's */
    size_t count;
    size_t capacity;
};

static void *copy_bytes(struct bb_bytes bytes)
{
    void *copy = bb_must_realloc(NULL, bytes.size);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return copy;
}

static void model_add(struct model *model, const struct bb_entry *entry)
{
    model->entries =
        bb_must_grow(model->entries, model->count, &model->capacity, sizeof(*model->entries));
    struct bb_entry *copy = &model->entries[model->count++];
    *copy = *entry;
    copy->key.data = copy_bytes(entry->key);
    copy->value.data = copy_bytes(entry->value);
}

static int order_entries(const void *a_pointer, const void *b_pointer, void *model_pointer)
{
    const struct model *model = model_pointer;
    const struct bb_entry *a = a_pointer;
    const struct bb_entry *b = b_pointer;
    return bb_entry_compare(model->comparator, a->key, a->sequence, b->key, b->sequence);
}

static void model_sort(struct model *model)
{
    qsort_r(model->entries, model->count, sizeof(*model->entries), order_entries, model);
}

static void model_deinit(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        free((void *)(uintptr_t)model->entries[i].key.data);
        free((void *)(uintptr_t)model->entries[i].value.data);
    }
    free(model->entries);
}

/* The first entry at or after (key, sequence); count if none exists. */
static size_t model_seek(const struct model *model, struct bb_bytes key, uint64_t sequence)
{
    size_t low = 0;
    size_t high = model->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct bb_entry *entry = &model->entries[middle];
        if (bb_entry_compare(model->comparator, entry->key, entry->sequence, key, sequence) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_same_key(const struct model *model, size_t i, size_t j)
{
    return bb_key_compare(model->comparator, model->entries[i].key, model->entries[j].key) == 0;
}

/* ---- comparisons ---- */

static void assert_shows(const struct bb_iter *iter, const struct model *model, size_t i)
{
    assert_int_equal(iter->status, BB_OK);
    assert_true(iter->is_valid);
    const struct bb_entry *expected = &model->entries[i];
    assert_true(bb_bytes_equal(iter->entry.key, expected->key));
    assert_true(iter->entry.sequence == expected->sequence);
    assert_int_equal(iter->entry.kind, expected->kind);
    assert_true(bb_bytes_equal(iter->entry.value, expected->value));
}

static void assert_at(const struct bb_iter *iter, const struct model *model, size_t i)
{
    if (i < model->count)
        assert_shows(iter, model, i);
    else
        assert_false(iter->is_valid);
}

static void check_walks(const struct bb_memtable *memtable, const struct model *model)
{
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    bb_iter_seek_first(iter);
    for (size_t i = 0; i < model->count; i++) {
        assert_shows(iter, model, i);
        bb_iter_next(iter);
    }
    assert_false(iter->is_valid);
    bb_iter_seek_last(iter);
    for (size_t i = model->count; i > 0; i--) {
        assert_shows(iter, model, i - 1);
        bb_iter_prev(iter);
    }
    assert_false(iter->is_valid);
    assert_int_equal(iter->status, BB_OK);
    bb_iter_destroy(iter);
}

/* Seeks to somewhere, then goes to and fro. */
static void check_turns(const struct bb_memtable *memtable, const struct model *model,
                        struct bb_rng *rng, enum shape shape)
{
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    for (size_t round = 0; round < 300; round += bb_test_step()) {
        uint8_t buffer[KEY_SIZE_MAX];
        size_t drawn = bb_rng_below(rng, model->count);
        struct bb_bytes key =
            bb_rng_one_in(rng, 2) ? model->entries[drawn].key : make_key(rng, shape, drawn, buffer);
        uint64_t sequence =
            bb_rng_one_in(rng, 2) ? BB_SEQUENCE_MAX : model->entries[drawn].sequence;
        size_t i = model_seek(model, key, sequence);
        unsigned near = (unsigned)bb_rng_below(rng, 8);
        for (unsigned n = 0; n < near && bb_memtable_iter_approach(iter, key, sequence, n); n++)
            assert_false(iter->is_valid);
        bb_iter_seek(iter, key, sequence);
        assert_at(iter, model, i);
        uint64_t steps = bb_rng_skewed(rng, 200);
        uint64_t turns = bb_rng_between(rng, 1, 6);
        for (uint64_t step = 0; step < steps && iter->is_valid; step++) {
            bool forward = step / turns % 2 == 0;
            i = forward ? i + 1 : (i == 0 ? model->count : i - 1);
            if (forward)
                bb_iter_next(iter);
            else
                bb_iter_prev(iter);
            assert_at(iter, model, i);
        }
    }
    bb_iter_destroy(iter);
}

static void check_get(const struct bb_memtable *memtable, const struct model *model,
                      struct bb_bytes key, uint64_t sequence)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t found = 0;
    size_t i = model_seek(model, key, sequence);
    bool is_there =
        i < model->count && bb_key_compare(model->comparator, model->entries[i].key, key) == 0;
    enum bb_status status =
        bb_memtable_get(memtable, key, bb_hash_key(&secret, key), sequence, &value, &kind, &found);
    assert_int_equal(status, is_there ? BB_OK : BB_NOT_FOUND);
    if (!is_there)
        return;
    assert_true(bb_memtable_may_contain(memtable, bb_hash_key(&secret, key)));
    assert_true(found == model->entries[i].sequence);
    assert_int_equal(kind, model->entries[i].kind);
    assert_true(bb_bytes_equal(value, model->entries[i].value));
}

static void check_gets(const struct bb_memtable *memtable, const struct model *model,
                       struct bb_rng *rng, enum shape shape)
{
    for (size_t i = 0; i < model->count; i++)
        check_get(memtable, model, model->entries[i].key, model->entries[i].sequence);
    for (size_t round = 0; round < 2000; round += bb_test_step()) {
        uint8_t buffer[KEY_SIZE_MAX];
        struct bb_bytes key = make_key(rng, shape, bb_rng_below(rng, 2 * model->count + 1), buffer);
        check_get(memtable, model, key, bb_rng_below(rng, model->count + 2));
        key = model->entries[bb_rng_below(rng, model->count)].key;
        check_get(memtable, model, key, bb_rng_below(rng, model->count + 2));
    }
}

static void check_counts(const struct bb_memtable *memtable, const struct model *model)
{
    uint64_t keys = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->count; i++) {
        keys += i == 0 || !is_same_key(model, i - 1, i);
        bytes += model->entries[i].key.size + model->entries[i].value.size;
    }
    assert_true(bb_memtable_key_count(memtable) == keys);
    assert_true(bb_memtable_raw_bytes(memtable) == bytes);
    assert_true(bb_memtable_sequence_max(memtable) == model->count);
    assert_false(bb_memtable_is_empty(memtable));
    assert_true(bb_memtable_used_bytes(memtable) <= bb_memtable_capacity(memtable));
}

/* ---- the scenarios ---- */

static void add_one(struct bb_memtable *memtable, struct model *model, struct bb_rng *rng,
                    struct bb_bytes key)
{
    uint8_t value[VALUE_SIZE_MAX];
    struct bb_entry entry = {.key = key, .sequence = model->count + 1, .kind = BB_ENTRY_DELETE};
    if (!bb_rng_one_in(rng, 6)) {
        entry.kind = BB_ENTRY_PUT;
        entry.value = bb_bytes_of(value, bb_rng_below(rng, VALUE_SIZE_MAX));
        bb_rng_bytes(rng, value, entry.value.size);
    }
    assert_true(bb_memtable_fits(memtable, 1, key.size + entry.value.size));
    assert_ok(bb_memtable_add(memtable, &entry, bb_hash_key(&secret, key)));
    model_add(model, &entry);
}

static void run(struct bb_memtable *memtable, const struct bb_comparator *comparator,
                enum shape shape, size_t count, struct bb_rng *rng)
{
    struct model model = {.comparator = comparator};
    for (size_t i = 0; i < count; i++) {
        uint8_t buffer[KEY_SIZE_MAX];
        struct bb_bytes key = make_key(rng, shape, i, buffer);
        if (i > 0 && bb_rng_one_in(rng, 8)) /* another version */
            key = model.entries[bb_rng_below(rng, model.count)].key;
        add_one(memtable, &model, rng, key);
    }
    model_sort(&model);
    check_counts(memtable, &model);
    check_walks(memtable, &model);
    check_turns(memtable, &model, rng, shape);
    check_gets(memtable, &model, rng, shape);
    model_deinit(&model);
}

static void run_shapes(const char *name, const struct bb_comparator *comparator)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed(name, 20260101));
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(comparator, 4 << 20, &memtable));
    for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
        run(memtable, comparator, shape, 6000 / bb_test_step(), &rng);
        bb_memtable_reset(memtable);
        assert_true(bb_memtable_is_empty(memtable));
        for (size_t count = 1; count < 90; count += 1 + count / 8) {
            run(memtable, comparator, shape, count, &rng);
            bb_memtable_reset(memtable);
        }
    }
    bb_memtable_destroy(memtable);
}

static void memtable__is_a_sorted_array(void **state)
{
    (void)state;
    run_shapes("memtable__is_a_sorted_array", NULL);
}

static void memtable__any_comparator(void **state)
{
    (void)state;
    run_shapes("memtable__any_comparator", &reverse);
}

static void memtable__comparator_that_equates(void **state)
{
    (void)state;
    run_shapes("memtable__comparator_that_equates", &caseless);
}

static void memtable__empty(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    struct bb_iter *iter = NULL;
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    struct bb_bytes key = bb_bytes_of_text("k");
    assert_ok(bb_memtable_create(NULL, 0, &memtable));
    assert_true(bb_memtable_is_empty(memtable));
    assert_int_equal(bb_memtable_get(memtable, key, bb_hash_key(&secret, key), BB_SEQUENCE_MAX,
                                     &value, &kind, &sequence),
                     BB_NOT_FOUND);
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    bb_iter_seek_first(iter);
    assert_false(iter->is_valid);
    bb_iter_seek_last(iter);
    assert_false(iter->is_valid);
    bb_iter_seek(iter, key, BB_SEQUENCE_MAX);
    assert_false(iter->is_valid);
    bb_iter_destroy(iter);
    bb_memtable_destroy(memtable);
    bb_memtable_destroy(NULL);
}

static void memtable__denies_what_is_not_there(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    struct bb_rng rng;
    size_t passed = 0;
    struct bb_entry entry = {.key = bb_bytes_of_text("k"), .sequence = 1, .kind = BB_ENTRY_PUT};
    struct bb_entry range = {.key = bb_bytes_of_text("a"),
                             .value = bb_bytes_of_text("b"),
                             .sequence = 2,
                             .kind = BB_ENTRY_DELETE_RANGE};
    bb_rng_init(&rng, bb_rng_seed("memtable__denies_what_is_not_there", 41));
    assert_ok(bb_memtable_create(NULL, 1 << 16, &memtable));
    assert_false(bb_memtable_may_contain(memtable, 7));
    assert_ok(bb_memtable_add(memtable, &entry, 7));
    assert_true(bb_memtable_may_contain(memtable, 7));
    for (size_t i = 0; i < 1000; i++)
        passed += bb_memtable_may_contain(memtable, bb_rng_next(&rng));
    assert_true(passed < 500);
    bb_memtable_reset(memtable);
    assert_false(bb_memtable_may_contain(memtable, 7));
    assert_ok(bb_memtable_add(memtable, &range, 9)); /* it speaks of keys of any hash */
    assert_true(bb_memtable_may_contain(memtable, 7));
    bb_memtable_destroy(memtable);
}

/* Recycled memory still has old nodes: none of their slots may count for a new one. */
static void memtable__recycled_memory_shows_nothing_of_its_past(void **state)
{
    (void)state;
    const uint64_t tag_is_zero = UINT64_C(0x1234567800345678); /* as in an empty slot */
    struct bb_memtable *memtable = NULL;
    struct bb_entry old = {.key = bb_bytes_of_text("a"), .sequence = 1, .kind = BB_ENTRY_PUT};
    struct bb_entry key = {.key = bb_bytes_of_text("k"), .sequence = 2, .kind = BB_ENTRY_PUT};
    struct bb_entry greatest = {.key = bb_bytes_of_text("z"), .sequence = 3, .kind = BB_ENTRY_PUT};
    assert_ok(bb_memtable_create(NULL, 1 << 16, &memtable));
    assert_ok(bb_memtable_add(memtable, &old, 1));
    assert_ok(bb_memtable_add(memtable, &key, tag_is_zero)); /* slot 1 */
    bb_memtable_reset(memtable);
    assert_ok(bb_memtable_add(memtable, &greatest, 3)); /* slot 0: the next key is searched for */
    key.sequence = 4;
    assert_ok(bb_memtable_add(memtable, &key, tag_is_zero));
    assert_int_equal(bb_memtable_key_count(memtable), 2);
    struct bb_bytes value;
    enum bb_entry_kind kind;
    uint64_t sequence = 0;
    assert_int_equal(bb_memtable_get(memtable, key.key, tag_is_zero, 3, &value, &kind, &sequence),
                     BB_NOT_FOUND);
    bb_memtable_destroy(memtable);
}

/* One key, written very often: both directions stay linear and right. */
static void memtable__many_versions_of_a_key(void **state)
{
    (void)state;
    const uint64_t count = 50000;
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(NULL, 8 << 20, &memtable));
    struct bb_bytes key = bb_bytes_of_text("counter");
    uint64_t hash = bb_hash_key(&secret, key);
    for (uint64_t i = 1; i <= count; i++) {
        struct bb_entry entry = {
            .key = key, .sequence = i, .kind = BB_ENTRY_PUT, .value = bb_bytes_of(&i, 8)};
        assert_ok(bb_memtable_add(memtable, &entry, hash));
    }
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    bb_iter_seek_last(iter);
    for (uint64_t i = 1; i <= count; i++) {
        assert_true(iter->is_valid && iter->entry.sequence == i);
        bb_iter_prev(iter);
    }
    assert_false(iter->is_valid);
    bb_iter_seek(iter, key, count / 2);
    assert_true(iter->is_valid && iter->entry.sequence == count / 2);
    bb_iter_prev(iter);
    bb_iter_prev(iter);
    assert_true(iter->entry.sequence == count / 2 + 2);
    bb_iter_next(iter);
    bb_iter_next(iter);
    bb_iter_next(iter);
    assert_true(iter->entry.sequence == count / 2 - 1);
    bb_iter_prev(iter);
    assert_true(iter->entry.sequence == count / 2);
    bb_iter_destroy(iter);
    bb_memtable_destroy(memtable);
}

static void memtable__refuses_old_sequences(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(NULL, 1 << 16, &memtable));
    struct bb_entry entry = {.key = bb_bytes_of_text("k"), .sequence = 7, .kind = BB_ENTRY_PUT};
    uint64_t hash = bb_hash_key(&secret, entry.key);
    assert_ok(bb_memtable_add(memtable, &entry, hash));
    uint64_t used = bb_memtable_used_bytes(memtable);
    assert_status(bb_memtable_add(memtable, &entry, hash), BB_INVALID);
    assert_message("sequence 7 after sequence 7");
    entry.sequence = 3;
    assert_status(bb_memtable_add(memtable, &entry, hash), BB_INVALID);
    entry.sequence = BB_SEQUENCE_MAX + 1;
    assert_status(bb_memtable_add(memtable, &entry, hash), BB_INVALID);
    assert_true(bb_memtable_key_count(memtable) == 1 && bb_memtable_used_bytes(memtable) == used);
    bb_memtable_destroy(memtable);
}

/* The largest key, and keys that differ only at its end. */
static void memtable__largest_keys(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    uint8_t *key = bb_must_alloc_zeroed(BB_KEY_SIZE_MAX + 1);
    assert_ok(bb_memtable_create(NULL, 32 << 20, &memtable));
    uint64_t sequence = 0;
    for (unsigned i = 0; i < 200; i++) {
        key[BB_KEY_SIZE_MAX - 1] = (uint8_t)(i * 77);
        struct bb_entry entry = {
            .key = bb_bytes_of(key, BB_KEY_SIZE_MAX), .sequence = ++sequence, .kind = BB_ENTRY_PUT};
        assert_ok(bb_memtable_add(memtable, &entry, bb_hash_key(&secret, entry.key)));
    }
    struct bb_entry entry = {
        .key = bb_bytes_of(key, BB_KEY_SIZE_MAX + 1), .sequence = ++sequence, .kind = BB_ENTRY_PUT};
    assert_status(bb_memtable_add(memtable, &entry, 0), BB_TOO_LARGE);
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    bb_iter_seek_first(iter);
    for (unsigned i = 0; i < 200; i++) {
        assert_true(iter->is_valid);
        if (i > 0)
            assert_true(iter->entry.key.data[BB_KEY_SIZE_MAX - 1] > key[BB_KEY_SIZE_MAX - 1]);
        key[BB_KEY_SIZE_MAX - 1] = iter->entry.key.data[BB_KEY_SIZE_MAX - 1];
        bb_iter_next(iter);
    }
    assert_false(iter->is_valid);
    bb_iter_destroy(iter);
    bb_memtable_destroy(memtable);
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memtable__is_a_sorted_array),
        cmocka_unit_test(memtable__any_comparator),
        cmocka_unit_test(memtable__comparator_that_equates),
        cmocka_unit_test(memtable__empty),
        cmocka_unit_test(memtable__denies_what_is_not_there),
        cmocka_unit_test(memtable__recycled_memory_shows_nothing_of_its_past),
        cmocka_unit_test(memtable__many_versions_of_a_key),
        cmocka_unit_test(memtable__refuses_old_sequences),
        cmocka_unit_test(memtable__largest_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
