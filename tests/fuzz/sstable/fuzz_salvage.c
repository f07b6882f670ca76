/* Damaged tables. The input is a table, repaired as in fuzz_table, and then damaged:
 *
 *     table | stroke* | u8 strokes
 *     stroke := u8 what | u16 where, in parts of the file | u16 size
 *
 * The result is in order, and inside the file. If the table was sound the result is part of the
 * table, and all of it if there was no damage; and range tombstones are complete, or missing.
 */
#include "tests/unit/sstable/table_repair.h"

#include "base/assert.h"
#include "base/buf.h"
#include "sstable/salvage/table_salvage.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH        "/table"
#define DAMAGED     "/damaged"
#define STROKE_SIZE 5

struct salvaging {
    struct bb_table *table; /* NULL: it was not sound */
    struct bb_iter *iter;   /* on the first entry that has not come out */
    size_t file_size;
    uint64_t entries;
    struct bb_buf last_key;
    uint64_t last_sequence;
    uint64_t lost_end;
};

/* ---- damage ---- */

enum stroke { ZERO, FLIP, MOVE, CUT, STROKES };

static size_t strike(uint8_t *bytes, size_t size, const uint8_t *stroke)
{
    size_t at = (size_t)((uint64_t)bb_load16(stroke + 1) * size >> 16);
    size_t length = bb_load16(stroke + 3);
    if (length > size - at)
        length = size - at;
    switch (stroke[0] % STROKES) {
    case ZERO:
        memset(bytes + at, 0, length);
        return size;
    case FLIP:
        bytes[at] ^= (uint8_t)(1 + length % 255);
        return size;
    case MOVE: /* a copy of the first bytes */
        memmove(bytes + at, bytes, length);
        return size;
    default:
        return at;
    }
}

static size_t damage(uint8_t *bytes, size_t size, const uint8_t *strokes, size_t count)
{
    for (size_t i = 0; i < count && size > 0; i++)
        size = strike(bytes, size, strokes + i * STROKE_SIZE);
    return size;
}

/* ---- the result ---- */

static bool is_same(const struct bb_entry *a, const struct bb_entry *b)
{
    return a->sequence == b->sequence && a->kind == b->kind && bb_bytes_equal(a->key, b->key) &&
           bb_bytes_equal(a->value, b->value);
}

static void check_is_of_the_table(struct salvaging *salvaging, const struct bb_entry *entry)
{
    while (salvaging->iter->is_valid && !is_same(&salvaging->iter->entry, entry))
        bb_iter_next(salvaging->iter);
    BB_ASSERT(salvaging->iter->is_valid);
    bb_iter_next(salvaging->iter);
}

static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    struct salvaging *salvaging = context;
    BB_ASSERT(salvaging->entries == 0 ||
              bb_entry_compare(NULL, bb_buf_bytes(&salvaging->last_key), salvaging->last_sequence,
                               entry->key, entry->sequence) < 0);
    BB_ASSERT(bb_buf_assign(&salvaging->last_key, entry->key) == BB_OK);
    salvaging->last_sequence = entry->sequence;
    salvaging->entries++;
    if (salvaging->table != NULL)
        check_is_of_the_table(salvaging, entry);
    return BB_OK;
}

static enum bb_status on_block(void *context, const struct bb_block_place *place,
                               enum bb_compression compression, uint32_t raw_size)
{
    const struct salvaging *salvaging = context;
    (void)compression;
    (void)raw_size;
    BB_ASSERT(place->offset < salvaging->file_size &&
              place->size <= salvaging->file_size - place->offset);
    return BB_OK;
}

static enum bb_status on_lost(void *context, uint64_t offset, uint64_t size)
{
    struct salvaging *salvaging = context;
    BB_ASSERT(size > 0 && offset >= salvaging->lost_end && size <= salvaging->file_size - offset);
    salvaging->lost_end = offset + size;
    return BB_OK;
}

