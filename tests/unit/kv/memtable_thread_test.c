/* Goal: concurrent readers find every published entry, walk in order without missing one, and
 * estimate shares from complete records.
 *
 * Method: one writer adds and publishes the number of entries (release); readers load the number
 * (acquire) and then get any of those, or walk in either direction and compare with the expected
 * entries. Run it under ThreadSanitizer, which finds errors that a lucky schedule hides.
 */
#include "tests/support/assert_status.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sync.h"
#include "kv/memtable/memtable.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEY_SIZE      48
#define ENTRY_COUNT   60000 /* without a step (tests/support/step.h) */
#define CHECKS_MIN    16    /* by all readers together, spread over the entries */
#define VERSION_EVERY 5     /* one in this many entries is a new version of an older key */

static const struct bb_hash_secret secret;

struct shared {
    struct bb_memtable *memtable;
    bool is_url;
    uint64_t seed;
    uint64_t count;             /* of entries that are added */
    _Atomic uint64_t published; /* entries 1 ... published are there */
    _Atomic uint64_t failures;
    _Atomic uint64_t checks;
};

static uint64_t key_number(const struct shared *shared, uint64_t sequence)
{
    if (sequence % VERSION_EVERY == 0)
        sequence = 1 + bb_hash_mix(sequence) % (sequence - 1);
    if (sequence % VERSION_EVERY == 0) /* no chains of reference */
        sequence--;
    return bb_hash_mix(sequence ^ shared->seed);
}

static struct bb_bytes key_of(const struct shared *shared, uint64_t sequence, char text[KEY_SIZE])
{
    const char *head = shared->is_url ? "http://example.org/all/the/same/" : "";
    int size = snprintf(text, KEY_SIZE, "%s%015llx", head,
                        (unsigned long long)(key_number(shared, sequence) >> 4));
    return bb_bytes_of(text, (size_t)size);
}

static void fail_if(struct shared *shared, bool is_wrong)
{
    if (is_wrong)
        atomic_fetch_add(&shared->failures, 1);
}

/* The readers make some checks while entries are added, also on a busy machine. */
static void let_read(struct shared *shared, uint64_t sequence)
{
    while (atomic_load(&shared->checks) < CHECKS_MIN * sequence / shared->count &&
           atomic_load(&shared->failures) == 0)
        sched_yield();
}

static void write_all(void *argument)
{
    struct shared *shared = argument;
    for (uint64_t sequence = 1; sequence <= shared->count; sequence++) {
        char text[KEY_SIZE];
        struct bb_entry entry = {.key = key_of(shared, sequence, text),
                                 .sequence = sequence,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of(&sequence, sizeof(sequence))};
        enum bb_status status =
            bb_memtable_add(shared->memtable, &entry, bb_hash_key(&secret, entry.key));
        fail_if(shared, status != BB_OK);
        atomic_store_explicit(&shared->published, sequence, memory_order_release);
        let_read(shared, sequence);
    }
}

/* A snapshot as old as the entry finds any published entry, and exactly it. */
static void get_all(void *argument)
{
    struct shared *shared = argument;
    struct bb_rng rng;
    bb_rng_init(&rng, shared->seed + 1);
    uint64_t published = 0;
    while (published < shared->count) {
        published = atomic_load_explicit(&shared->published, memory_order_acquire);
        if (published == 0)
            continue;
        /* Often the latest, which is where mistakes would be. */
        uint64_t sequence = bb_rng_one_in(&rng, 2) ? published : bb_rng_between(&rng, 1, published);
        char text[KEY_SIZE];
        struct bb_bytes key = key_of(shared, sequence, text);
        struct bb_bytes value = {0};
        enum bb_entry_kind kind = BB_ENTRY_DELETE;
        uint64_t found = 0;
        enum bb_status status = bb_memtable_get(shared->memtable, key, bb_hash_key(&secret, key),
                                                sequence, &value, &kind, &found);
        fail_if(shared, status != BB_OK || found != sequence || value.size != 8 ||
                            memcmp(value.data, &sequence, 8) != 0 || kind != BB_ENTRY_PUT);
        atomic_fetch_add_explicit(&shared->checks, 1, memory_order_relaxed);
    }
}

/* A walk must be in order and show everything that was published before it began. */
static void walk(struct shared *shared, bool forward)
{
    uint64_t published = atomic_load_explicit(&shared->published, memory_order_acquire);
    uint64_t expected = 0;
    struct bb_iter *iter = NULL;
    if (bb_memtable_iter_create(shared->memtable, &iter) != BB_OK) {
        fail_if(shared, true);
        return;
    }
    struct bb_bytes last = {0};
    uint64_t last_sequence = 0;
    bool is_first = true;
    forward ? bb_iter_seek_first(iter) : bb_iter_seek_last(iter);
    while (iter->is_valid) {
        int order = is_first ? -1 : bb_bytes_compare(last, iter->entry.key);
        if (order == 0) /* the newer version sorts first */
            order = last_sequence > iter->entry.sequence ? -1 : 1;
        fail_if(shared, !is_first && (forward ? order >= 0 : order <= 0));
        expected += iter->entry.sequence <= published;
        last = iter->entry.key;
        last_sequence = iter->entry.sequence;
        is_first = false;
        forward ? bb_iter_next(iter) : bb_iter_prev(iter);
    }
    fail_if(shared, expected != published || iter->status != BB_OK);
    bb_iter_destroy(iter);
    atomic_fetch_add_explicit(&shared->checks, 1, memory_order_relaxed);
}

