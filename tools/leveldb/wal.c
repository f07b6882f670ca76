/* See wal.h. */
#include "tools/leveldb/wal.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Adding records moves their bytes, so entries hold offsets instead of addresses. */
static struct bb_bytes shifted(const uint8_t *base, struct bb_bytes bytes)
{
    return bb_bytes_of(base + (uintptr_t)bytes.data, bytes.size);
}

static enum bb_status add_entry(struct wal *wal, const struct entry *entry)
{
    if (wal->count == wal->capacity) {
        size_t capacity = 2 * wal->capacity + 64;
        void *entries = bb_realloc(wal->entries, capacity * sizeof(*wal->entries));
        if (entries == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for %zu entries of a log", capacity);
        wal->entries = entries;
        wal->capacity = capacity;
    }
    wal->entries[wal->count++] = *entry;
    return BB_OK;
}

static bool decode_operation(struct bb_cursor *cursor, struct entry *entry)
{
    uint8_t type = 0;
    if (!bb_decode_u8(cursor, &type) || type > 1 || !bb_decode_bytes(cursor, &entry->key))
        return false;
    entry->is_deletion = type == 0;
    entry->value = (struct bb_bytes){0};
    return entry->is_deletion || bb_decode_bytes(cursor, &entry->value);
}

/* Offsets in `bytes` of the operations, which follow `start` in the record. */
static struct bb_bytes offset_of(const uint8_t *record, size_t start, struct bb_bytes bytes)
{
    size_t offset = bytes.size == 0 ? 0 : start + (size_t)(bytes.data - record);
    return (struct bb_bytes){.data = (const uint8_t *)(uintptr_t)offset, .size = bytes.size};
}

static enum bb_status add_record(struct wal *wal, struct bb_bytes record, struct bb_place place)
{
    uint64_t sequence = 0;
    uint32_t count = 0;
    struct entry entry;
    size_t start = wal->bytes.size;
    struct bb_cursor cursor = bb_cursor_of(record);
    enum bb_status status = bb_buf_append(&wal->bytes, record.data, record.size);
    if (status == BB_OK && (!bb_decode_u64(&cursor, &sequence) || !bb_decode_u32(&cursor, &count)))
        status = bb_corrupt(place, 0, "a record of %zu bytes is no write of LevelDB", record.size);
    for (uint32_t i = 0; i < count && status == BB_OK; i++) {
        if (!decode_operation(&cursor, &entry))
            return bb_corrupt(place, 0, "operation %u of %u of a write is damaged", i + 1, count);
        entry.sequence = sequence + i;
        entry.key = offset_of(record.data, start, entry.key);
        entry.value = offset_of(record.data, start, entry.value);
        status = add_entry(wal, &entry);
    }
    if (status == BB_OK && bb_cursor_left(&cursor) > 0)
        status = bb_corrupt(place, 0, "a write of %u operations continues after the last", count);
    return status;
}

enum bb_status wal_add(struct wal *wal, struct bb_file_system *fs, const char *path,
                       const struct crc32c *crc)
{
    bool has = true;
    struct bb_bytes record = {0};
    struct log *log = bb_alloc_zeroed(1, sizeof(*log));
    if (log == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to read a log");
    enum bb_status status = log_open(log, fs, path, crc);
    while (status == BB_OK && has) {
        status = log_next(log, &record, &has);
        if (status == BB_OK && has) {
            struct bb_place place = {.file = log->file->path, .offset = log->record_offset};
            status = add_record(wal, record, place);
            wal->record_count++;
        }
    }
    wal->dropped_bytes += log->dropped_bytes;
    log_close(log);
    bb_free(log);
    return status;
}

static int compare(const void *a, const void *b)
{
    return entry_compare(a, b);
}

void wal_sort(struct wal *wal)
{
    for (size_t i = 0; i < wal->count; i++) {
        wal->entries[i].key = shifted(wal->bytes.data, wal->entries[i].key);
        wal->entries[i].value = shifted(wal->bytes.data, wal->entries[i].value);
    }
    if (wal->count > 0)
        qsort(wal->entries, wal->count, sizeof(*wal->entries), compare);
}

void wal_deinit(struct wal *wal)
{
    bb_buf_deinit(&wal->bytes);
    bb_free(wal->entries);
    *wal = (struct wal){0};
}
