/* See retain.h. */
#include "compaction/retain.h"

#include "base/buf.h"
#include "base/bytes.h"

void bb_retain_init(struct bb_retain *retain, const uint64_t *snapshots, size_t snapshot_count,
                    const struct bb_comparator *comparator)
{
    *retain = (struct bb_retain){
        .snapshots = snapshots, .snapshot_count = snapshot_count, .comparator = comparator};
}

void bb_retain_deinit(struct bb_retain *retain)
{
    bb_buf_deinit(&retain->key);
}

/* How many snapshots are older than the version: 0 is the oldest interval. */
static size_t interval_of(const struct bb_retain *retain, uint64_t sequence)
{
    size_t low = 0;
    size_t high = retain->snapshot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (retain->snapshots[middle] < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool bb_retain_is_new_key(const struct bb_retain *retain, struct bb_bytes key)
{
    return !retain->has_key ||
           bb_key_compare(retain->comparator, bb_buf_bytes(&retain->key), key) != 0;
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
    *ret_keep = !is_hidden && !hides_nothing;
    return BB_OK;
}
