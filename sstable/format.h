/* Every constant of the table format, and what must hold between them. The picture of the bytes is
 * docs/format.md.
 *
 *     file := (block* index page)* [summary] [range tombstones] root properties directory footer
 */
#ifndef BB_SSTABLE_FORMAT_H
#define BB_SSTABLE_FORMAT_H

#include <assert.h>

#include "base/coding.h"
#include "bb/table.h"

/* ON DISK: all values below never change within a format version. */

#define BB_FORMAT_VERSION UINT32_C(0)

/* The last eight bytes of a table. A byte with the high bit, both kinds of line ends and an
 * end-of-file character: a transfer that rewrites text damages the magic before anything else is
 * believed. */
#define BB_TABLE_MAGIC                                                                             \
    "\x89"                                                                                         \
    "BBT\r\n\x1a\n"
#define BB_TABLE_MAGIC_SIZE 8

/* What a checksum is for. Part of every checksum, so that the bytes of one kind never pass for
 * another. */
enum bb_stored_type {
    BB_STORED_BLOCK = 1,     /* data block with its trailer */
    BB_STORED_FENCES = 2,    /* header and fence area of an index page */
    BB_STORED_FILTERS = 3,   /* filter area of an index page */
    BB_STORED_SECTION = 4,   /* a section of the directory */
    BB_STORED_DIRECTORY = 5, /* the directory */
    BB_STORED_FOOTER = 6,    /* the footer */
    BB_STORED_SUMMARY = 7,   /* a chunk of the summary */
    BB_STORED_CHUNKS = 8,    /* the summary's list of its chunks */
};
#define BB_CHECKSUM_SIZE 8

/* Data block: payload | u8 compression | u32 raw size | u64 checksum. */
#define BB_BLOCK_TRAILER_SIZE       13
#define BB_BLOCK_SIZE_MIN           64
#define BB_BLOCK_SIZE_DEFAULT       4096
#define BB_BLOCK_SIZE_MAX           (16 * 1024 * 1024)
#define BB_RESTART_INTERVAL_DEFAULT 16
#define BB_RESTART_INTERVAL_MAX     1024

/* Raw payload: entries | restart offsets | u32 (restart count, and the flag of wide offsets). */
#define BB_BLOCK_TAIL_SIZE 4
#define BB_RESTARTS_WIDE   UINT32_C(0x80000000)
#define BB_NARROW_OFFSETS_MAX                                                                      \
    65535 /* bytes of entries up to which restart offsets have two bytes */

/* Entry: varint shared | varint unshared | varint value size | varint (sequence << 1 | kind) |
 * suffix | value. */
#define BB_ENTRY_HEADER_SIZE_MAX (3 + 3 + 5 + 9)
/* A block is closed as soon as it reaches its size; before its last entry it was smaller. 64 KiB
 * are more than the restart offsets grow by when they become wide. */
#define BB_BLOCK_RAW_SIZE_MAX                                                                      \
    ((uint32_t)BB_BLOCK_SIZE_MAX + BB_KEY_SIZE_MAX + BB_VALUE_SIZE_MAX +                           \
     BB_ENTRY_HEADER_SIZE_MAX + 64 * 1024)

/* LZ4: n compressed bytes never hold more than 255 n raw ones, but for a short literal. */
#define BB_LZ4_RATIO_MAX 255
#define BB_LZ4_SLACK     64

/* Index page: header | fence area | u64 checksum | (filter area | u64 checksum). */
#define BB_PAGE_HEADER_SIZE     24
#define BB_PAGE_BLOCK_COUNT_MAX 64
#define BB_PAGE_SIZE_DEFAULT    4096
#define BB_PAGE_SIZE_MIN        256
#define BB_PAGE_SIZE_MAX        (1024 * 1024)
/* A page with fewer blocks or bytes is not cut, neither by prefix nor by size: what stands once per
 * page would outweigh the blocks' own. By size not before there are twice as many blocks: these are
 * large ones then, for which a page of their size is in proportion (docs/decisions/0005). But pages
 * do not grow without end for it: that many times the page size is enough. */
