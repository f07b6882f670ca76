/* All constants of the table format, and the relations between them. docs/format.md draws the
 * bytes.
 *
 *     file  := group* [table filter] [range tombstones] root properties directory footer
 *     group := block* index page*
 */
#ifndef BB_SSTABLE_FORMAT_H
#define BB_SSTABLE_FORMAT_H

#include <assert.h>

#include "base/coding.h"
#include "bb/table.h"

/* ON DISK: the values below never change within a format version. */

#define BB_FORMAT_VERSION UINT32_C(0)

/* The last eight bytes of a table. They contain a byte with the high bit set, both kinds of line
 * ends and an end-of-file character. A transfer that rewrites text therefore damages the magic, and
 * the reader notices. */
#define BB_TABLE_MAGIC                                                                             \
    "\x89"                                                                                         \
    "BBT\r\n\x1a\n"
#define BB_TABLE_MAGIC_SIZE 8

/* The type of the checksummed bytes. It is part of every checksum, so that bytes of one type never
 * pass for another. */
enum bb_stored_type {
    BB_STORED_BLOCK = 1,        /* data block with its trailer */
    BB_STORED_FENCES = 2,       /* header and fence area of an index page */
    BB_STORED_FILTERS = 3,      /* filter area of an index page */
    BB_STORED_SECTION = 4,      /* a section of the directory */
    BB_STORED_DIRECTORY = 5,    /* the directory */
    BB_STORED_FOOTER = 6,       /* the footer */
    BB_STORED_TABLE_FILTER = 7, /* a chunk of the table filter */
    BB_STORED_CHUNKS = 8,       /* the table filter's list of chunks */
};
#define BB_CHECKSUM_SIZE 8

/* Data block: payload | u8 compression | u32 raw size | u64 checksum. */
#define BB_BLOCK_TRAILER_SIZE       13
#define BB_BLOCK_SIZE_MIN           64
#define BB_BLOCK_SIZE_DEFAULT       4096
#define BB_BLOCK_SIZE_MAX           (16 * 1024 * 1024)
#define BB_RESTART_INTERVAL_DEFAULT 20
#define BB_RESTART_INTERVAL_MAX     1024

/* Raw payload: entries | restart offsets | u32 (restart count and the flag for wide offsets). */
#define BB_BLOCK_TAIL_SIZE 4
#define BB_RESTARTS_WIDE   UINT32_C(0x80000000)
/* Restart offsets have two bytes while the entries take at most this many bytes. */
#define BB_NARROW_OFFSETS_MAX 65535

/* Entry: varint shared | varint unshared | varint value size | varint (sequence << 1 | kind) |
 * suffix | value. */
#define BB_ENTRY_HEADER_SIZE_MAX (3 + 3 + 5 + 9)
/* A block is closed as soon as it reaches its size, so before its last entry it was smaller. 64 KiB
 * is more than the restart offsets can grow when they become wide. */
#define BB_BLOCK_RAW_SIZE_MAX                                                                      \
    ((uint32_t)BB_BLOCK_SIZE_MAX + BB_KEY_SIZE_MAX + BB_VALUE_SIZE_MAX +                           \
     BB_ENTRY_HEADER_SIZE_MAX + 64 * 1024)

/* LZ4: n compressed bytes never decompress to more than 255 n bytes, except for a short literal. */
#define BB_LZ4_RATIO_MAX 255
#define BB_LZ4_SLACK     64

/* Index page: header | fence area | u64 checksum | (filter area | u64 checksum). */
#define BB_PAGE_HEADER_SIZE     24
#define BB_PAGE_BLOCK_COUNT_MAX 64
#define BB_PAGE_SIZE_DEFAULT    4096
#define BB_PAGE_SIZE_MIN        256
#define BB_PAGE_SIZE_MAX        (1024 * 1024)
/* A page with fewer blocks or bytes is never cut, neither for its prefix nor for its size: the
 * overhead of a page would outweigh its blocks. For its size a page is cut only after twice as many
 * blocks. Such a page has large fences, so a larger page is in proportion (docs/decisions/0005).
 * BB_PAGE_CUT_FACTOR times the page size is the limit. */
