/* Candidates of one table: granules that an index does not rule out, in them the blocks with the
 * needle, and in them the matching records. See candidates.h.
 *
 *     granules   [ no ][ yes: blocks 16 ... 31 ][ no ][ no ][ yes ]
 *     blocks            16: no needle  17: needle -> entries -> condition
 */
#include "kv/select/candidates.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "kv/select/table_granules.h"
#include "sstable/block/block_iter.h"
#include "sstable/table/table_blocks.h"

struct table_candidates {
    struct bb_iter base; /* must be first */
    struct bb_candidate_source *source;
    struct bb_table_granules granules;
    struct bb_table_blocks blocks;
    bool has_blocks;
    uint64_t counted_reads; /* part of blocks.read_count that the account has */
    uint64_t counted_bytes;
    uint64_t span_begin; /* contiguous needed blocks around the current one */
    uint64_t span_end;
    bool is_span_new; /* none of its blocks was read */
    struct bb_announced_spans announced;
    size_t granule;         /* of the current block */
    uint64_t granule_begin; /* its blocks; none until a granule is entered */
    uint64_t granule_end;
    size_t matched_granule; /* 1 + the last granule counted as matching; 0: none yet */
    uint64_t number;        /* of the current block */
    struct bb_block_iter entries;
    struct bb_needle_scan scan; /* over the entries of the block, if there are needles */
    /* Where the scan found the needle of the current entry; 0: it did not search. */
    size_t needle_at;
};

static struct table_candidates *candidates_of(struct bb_iter *iter)
{
    return (struct table_candidates *)iter;
}

static void stop(struct table_candidates *c, enum bb_status status)
{
    c->base.is_valid = false;
    c->base.status = status;
}

/* ---- blocks ---- */

static void count_reads(struct table_candidates *c)
{
    struct bb_select_account *account = &c->source->account;
    account->data_reads += c->blocks.read_count - c->counted_reads;
    account->data_read_bytes += c->blocks.read_bytes - c->counted_bytes;
    c->counted_reads = c->blocks.read_count;
    c->counted_bytes = c->blocks.read_bytes;
}

static bool has_needles(const struct table_candidates *c)
{
    return !bb_needle_finder_is_empty(&c->source->matcher.finder);
}

/* Values are stored whole, so a block without a needle has no record with a needle. */
static bool may_match(struct table_candidates *c, struct bb_bytes entries)
{
    size_t at = 0;
    if (!has_needles(c))
        return true;
    bb_needle_scan_init(&c->scan, &c->source->matcher.finder, entries);
    return bb_needle_scan_next(&c->scan, 0, &at);
}

/* A read may extend over consecutive granules, but a limit may end it at any block. */
static enum bb_status read_block(struct table_candidates *c, bool is_forward,
                                 const struct bb_block **ret_block, struct bb_place *ret_place)
{
    if (is_forward)
        return bb_table_blocks_load(&c->blocks, c->number, c->span_end, ret_block, ret_place);
    return bb_table_blocks_load_backward(&c->blocks, c->number, c->span_begin, ret_block,
                                         ret_place);
}

/* Reads the first block of a span. Announces the spans that follow, if that is worth it. */
static enum bb_status read_first(struct table_candidates *c, bool is_forward,
                                 const struct bb_block **ret_block, struct bb_place *ret_place)
{
    struct bb_candidate_source *source = c->source;
    c->is_span_new = false;
    if (is_forward)
        bb_announced_spans_enter(&c->announced, &source->announcing, &c->granules, &c->blocks,
                                 c->span_end);
    uint64_t begin = source->system->ops->now(source->system);
    enum bb_status status = read_block(c, is_forward, ret_block, ret_place);
    bb_announced_spans_note(&source->announcing, bb_file_elapsed(source->system, begin));
    return status;
}

/* Loads the current block. If it cannot have a match, `entries` has no block. */
static enum bb_status load_block(struct table_candidates *c, bool is_forward)
{
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    struct bb_select_account *account = &c->source->account;
    enum bb_status status = bb_candidate_source_report(c->source);
    bb_block_iter_reset(&c->entries, NULL, (struct bb_place){0});
    c->needle_at = 0;
    if (status == BB_OK)
        status = c->is_span_new ? read_first(c, is_forward, &block, &place)
                                : read_block(c, is_forward, &block, &place);
    if (status != BB_OK)
        return status;
    count_reads(c);
    account->blocks_read++;
    if (may_match(c, bb_bytes_of(block->payload, block->entries_size)))
        bb_block_iter_reset(&c->entries, block, place);
    else
        account->blocks_passed++;
    return BB_OK;
}

static void enter_granule(struct table_candidates *c)
{
    c->granule = bb_table_granules_find(&c->granules, c->number);
    c->granule_begin = bb_table_granules_begin(&c->granules, c->granule);
    c->granule_end = c->granules.ends[c->granule];
    c->source->account.granules_read += c->granules.is_indexed;
}