static enum bb_status on_ranges(void *context, const struct bb_range_tombstones *list)
{
    const struct salvaging *salvaging = context;
    if (salvaging->table == NULL)
        return BB_OK;
    const struct bb_range_tombstones *wanted = bb_table_range_tombstones(salvaging->table);
    BB_ASSERT(wanted != NULL && list->count == wanted->count &&
              list->sequence_count == wanted->sequence_count);
    for (size_t i = 0; i < list->count; i++)
        BB_ASSERT(bb_bytes_equal(list->fragments[i].low, wanted->fragments[i].low) &&
                  bb_bytes_equal(list->fragments[i].high, wanted->fragments[i].high) &&
                  list->fragments[i].sequences[0] == wanted->fragments[i].sequences[0]);
    return BB_OK;
}

static void check_report(const struct salvaging *salvaging, const struct bb_salvage_report *report,
                         bool is_damaged)
{
    BB_ASSERT(report->entries == salvaging->entries);
    BB_ASSERT(report->file_size == salvaging->file_size);
    BB_ASSERT(report->bytes_lost <= report->file_size && report->tail_bytes <= report->file_size);
    BB_ASSERT((report->range_tombstones > 0) == (report->ranges == BB_RANGE_SALVAGE_FOUND));
    if (salvaging->table == NULL || is_damaged)
        return;
    const struct bb_table_meta *meta = bb_table_meta(salvaging->table);
    BB_ASSERT(report->entries == meta->entry_count);
    BB_ASSERT(report->range_tombstones == meta->range_tombstone_count);
    BB_ASSERT(report->blocks_lost == 0 && report->bytes_lost == 0);
}

/* ---- a run ---- */

/* The expected result is known only for sound tables. */
static void open_sound(struct bb_file_system *fs, struct salvaging *salvaging)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_verify_report report;
    if (bb_table_verify(PATH, &options, &report) != BB_OK)
        return;
    BB_ASSERT(bb_table_open(PATH, &options, &salvaging->table) == BB_OK);
    BB_ASSERT(bb_table_iter_create(salvaging->table, NULL, NULL, &salvaging->iter) == BB_OK);
    bb_iter_seek_first(salvaging->iter);
}

static void salvage(struct bb_file_system *fs, size_t size, const uint8_t *id, bool is_damaged)
{
    struct salvaging salvaging = {.file_size = size};
    struct bb_salvage_report report = {0};
    struct bb_salvage_visitor visitor = {.entry = on_entry,
                                         .block = on_block,
                                         .lost = on_lost,
                                         .ranges = on_ranges,
                                         .context = &salvaging};
    open_sound(fs, &salvaging);
    enum bb_status status = bb_table_salvage(fs, DAMAGED, NULL, id, &visitor, &report);
    if (status == BB_OK)
        check_report(&salvaging, &report, is_damaged);
    else
        BB_ASSERT(id == NULL && status == BB_CORRUPT && (is_damaged || salvaging.table == NULL));
    bb_iter_destroy(salvaging.iter);
    bb_table_close(salvaging.table);
    bb_buf_deinit(&salvaging.last_key);
}

static void run(uint8_t *copy, size_t size, const uint8_t *strokes, size_t count)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    uint8_t id[BB_TABLE_ID_SIZE] = {0};
    table_repair_all(copy, size);
    if (size >= BB_FOOTER_SIZE)
        memcpy(id, copy + size - BB_FOOTER_SIZE, sizeof(id));
    bb_file_memory_put(memory, PATH, bb_bytes_of(copy, size));
    size = damage(copy, size, strokes, count);
    bb_file_memory_put(memory, DAMAGED, bb_bytes_of(copy, size));
    salvage(fs, size, id, count > 0);
    salvage(fs, size, NULL, count > 0);
    bb_file_memory_destroy(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t count = data[--size] % 8;
    if (count * STROKE_SIZE > size)
        count = 0;
    size -= count * STROKE_SIZE;
    uint8_t *copy = bb_must_realloc(NULL, size + 1);
    if (size > 0)
        memcpy(copy, data, size);
    run(copy, size, data + size, count);
    free(copy);
    return 0;
}
