/* A log and its window, read as recovery and repair read them.
 *
 *     input      first byte: flags; two bytes: size of the log's file; two bytes: distance of the
 *                window's base from this size, signed; the log's file; the window from its head's
 *                end on
 *     flags      bit 0 leaves the head damaged, bit 1 makes the checks of fragments right in both,
 *                bit 2 zeroes the ends of blocks, bit 3 leaves every fourth fragment damaged, bit 4
 *                puts a fragment before the log that fills its first block, bit 5 begins the window
 *                with the end of the log, bit 6 leaves the log's header as it is
 *     oracle     the same records and the same reports as of one file that has the bytes of both,
 *                put together here fragment by fragment; with a damaged head the same again; and
 *                the checks of fuzz_wal
 */
#include "kv/wal/wal_window.h"
#include "tests/fuzz/kv/wal_input.h"

#define PATH        "/000005.wal"
#define WINDOW_PATH "/000005.window"
#define WHOLE_PATH  "/whole"

enum {
    DAMAGED_HEAD = 1,
    OVERLAP = 32,
    RAW_HEADER = 64,
};

/* Before the input's log, with FILLED. */
#define FILL_SIZE ((size_t)BB_WAL_BLOCK_SIZE - 40)
#define PREFIX    5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pair {
    struct file log;
    struct file content; /* of the window, after the head */
    uint64_t base;
    uint8_t flags;
};

/* ---- the pair of an input ---- */

static void fill_block(uint8_t *log)
{
    uint8_t *fragment = log + BB_WAL_HEADER_SIZE;
    size_t body_size = FILL_SIZE - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_HEADER;
    bb_store16(fragment + 8, (uint16_t)body_size);
    fragment[10] = BB_WAL_FULL;
    bb_store64(fragment,
               bb_wal_format_check(log_seed(), BB_WAL_HEADER_SIZE, BB_WAL_FULL,
                                   bb_bytes_of(fragment + BB_WAL_FRAGMENT_HEADER, body_size)));
}

static struct file log_of(struct bb_bytes input, uint8_t flags)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    size_t before = flags & FILLED ? FILL_SIZE : BB_WAL_HEADER_SIZE;
    if (flags & RAW_HEADER)
        before = 0;
    struct file log = {.bytes = bb_must_alloc_zeroed(before + input.size),
                       .size = before + input.size};
    if (before > 0)
        bb_wal_format_encode_header(&identity, log.bytes);
    if (before > BB_WAL_HEADER_SIZE)
        fill_block(log.bytes);
    if (input.size > 0)
        memcpy(log.bytes + before, input.data, input.size);
    if (flags & REPAIR_CHECKS)
        repair_fragments(&log, before > 0 ? before : BB_WAL_HEADER_SIZE, 0, flags);
    return log;
}

static struct file content_of(const struct pair *pair, struct bb_bytes input)
{
    bool overlaps = (pair->flags & OVERLAP) && pair->base < pair->log.size;
    size_t before = overlaps ? pair->log.size - (size_t)pair->base : 0;
    if (input.size > BB_WAL_WINDOW_BYTES_SIZE - before)
        input.size = BB_WAL_WINDOW_BYTES_SIZE - before;
    struct file content = {.bytes = bb_must_alloc_zeroed(before + input.size),
                           .size = before + input.size};
    if (before > 0)
        memcpy(content.bytes, pair->log.bytes + pair->base, before);
    if (input.size > 0)
        memcpy(content.bytes + before, input.data, input.size);
    if (pair->flags & REPAIR_CHECKS)
        repair_fragments(&content, before, pair->base, pair->flags);
    return content;
}

static struct pair pair_of(const uint8_t *data, size_t size)
{
    size_t log_size = bb_load16(data + 1);
    int64_t distance = (int16_t)bb_load16(data + 3);
    struct bb_bytes rest = bb_bytes_of(data + PREFIX, size - PREFIX);
    if (log_size > rest.size)
        log_size = rest.size;
    struct pair pair = {.flags = data[0]};
    pair.log = log_of(bb_bytes_of(rest.data, log_size), pair.flags);
    int64_t base = (int64_t)pair.log.size + distance;
    pair.base = base > 0 ? (uint64_t)base : 0;
    pair.content = content_of(&pair, bb_bytes_of(rest.data + log_size, rest.size - log_size));
    return pair;
}

/* ---- the window's file ---- */

