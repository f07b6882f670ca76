/* The end of a table: section directory and footer. See the header. Any thread. */
#include "sstable/meta/footer.h"

#include <inttypes.h>

#include "base/bytes.h"

#define FOOTER_RESERVED_OFFSET 36
#define FOOTER_CHECKED_SIZE    48
#define FOOTER_MAGIC_OFFSET    (FOOTER_CHECKED_SIZE + BB_CHECKSUM_SIZE)

static_assert(FOOTER_MAGIC_OFFSET + BB_TABLE_MAGIC_SIZE == BB_FOOTER_SIZE, "the footer's fields");

void bb_footer_encode(const struct bb_footer *footer, uint64_t footer_offset,
                      uint8_t ret_bytes[BB_FOOTER_SIZE])
{
    memset(ret_bytes, 0, BB_FOOTER_SIZE);
    memcpy(ret_bytes, footer->table_id, BB_TABLE_ID_SIZE);
    bb_store64(ret_bytes + 16, footer->directory_offset);
    bb_store32(ret_bytes + 24, footer->directory_size);
    bb_store32(ret_bytes + 28, footer->format_version);
    uint64_t checksum = bb_checksum(bb_checksum_decode_table_id(footer->table_id), BB_STORED_FOOTER,
                                    footer_offset, ret_bytes, FOOTER_CHECKED_SIZE);
    bb_store64(ret_bytes + FOOTER_CHECKED_SIZE, checksum);
    memcpy(ret_bytes + FOOTER_MAGIC_OFFSET, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE);
}

static enum bb_status check_magic(const uint8_t *bytes, struct bb_place place)
{
    const uint8_t *found = bytes + FOOTER_MAGIC_OFFSET;
    if (memcmp(found, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE) == 0)
        return BB_OK;
    char text[4 * BB_TABLE_MAGIC_SIZE + 1];
    char expected[4 * BB_TABLE_MAGIC_SIZE + 1];
    bb_bytes_escape(bb_bytes_of(found, BB_TABLE_MAGIC_SIZE), text, sizeof(text));
    bb_bytes_escape(bb_bytes_of(BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE), expected, sizeof(expected));
    return bb_corrupt(place, FOOTER_MAGIC_OFFSET,
                      "not a bloomblock table: it ends with \"%s\", expected \"%s\"", text,
                      expected);
}

static enum bb_status check_versions(const uint8_t *bytes, struct bb_place place)
{
    const char *file = place.file == NULL ? "table" : place.file;
    uint32_t version = bb_load32(bytes + 28);
    uint32_t flags = bb_load32(bytes + 32);
    if (version > BB_FORMAT_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: a table of format version %u, this version reads up to %u", file,
                       version, BB_FORMAT_VERSION);
    if (flags != 0)
        return bb_fail(BB_UNSUPPORTED, "%s: a table with flags %#x, this version knows none", file,
                       flags);
    return BB_OK;
}

static enum bb_status check_reserved(const uint8_t *bytes, struct bb_place place)
{
    for (uint32_t i = FOOTER_RESERVED_OFFSET; i < FOOTER_CHECKED_SIZE; i++)
        if (bytes[i] != 0)
            return bb_corrupt(place, i, "reserved byte of the footer is %u, expected 0", bytes[i]);
    return BB_OK;
}

enum bb_status bb_footer_decode(const uint8_t bytes[BB_FOOTER_SIZE], struct bb_place place,
                                struct bb_footer *ret_footer)
{
    struct bb_footer footer = {
        .directory_offset = bb_load64(bytes + 16),
        .directory_size = bb_load32(bytes + 24),
        .format_version = bb_load32(bytes + 28),
    };
    memcpy(footer.table_id, bytes, BB_TABLE_ID_SIZE);
    enum bb_status status = check_magic(bytes, place);
    if (status == BB_OK)
        status = bb_checksum_check(bb_checksum_decode_table_id(bytes), BB_STORED_FOOTER, place.file,
                                   place.offset, bytes, FOOTER_CHECKED_SIZE, "footer");
    if (status == BB_OK)
        status = check_versions(bytes, place);
    if (status == BB_OK)
        status = check_reserved(bytes, place);
    if (status == BB_OK && footer.directory_size > place.offset)
        status = bb_corrupt(place, 24, "a directory of %u bytes before a footer at %" PRIu64,
                            footer.directory_size, place.offset);
    if (status == BB_OK && footer.directory_offset != place.offset - footer.directory_size)
        status = bb_corrupt(place, 16,
                            "a directory of %u bytes at %" PRIu64 ", the footer is at %" PRIu64,
                            footer.directory_size, footer.directory_offset, place.offset);
    if (status == BB_OK)
        *ret_footer = footer;
    return status;
}
