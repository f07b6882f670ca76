/* One version of a key in a LevelDB store.
 *
 *     key as stored := user key | u64 (sequence << 8 | type)      type 0 is a deletion, 1 a value
 */
#ifndef BB_TOOLS_LEVELDB_ENTRY_H
#define BB_TOOLS_LEVELDB_ENTRY_H

#include "base/bytes.h"
#include "base/coding.h"

#define ENTRY_TAG_SIZE 8

struct entry {
    struct bb_bytes key;
    uint64_t sequence;
    bool is_deletion;
    struct bb_bytes value;
};

/* Decodes a key as stored. False: the bytes are not one. */
static inline bool entry_decode(struct bb_bytes stored, struct bb_bytes value,
                                struct entry *ret_entry)
{
    if (stored.size < ENTRY_TAG_SIZE || stored.data[stored.size - ENTRY_TAG_SIZE] > 1)
        return false;
    uint64_t tag = bb_load64(stored.data + stored.size - ENTRY_TAG_SIZE);
    *ret_entry = (struct entry){.key = bb_bytes_of(stored.data, stored.size - ENTRY_TAG_SIZE),
                                .sequence = tag >> 8,
                                .is_deletion = (tag & 0xFF) == 0,
                                .value = value};
    return true;
}

/* The order of entries: keys ascending, and the versions of a key from the newest to the oldest. */
static inline int entry_compare(const struct entry *a, const struct entry *b)
{
    int order = bb_bytes_compare(a->key, b->key);
    return order != 0 ? order : (a->sequence < b->sequence) - (a->sequence > b->sequence);
}

#endif
