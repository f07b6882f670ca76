/* See dropped.h. */
#include "kv/recovery/dropped.h"

#include "base/status.h"
#include "kv/batch.h"
#include "kv/manifest/filename.h"
#include "kv/wal/wal_salvage.h"

struct count {
    struct bb_dropped *dropped;
    uint64_t expected_sequence;
    uint64_t offset; /* of the first dropped record; 0 if none */
};

static enum bb_status count_record(void *context, struct bb_bytes payload, uint64_t offset)
{
    struct count *count = context;
    struct bb_dropped *dropped = count->dropped;
    struct bb_batch_cursor cursor;
    if (bb_batch_cursor_init(&cursor, payload, (struct bb_place){.offset = offset}) != BB_OK ||
        cursor.count == 0 || cursor.sequence < count->expected_sequence)
        return BB_OK;
    uint64_t last = cursor.sequence + cursor.count - 1;
    if (count->offset == 0)
        count->offset = offset;
    dropped->records++;
    if (dropped->sequence_first == 0 || cursor.sequence < dropped->sequence_first)
        dropped->sequence_first = cursor.sequence;
    if (last > dropped->sequence_last)
        dropped->sequence_last = last;
    return BB_OK;
}

enum bb_status bb_dropped_count_log(struct bb_file_system *fs, const char *directory,
                                    const uint8_t store_id[16], uint64_t number, uint64_t bytes,
                                    uint64_t expected_sequence, struct bb_dropped *dropped)
{
    struct count count = {.dropped = dropped, .expected_sequence = expected_sequence};
    struct bb_wal_salvage_report report = {0};
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(directory, BB_FILE_LOG, number, path);
    enum bb_status status =
        bb_wal_salvage(fs, path, number, store_id, count_record, &count, &report);
    if (status != BB_OK)
        return status;
    if (count.offset != 0 && report.end_offset - count.offset > bytes)
        bytes = report.end_offset - count.offset;
    dropped->bytes += bytes;
    dropped->logs += bytes > 0;
    return BB_OK;
}