/* Moves to a needed block. False if none remains. */
static bool enter_number(struct table_candidates *c, uint64_t number)
{
    if (number >= c->granules.block_count)
        return false;
    c->number = number;
    if (number < c->span_begin || number >= c->span_end) {
        c->span_begin = bb_table_granules_span_begin(&c->granules, number);
        c->span_end = bb_table_granules_span_end(&c->granules, number);
        c->is_span_new = true;
    }
    if (number < c->granule_begin || number >= c->granule_end)
        enter_granule(c);
    return true;
}

static bool next_number(struct table_candidates *c)
{
    return enter_number(c, bb_table_granules_next(&c->granules, c->number + 1));
}

static bool previous_number(struct table_candidates *c)
{
    return c->number > 0 &&
           enter_number(c, bb_table_granules_previous(&c->granules, c->number - 1));
}

/* ---- entries ---- */

/* True without a second search if the needle that the scan found begins inside the value. Nearly
 * all do. */
static bool may_match_value(const struct table_candidates *c)
{
    struct bb_bytes value = c->entries.entry.value;
    size_t begin = (size_t)(value.data - c->entries.block->payload);
    return c->needle_at >= begin || bb_matcher_may_match(&c->source->matcher, value);
}

static bool is_candidate(struct table_candidates *c)
{
    const struct bb_entry *entry = &c->entries.entry;
    bool matches = false;
    if (entry->kind != BB_ENTRY_PUT || entry->sequence > c->source->sequence || !may_match_value(c))
        return false;
    c->base.status = bb_matcher_test(&c->source->matcher, entry->key, entry->value, &matches);
    return matches;
}

/* True when the current entry, and all following ones in this direction, are outside the range. */
static bool is_past_range(const struct table_candidates *c, bool is_forward)
{
    const struct bb_candidate_source *source = c->source;
    struct bb_bytes key = c->entries.entry.key;
    if (is_forward)
        return source->range->high != NULL &&
               bb_key_compare(source->comparator, key, *source->range->high) >= 0;
    return source->range->low != NULL &&
           bb_key_compare(source->comparator, key, *source->range->low) < 0;
}

/* Makes the current candidate the iterator's entry, unless it is beyond the range. */
static void show(struct table_candidates *c, bool is_forward)
{
    c->base.is_valid = !is_past_range(c, is_forward);
    c->base.entry = c->entries.entry;
    if (!c->base.is_valid || c->matched_granule == c->granule + 1)
        return;
    c->matched_granule = c->granule + 1;
    c->source->account.granules_matching += c->granules.is_indexed;
}

/* Moves from the current entry to the next entry with a needle. `entries` becomes invalid if there
 * is no such entry, or reading fails. */
static void skip_to_needle(struct table_candidates *c)
{
    size_t at = 0;
    struct bb_block_iter *entries = &c->entries;
    if (!bb_needle_scan_next(&c->scan, entries->offset, &at)) {
        entries->is_valid = false;
        return;
    }
    uint32_t restart = bb_block_restart_of(entries->block, (uint32_t)at);
    if (restart > entries->restart)
        bb_block_iter_seek_restart(entries, restart);
    if (entries->is_valid)
        bb_block_iter_skip_to(entries, (uint32_t)at);
    c->needle_at = at;
}

/* Moves from the current entry to a candidate of this block, which may be past the range. False if
 * the block has no candidate. Backward, every value is searched; forward, only entries with a
 * needle are checked. */
static bool settle_in_block(struct table_candidates *c, bool is_forward)
{
    bool skips = is_forward && has_needles(c);
    if (skips && c->entries.is_valid)
        skip_to_needle(c);
    while (c->entries.is_valid) {
        if (is_candidate(c)) {
            show(c, is_forward);
            return true;
        }
        if (c->base.status != BB_OK)
            return false;
        if (is_forward)
            bb_block_iter_next(&c->entries);
        else
            bb_block_iter_prev(&c->entries);
        if (skips && c->entries.is_valid)
            skip_to_needle(c);
    }
    c->base.status = c->entries.status;
    return false;
}

/* Loads the current block and moves to its first entry in this direction. False when the search
 * must stop. */
static bool begin_block(struct table_candidates *c, bool is_forward)
{
    enum bb_status status = load_block(c, is_forward);
    if (status != BB_OK) {
        stop(c, status);
        return false;
    }
    if (c->entries.block == NULL)
        return true;
    if (is_forward)
        bb_block_iter_seek_first(&c->entries);
    else
        bb_block_iter_seek_last(&c->entries);
    return !(c->entries.is_valid && is_past_range(c, is_forward));
}

/* Moves from the current entry to a candidate, across blocks and granules. */
static void settle(struct table_candidates *c, bool is_forward)
{
    c->base.is_valid = false;
    while (!settle_in_block(c, is_forward)) {
        if (c->base.status != BB_OK)
            return;
        if (!(is_forward ? next_number(c) : previous_number(c)) || !begin_block(c, is_forward))
            return;
    }
}

