/* Goal: an iterator over mapped tables never shows a large value that was lost without a failing
 * status: asked after the use of the value, or after the next step. Then the iterator reads
 * the file. Method: a store of several runs in memory, whose maps lose their bytes at the n-th
 * question for their soundness; every value is compared. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define KEYS       40
#define VALUE_SIZE 10000

struct world {
    struct store store;
    uint8_t *values; /* KEYS of them */
    uint64_t failures;
};

static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%06u", i);
    return bb_bytes_of_text(key);
}

static struct bb_bytes value_of(const struct world *world, uint32_t i)
{
    return bb_bytes_of(world->values + (size_t)i * VALUE_SIZE, VALUE_SIZE);
}

/* The even keys are in one run, the odd ones in another. */
static void world_init(struct world *world)
{
    struct bb_rng rng;
    char key[16];
    *world = (struct world){.values = bb_must_alloc_zeroed((size_t)KEYS * VALUE_SIZE)};
    store_init(&world->store);
    world->store.options.read_mode = BB_READ_MAPPED;
    bb_rng_init(&rng, 3);
    bb_rng_bytes(&rng, world->values, (size_t)KEYS * VALUE_SIZE);
    world->store.options.write_buffer_bytes = 1 << 20;
    world->store.options.table_size_bytes = 1 << 20;
    store_open(&world->store);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = half; i < KEYS; i += 2)
            assert_ok(bb_db_put(world->store.db, NULL, key_of(i, key), value_of(world, i)));
        assert_ok(bb_db_flush(world->store.db));
    }
}

static void world_deinit(struct world *world)
{
    store_close(&world->store);
    bb_file_memory_destroy(world->store.memory);
    free(world->values);
}

/* Gives whether the value was sound, by the status after its use. */
static bool use(const struct world *world, const struct bb_db_iter *iter, uint32_t i)
{
    char key[16];
    struct bb_bytes found = bb_db_iter_key(iter);
    struct bb_bytes value = bb_db_iter_value(iter);
    struct bb_bytes expected = value_of(world, i);
    assert_int_equal(bb_bytes_compare(found, key_of(i, key)), 0);
    bool is_right = bb_bytes_compare(value, expected) == 0;
    enum bb_status status = bb_db_iter_status(iter);
    assert_true(is_right || status == BB_IO);
    return status == BB_OK;
}

static void seek(struct bb_db_iter *iter, uint32_t i)
{
    char key[16];
    bb_db_iter_seek(iter, key_of(i, key));
}

static void walk(struct world *world)
{
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create(world->store.db, NULL, &iter));
    seek(iter, 0);
    for (uint32_t i = 0; i < KEYS; i++) {
        while (!bb_db_iter_valid(iter)) {
            assert_status(bb_db_iter_status(iter), BB_IO);
            world->failures++;
            seek(iter, i);
        }
        bool is_sound = use(world, iter, i);
        world->failures += !is_sound;
        bb_db_iter_next(iter);
        assert_true(is_sound || !bb_db_iter_valid(iter));
    }
    assert_false(bb_db_iter_valid(iter));
    bb_db_iter_destroy(iter);
}

static void mapped_iter__shows_lost_values_with_a_failing_status(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    walk(&world);
    assert_int_equal(world.failures, 0);
    for (uint64_t nth = 1; nth <= 160; nth += 3) {
        uint64_t before = world.failures;
        bb_file_memory_lose_map(world.store.memory, nth);
        walk(&world);
        assert_true(world.failures <=
                    before + 4); /* the use of a value, and a move, for each run */
        bb_file_memory_lose_map(world.store.memory, 0);
        walk(&world);
        store_reopen(&world.store);
    }
    assert_true(world.failures > 20);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapped_iter__shows_lost_values_with_a_failing_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
