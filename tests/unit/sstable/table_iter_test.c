/* Goal: the steps before a seek (bb_table_iter_approach) change neither its result nor any count.
 * Method: two equal tables, one of which takes the steps; seeks to the same random keys; failing
 * reads. */
#include "tests/unit/sstable/faulty_table.h"

#include "sstable/table/table.h"
#include "sstable/table/table_iter.h"

#define KEY_COUNT 5000

struct side {
    struct faulty_table faulty;
    struct bb_read_stats stats;
    struct bb_iter *iter;
};

static void side_init(struct side *side, const struct entry_list *list, uint64_t cache_size,
                      enum bb_index_residency residency)
{
    struct bb_table_options options = {
        .block_size_bytes = 512, .index_page_size_bytes = 1024, .index_residency = residency};
    *side = (struct side){0};
    faulty_table_init(&side->faulty, 52, &options, cache_size, list);
    assert_ok(bb_table_iter_create(side->faulty.table, NULL, &side->stats, &side->iter));
}

static void side_deinit(struct side *side)
{
    bb_iter_destroy(side->iter);
    faulty_table_deinit(&side->faulty);
}

static void fill(struct entry_list *list)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i * 2);
        entry_list_add_text(list, key, 7, "a value");
    }
}

/* Seeks on both sides, one of them after some steps, and compares where they are. */
static void seek_both(struct side *plain, struct side *stepping, struct bb_bytes key,
                      struct bb_rng *rng)
{
    unsigned count = (unsigned)bb_rng_below(rng, 7);
    for (unsigned step = 0; step < count; step++) {
        if (!bb_table_iter_approach(stepping->iter, key, BB_SEQUENCE_MAX, step))
            break;
        assert_false(stepping->iter->is_valid);
    }
    bb_iter_seek(plain->iter, key, BB_SEQUENCE_MAX);
    bb_iter_seek(stepping->iter, key, BB_SEQUENCE_MAX);
    assert_int_equal(plain->iter->status, stepping->iter->status);
    assert_int_equal(plain->iter->is_valid, stepping->iter->is_valid);
    if (plain->iter->is_valid)
        assert_true(bb_bytes_equal(plain->iter->entry.key, stepping->iter->entry.key));
}

static void check_counts(const struct side *plain, const struct side *stepping)
{
    assert_true(plain->stats.block_requests == stepping->stats.block_requests);
    assert_true(plain->stats.block_reads == stepping->stats.block_reads);
    assert_true(plain->stats.page_requests == stepping->stats.page_requests);
    assert_true(plain->stats.page_reads == stepping->stats.page_reads);
    assert_true(faulty_table_counters(&plain->faulty).reads ==
                faulty_table_counters(&stepping->faulty).reads);
}

static void check_seeks(struct bb_rng *rng, uint64_t cache_size, enum bb_index_residency residency)
{
    struct entry_list list = {0};
    struct side plain;
    struct side stepping;
    fill(&list);
    side_init(&plain, &list, cache_size, residency);
    side_init(&stepping, &list, cache_size, residency);
    for (int i = 0; i < 3000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", (int)bb_rng_below(rng, 2 * KEY_COUNT + 10));
        seek_both(&plain, &stepping, bb_bytes_of_text(key), rng);
    }
    check_counts(&plain, &stepping);
    side_deinit(&plain);
    side_deinit(&stepping);
    entry_list_deinit(&list);
}

static void table_iter__steps_before_a_seek_count_each_request_once(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("table_iter__steps_before_a_seek_count_each_request_once", 52));
    check_seeks(&rng, 0, BB_INDEX_PINNED);
    check_seeks(&rng, 16384, BB_INDEX_PINNED);
    check_seeks(&rng, 1 << 20, BB_INDEX_PINNED);
    check_seeks(&rng, 16384, BB_INDEX_CACHED);
}

/* A block that cannot be read is an error of the seek, and the next one reads it again. */
static void table_iter__steps_before_a_seek_hide_no_failure(void **state)
{
    (void)state;
    struct entry_list list = {0};
    struct side side;
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = 1};
    fill(&list);
    side_init(&side, &list, 1 << 20, BB_INDEX_PINNED);
    bb_iter_seek(side.iter, bb_bytes_of_text("000100"), BB_SEQUENCE_MAX);
    assert_true(side.iter->is_valid);
    for (int i = 0; i < 8; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%06d", 400 + 300 * i);
        struct bb_bytes key = bb_bytes_of_text(text);
        bb_file_fault_arm(side.faulty.fault, &plan);
        for (unsigned step = 0; bb_table_iter_approach(side.iter, key, BB_SEQUENCE_MAX, step);
             step++)
            assert_false(side.iter->is_valid);
        bb_iter_seek(side.iter, key, BB_SEQUENCE_MAX);
        assert_false(side.iter->is_valid);
        assert_int_equal(side.iter->status, BB_IO);
        bb_file_fault_disarm(side.faulty.fault);
        bb_iter_seek(side.iter, key, BB_SEQUENCE_MAX);
        assert_true(side.iter->is_valid);
        assert_true(bb_bytes_equal(side.iter->entry.key, key));
    }
    side_deinit(&side);
    entry_list_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_iter__steps_before_a_seek_count_each_request_once),
        cmocka_unit_test(table_iter__steps_before_a_seek_hide_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
