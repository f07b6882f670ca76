/* Goal: a block whose restarts or keys need more memory than it has reports BB_NO_MEMORY, leaks
 * nothing, and can be read afterwards. Method: each allocation fails one by one, for blocks
 * of many restarts and of long keys, in both orders. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/block/block_builder.h"
#include "sstable/block/block_iter.h"
#include "tests/support/alloc/alloc_fault.h"

static const struct bb_place place = {.file = "/file", .offset = 1000};

struct sample {
    struct entry_list list;
    const struct bb_comparator *comparator;
    struct bb_block_builder builder;
    struct bb_bytes payload;
};

/* Makes the payload of the list, sorted. */
static void sample_finish(struct sample *sample, uint32_t restart_interval)
{
    entry_list_sort(&sample->list, sample->comparator);
    bb_block_builder_init(&sample->builder, restart_interval);
    for (size_t i = 0; i < sample->list.count; i++)
        assert_ok(bb_block_builder_add(&sample->builder, &sample->list.entries[i]));
    assert_ok(bb_block_builder_finish(&sample->builder, &sample->payload));
}

static void sample_deinit(struct sample *sample)
{
    bb_block_builder_deinit(&sample->builder);
    entry_list_deinit(&sample->list);
}

static enum bb_status load(const struct sample *sample, struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    enum bb_status status = bb_block_create(NULL, (uint32_t)sample->payload.size, &block);
    if (status != BB_OK)
        return status;
    memcpy(block->payload, sample->payload.data, sample->payload.size);
    status = bb_block_index(block, (uint32_t)sample->payload.size, sample->comparator, place);
    if (status == BB_OK)
        *ret_block = block;
    else
        bb_block_unref(block);
    return status;
}

/* ---- restarts ---- */

/* Every entry is found at its restart, and the memory of the restarts is charged. */
static enum bb_status load_and_find(void *context)
{
    const struct sample *sample = context;
    struct bb_block *block = NULL;
    enum bb_status status = load(sample, &block);
    if (status != BB_OK)
        return status;
    assert_int_equal(block->restart_count, sample->list.count);
    assert_true(block->item.charge > block->memory_size);
    for (uint32_t i = 0; i < sample->list.count; i++) {
        const struct bb_entry *entry = &sample->list.entries[i];
        assert_int_equal(
            bb_block_find_restart(block, sample->comparator, entry->key, entry->sequence), i);
    }
    bb_block_unref(block);
    return BB_OK;
}

static void block__many_restarts_without_memory(void **state)
{
    (void)state;
    struct sample sample = {0};
    for (int i = 0; i < 300; i++) {
        char key[8];
        snprintf(key, sizeof(key), "%03d", i);
        entry_list_add_text(&sample.list, key, 1, "v");
    }
    sample_finish(&sample, 1);
    assert_int_equal(bb_alloc_fault_sweep(load_and_find, &sample, false), 2);
    sample_deinit(&sample);
}

/* ---- keys ---- */

static void add_key(struct sample *sample, char byte, size_t size)
{
    char *key = memset(bb_must_alloc_zeroed(size + 1), byte, size);
    entry_list_add_text(&sample->list, key, 1, "v");
    free(key);
}

/* Keys that share most of their bytes with the previous key, and keys that share none. */
static void sample_init_long_keys(struct sample *sample, const struct bb_comparator *comparator)
{
    *sample = (struct sample){.comparator = comparator};
    for (size_t size = 200; size < 10000; size *= 2) {
        add_key(sample, 'a', size);
        add_key(sample, 'b', size);
    }
    add_key(sample, 'c', 1000);
    add_key(sample, 'c', 2000);
    sample_finish(sample, 16);
}

static enum bb_status walk(const struct sample *sample, struct bb_block_iter *iter)
{
    size_t at = 0;
    for (bb_block_iter_seek_first(iter); iter->is_valid; bb_block_iter_next(iter))
        assert_same_entry(&iter->entry, &sample->list.entries[at++]);
    if (iter->status == BB_OK)
        assert_int_equal(at, sample->list.count);
    else
        assert_true(at < sample->list.count);
    return iter->status;
}

/* The n-th allocation fails; the next walk of the same iterator has all entries. False if there are
 * fewer allocations. */
static bool walk_failing(const struct sample *sample, const struct bb_block *block, uint64_t n)
{
    struct bb_block_iter iter;
    uint64_t live = bb_alloc_fault_live();
    bb_block_iter_init(&iter, sample->comparator);
    bb_block_iter_reset(&iter, block, place);
    bb_alloc_fault_arm(n, false);
    enum bb_status status = walk(sample, &iter);
    bool has_failed = bb_alloc_fault_failures() > 0;
    bb_alloc_fault_disarm();
    assert_status(status, has_failed ? BB_NO_MEMORY : BB_OK);
    if (has_failed)
        assert_message("no memory");
    assert_ok(walk(sample, &iter));
    bb_block_iter_deinit(&iter);
    assert_int_equal(bb_alloc_fault_live(), live);
    return has_failed;
}

static uint64_t count_failures(const struct bb_comparator *comparator)
{
    struct sample sample;
    struct bb_block *block = NULL;
    uint64_t n = 0;
    sample_init_long_keys(&sample, comparator);
    assert_ok(load(&sample, &block));
    while (walk_failing(&sample, block, n + 1))
        n++;
    bb_block_unref(block);
    sample_deinit(&sample);
    return n;
}

/* The key grows from the iterator to the heap, and there. The other order also assembles each next
 * key in another buffer, which grows for its shared bytes and for the others. */
static void block_iter__long_keys_without_memory(void **state)
{
    (void)state;
    assert_true(count_failures(NULL) > 3);
    assert_true(count_failures(&backwards) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block__many_restarts_without_memory),
        cmocka_unit_test(block_iter__long_keys_without_memory),
    };
    return cmocka_run_group_tests_name("block_alloc", tests, NULL, NULL);
}