/* ---- moving ---- */

/* Moves to the block `number`, or the next needed one in this direction. False at the end. */
static bool enter_block(struct table_candidates *c, uint64_t number, bool is_forward)
{
    uint64_t wanted = is_forward ? bb_table_granules_next(&c->granules, number)
                                 : bb_table_granules_previous(&c->granules, number);
    return enter_number(c, wanted) && begin_block(c, is_forward);
}

/* Finds the block for the key. False if there is no such block, or reading fails. */
static bool find_block(struct table_candidates *c, struct bb_bytes key, uint64_t *ret_number)
{
    stop(c, BB_OK);
    if (c->granules.count == 0)
        return false;
    enum bb_status status = bb_table_blocks_find(&c->blocks, key, ret_number);
    if (status != BB_OK)
        stop(c, status);
    return status == BB_OK;
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct table_candidates *c = candidates_of(iter);
    uint64_t number = 0;
    if (!find_block(c, key, &number) || !enter_block(c, number, true))
        return;
    if (c->entries.block != NULL && c->number == number)
        bb_block_iter_seek(&c->entries, key, sequence);
    settle(c, true);
}

/* Moves to the first candidate of the range. */
static void seek_first(struct bb_iter *iter)
{
    struct table_candidates *c = candidates_of(iter);
    if (c->source->range->low != NULL) {
        seek(iter, *c->source->range->low, BB_SEQUENCE_MAX);
        return;
    }
    stop(c, BB_OK);
    if (c->granules.count > 0 && enter_block(c, 0, true))
        settle(c, true);
}

/* Moves to the last entry before the end of the range. */
static void seek_high(struct table_candidates *c, struct bb_bytes high)
{
    bb_block_iter_seek(&c->entries, high, BB_SEQUENCE_MAX);
    if (c->entries.is_valid)
        bb_block_iter_prev(&c->entries);
    else if (c->entries.status == BB_OK)
        bb_block_iter_seek_last(&c->entries);
}

/* Moves to the last candidate of the range. */
static void seek_last(struct bb_iter *iter)
{
    struct table_candidates *c = candidates_of(iter);
    const struct bb_bytes *high = c->source->range->high;
    uint64_t number = c->granules.count == 0 ? 0 : c->granules.ends[c->granules.count - 1] - 1;
    stop(c, BB_OK);
    if (c->granules.count == 0 || (high != NULL && !find_block(c, *high, &number)))
        return;
    if (!enter_block(c, number, false))
        return;
    if (high != NULL && c->number == number && c->entries.block != NULL)
        seek_high(c, *high);
    settle(c, false);
}

static void next(struct bb_iter *iter)
{
    struct table_candidates *c = candidates_of(iter);
    bb_block_iter_next(&c->entries);
    settle(c, true);
}

static void prev(struct bb_iter *iter)
{
    struct table_candidates *c = candidates_of(iter);
    bb_block_iter_prev(&c->entries);
    settle(c, false);
}

static void destroy(struct bb_iter *iter)
{
    struct table_candidates *c = candidates_of(iter);
    bb_block_iter_deinit(&c->entries);
    if (c->has_blocks)
        bb_table_blocks_deinit(&c->blocks);
    bb_table_granules_deinit(&c->granules);
    bb_free(c);
}

/* ---- opening ---- */

static enum bb_status open_blocks(struct table_candidates *c, struct bb_table_file *file)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_blocks_init(&c->blocks, table);
    c->blocks.uses_map = true;
    c->has_blocks = status == BB_OK;
    return status;
}

/* A table without a granule to read is not opened. */
static enum bb_status open_table(struct table_candidates *c, const struct bb_table_reading *reading)
{
    c->source->account.tables++;
    enum bb_status status = bb_table_granules_choose(&c->granules, c->source, reading);
    if (status == BB_OK && c->granules.count > 0)
        status = open_blocks(c, reading->file);
    else if (status == BB_OK)
        c->source->account.tables_excluded++;
    return status;
}

enum bb_status bb_table_candidates_create(struct bb_candidate_source *source,
                                          const struct bb_table_reading *reading,
                                          struct bb_iter **ret_iter)
{
    static const struct bb_iter_ops ops = {.destroy = destroy,
                                           .seek_first = seek_first,
                                           .seek_last = seek_last,
                                           .seek = seek,
                                           .next = next,
                                           .prev = prev};
    struct table_candidates *c = bb_alloc_zeroed(1, sizeof(*c));
    if (c == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the candidates of a table");
    c->base.ops = &ops;
    c->source = source;
    bb_block_iter_init(&c->entries, source->comparator);
    enum bb_status status = open_table(c, reading);
    if (status == BB_OK)
        *ret_iter = &c->base;
    else
        destroy(&c->base);
    return status;
}
