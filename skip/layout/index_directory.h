/* The directory of an index file: its attributes, its indexes, where everything is.
 *
 *     directory := varint granules | varint records | hash secret, 192 bytes
 *                  | varint offset and varint size of the granule table
 *                  | varint attributes | attribute* | varint indexes | index* | source
 *     attribute := bytes name | bytes definition | u8 type
 *     index     := varint size of the rest | u8 kind | ...
 *     ...       := varint attribute | u64 rate | varint values | varint n
 *                  | u8 flags: 1 folds, 2 counts
 *                  | varint offset and varint size of the head | varint segments
 *                  | varint granules that are not indexed | varint pairs | varint data bytes
 *                  | u64 predicted rate | of words of Unicode: bytes library and version
 *     source    := bytes, or nothing without a source
 *
 * Of an unknown kind, the bytes after the kind are skipped.
 */
#ifndef BB_SKIP_LAYOUT_INDEX_DIRECTORY_H
#define BB_SKIP_LAYOUT_INDEX_DIRECTORY_H

#include "base/status.h"
#include "skip/condition/words.h"
#include "skip/layout/format.h"

/* A section of the file; size counts its checksum. */
struct bb_skip_section {
    uint64_t offset;
    uint64_t size;
};

/* An attribute as the file knows it. */
struct bb_stored_attribute {
    const char *name;
    const char *definition;
    const char *extractor; /* the definition without the name: the extractor */
    enum bb_attribute_type type;
};

struct bb_directory_entry {
    struct bb_skip_spec spec;
    bool is_known;
    struct bb_skip_section head;
    uint64_t segment_count;
    uint64_t unindexed_granules;
    uint64_t pair_count;
    uint64_t data_bytes;
    double predicted_rate;
    char words_made_with[BB_WORDS_IDENTITY_SIZE]; /* of words of Unicode; else empty */
};

/* Whether the fields are read: of all kinds that this version knows, also where it does not know
 * the words. */
static inline bool bb_directory_entry_is_read(const struct bb_directory_entry *entry)
{
    return entry->is_known || entry->words_made_with[0] != '\0';
}

struct bb_index_directory {
    uint64_t granule_count;
    uint64_t record_count;
    struct bb_hash_secret secret;
    struct bb_skip_section granules;
    struct bb_stored_attribute *attributes; /* owned, strings in text */
    size_t attribute_count;
    struct bb_directory_entry *indexes; /* owned */
    size_t index_count;
    struct bb_buf source; /* owned */
    char *text;           /* owned */
};

void bb_index_directory_deinit(struct bb_index_directory *directory);
BB_MUST_CHECK enum bb_status bb_index_directory_append(const struct bb_index_directory *directory,
                                                       struct bb_buf *buf);
/* section: without its checksum. Sections that it names end before file_size. BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_index_directory_decode(struct bb_bytes section,
                                                       struct bb_place place, uint64_t file_size,
                                                       struct bb_index_directory *ret_directory);

/* The file's number of a schema's attribute: the attribute with the same type and extractor, under
 * any name. attribute_count: the file does not have it. */
size_t bb_index_directory_find(const struct bb_index_directory *directory,
                               const struct bb_schema *schema, size_t attribute);

/* Copies attributes of a schema, by their numbers, into an empty directory. */
BB_MUST_CHECK enum bb_status bb_index_directory_set_attributes(struct bb_index_directory *directory,
                                                               const struct bb_schema *schema,
                                                               const uint32_t *numbers,
                                                               size_t count);

#endif
