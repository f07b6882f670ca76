/* Goal: concurrent readers find every published range tombstone, and none newer than their
 * sequence, while it is in the chain, in an index, or moving from one to the other.
 *
 * Method: one writer adds range tombstones and publishes their number (release); readers load the
 * number (acquire) and query the covering sequence of keys, at any of those, compared with a walk
 * over all. Run it under ThreadSanitizer, which finds errors that a lucky schedule hides.
 */
#include "tests/support/assert_status.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sync.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "tests/support/rng.h"

#define RANGE_COUNT 4000
#define KEY_COUNT   200
#define WIDTH_MAX   8
#define KEY_SIZE    8

struct shared {
    struct bb_memtable *memtable;
    uint64_t seed;
    _Atomic uint64_t published; /* range tombstones 1 ... published are there */
    _Atomic uint64_t failures;
    _Atomic uint64_t checks;
};

static struct bb_bytes key_of(uint64_t number, char text[KEY_SIZE])
{
    return bb_bytes_of(text, (size_t)snprintf(text, KEY_SIZE, "%04u", (unsigned)number));
}

static uint64_t low_of(const struct shared *shared, uint64_t sequence)
{
    return bb_hash_mix(sequence ^ shared->seed) % KEY_COUNT;
}

static uint64_t high_of(const struct shared *shared, uint64_t sequence)
{
    return low_of(shared, sequence) + 1 + bb_hash_mix(sequence + shared->seed) % WIDTH_MAX;
}

static void fail_if(struct shared *shared, bool is_wrong)
{
    if (is_wrong)
        atomic_fetch_add(&shared->failures, 1);
}

static void write_all(void *argument)
{
    struct shared *shared = argument;
    for (uint64_t sequence = 1; sequence <= RANGE_COUNT; sequence++) {
        char low[KEY_SIZE];
        char high[KEY_SIZE];
        struct bb_entry entry = {.key = key_of(low_of(shared, sequence), low),
                                 .sequence = sequence,
                                 .kind = BB_ENTRY_DELETE_RANGE,
                                 .value = key_of(high_of(shared, sequence), high)};
        fail_if(shared, bb_memtable_add(shared->memtable, &entry, 0) != BB_OK);
        atomic_store_explicit(&shared->published, sequence, memory_order_release);
    }
}

/* The highest sequence of at most `sequence` that covers the key. */
static uint64_t expected_of(const struct shared *shared, uint64_t key, uint64_t sequence)
{
    while (sequence > 0 && (key < low_of(shared, sequence) || key >= high_of(shared, sequence)))
        sequence--;
    return sequence;
}

static void check_get(struct shared *shared, struct bb_bytes key, uint64_t sequence,
                      uint64_t expected)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t found = 0;
    enum bb_status status =
        bb_memtable_get(shared->memtable, key, 0, sequence, &value, &kind, &found);
    if (expected == 0)
        fail_if(shared, status != BB_NOT_FOUND);
    else if (!bb_memtable_may_contain(shared->memtable, 0))
        fail_if(shared, true);
    else
        fail_if(shared, status != BB_OK || kind != BB_ENTRY_DELETE || found != expected);
}

/* The whole region must have the answer of the key. */
static void check_region(struct shared *shared, uint64_t number, uint64_t sequence,
                         uint64_t expected)
{
    char text[KEY_SIZE];
    struct bb_range_tombstone_region region = {0};
    bb_memtable_ranges_narrow(shared->memtable, key_of(number, text), sequence, &region);
    fail_if(shared, region.covering != expected);
    for (uint64_t other = number > 3 ? number - 3 : 0; other <= number + 3; other++) {
        if (bb_range_tombstone_region_contains(&region, NULL, key_of(other, text)))
            fail_if(shared, expected_of(shared, other, sequence) != expected);
        else
            fail_if(shared, other == number);
    }
}

static void ask(struct shared *shared, struct bb_rng *rng, uint64_t published)
{
    char text[KEY_SIZE];
    /* Often the latest, which is where mistakes would be. */
    uint64_t sequence = bb_rng_one_in(rng, 4) ? bb_rng_between(rng, 1, published) : published;
    uint64_t number = bb_rng_below(rng, KEY_COUNT + WIDTH_MAX);
    uint64_t expected = expected_of(shared, number, sequence);
    check_get(shared, key_of(number, text), sequence, expected);
    check_region(shared, number, sequence, expected);
    atomic_fetch_add_explicit(&shared->checks, 1, memory_order_relaxed);
}

static void ask_all(struct shared *shared, uint64_t seed)
{
    struct bb_rng rng;
    uint64_t published = 0;
    bb_rng_init(&rng, seed);
    while (published < RANGE_COUNT) {
        published = atomic_load_explicit(&shared->published, memory_order_acquire);
        if (published > 0)
            ask(shared, &rng, published);
    }
    for (int i = 0; i < 1000; i++)
        ask(shared, &rng, published);
}

static void ask_first(void *argument)
{
    struct shared *shared = argument;
    ask_all(shared, shared->seed + 1);
}

static void ask_second(void *argument)
{
    struct shared *shared = argument;
    ask_all(shared, shared->seed + 2);
}

/* All that were published are listed, newest first. */
static void list_all(void *argument)
{
    struct shared *shared = argument;
    uint64_t published = 0;
    while (published < RANGE_COUNT) {
        struct bb_range_tombstone_array array = {0};
        published = atomic_load_explicit(&shared->published, memory_order_acquire);
        fail_if(shared, bb_memtable_ranges_list(shared->memtable, &array) != BB_OK ||
                            array.count < published);
        for (size_t i = 0; i < array.count; i++)
            fail_if(shared, array.tombstones[i].sequence != array.count - i);
        bb_range_tombstone_array_deinit(&array);
    }
}

static void memtable_ranges_thread__readers_see_what_was_published(void **state)
{
    (void)state;
    static void (*const roles[])(void *) = {write_all, ask_first, ask_second, list_all};
    struct shared shared = {.seed = bb_rng_seed("memtable_ranges_thread_test", 1)};
    struct bb_thread threads[sizeof(roles) / sizeof(roles[0])];
    assert_ok(bb_memtable_create(NULL, 32 << 20, &shared.memtable));
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        assert_ok(bb_thread_create(&threads[i], roles[i], &shared));
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        bb_thread_join(&threads[i]);
    printf("%llu checks\n", (unsigned long long)atomic_load(&shared.checks));
    assert_true(atomic_load(&shared.failures) == 0);
    assert_int_equal(bb_memtable_ranges_count(shared.memtable), RANGE_COUNT);
    bb_memtable_destroy(shared.memtable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memtable_ranges_thread__readers_see_what_was_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
