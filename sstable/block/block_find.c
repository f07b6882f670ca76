/* A lookup in one block, without an iterator and without copying a key.
 *
 * During the scan, `matched` is the length of the prefix that the current entry's key shares with
 * the target key. The next entry's `shared` field then usually decides its order, because it is the
 * longest prefix shared with the current key, and the current key is before the target:
 *     shared > matched   same as the current key where that was smaller: still before the target
 *     shared < matched   greater than the current key where that still matched: after the target
 *     shared = matched   the bytes from there on decide
 * Only restarts store whole keys, so the comparison starts over there. Any thread.
 */
#include "sstable/block/block_iter.h"
#include "sstable/block/block_record.h"
#include "sstable/block/common_entry.h"

struct scan {
    struct bb_cursor cursor;
    struct bb_bytes key;
    uint64_t sequence;
    size_t matched;
    struct bb_block_record record;
};

enum scan_order { SCAN_BEFORE, SCAN_NEWER, SCAN_FOUND, SCAN_AFTER };

/* The order of the current record, relative to (key, sequence). */
static enum scan_order classify(struct scan *scan)
{
    const struct bb_block_record *record = &scan->record;
    if (record->shared != scan->matched)
        return record->shared > scan->matched ? SCAN_BEFORE : SCAN_AFTER;

    struct bb_bytes wanted = bb_bytes_after(scan->key, scan->matched);
    struct bb_bytes suffix = bb_block_record_suffix(record);
    size_t agreed = bb_bytes_shared_prefix(wanted, suffix);
    scan->matched += agreed;
    if (agreed == suffix.size && agreed == wanted.size)
        return record->sequence > scan->sequence ? SCAN_NEWER : SCAN_FOUND;
    if (agreed == suffix.size)
        return SCAN_BEFORE;
    if (agreed == wanted.size)
        return SCAN_AFTER;
    return suffix.data[agreed] < wanted.data[agreed] ? SCAN_BEFORE : SCAN_AFTER;
}

/* Passes common entries before the key, up to the limit, without computing their sequences. WHY:
 * half of an interval precedes its key on average. `classify` gives the same order for each of
 * them. */
static void pass_before(struct scan *scan, const uint8_t *limit)
{
    const uint8_t *p = scan->cursor.position;
    size_t matched = scan->matched;
    struct bb_common_entry entry;
    while (limit - p >= BB_COMMON_ENTRY_READ && bb_common_entry_decode(p, &entry) &&
           bb_common_entry_end(&entry) <= limit &&
           bb_common_entry_is_before(&entry, scan->key, &matched))
        p = bb_common_entry_end(&entry);
    scan->cursor.position = p;
    scan->matched = matched;
}

static void fill_match(struct bb_block_match *match, const struct bb_block_record *record)
{
    match->is_found = true;
    match->sequence = record->sequence;
    match->kind = record->kind;
    match->value = bb_block_record_value(record);
}

/* Scans from the last restart before the key, or the first, to the deciding entry. */
static enum bb_status scan_interval(const struct bb_block *block, struct bb_place place,
                                    struct scan *scan, struct bb_block_match *match)
{
    uint32_t below = bb_block_find_restart(block, NULL, scan->key, scan->sequence);
    uint32_t next_restart =
        below < block->restart_count ? block->restarts[below] : block->entries_size;
    uint32_t restart = below == 0 ? 0 : block->restarts[below - 1];
    /* An entry tells where the next one begins: without this, a cached block, which has left the
     * processor's caches, is read line by line. */
    if (block->item.cache != NULL)
        bb_block_prefetch_interval(block, restart, next_restart);
    scan->cursor.position = block->payload + restart;
    pass_before(scan, block->payload + next_restart);
    while (scan->cursor.position < scan->cursor.end) {
        uint32_t offset = (uint32_t)(scan->cursor.position - block->payload);
        if (offset == next_restart)
            scan->matched = 0;
        if (!bb_block_record_decode(&scan->cursor, &scan->record))
            return bb_corrupt(place, offset,
                              "the entry at %u of %u bytes of entries cannot be read", offset,
                              block->entries_size);
        enum scan_order order = classify(scan);
        match->has_newer |= order == SCAN_NEWER;
        if (order == SCAN_FOUND)
            fill_match(match, &scan->record);
        if (order >= SCAN_FOUND)
            break;
        pass_before(scan, block->payload + next_restart);
    }
    return BB_OK;
}

/* The same with an iterator, for an order that is not bytewise. */
static enum bb_status find_by_iterator(const struct bb_block *block,
                                       const struct bb_comparator *comparator,
                                       struct bb_place place, struct bb_bytes key,
                                       uint64_t sequence, struct bb_block_match *match)
{
    struct bb_block_iter iter;
    bb_block_iter_init(&iter, comparator);
    bb_block_iter_reset(&iter, block, place);
    iter.trusts_order = true;
    uint32_t below = bb_block_find_restart(block, comparator, key, sequence);
    bb_block_iter_seek_restart(&iter, below == 0 ? 0 : below - 1);
    for (; iter.is_valid; bb_block_iter_next(&iter)) {
        int order = bb_key_compare(comparator, iter.entry.key, key);
        if (order > 0)
            break;
        if (order < 0)
            continue;
        if (iter.entry.sequence > sequence) {
            match->has_newer = true;
            continue;
        }
        match->is_found = true;
        match->sequence = iter.entry.sequence;
        match->kind = iter.entry.kind;
        match->value = iter.entry.value;
        break;
    }
    enum bb_status status = iter.is_valid ? BB_OK : iter.status;
    bb_block_iter_deinit(&iter);
    return status;
}

enum bb_status bb_block_find(const struct bb_block *block, const struct bb_comparator *comparator,
                             struct bb_place place, struct bb_bytes key, uint64_t sequence,
                             struct bb_block_match *ret_match)
{
    struct bb_block_match match = {0};
    enum bb_status status = BB_OK;
    if (comparator != NULL) {
        status = find_by_iterator(block, comparator, place, key, sequence, &match);
    } else {
        struct scan scan = {.key = key, .sequence = sequence};
        scan.cursor.end = block->payload + block->entries_size;
        status = scan_interval(block, place, &scan, &match);
    }
    if (status == BB_OK)
        *ret_match = match;
    return status;
}