static void walk_all(void *argument)
{
    struct shared *shared = argument;
    bool forward = true;
    while (atomic_load_explicit(&shared->published, memory_order_acquire) < shared->count) {
        walk(shared, forward);
        forward = !forward;
    }
    walk(shared, true);
    walk(shared, false);
}

/* Seeks to published entries and takes some steps to both sides. */
static void seek_all(void *argument)
{
    struct shared *shared = argument;
    struct bb_rng rng;
    bb_rng_init(&rng, shared->seed + 2);
    struct bb_iter *iter = NULL;
    if (bb_memtable_iter_create(shared->memtable, &iter) != BB_OK) {
        fail_if(shared, true);
        return;
    }
    uint64_t published = 0;
    while (published < shared->count) {
        published = atomic_load_explicit(&shared->published, memory_order_acquire);
        if (published == 0)
            continue;
        uint64_t sequence = bb_rng_between(&rng, 1, published);
        char text[KEY_SIZE];
        struct bb_bytes key = key_of(shared, sequence, text);
        bb_iter_seek(iter, key, sequence);
        fail_if(shared, !iter->is_valid || iter->entry.sequence != sequence ||
                            !bb_bytes_equal(iter->entry.key, key));
        for (unsigned step = 0; step < 60 && iter->is_valid; step++) {
            struct bb_bytes last = iter->entry.key;
            bool forward = sequence % 2 == 0;
            forward ? bb_iter_next(iter) : bb_iter_prev(iter);
            int order = iter->is_valid ? bb_bytes_compare(last, iter->entry.key) : 0;
            fail_if(shared, forward ? order > 0 : order < 0);
        }
        atomic_fetch_add_explicit(&shared->checks, 1, memory_order_relaxed);
    }
    bb_iter_destroy(iter);
}

/* A share compares with whole keys of records that the writer may have published just now. */
static void estimate_all(void *argument)
{
    struct shared *shared = argument;
    struct bb_rng rng;
    bb_rng_init(&rng, shared->seed + 3);
    uint64_t published = 0;
    while (published < shared->count) {
        published = atomic_load_explicit(&shared->published, memory_order_acquire);
        if (published == 0)
            continue;
        uint64_t sequence = bb_rng_one_in(&rng, 2) ? published : bb_rng_between(&rng, 1, published);
        char text[KEY_SIZE];
        double share = bb_memtable_share(shared->memtable, key_of(shared, sequence, text));
        fail_if(shared, !(share >= 0 && share <= 1));
        atomic_fetch_add_explicit(&shared->checks, 1, memory_order_relaxed);
    }
}

#define ROLE_COUNT 4

static void run(bool is_url, uint64_t seed, void (*const roles[ROLE_COUNT])(void *))
{
    struct shared shared = {.is_url = is_url, .seed = seed, .count = ENTRY_COUNT / bb_test_step()};
    struct bb_thread threads[ROLE_COUNT];
    assert_ok(bb_memtable_create(NULL, 32 << 20, &shared.memtable));
    for (size_t i = 0; i < ROLE_COUNT; i++)
        assert_ok(bb_thread_create(&threads[i], roles[i], &shared));
    for (size_t i = 0; i < ROLE_COUNT; i++)
        bb_thread_join(&threads[i]);
    printf("%llu checks\n", (unsigned long long)atomic_load(&shared.checks));
    assert_true(atomic_load(&shared.failures) == 0);
    assert_true(atomic_load(&shared.checks) >= CHECKS_MIN);
    bb_memtable_destroy(shared.memtable);
}

static void (*const find_and_walk[ROLE_COUNT])(void *) = {write_all, get_all, walk_all, seek_all};
static void (*const estimate_alone[ROLE_COUNT])(void *) = {write_all, estimate_all, estimate_all,
                                                           estimate_all};

static void memtable_thread__random_keys(void **state)
{
    (void)state;
    run(false, bb_rng_seed("memtable_thread__random_keys", 31), find_and_walk);
}

static void memtable_thread__keys_with_a_common_head(void **state)
{
    (void)state;
    run(true, bb_rng_seed("memtable_thread__keys_with_a_common_head", 32), find_and_walk);
}

/* A share read the newest version of a key before its bytes were known to be complete. */
static void memtable_thread__share_beside_new_versions(void **state)
{
    (void)state;
    run(true, bb_rng_seed("memtable_thread__share_beside_new_versions", 33), estimate_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memtable_thread__random_keys),
        cmocka_unit_test(memtable_thread__keys_with_a_common_head),
        cmocka_unit_test(memtable_thread__share_beside_new_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
