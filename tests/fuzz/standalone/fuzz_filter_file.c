/* Arbitrary files of filters. The input is a file: it is read unchanged; then magic, version,
 * sizes, seals and both checksums are repaired, so that the later fields are reached, and it is
 * read again. Keys are inserted into a filter that opens, and must be present afterwards, or are
 * refused without a change of the filter.
 *
 * Every file is in memory of exactly its size.
 */
#include <stdlib.h>
#include <string.h>

#include "bb/filter.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "base/hash.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER_SIZE 256
#define ENVELOPE    64
#define CHECKSUM    8
#define KEYS        20

static void insert_keys(struct bb_bytes envelope)
{
    struct bb_buf grown = {0};
    struct bb_filter_view view;
    uint64_t hashes[KEYS], inserted = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        hashes[i] = bb_hash_mix(i);
    BB_ASSERT(bb_buf_assign(&grown, envelope) == BB_OK);
    enum bb_status status = bb_filter_insert(&grown, hashes, KEYS, &inserted);
    BB_ASSERT(status == BB_OK || bb_bytes_equal(bb_buf_bytes(&grown), envelope));
    BB_ASSERT(bb_filter_view_init(&view, bb_buf_bytes(&grown)) == BB_OK);
    for (uint64_t i = 0; i < KEYS && status == BB_OK; i++)
        BB_ASSERT(bb_filter_may_contain(&view, hashes[i]));
    bb_buf_deinit(&grown);
}

static void read_file(struct bb_bytes bytes)
{
    struct bb_filter_file file;
    struct bb_filter_view view;
    struct bb_buf again = {0};
    if (bb_filter_file_decode(bytes, &file) != BB_OK)
        return;
    BB_ASSERT(bb_filter_file_encode(&file, &again) == BB_OK);
    BB_ASSERT(bb_bytes_equal(bb_buf_bytes(&again), bytes));
    enum bb_status status = bb_filter_view_init(&view, file.envelope);
    uint64_t hash = bb_filter_file_hash(&file, bb_bytes_of("key", 3));
    BB_ASSERT(bb_filter_may_contain(&view, hash) || status == BB_OK);
    if (status == BB_OK)
        insert_keys(file.envelope);
    bb_buf_deinit(&again);
}

static void repair(uint8_t *data, size_t size)
{
    uint8_t *envelope = data + HEADER_SIZE, *end = data + size - CHECKSUM;
    memcpy(envelope, "BBFILTER", 8);
    bb_store32(envelope + 8, 1);
    bb_store16(envelope + 14, ENVELOPE);
    bb_store64(envelope + 16, size - HEADER_SIZE);
    bb_store64(end, bb_hash_bytes(envelope, (size_t)(end - envelope)));
    memcpy(data, "BBFLFILE", 8);
    bb_store32(data + 8, 0);
    bb_store16(data + 14, HEADER_SIZE);
    bb_store64(data + 16, size);
    memcpy(data + 216, end, CHECKSUM);
    bb_store64(data + 248, bb_hash_bytes(data, 248));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t *copy = bb_must_realloc(NULL, size);
    memcpy(copy, data, size);
    read_file(bb_bytes_of(copy, size));
    if (size >= HEADER_SIZE + ENVELOPE + CHECKSUM) {
        repair(copy, size);
        read_file(bb_bytes_of(copy, size));
    }
    free(copy);
    return 0;
}
