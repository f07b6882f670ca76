/* Goal: take returns memory from put, large enough, never to two users at the same time, and loses
 * none. Method: takes and puts of random sizes compared with a list of the pieces in use, each
 * filled to its end; many threads on one set of spares. */
#include "tests/support/assert_status.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block/block_spares.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define PIECES  20
#define THREADS 4

struct piece {
    uint8_t *memory;
    size_t size;
    uint8_t fill;
};

static void take(struct bb_block_spares *spares, struct bb_rng *rng, struct piece *piece)
{
    size_t wanted = bb_rng_one_in(rng, 4) ? (size_t)bb_rng_between(rng, 16, 140000)
                                          : (size_t)bb_rng_between(rng, 4000, 4600);
    piece->memory = bb_block_spares_take(spares, wanted, &piece->size);
    BB_ASSERT(piece->memory != NULL && piece->size >= wanted);
    BB_ASSERT(piece->size <= wanted + wanted / 8 + 128);
    piece->fill = (uint8_t)bb_rng_below(rng, 256);
    memset(piece->memory, piece->fill, piece->size);
}

/* Checks that the piece is unchanged. */
static void put(struct bb_block_spares *spares, struct piece *piece)
{
    for (size_t i = 0; i < piece->size; i++)
        BB_ASSERT(piece->memory[i] == piece->fill);
    bb_block_spares_put(spares, piece->memory, piece->size);
    piece->memory = NULL;
}

static void take_and_put(struct bb_block_spares *spares, struct bb_rng *rng)
{
    struct piece pieces[PIECES] = {0};
    size_t turns = 500 / bb_test_step();
    for (size_t i = 0; i < turns; i++) {
        struct piece *piece = &pieces[bb_rng_below(rng, PIECES)];
        if (piece->memory == NULL)
            take(spares, rng, piece);
        else
            put(spares, piece);
    }
    for (size_t i = 0; i < PIECES; i++) {
        if (pieces[i].memory != NULL)
            put(spares, &pieces[i]);
    }
}

static void block_spares__give_each_piece_to_one(void **state)
{
    (void)state;
    struct bb_block_spares spares = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_spares__give_each_piece_to_one", 3));
    for (int round = 0; round < 10; round++)
        take_and_put(&spares, &rng);
    bb_block_spares_deinit(&spares);
}

static void block_spares__what_was_put_last_comes_first(void **state)
{
    (void)state;
    struct bb_block_spares spares = {0};
    void *memory[3];
    size_t size = 0;
    for (size_t i = 0; i < 3; i++)
        memory[i] = bb_block_spares_take(&spares, 4200, &size);
    for (size_t i = 0; i < 3; i++)
        bb_block_spares_put(&spares, memory[i], size);
    for (size_t i = 3; i-- > 0;)
        assert_ptr_equal(bb_block_spares_take(&spares, 4200, &size), memory[i]);
    for (size_t i = 0; i < 3; i++)
        bb_block_spares_put(&spares, memory[i], size);
    bb_block_spares_deinit(&spares);
}

/* The stored form and the block of a large value, in turns. */
static void block_spares__of_different_sizes_do_not_replace_each_other(void **state)
{
    (void)state;
    struct bb_block_spares spares = {0};
    void *memory[2];
    static const size_t wanted[2] = {33000, 66000};
    size_t size[2] = {0};
    for (size_t i = 0; i < 2; i++)
        memory[i] = bb_block_spares_take(&spares, wanted[i], &size[i]);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 2; i++)
            bb_block_spares_put(&spares, memory[i], size[i]);
        for (size_t i = 0; i < 2; i++)
            assert_ptr_equal(bb_block_spares_take(&spares, wanted[i], &size[i]), memory[i]);
    }
    for (size_t i = 0; i < 2; i++)
        bb_block_spares_put(&spares, memory[i], size[i]);
    bb_block_spares_deinit(&spares);
}

struct worker {
    pthread_t thread;
    struct bb_block_spares *spares;
    struct bb_rng rng;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    take_and_put(worker->spares, &worker->rng);
    return NULL;
}

/* Some of them share a line. */
static void block_spares__of_many_threads(void **state)
{
    (void)state;
    struct bb_block_spares spares = {0};
    struct worker workers[THREADS * BB_SPARE_LINES];
    for (size_t i = 0; i < BB_ARRAY_LENGTH(workers); i++) {
        workers[i].spares = &spares;
        bb_rng_init(&workers[i].rng, i);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < BB_ARRAY_LENGTH(workers); i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    bb_block_spares_deinit(&spares);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(block_spares__of_many_threads),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_spares__give_each_piece_to_one),
        cmocka_unit_test(block_spares__what_was_put_last_comes_first),
        cmocka_unit_test(block_spares__of_different_sizes_do_not_replace_each_other),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
