/* See manifest.h. */
#include "tools/leveldb/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "base/path.h"
#include "tools/leveldb/entry.h"

#define COMPARATOR_NAME  "leveldb.BytewiseComparator"
#define CURRENT_SIZE_MAX 1000

enum edit_tag {
    COMPARATOR = 1,
    LOG_NUMBER = 2,
    NEXT_FILE = 3,
    LAST_SEQUENCE = 4,
    COMPACT_POINTER = 5,
    DELETED_TABLE = 6,
    NEW_TABLE = 7,
    PREVIOUS_LOG_NUMBER = 9,
};

void manifest_deinit(struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->table_count; i++)
        bb_buf_deinit(&manifest->tables[i].smallest);
    bb_free(manifest->tables);
    *manifest = (struct manifest){0};
}

static enum bb_status add_table(struct manifest *manifest, const struct manifest_table *table,
                                struct bb_bytes smallest)
{
    if (manifest->table_count == manifest->table_capacity) {
        size_t capacity = 2 * manifest->table_capacity + 16;
        void *tables = bb_realloc(manifest->tables, capacity * sizeof(*manifest->tables));
        if (tables == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", capacity);
        manifest->tables = tables;
        manifest->table_capacity = capacity;
    }
    struct manifest_table *added = &manifest->tables[manifest->table_count];
    *added = *table;
    enum bb_status status = bb_buf_assign(&added->smallest, smallest);
    manifest->table_count += status == BB_OK;
    return status;
}

static bool remove_table(struct manifest *manifest, uint32_t level, uint64_t number)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        struct manifest_table *table = &manifest->tables[i];
        if (table->level != level || table->number != number)
            continue;
        bb_buf_deinit(&table->smallest);
        *table = manifest->tables[--manifest->table_count];
        return true;
    }
    return false;
}

static enum bb_status apply_comparator(struct manifest *manifest, struct bb_place place,
                                       struct bb_cursor *cursor)
{
    struct bb_bytes name = {0};
    char shown[128];
    if (!bb_decode_bytes(cursor, &name))
        return bb_corrupt(place, 0, "an edit without the name of its comparator");
    if (!bb_bytes_equal(name, bb_bytes_of_text(COMPARATOR_NAME)))
        return bb_fail(
            BB_UNSUPPORTED,
            "%s: the LevelDB is ordered by the comparator \"%s\"; only \"%s\" can be imported",
            place.file, bb_bytes_escape(name, shown, sizeof(shown)), COMPARATOR_NAME);
    manifest->has_comparator = true;
    return BB_OK;
}

static enum bb_status apply_table(struct manifest *manifest, struct bb_place place,
                                  struct bb_cursor *cursor, bool is_new)
{
    struct manifest_table table = {0};
    struct bb_bytes smallest = {0};
    struct bb_bytes largest = {0};
    if (!bb_decode_varint32(cursor, &table.level) || !bb_decode_varint64(cursor, &table.number) ||
        table.level >= MANIFEST_LEVEL_COUNT)
        return bb_corrupt(place, 0, "an edit names a table of no level");
    if (is_new && (!bb_decode_varint64(cursor, &table.size) ||
                   !bb_decode_bytes(cursor, &smallest) || !bb_decode_bytes(cursor, &largest) ||
                   smallest.size < ENTRY_TAG_SIZE || largest.size < ENTRY_TAG_SIZE))
        return bb_corrupt(place, 0, "an edit does not describe its new table");
    if (is_new)
        return add_table(manifest, &table, smallest);
    return remove_table(manifest, table.level, table.number)
               ? BB_OK
               : bb_corrupt(place, 0, "an edit removes table %" PRIu64 ", which there is not",
                            table.number);
}

static enum bb_status apply_number(struct manifest *manifest, struct bb_place place, uint32_t tag,
                                   struct bb_cursor *cursor)
{
    uint64_t number = 0;
    if (!bb_decode_varint64(cursor, &number))
        return bb_corrupt(place, 0, "an edit ends within a number");
    if (tag == LOG_NUMBER)
        manifest->log_number = number;
    else if (tag == PREVIOUS_LOG_NUMBER)
        manifest->previous_log_number = number;
    else if (tag == LAST_SEQUENCE)
        manifest->last_sequence = number;
    return BB_OK;
}

static enum bb_status skip_pointer(struct bb_place place, struct bb_cursor *cursor)
{
    uint32_t level = 0;
    struct bb_bytes key = {0};
    return bb_decode_varint32(cursor, &level) && bb_decode_bytes(cursor, &key)
               ? BB_OK
               : bb_corrupt(place, 0, "an edit ends within a key");
}