#define BB_PAGE_CUT_BLOCK_COUNT  16
#define BB_PAGE_FULL_BLOCK_COUNT 32
#define BB_PAGE_CUT_SIZE         1024
#define BB_PAGE_CUT_FACTOR       16
#define BB_PAGE_STORED_SIZE_MAX  (64 * 1024 * 1024)
#define BB_PAGE_DATA_SIZE_MAX    UINT32_MAX /* the blocks of a page together */
#define BB_PAGE_FLAG_SHARDED                                                                       \
    0x01 /* the filter area starts with the number of shards of each group */

/* Directory: entries | u64 checksum. */
#define BB_SECTION_ENTRY_SIZE 28
#define BB_SECTION_COUNT_MAX  64
#define BB_SECTION_FLAG_INCOMPATIBLE                                                               \
    0x0001 /* a reader that does not know the section must not read the table */
enum bb_section_id {
    BB_SECTION_ROOT = 1,
    BB_SECTION_PROPERTIES = 2,
    BB_SECTION_SUMMARY = 3,
    BB_SECTION_RANGE_TOMBSTONES = 4,
    BB_SECTION_ZONES = 5, /* reserved */
};

/* Summary: chunks | list of chunks | u32 size of the list | u64 checksum. A chunk has as many
 * shards as make about 64 KiB, a power of two. Hashes of so many keys are sorted and cut at once:
 * 64 MiB. */
#define BB_SUMMARY_TAIL_SIZE       12
#define BB_SUMMARY_CHUNK_SIZE      (64 * 1024)
#define BB_SUMMARY_CHUNK_SHIFT_MAX 10
#define BB_SUMMARY_PART_KEYS       (8 * 1024 * 1024)

/* The section of range tombstones. */
#define BB_RANGE_SECTION_SIZE_MAX (UINT32_C(1) << 30)

#define BB_TABLE_ID_SIZE 16
#define BB_FOOTER_SIZE   64

/* Property ids with this bit must be understood by the reader. */
#define BB_PROPERTY_MANDATORY UINT16_C(0x8000)

/* Which hash the filters take, and how: XXH3-64 under a secret of 192 bytes, which ribbons take
 * without mixing it. (1 was the same, mixed: asked in today's way, its ribbons would deny keys that
 * are there.) */
#define BB_HASH_ID_XXH3 2

/* Written into every table, and changed whenever the same entries and options give other bytes:
 * verify compares rebuilt filters only with those of the same builder. */
#define BB_BUILDER_ID "bloomblock 0.1.0 layout 4"

static_assert(sizeof(BB_TABLE_MAGIC) - 1 == BB_TABLE_MAGIC_SIZE, "the magic has eight bytes");
static_assert(BB_BLOCK_TRAILER_SIZE == 1 + 4 + BB_CHECKSUM_SIZE, "the trailer's fields");
static_assert(BB_BLOCK_RAW_SIZE_MAX < 0x7E000000, "LZ4 takes no larger input");
static_assert(BB_BLOCK_RAW_SIZE_MAX < BB_RESTARTS_WIDE, "restart counts leave the flag free");
static_assert((uint64_t)BB_BLOCK_RAW_SIZE_MAX + BB_BLOCK_TRAILER_SIZE < BB_PAGE_DATA_SIZE_MAX,
              "a block fits a page");
static_assert(BB_KEY_SIZE_MAX < 1 << 21, "key sizes take three bytes");
static_assert(BB_SEQUENCE_MAX < UINT64_C(1) << 62, "sequence and kind take nine bytes");
static_assert(BB_PAGE_BLOCK_COUNT_MAX * (BB_KEY_SIZE_MAX + 16) < BB_PAGE_STORED_SIZE_MAX / 4,
              "fences fit a page");
static_assert(BB_HASH_SECRET_SIZE == 192, "the hash id names the size of its secret");

#endif
