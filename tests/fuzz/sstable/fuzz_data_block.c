/* Arbitrary data blocks. The first byte selects the use of the rest:
 *
 *   bit 0   0: a raw payload   1: a stored block, whose checksum is repaired
 *   bit 1   the order: 0 bytewise, 1 backward
 *
 * A block that loads is read in both directions and searched. A block that reads to its end without
 * an error must be in order, be the same backward, and be found entry by entry (SEARCHED_MAX).
 */
#include <string.h>

#include "base/assert.h"
#include "base/coding.h"
#include "sstable/block/block_iter.h"
#include "sstable/block/stored_block.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A step back and a search read an interval between restarts, which may be the whole block. So only
 * this many entries are read backward and searched. */
#define SEARCHED_MAX 100

static const struct bb_place place = {.file = "block", .offset = 4096};
static const struct bb_table_id table = {.low = 1, .high = 2};

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}
static const struct bb_comparator backwards = {.name = "backwards", .compare = compare_backwards};

/* NULL when the bytes are refused. */
static struct bb_block *load(const uint8_t *data, size_t size, bool is_stored,
                             const struct bb_comparator *comparator)
{
    struct bb_block *block = NULL;
    if (bb_block_create(NULL, (uint32_t)size, &block) != BB_OK)
        return NULL;
    if (size > 0)
        memcpy(block->payload, data, size);
    if (!is_stored) {
        if (bb_block_index(block, (uint32_t)size, comparator, place) == BB_OK)
            return block;
        bb_block_unref(block);
        return NULL;
    }
    if (size >= BB_BLOCK_TRAILER_SIZE) {
        size_t checked = size - BB_CHECKSUM_SIZE;
        bb_store64(block->payload + checked,
                   bb_checksum(table, BB_STORED_BLOCK, place.offset, block->payload, checked));
        BB_ASSERT(bb_stored_block_check(block->payload, size, table, place) == BB_OK);
    }
    enum bb_status status = bb_stored_block_decode(&block, (uint32_t)size, comparator, place);
    BB_ASSERT((status == BB_OK) == (block != NULL));
    return block;
}

static void look_up(const struct bb_block *block, const struct bb_comparator *comparator,
                    const struct bb_entry *entry, bool must_be_found)
{
    struct bb_block_match match;
    enum bb_status status =
        bb_block_find(block, comparator, place, entry->key, entry->sequence, &match);
    BB_ASSERT(status == BB_OK || !must_be_found);
    if (!must_be_found)
        return;
    BB_ASSERT(match.is_found && match.sequence == entry->sequence && match.kind == entry->kind);
    BB_ASSERT(match.value.data == entry->value.data && match.value.size == entry->value.size);
}

/* The number of entries; SIZE_MAX when one cannot be read. */
static size_t read_forwards(struct bb_block_iter *iter, const struct bb_block *block,
                            const struct bb_comparator *comparator, bool must_be_found)
{
    size_t count = 0;
    for (bb_block_iter_seek_first(iter); iter->is_valid; bb_block_iter_next(iter)) {
        struct bb_entry entry = iter->entry;
        if (count++ < SEARCHED_MAX)
            look_up(block, comparator, &entry, must_be_found);
    }
    return iter->status == BB_OK ? count : SIZE_MAX;
}

static size_t read_backwards(struct bb_block_iter *iter)
{
    size_t count = 0;
    for (bb_block_iter_seek_last(iter); iter->is_valid; bb_block_iter_prev(iter))
        count++;
    return iter->status == BB_OK ? count : SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct bb_comparator *comparator = (data[0] & 2) != 0 ? &backwards : NULL;
    struct bb_block *block = load(data + 1, size - 1, (data[0] & 1) != 0, comparator);
    if (block == NULL)
        return 0;
    struct bb_block_iter iter;
    bb_block_iter_init(&iter, comparator);
    bb_block_iter_reset(&iter, block, place);
    size_t count = read_forwards(&iter, block, comparator, false);
    if (count < SEARCHED_MAX) {
        size_t backwards_count = read_backwards(&iter);
        BB_ASSERT(backwards_count == count);
    }
    if (count != SIZE_MAX)
        (void)read_forwards(&iter, block, comparator, true);
    /* Any key: the bytes of the input. */
    bb_block_iter_seek(&iter, bb_bytes_of(data, size < 40 ? size : 40), size);
    bb_block_iter_deinit(&iter);
    bb_block_unref(block);
    return 0;
}