static enum bb_status apply_field(struct manifest *manifest, struct bb_place place,
                                  struct bb_cursor *cursor)
{
    uint32_t tag = 0;
    if (!bb_decode_varint32(cursor, &tag))
        return bb_corrupt(place, 0, "an edit ends within a tag");
    switch (tag) {
    case COMPARATOR:
        return apply_comparator(manifest, place, cursor);
    case LOG_NUMBER:
    case PREVIOUS_LOG_NUMBER:
    case NEXT_FILE:
    case LAST_SEQUENCE:
        return apply_number(manifest, place, tag, cursor);
    case COMPACT_POINTER:
        return skip_pointer(place, cursor);
    case DELETED_TABLE:
    case NEW_TABLE:
        return apply_table(manifest, place, cursor, tag == NEW_TABLE);
    default:
        return bb_fail(BB_UNSUPPORTED,
                       "%s: at offset %" PRIu64 ": an edit with the tag %u, which LevelDB does not "
                       "write; RocksDB's stores cannot be imported",
                       place.file, place.offset, tag);
    }
}

static enum bb_status read_edits(struct manifest *manifest, struct log *log)
{
    bool has = true;
    struct bb_bytes record = {0};
    while (has) {
        enum bb_status status = log_next(log, &record, &has);
        struct bb_cursor cursor = bb_cursor_of(record);
        struct bb_place place = {.file = log->file->path, .offset = log->record_offset};
        while (status == BB_OK && has && bb_cursor_left(&cursor) > 0)
            status = apply_field(manifest, place, &cursor);
        if (status != BB_OK)
            return status;
    }
    manifest->dropped_bytes = log->dropped_bytes;
    if (!manifest->has_comparator)
        return bb_corrupt((struct bb_place){.file = log->file->path}, 0,
                          "no edit names a comparator: not the manifest of a LevelDB");
    return BB_OK;
}

static int compare_tables(const void *left, const void *right)
{
    const struct manifest_table *a = left;
    const struct manifest_table *b = right;
    struct entry first = {0};
    struct entry second = {0};
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->level == 0)
        return (a->number < b->number) - (a->number > b->number);
    (void)!entry_decode(bb_buf_bytes(&a->smallest), first.value, &first);
    (void)!entry_decode(bb_buf_bytes(&b->smallest), second.value, &second);
    return entry_compare(&first, &second);
}

/* The name in CURRENT: MANIFEST-, digits and a newline. */
static enum bb_status read_current(struct bb_file_system *fs, const char *directory,
                                   struct bb_buf *ret_name)
{
    static const char prefix[] = "MANIFEST-";
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_path_join(directory, "CURRENT", path);
    if (status == BB_OK)
        status = bb_file_read_whole(fs, path, CURRENT_SIZE_MAX, ret_name);
    size_t size = ret_name->size;
    if (status == BB_OK &&
        (size < sizeof(prefix) + 1 || memcmp(ret_name->data, prefix, sizeof(prefix) - 1) != 0 ||
         ret_name->data[size - 1] != '\n' || memchr(ret_name->data, '/', size) != NULL ||
         memchr(ret_name->data, 0, size) != NULL))
        status =
            bb_corrupt((struct bb_place){.file = path}, 0, "not the name of a manifest of LevelDB");
    if (status == BB_OK)
        ret_name->data[size - 1] = 0;
    return status;
}

enum bb_status manifest_read(struct manifest *manifest, struct bb_file_system *fs,
                             const char *directory, const struct crc32c *crc)
{
    struct bb_buf name = {0};
    char path[BB_PATH_SIZE_MAX];
    struct log *log = bb_alloc_zeroed(1, sizeof(*log));
    *manifest = (struct manifest){0};
    if (log == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to read a manifest");
    enum bb_status status = read_current(fs, directory, &name);
    if (status == BB_OK)
        status = bb_path_join(directory, (const char *)name.data, path);
    if (status == BB_OK)
        status = log_open(log, fs, path, crc);
    if (status == BB_OK)
        status = read_edits(manifest, log);
    if (status == BB_OK && manifest->table_count > 0)
        qsort(manifest->tables, manifest->table_count, sizeof(*manifest->tables), compare_tables);
    log_close(log);
    bb_free(log);
    bb_buf_deinit(&name);
    return status;
}
