/* A log file, read as recovery and repair read it.
 *
 *     input      first byte: bit 0 repairs the header, bit 1 the checks of fragments, bit 2 zeroes
 *                the ends of blocks, bit 3 leaves every fourth fragment damaged, bit 4 fills the
 *                first block; then the file
 *     filled     the second byte is the space that a sound fragment leaves at the end of the first
 *                block, and its lowest bit the fragment's type: full or first. The rest of the
 *                input follows that fragment. So a small input reaches the end of a block
 *     oracle     with and without tolerance the same records come, none longer than the file; the
 *                tolerant reader never refuses a log with a sound header; the report adds up; a
 *                salvage returns the same records first
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/kv/wal_input.h"

#define PATH "/5.log"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct file file_of(struct bb_bytes input)
{
    struct file file = {.bytes = bb_must_alloc_zeroed(input.size), .size = input.size};
    if (input.size > 0)
        memcpy(file.bytes, input.data, input.size);
    return file;
}

/* The fragment's body is zeros; the durable offset at its beginning, too. */
static struct file filled_file_of(uint8_t gap, struct bb_bytes input)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    size_t end = BB_WAL_BLOCK_SIZE - gap;
    struct file file = {.bytes = bb_must_alloc_zeroed(end + input.size), .size = end + input.size};
    uint8_t *fragment = file.bytes + BB_WAL_HEADER_SIZE;
    struct bb_bytes body = bb_bytes_of(fragment + BB_WAL_FRAGMENT_HEADER,
                                       end - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_HEADER);
    enum bb_wal_fragment_type type = gap & 1 ? BB_WAL_FIRST : BB_WAL_FULL;
    bb_wal_format_encode_header(&identity, file.bytes);
    bb_store64(fragment,
               bb_wal_format_check(bb_wal_format_seed(&identity), BB_WAL_HEADER_SIZE, type, body));
    bb_store16(fragment + 8, (uint16_t)body.size);
    fragment[10] = (uint8_t)type;
    if (input.size > 0)
        memcpy(file.bytes + end, input.data, input.size);
    return file;
}

static void repair(const struct file *file, uint8_t flags)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    if (file->size < BB_WAL_HEADER_SIZE)
        return;
    if (flags & REPAIR_HEADER)
        bb_wal_format_encode_header(&identity, file->bytes);
    else
        bb_store64(file->bytes + 40, bb_wal_format_check_header(file->bytes));
    if (flags & REPAIR_CHECKS)
        repair_fragments(file, BB_WAL_HEADER_SIZE, 0, flags);
}

static void read_file(const struct file *file, uint8_t flags)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    bb_file_memory_put(memory, PATH, bb_bytes_of(file->bytes, file->size));
    struct wal_outcome strict = read_all(fs, PATH, file->size, false);
    struct wal_outcome tolerant = read_all(fs, PATH, file->size, true);
    BB_ASSERT(strict.status == BB_NOT_FOUND || strict.status == BB_CORRUPT ||
              strict.status == BB_UNSUPPORTED);
    BB_ASSERT(tolerant.status == BB_NOT_FOUND || tolerant.record_count == 0);
    BB_ASSERT(!(flags & REPAIR_HEADER) || tolerant.status == BB_NOT_FOUND);
    BB_ASSERT(strict.record_count == tolerant.record_count && strict.hash == tolerant.hash);
    BB_ASSERT(strict.payload_bytes <= file->size);
    (void)salvage(fs, PATH, file->size, &tolerant);
    bb_file_memory_destroy(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct file file = data[0] & FILLED ? filled_file_of(data[1], bb_bytes_of(data + 2, size - 2))
                                        : file_of(bb_bytes_of(data + 1, size - 1));
    repair(&file, data[0] & FILLED ? data[0] | REPAIR_HEADER : data[0]);
    read_file(&file, data[0]);
    free(file.bytes);
    return 0;
}
