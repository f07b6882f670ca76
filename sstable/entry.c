/* Checks entries against the limits of include/bb/table.h. Any thread. */
#include "sstable/entry.h"

#include <inttypes.h>

#include "base/status.h"

enum bb_status bb_entry_check_key(struct bb_bytes key)
{
    return key.size <= BB_KEY_SIZE_MAX
               ? BB_OK
               : bb_fail(BB_TOO_LARGE, "a key of %zu bytes: the limit is %d", key.size,
                         BB_KEY_SIZE_MAX);
}

enum bb_status bb_entry_check_bounds(const struct bb_bytes *low, const struct bb_bytes *high)
{
    size_t low_size = low == NULL ? 0 : low->size;
    size_t high_size = high == NULL ? 0 : high->size;
    if (low_size > BB_KEY_SIZE_MAX || high_size > BB_KEY_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a range between keys of %zu and %zu bytes: the limit is %d",
                       low_size, high_size, BB_KEY_SIZE_MAX);
    return BB_OK;
}

enum bb_status bb_entry_check(const struct bb_entry *entry)
{
    enum bb_status status = bb_entry_check_key(entry->key);
    if (status != BB_OK)
        return status;
    if (entry->value.size > BB_VALUE_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a value of %zu bytes: the limit is %d", entry->value.size,
                       BB_VALUE_SIZE_MAX);
    if (entry->sequence > BB_SEQUENCE_MAX)
        return bb_fail(BB_INVALID, "sequence %" PRIu64 ": the limit is %" PRIu64, entry->sequence,
                       BB_SEQUENCE_MAX);
    if (entry->kind != BB_ENTRY_DELETE && entry->kind != BB_ENTRY_PUT)
        return bb_fail(BB_INVALID, "an entry of unknown kind %d", (int)entry->kind);
    if (entry->kind == BB_ENTRY_DELETE && entry->value.size != 0)
        return bb_fail(BB_INVALID, "a deletion with a value of %zu bytes", entry->value.size);
    return BB_OK;
}

enum bb_status bb_entry_check_range(struct bb_bytes low, struct bb_bytes high, uint64_t sequence)
{
    enum bb_status status = bb_entry_check_bounds(&low, &high);
    if (status != BB_OK)
        return status;
    if (sequence > BB_SEQUENCE_MAX)
        return bb_fail(BB_INVALID, "sequence %" PRIu64 ": the limit is %" PRIu64, sequence,
                       BB_SEQUENCE_MAX);
    return BB_OK;
}
