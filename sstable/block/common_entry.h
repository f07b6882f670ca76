/* The usual form of a stored entry, decoded with few instructions: a put whose sizes take one byte
 * each (the value's size one or two), and whose tag takes up to seven. Other entries, and damaged
 * ones, are not common: block_record.h decodes them. A common entry passes all checks of
 * bb_block_record_decode, except that of its end, which is the caller's.
 */
#ifndef BB_SSTABLE_BLOCK_COMMON_ENTRY_H
#define BB_SSTABLE_BLOCK_COMMON_ENTRY_H

#include "sstable/block/block_record.h"

/* The decoder reads at most this many bytes: 4 of sizes, and a word that begins with the tag. */
#define BB_COMMON_ENTRY_READ 12

struct bb_common_entry {
    size_t shared;
    size_t unshared;
    size_t value_size;
    uint64_t masked_tag;   /* the tag's bytes, without their top bits */
    const uint8_t *suffix; /* followed by the value */
};

/* False: not a common entry. The suffix and the value may exceed the block: the caller compares
 * bb_common_entry_end with its limit. REQUIRES: BB_COMMON_ENTRY_READ bytes at p. */
static inline bool bb_common_entry_decode(const uint8_t *p, struct bb_common_entry *ret_entry)
{
    bool is_wide = p[2] >= 0x80;
    const uint8_t *tag = p + 3 + is_wide;
    uint64_t word = bb_load64(tag);
    /* The last byte of a tag is the first one without a top bit. */
    uint64_t lasts = ~word & UINT64_C(0x0080808080808080);
    if ((p[0] | p[1] | tag[-1]) >= 0x80 || (is_wide && p[3] == 0) || lasts == 0)
        return false;
    unsigned last = (unsigned)__builtin_ctzll(lasts) / 8;
    word &= (lasts ^ (lasts - 1)) & UINT64_C(0x7f7f7f7f7f7f7f);
    *ret_entry =
        (struct bb_common_entry){.shared = p[0],
                                 .unshared = p[1],
                                 .value_size = is_wide ? (p[2] & 0x7fu) | (size_t)p[3] << 7 : p[2],
                                 .masked_tag = word,
                                 .suffix = tag + last + 1};
    return (last == 0 || tag[last] != 0) && (word & 1) == BB_ENTRY_PUT;
}

static inline const uint8_t *bb_common_entry_end(const struct bb_common_entry *entry)
{
    return entry->suffix + entry->unshared + entry->value_size;
}

/* Is the entry's key before this one, in byte order? *matched is the length of the prefix that the
 * key shares with the previous entry's key, which is before it, and afterwards with this entry's.
 * `shared` is maximal, so it usually decides: see block_find.c. False also for equal keys, and
 * where one key is a prefix of the other. */
static inline bool bb_common_entry_is_before(const struct bb_common_entry *entry,
                                             struct bb_bytes key, size_t *matched)
{
    if (entry->shared != *matched)
        return entry->shared > *matched;
    struct bb_bytes wanted = bb_bytes_after(key, *matched);
    size_t agreed = bb_bytes_shared_prefix(wanted, bb_bytes_of(entry->suffix, entry->unshared));
    if (agreed == wanted.size || agreed == entry->unshared ||
        entry->suffix[agreed] > wanted.data[agreed])
        return false;
    *matched += agreed;
    return true;
}

static inline uint64_t bb_common_entry_sequence(const struct bb_common_entry *entry)
{
    return bb_block_record_gather(entry->masked_tag) >> 1;
}

#endif