#define BB_PAGE_CUT_BLOCK_COUNT  16
#define BB_PAGE_FULL_BLOCK_COUNT 32
#define BB_PAGE_CUT_SIZE         1024
#define BB_PAGE_CUT_FACTOR       16
#define BB_PAGE_STORED_SIZE_MAX  (64 * 1024 * 1024)
/* A writer ends a group when its pages have this size together. So the pages of a table of up to
 * about 25 MB of blocks are in one piece, next to the table filter. */
#define BB_PAGE_GROUP_SIZE (256 * 1024)
/* The blocks of a page together. */
#define BB_PAGE_DATA_SIZE_MAX UINT32_MAX
/* The filter area starts with the number of shards of each group. */
#define BB_PAGE_FLAG_SHARDED 0x01
/* The fence area has heads of blocks, with a u32 for each block, after the sizes. */
#define BB_PAGE_FLAG_HEADS 0x02
#define BB_PAGE_FLAGS      (BB_PAGE_FLAG_SHARDED | BB_PAGE_FLAG_HEADS)

/* A block of one entry with a value of at least this size has a head, unless the key is larger: a
 * head repeats the key, in the file and in memory. At these limits heads take a fifth of the space
 * of keys and values. */
#define BB_HEAD_VALUE_SIZE_MIN 4096
#define BB_HEAD_KEY_SIZE_MAX   1024
/* Key size, tag and value size. */
#define BB_HEAD_NUMBERS_SIZE_MAX (3 + 9 + 5)

/* Directory: entries | u64 checksum. */
#define BB_SECTION_ENTRY_SIZE 28
#define BB_SECTION_COUNT_MAX  64
/* A reader that does not know the section must not read the table. */
#define BB_SECTION_FLAG_INCOMPATIBLE 0x0001
enum bb_section_id {
    BB_SECTION_ROOT = 1,
    BB_SECTION_PROPERTIES = 2,
    BB_SECTION_TABLE_FILTER = 3,
    BB_SECTION_RANGE_TOMBSTONES = 4,
    BB_SECTION_ZONES = 5, /* reserved */
};

/* Table filter: chunks | list of chunks | u32 size of the list | u64 checksum. A chunk has as many
 * shards as make about 64 KiB, a power of two. BB_TABLE_FILTER_PART_KEYS hashes (64 MiB) are sorted
 * and cut at a time. */
#define BB_TABLE_FILTER_TAIL_SIZE       12
#define BB_TABLE_FILTER_CHUNK_SIZE      (64 * 1024)
#define BB_TABLE_FILTER_CHUNK_SHIFT_MAX 10
#define BB_TABLE_FILTER_PART_KEYS       (8 * 1024 * 1024)

/* The section of range tombstones. */
#define BB_RANGE_SECTION_SIZE_MAX (UINT32_C(1) << 30)

#define BB_TABLE_ID_SIZE 16
#define BB_FOOTER_SIZE   64

/* A reader must understand every property whose id has this bit. */
#define BB_PROPERTY_MANDATORY UINT16_C(0x8000)

/* The hash that the filters take: XXH3-64 under a secret of 192 bytes, which ribbons use without
 * mixing it. (1 was the same hash, mixed. Probed in today's way, its ribbons would rule out keys
 * that are present.) */
#define BB_HASH_ID_XXH3 2

/* Written into every table. It changes whenever the same entries and options give other filters:
 * verification compares rebuilt filters only with filters of the same builder. Its version is that
 * of the release that began the layout. */
#define BB_BUILDER_ID "bloomblock 0.2.0 layout 5"

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
static_assert(BB_PAGE_BLOCK_COUNT_MAX * (BB_HEAD_KEY_SIZE_MAX + BB_HEAD_NUMBERS_SIZE_MAX + 4) <
                  BB_PAGE_STORED_SIZE_MAX / 4,
              "heads fit a page");
static_assert(BB_HASH_SECRET_SIZE == 192, "the hash id names the size of its secret");

#endif
