/* See announced_spans.h. */
#include "kv/select/announced_spans.h"

/* A read from the page cache takes a few microseconds, one from a device 50 or more. */
#define WAIT_NANOSECONDS 50000
/* The first batch is small: a selection with a limit may end soon. */
#define BATCH_MIN 4
#define BATCH_MAX 32

void bb_announced_spans_note(struct bb_announcing *announcing, uint64_t nanoseconds)
{
    if (announcing->batch == 0 && nanoseconds >= WAIT_NANOSECONDS)
        announcing->batch = BATCH_MIN;
}

/* The first needed block after the announced ones. */
static uint64_t first_of(const struct bb_announced_spans *spans,
                         const struct bb_table_granules *granules, uint64_t span_end)
{
    return bb_table_granules_next(granules, spans->end > span_end ? spans->end : span_end);
}

static void announce_pages(const struct bb_table_granules *granules, struct bb_table_blocks *blocks,
                           uint64_t block, size_t count)
{
    for (size_t i = 0; i < count && block < granules->block_count; i++) {
        bb_table_blocks_announce_page(blocks, block);
        block = bb_table_granules_next(granules, bb_table_granules_span_end(granules, block));
    }
}

static void announce_blocks(struct bb_announced_spans *spans,
                            const struct bb_table_granules *granules,
                            struct bb_table_blocks *blocks, uint64_t block, size_t count)
{
    for (size_t i = 0; i < count && block < granules->block_count; i++) {
        spans->end = bb_table_granules_span_end(granules, block);
        spans->left++;
        bb_table_blocks_announce(blocks, block, spans->end);
        block = bb_table_granules_next(granules, spans->end);
    }
}

void bb_announced_spans_enter(struct bb_announced_spans *spans, struct bb_announcing *announcing,
                              const struct bb_table_granules *granules,
                              struct bb_table_blocks *blocks, uint64_t span_end)
{
    spans->left -= spans->left > 0;
    if (announcing->batch == 0 || spans->left > announcing->batch / 2)
        return;
    uint64_t first = first_of(spans, granules, span_end);
    announce_pages(granules, blocks, first, announcing->batch);
    announce_blocks(spans, granules, blocks, first, announcing->batch);
    if (announcing->batch < BATCH_MAX)
        announcing->batch *= 2;
}
