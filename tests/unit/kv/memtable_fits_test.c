/* Goal: an add after fits returned true never fails, for any splits of nodes; an entry that does
 * not fit changes nothing.
 *
 * Method: memtables of many capacities are completely filled by groups of many sizes, in orders of
 * arrival that are good and bad for the tree; and by the worst groups.
 */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "kv/memtable/memtable.h"
#include "tests/support/rng.h"

#define KEY_SIZE_MAX   300
#define VALUE_SIZE_MAX 40

static const struct bb_hash_secret secret; /* of zeros: as good as any here */

enum order { ORDER_RANDOM, ORDER_ASCENDING, ORDER_DESCENDING, ORDER_HOSTILE, ORDER_COUNT };

static struct bb_bytes make_key(struct bb_rng *rng, enum order order, uint64_t i, uint8_t *buffer)
{
    if (order == ORDER_HOSTILE)
        return bb_bytes_of(buffer, bb_rng_key(rng, buffer, KEY_SIZE_MAX));
    uint64_t number = order == ORDER_RANDOM      ? bb_rng_next(rng)
                      : order == ORDER_ASCENDING ? i
                                                 : UINT64_MAX - i;
    int size = snprintf((char *)buffer, KEY_SIZE_MAX, "%020llu", (unsigned long long)number);
    return bb_bytes_of(buffer, (size_t)size);
}

/* Fills memtables of many capacities by groups of many sizes: fits is trusted to the last byte. */
static void memtable_fits__is_a_promise(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("memtable_fits__is_a_promise", 77));
    for (unsigned round = 0; round < 60; round++) {
        struct bb_memtable *memtable = NULL;
        enum order order = (enum order)bb_rng_below(&rng, ORDER_COUNT);
        uint64_t capacity = bb_rng_between(&rng, 8 << 10, 600 << 10);
        uint64_t group = 1 + bb_rng_skewed(&rng, 400);
        uint64_t sequence = 0;
        assert_ok(bb_memtable_create(NULL, capacity, &memtable));
        while (bb_memtable_fits(memtable, group, group * (KEY_SIZE_MAX + VALUE_SIZE_MAX))) {
            for (uint64_t i = 0; i < group; i++) {
                uint8_t buffer[KEY_SIZE_MAX];
                uint8_t value[VALUE_SIZE_MAX] = {0};
                struct bb_bytes key = make_key(&rng, order, sequence, buffer);
                struct bb_entry entry = {
                    .key = key,
                    .sequence = ++sequence,
                    .kind = BB_ENTRY_PUT,
                    .value = bb_bytes_of(value, bb_rng_below(&rng, VALUE_SIZE_MAX))};
                assert_ok(bb_memtable_add(memtable, &entry, bb_hash_key(&secret, key)));
            }
        }
        bb_memtable_destroy(memtable);
    }
}

/* Full leaves everywhere, then one key into each: the worst that a group can do. */
static void memtable_fits__knows_the_worst(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    const unsigned step = 38;
    const unsigned leaves = 600;
    assert_ok(bb_memtable_create(NULL, 3 << 20, &memtable));
    uint64_t sequence = 0;
    char text[32];
    for (unsigned i = 0; i < leaves * step; i++) { /* ascending: full leaves stay full */
        snprintf(text, sizeof(text), "%010u", i);
        struct bb_entry entry = {
            .key = bb_bytes_of_text(text), .sequence = ++sequence, .kind = BB_ENTRY_PUT};
        assert_ok(bb_memtable_add(memtable, &entry, bb_hash_key(&secret, entry.key)));
    }
    for (unsigned first = 0; bb_memtable_fits(memtable, leaves, leaves * 11); first++) {
        for (unsigned i = 0; i < leaves; i++) {
            snprintf(text, sizeof(text), "%010u%c", i * step + step / 2, 'a' + (int)first);
            struct bb_entry entry = {
                .key = bb_bytes_of_text(text), .sequence = ++sequence, .kind = BB_ENTRY_PUT};
            assert_ok(bb_memtable_add(memtable, &entry, bb_hash_key(&secret, entry.key)));
        }
    }
    assert_true(sequence > (uint64_t)leaves * step + leaves);
    bb_memtable_destroy(memtable);
}

static void memtable_fits__full_is_an_error_that_changes_nothing(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(NULL, 1 << 16, &memtable));
    enum bb_status status = BB_OK;
    uint64_t sequence = 0;
    while (status == BB_OK) {
        uint64_t number = bb_hash_mix(++sequence);
        struct bb_entry entry = {
            .key = bb_bytes_of(&number, 8), .sequence = sequence, .kind = BB_ENTRY_PUT};
        status = bb_memtable_add(memtable, &entry, bb_hash_key(&secret, entry.key));
    }
    assert_int_equal(status, BB_NO_SPACE);
    assert_message("full");
    assert_true(bb_memtable_key_count(memtable) == sequence - 1);
    assert_false(bb_memtable_fits(memtable, 1, 8));
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(memtable, &iter));
    uint64_t walked = 0;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        walked++;
    assert_true(walked == sequence - 1);
    bb_iter_destroy(iter);
    bb_memtable_destroy(memtable);
}

static void memtable_fits__capacity_for_is_enough(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        uint64_t bytes;
    } cases[] = {{0, 0},        {1, 0},        {1, 65536 + 3},   {1, 5 << 20},
                 {10, 1 << 20}, {1000, 16000}, {100000, 1000000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bb_memtable *memtable = NULL;
        uint64_t capacity = bb_memtable_capacity_for(cases[i].count, cases[i].bytes);
        assert_ok(bb_memtable_create(NULL, capacity, &memtable));
        assert_true(bb_memtable_fits(memtable, cases[i].count, cases[i].bytes));
        bb_memtable_destroy(memtable);
    }
    struct bb_memtable *memtable = NULL;
    assert_status(bb_memtable_create(NULL, BB_MEMTABLE_CAPACITY_MAX + 1, &memtable), BB_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memtable_fits__is_a_promise),
        cmocka_unit_test(memtable_fits__knows_the_worst),
        cmocka_unit_test(memtable_fits__full_is_an_error_that_changes_nothing),
        cmocka_unit_test(memtable_fits__capacity_for_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
