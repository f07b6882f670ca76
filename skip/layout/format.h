/* Every constant of the format of index files, and the relations between them. The picture of the
 * bytes is docs/format-skip.md.
 *
 *     file := (unit checksum)* (head checksum)* granules checksum directory checksum footer
 */
#ifndef BB_SKIP_LAYOUT_FORMAT_H
#define BB_SKIP_LAYOUT_FORMAT_H

#include <assert.h>

#include "base/coding.h"
#include "base/hash.h"
#include "bb/skip.h"
#include "skip/segment/segment.h"

/* ON DISK: all values below never change within a format version. */

/* A version adds forms of segments; files of earlier versions are read like the others. */
#define BB_SKIP_VERSION     UINT32_C(3)
#define BB_SKIP_VERSION_MIN UINT32_C(1)

/* The last eight bytes of an index file. */
#define BB_SKIP_MAGIC                                                                              \
    "\x89"                                                                                         \
    "BBI\r\n\x1a\n"
#define BB_SKIP_MAGIC_SIZE    8
#define BB_SKIP_FOOTER_SIZE   64
#define BB_SKIP_CHECKSUM_SIZE 8

/* The purpose of a checksum. Part of every checksum. */
enum bb_skip_unit {
    BB_SKIP_UNIT_DATA = 1,      /* chunk of a segment, or a segment that is read whole */
    BB_SKIP_UNIT_HEAD = 2,      /* the description of segments by an index */
    BB_SKIP_UNIT_GRANULES = 3,  /* places, rows and counts of all granules */
    BB_SKIP_UNIT_DIRECTORY = 4, /* attributes, indexes, and where their heads are */
    BB_SKIP_UNIT_FOOTER = 5,
};

/* How a segment of an index is stored. */
enum bb_skip_form {
    BB_SKIP_FORM_NONE = 0,       /* not at all: any granule may match */
    BB_SKIP_FORM_INVERTED_1 = 1, /* skip/segment/segment.h, with factor 1; of versions 1 and 2 */
    BB_SKIP_FORM_BOUNDS = 2,     /* skip/kind/min_max.h */
    BB_SKIP_FORM_VALUES = 3,     /* skip/kind/value_set.h */
    BB_SKIP_FORM_COLUMN = 4,     /* skip/kind/column.h */
    BB_SKIP_FORM_DICTIONARY = 5, /* skip/kind/text_index.h */
    BB_SKIP_FORM_RIBBONS_1 = 6,  /* INVERTED_1 with ribbons; of version 2 */
    BB_SKIP_FORM_INVERTED = 7,   /* skip/segment/segment.h */
    BB_SKIP_FORM_RIBBONS = 8,    /* INVERTED with ribbons */
};

/* Is it a segment of segment.h? */
static inline bool bb_skip_form_is_inverted(enum bb_skip_form form)
{
    return form == BB_SKIP_FORM_INVERTED || form == BB_SKIP_FORM_RIBBONS ||
           form == BB_SKIP_FORM_INVERTED_1 || form == BB_SKIP_FORM_RIBBONS_1;
}

static inline bool bb_skip_form_has_factor(enum bb_skip_form form)
{
    return form == BB_SKIP_FORM_INVERTED || form == BB_SKIP_FORM_RIBBONS;
}

static inline bool bb_skip_form_has_ribbons(enum bb_skip_form form)
{
    return form == BB_SKIP_FORM_RIBBONS || form == BB_SKIP_FORM_RIBBONS_1;
}

/* Limits, checked on write and on read. */
#define BB_SKIP_ATTRIBUTES_MAX 1024u
#define BB_SKIP_INDEXES_MAX    1024u
#define BB_SKIP_GRANULES_MAX   (UINT32_C(1) << 28)
#define BB_SKIP_SECTION_MAX    (UINT32_C(1) << 30)
#define BB_SKIP_UNIT_SIZE_MAX  (UINT32_C(1) << 26)

static_assert(sizeof(BB_SKIP_MAGIC) - 1 == BB_SKIP_MAGIC_SIZE, "the magic has eight bytes");
static_assert(BB_SKIP_CHECKSUM_SIZE == BB_SEGMENT_CHUNK_CHECKSUM_SIZE, "chunks are units");
static_assert(BB_SKIP_CHECKSUM_SIZE >= BB_BIT_READER_PAD, "bits may be read into the checksum");
static_assert(BB_SEGMENT_CHUNK_SIZE_MAX >= UINT16_MAX +
                                               (sizeof(uint16_t) << BB_SEGMENT_CHUNK_BUCKET_BITS) +
                                               BB_SKIP_CHECKSUM_SIZE,
              "a chunk that a builder writes is read");
static_assert(BB_SEGMENT_GRANULES_MAX == 1 << BB_MEMBER_GRANULE_BITS, "pairs number all granules");
static_assert(BB_SKIP_FOOTER_SIZE ==
                  8 + 8 + 4 + BB_SKIP_ID_SIZE + 12 + BB_SKIP_CHECKSUM_SIZE + BB_SKIP_MAGIC_SIZE,
              "the footer's fields");

/* The checksum of bytes at a place: a good unit in the wrong file or at the wrong offset fails.
 *
 *     place    = mix(id low ^ mix(id high ^ mix(type << 56 | offset)))
 *     checksum = mix(place ^ XXH3-64(bytes)) */
static inline uint64_t bb_skip_checksum(const uint8_t id[BB_SKIP_ID_SIZE], enum bb_skip_unit type,
                                        uint64_t offset, struct bb_bytes bytes)
{
    uint64_t place = bb_hash_mix((uint64_t)type << 56 | offset);
    place = bb_hash_mix(bb_load64(id + 8) ^ place);
    place = bb_hash_mix(bb_load64(id) ^ place);
    return bb_hash_mix(place ^ bb_hash_bytes(bytes.data, bytes.size));
}

/* Is the checksum at the end of a unit that of the bytes before it? size counts both. */
static inline bool bb_skip_unit_is_whole(const uint8_t id[BB_SKIP_ID_SIZE], enum bb_skip_unit type,
                                         uint64_t offset, struct bb_bytes unit)
{
    if (unit.size < BB_SKIP_CHECKSUM_SIZE)
        return false;
    struct bb_bytes bytes = {.data = unit.data, .size = unit.size - BB_SKIP_CHECKSUM_SIZE};
    return bb_load64(unit.data + bytes.size) == bb_skip_checksum(id, type, offset, bytes);
}

#endif
