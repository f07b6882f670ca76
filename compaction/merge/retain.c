/* See retain.h. */
#include "compaction/merge/retain.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/levels/snapshot_interval.h"

void bb_retain_init(struct bb_retain *retain, const uint64_t *snapshots, size_t snapshot_count,
                    const struct bb_comparator *comparator)
{
    *retain = (struct bb_retain){
        .snapshots = snapshots, .snapshot_count = snapshot_count, .comparator = comparator};
}

void bb_retain_set_ranges(struct bb_retain *retain, const struct bb_range_tombstones *ranges)
{
    retain->ranges = ranges;
    retain->fragment = 0;
}

void bb_retain_deinit(struct bb_retain *retain)
{
    bb_buf_deinit(&retain->key);
}

static size_t interval_of(const struct bb_retain *retain, uint64_t sequence)
{
    return bb_snapshot_interval(retain->snapshots, retain->snapshot_count, sequence);
}

bool bb_retain_is_new_key(const struct bb_retain *retain, struct bb_bytes key)
{
    return !retain->has_key ||
           bb_key_compare(retain->comparator, bb_buf_bytes(&retain->key), key) != 0;
}

/* True when a newer range tombstone in the same interval covers the entry. */
static bool is_covered(struct bb_retain *retain, const struct bb_entry *entry, size_t interval)
{
    const struct bb_range_tombstones *ranges = retain->ranges;
    if (ranges == NULL)
        return false;
    while (retain->fragment < ranges->count &&
           bb_key_compare(retain->comparator, ranges->fragments[retain->fragment].high,
                          entry->key) <= 0)
        retain->fragment++;
    const struct bb_range_tombstone_fragment *fragment = &ranges->fragments[retain->fragment];
    if (retain->fragment == ranges->count ||
        bb_key_compare(retain->comparator, fragment->low, entry->key) > 0)
        return false;
    uint64_t last =
        interval < retain->snapshot_count ? retain->snapshots[interval] : BB_SEQUENCE_MAX;
    return bb_range_tombstone_fragment_newest(fragment, last) > entry->sequence;
}

enum bb_status bb_retain_judge(struct bb_retain *retain, const struct bb_entry *entry,
                               bool is_bottom, bool *ret_keep)
{
    size_t interval = interval_of(retain, entry->sequence);
    bool is_new = bb_retain_is_new_key(retain, entry->key);
    if (is_new) {
        enum bb_status status = bb_buf_assign(&retain->key, entry->key);
        if (status != BB_OK)
            return status;
        retain->has_key = true;
    }
    bool is_hidden = !is_new && interval == retain->interval;
    bool hides_nothing = entry->kind == BB_ENTRY_DELETE && is_bottom && interval == 0;
    retain->interval = interval;
    *ret_keep = !is_hidden && !hides_nothing && !is_covered(retain, entry, interval);
    return BB_OK;
}

bool bb_retain_keeps_range(const struct bb_retain *retain,
                           const struct bb_range_tombstone_fragment *fragment, size_t index,
                           bool is_bottom)
{
    size_t interval = interval_of(retain, fragment->sequences[index]);
    if (index > 0 && interval_of(retain, fragment->sequences[index - 1]) == interval)
        return false;
    return !is_bottom || interval > 0;
}
