/* Goal: the memtable's filter rules out no key that was added before, also during writes, and
 * passes few others. Method: all members probed; a writer that publishes its progress (release),
 * and readers that probe up to there (acquire), for the thread sanitizer too. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include <stdint.h>

#include "base/sync.h"
#include "bloomblock/table/memory_filter.h"
#include "bloomblock/sizing/rate.h"

static void memory_filter__no_member_is_denied(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 10, 51, 52, 1000, 30000};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++) {
        struct bb_memory_filter filter;
        assert_ok(bb_memory_filter_init(&filter, counts[c], 10));
        for (uint64_t i = 0; i < counts[c]; i++) {
            bb_memory_filter_add(&filter, member_hash(c, i));
            assert_true(bb_memory_filter_may_contain(&filter, member_hash(c, i)));
        }
        for (uint64_t i = 0; i < counts[c]; i++)
            assert_true(bb_memory_filter_may_contain(&filter, member_hash(c, i)));
        bb_memory_filter_deinit(&filter);
        assert_null((void *)filter.words);
    }
}

static void memory_filter__rate_is_that_of_a_blocked_bloom(void **state)
{
    (void)state;
    struct bb_memory_filter filter;
    struct bb_rate_line line;
    const uint64_t keys = 100000, questions = 200000;
    uint64_t passed = 0;
    assert_ok(bb_memory_filter_init(&filter, keys, 10));
    for (uint64_t i = 0; i < keys; i++)
        bb_memory_filter_add(&filter, member_hash(0, i));
    for (uint64_t i = 0; i < questions; i++)
        passed += bb_memory_filter_may_contain(&filter, absent_hash(i));
    bb_rate_line_init(&line, 6, UINT64_MAX);
    double expected = bb_rate_blocked_bloom(&line, keys, filter.line_count);
    /* The lines' own spread adds less than a fifth to the deviation. */
    assert_rate(passed, questions, expected, "non-member keys");
    bb_memory_filter_deinit(&filter);
}

static void memory_filter__reset_empties(void **state)
{
    (void)state;
    struct bb_memory_filter filter;
    assert_ok(bb_memory_filter_init(&filter, 100, 10));
    for (uint64_t i = 0; i < 1000; i++)
        bb_memory_filter_add(&filter, member_hash(0, i));
    bb_memory_filter_reset(&filter);
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(bb_memory_filter_may_contain(&filter, member_hash(0, i)));
    bb_memory_filter_deinit(&filter);
}

static void memory_filter__lines_are_cache_lines(void **state)
{
    (void)state;
    struct bb_memory_filter filter;
    assert_ok(bb_memory_filter_init(&filter, 1000, 10));
    assert_int_equal((uintptr_t)filter.words % 64, 0);
    assert_int_equal(filter.line_count, 10000 / 512 + 1);
    bb_memory_filter_deinit(&filter);
}

static void memory_filter__refuses_absurd_sizes(void **state)
{
    (void)state;
    struct bb_memory_filter filter;
    assert_status(bb_memory_filter_init(&filter, UINT64_MAX, 10), BB_TOO_LARGE);
    assert_status(bb_memory_filter_init(&filter, UINT64_C(1) << 40, 10), BB_TOO_LARGE);
}

/* --- Concurrent readers --- */

#define READERS      2
#define WRITERS      1 /* there is never more than one */
#define KEYS         40000
#define ROUNDS_LEAST 3

struct shared {
    struct bb_memory_filter filter;
    _Atomic uint64_t published[WRITERS];
    _Atomic uint64_t denied;
};

struct role {
    struct shared *shared;
    uint64_t number;
};

static void write_keys(void *argument)
{
    struct role *role = argument;
    for (uint64_t i = 0; i < KEYS; i++) {
        bb_memory_filter_add(&role->shared->filter, member_hash(role->number, i));
        atomic_store_explicit(&role->shared->published[role->number], i + 1, memory_order_release);
    }
}

static void read_keys(void *argument)
{
    struct shared *shared = argument;
    uint64_t denied = 0;
    bool done = false;
    for (uint64_t round = 0; !done || round < ROUNDS_LEAST; round++) {
        done = true;
        for (uint64_t writer = 0; writer < WRITERS; writer++) {
            uint64_t count = atomic_load_explicit(&shared->published[writer], memory_order_acquire);
            done = done && count == KEYS;
            for (uint64_t i = count > 500 ? count - 500 : 0; i < count; i++)
                denied += !bb_memory_filter_may_contain(&shared->filter, member_hash(writer, i));
        }
    }
    atomic_fetch_add(&shared->denied, denied);
}

static void memory_filter__readers_see_what_was_published(void **state)
{
    (void)state;
    struct shared shared = {0};
    struct role roles[WRITERS];
    struct bb_thread threads[WRITERS + READERS];
    assert_ok(bb_memory_filter_init(&shared.filter, WRITERS * KEYS, 10));
    for (size_t i = 0; i < READERS; i++)
        assert_ok(bb_thread_create(&threads[WRITERS + i], read_keys, &shared));
    for (size_t i = 0; i < WRITERS; i++) {
        roles[i] = (struct role){&shared, i};
        assert_ok(bb_thread_create(&threads[i], write_keys, &roles[i]));
    }
    for (size_t i = 0; i < WRITERS + READERS; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(atomic_load(&shared.denied), 0);
    for (uint64_t writer = 0; writer < WRITERS; writer++)
        for (uint64_t i = 0; i < KEYS; i++)
            assert_true(bb_memory_filter_may_contain(&shared.filter, member_hash(writer, i)));
    bb_memory_filter_deinit(&shared.filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_filter__no_member_is_denied),
        cmocka_unit_test(memory_filter__rate_is_that_of_a_blocked_bloom),
        cmocka_unit_test(memory_filter__reset_empties),
        cmocka_unit_test(memory_filter__lines_are_cache_lines),
        cmocka_unit_test(memory_filter__refuses_absurd_sizes),
        cmocka_unit_test(memory_filter__readers_see_what_was_published),
    };
    keys_init("memory_filter");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
