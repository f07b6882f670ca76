/* See table_check.h. */
#include "kv/table_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

static enum bb_status compare_meta(const char *path, const struct bb_table_meta *wanted,
                                   const struct bb_table_meta *found)
{
    struct bb_place place = {.file = path};
    if (memcmp(wanted->table_id, found->table_id, sizeof(wanted->table_id)) != 0)
        return bb_corrupt(place, 0, "this is another table than the one the manifest names");
    if (wanted->file_size != found->file_size)
        return bb_corrupt(place, 0, "the file has %" PRIu64 " bytes, the manifest says %" PRIu64,
                          found->file_size, wanted->file_size);
    if (wanted->entry_count != found->entry_count || wanted->key_count != found->key_count ||
        wanted->tombstone_count != found->tombstone_count ||
        wanted->range_tombstone_count != found->range_tombstone_count)
        return bb_corrupt(place, 0,
                          "%" PRIu64 " entries, %" PRIu64 " keys, %" PRIu64 " tombstones, %" PRIu64
                          " of ranges; the manifest says %" PRIu64 ", %" PRIu64 ", %" PRIu64
                          ", %" PRIu64,
                          found->entry_count, found->key_count, found->tombstone_count,
                          found->range_tombstone_count, wanted->entry_count, wanted->key_count,
                          wanted->tombstone_count, wanted->range_tombstone_count);
    if (wanted->sequence_min != found->sequence_min || wanted->sequence_max != found->sequence_max)
        return bb_corrupt(
            place, 0,
            "sequences %" PRIu64 " to %" PRIu64 ", the manifest says %" PRIu64 " to %" PRIu64,
            found->sequence_min, found->sequence_max, wanted->sequence_min, wanted->sequence_max);
    if (!bb_bytes_equal(bb_buf_bytes(&wanted->smallest), bb_buf_bytes(&found->smallest)) ||
        !bb_bytes_equal(bb_buf_bytes(&wanted->largest), bb_buf_bytes(&found->largest)) ||
        wanted->largest_is_exclusive != found->largest_is_exclusive)
        return bb_corrupt(place, 0, "the range of keys differs from the manifest's");
    return BB_OK;
}

enum bb_status bb_table_check(const char *path, const struct bb_table_options *options,
                              const struct bb_table_meta *wanted,
                              struct bb_table_verify_report *ret_report)
{
    struct bb_table *table = NULL;
    struct bb_table_verify_report report;
    enum bb_status status = bb_table_verify(path, options, &report);
    if (status == BB_OK)
        status = bb_table_open(path, options, &table);
    if (status == BB_OK)
        status = compare_meta(path, wanted, bb_table_meta(table));
    bb_table_close(table);
    if (status == BB_OK)
        *ret_report = report;
    return status;
}