static void put_window(struct bb_file_memory *memory, const struct pair *pair, bool is_damaged)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    size_t size = BB_WAL_WINDOW_BYTES + pair->content.size;
    uint8_t *bytes = bb_must_alloc_zeroed(size);
    bb_wal_format_encode_header(&identity, bytes);
    memcpy(bytes, BB_WAL_WINDOW_MAGIC, BB_WAL_MAGIC_SIZE);
    bb_store64(bytes + 40, bb_wal_format_check_header(bytes));
    bb_store64(bytes + BB_WAL_HEADER_SIZE, pair->base);
    bb_store64(bytes + BB_WAL_HEADER_SIZE + 8,
               bb_hash_mix(bb_hash_mix(log_seed()) ^ pair->base) ^ is_damaged);
    if (pair->content.size > 0)
        memcpy(bytes + BB_WAL_WINDOW_BYTES, pair->content.bytes, pair->content.size);
    bb_file_memory_put(memory, WINDOW_PATH, bb_bytes_of(bytes, size));
    free(bytes);
}

/* ---- one file with the bytes of both, as docs/format-wal.md describes it ---- */

/* The size of the fragment at a position of the window; 0: no fragment. */
static size_t fragment_size(const struct pair *pair, size_t position)
{
    uint64_t place = pair->base + position;
    size_t left = bb_wal_block_left(place);
    size_t rest = pair->content.size - position;
    const uint8_t *bytes = pair->content.bytes + position;
    if (rest > left)
        rest = left;
    if (left < BB_WAL_FRAGMENT_SIZE_MIN || rest < BB_WAL_FRAGMENT_HEADER)
        return 0;
    size_t body_size = bb_load16(bytes + 8);
    uint8_t type = bytes[10];
    size_t least = type == BB_WAL_MIDDLE || type == BB_WAL_LAST ? 1 : BB_WAL_DURABLE_SIZE;
    if (type == BB_WAL_NONE || type > BB_WAL_MARK || body_size < least ||
        body_size > rest - BB_WAL_FRAGMENT_HEADER ||
        (type == BB_WAL_MARK && body_size != BB_WAL_DURABLE_SIZE))
        return 0;
    uint64_t check = bb_wal_format_check(log_seed(), place, (enum bb_wal_fragment_type)type,
                                         bb_bytes_of(bytes + BB_WAL_FRAGMENT_HEADER, body_size));
    return check == bb_load64(bytes) ? BB_WAL_FRAGMENT_HEADER + body_size : 0;
}

static struct file whole_of(const struct pair *pair)
{
    size_t size_max = (size_t)pair->base + pair->content.size;
    if (size_max < pair->log.size)
        size_max = pair->log.size;
    struct file whole = {.bytes = bb_must_alloc_zeroed(size_max), .size = pair->log.size};
    if (pair->log.size > 0)
        memcpy(whole.bytes, pair->log.bytes, pair->log.size);
    for (size_t position = 0; position < pair->content.size && pair->base >= BB_WAL_HEADER_SIZE;) {
        size_t place = (size_t)pair->base + position;
        size_t size = fragment_size(pair, position);
        if (size > 0 && place + size > pair->log.size) {
            memcpy(whole.bytes + place, pair->content.bytes + position, size);
            whole.size = place + size;
        }
        position += size > 0 ? size : 1;
    }
    return whole;
}

/* ---- reading ---- */

static void compare(const struct wal_outcome *found, const struct wal_outcome *expected)
{
    BB_ASSERT(found->status == expected->status && found->hash == expected->hash &&
              found->record_count == expected->record_count);
    if (found->status != BB_NOT_FOUND)
        return;
    BB_ASSERT(found->report.end_offset == expected->report.end_offset &&
              found->report.dropped_bytes == expected->report.dropped_bytes &&
              found->report.is_damaged == expected->report.is_damaged &&
              strcmp(found->report.reason, expected->report.reason) == 0);
}

static void read_both(struct bb_file_system *fs, size_t size)
{
    struct wal_outcome tolerant = {0};
    for (int tolerate = 0; tolerate < 2; tolerate++) {
        struct wal_outcome expected = read_all(fs, WHOLE_PATH, size, tolerate != 0);
        struct wal_outcome found = read_all(fs, PATH, size, tolerate != 0);
        compare(&found, &expected);
        tolerant = found;
    }
    struct bb_wal_salvage_report expected = salvage(fs, WHOLE_PATH, size, &tolerant);
    struct bb_wal_salvage_report found = salvage(fs, PATH, size, &tolerant);
    BB_ASSERT(found.record_count == expected.record_count &&
              found.bytes_lost == expected.bytes_lost && found.end_offset == expected.end_offset &&
              found.holes == expected.holes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < PREFIX)
        return 0;
    struct pair pair = pair_of(data, size);
    struct file whole = whole_of(&pair);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    bb_file_memory_put(memory, PATH, bb_bytes_of(pair.log.bytes, pair.log.size));
    bb_file_memory_put(memory, WHOLE_PATH, bb_bytes_of(whole.bytes, whole.size));
    put_window(memory, &pair, (pair.flags & DAMAGED_HEAD) != 0);
    read_both(fs, whole.size);
    bb_file_memory_destroy(memory);
    free(whole.bytes);
    free(pair.content.bytes);
    free(pair.log.bytes);
    return 0;
}
