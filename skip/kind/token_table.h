/* Collects the distinct tokens of a segment, as strings, and pairs of a token and a granule that
 * holds it. It has a hash table with open addressing, an entry for each token, and a list of the
 * pairs in order of granules.
 *
 *     slot    := 0, or high half: of the token's hash | low half: number + 1
 *     entry   := where its bytes are, and its latest pair and record
 *
 * A slot matches a token only if the bytes are equal, so the dictionary is exact.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_KIND_TOKEN_TABLE_H
#define BB_SKIP_KIND_TOKEN_TABLE_H

#include "base/buf.h"
#include "base/status.h"
#include "skip/kind/token_pair.h"

/* Distinct tokens of one granule, and bytes of the tokens that are new to the segment. With more
 * the granule is not indexed. */
#define BB_TOKEN_TABLE_GRANULE_TOKENS_MAX (128u * 1024)
#define BB_TOKEN_TABLE_GRANULE_BYTES_MAX  (2u * 1024 * 1024)

struct bb_token_entry {
    uint32_t offset; /* in bytes */
    uint16_t size;
    uint16_t granule; /* the latest one with the token */
    uint32_t pair;    /* of that granule */
    uint32_t record;  /* the latest one with the token; 0: none */
    uint32_t pair_count;
};

struct bb_token_table {
    uint64_t *slots; /* owned */
    size_t slot_mask;
    struct bb_token_entry *entries; /* owned */
    uint32_t entry_count;
    uint32_t entry_capacity;
    struct bb_buf bytes; /* owned: of all tokens */
    uint64_t *pairs;     /* owned; token_pair.h */
    size_t pair_count;
    size_t pair_capacity;
    size_t granule_pairs;  /* before the current granule */
    size_t granule_bytes;  /* before the current granule */
    uint32_t granule;      /* current one, of the segment */
    uint32_t record;       /* current one, of the segment; counted from 1 */
    bool is_full;          /* the current granule has too many tokens */
    enum bb_status status; /* the first failure */
};

BB_MUST_CHECK enum bb_status bb_token_table_init(struct bb_token_table *table);
void bb_token_table_deinit(struct bb_token_table *table);

/* Begins a record. WHY the check: if the numbers of records wrapped around, a token could take a
 * new record for its latest one, and not count it. */
static inline void bb_token_table_next_record(struct bb_token_table *table)
{
    table->is_full |= table->record == UINT32_MAX;
    table->record += table->record < UINT32_MAX;
}

/* Adds a token of the current record. token: 1 ... BB_TOKEN_SIZE_MAX bytes; hash: of them. */
void bb_token_table_add(struct bb_token_table *table, uint64_t hash, struct bb_bytes token);

/* Ends the granule. *ret_is_full: the granule has too many tokens, and its pairs were removed.
 * Returns the first failure. */
BB_MUST_CHECK enum bb_status bb_token_table_end_granule(struct bb_token_table *table,
                                                        bool *ret_is_full);

/* A token and its pairs. It has at least one pair. */
struct bb_sorted_token {
    uint64_t prefix; /* bb_bytes_prefix64 of the bytes */
    struct bb_bytes bytes;
    const uint64_t *pairs; /* in order of granules */
    uint32_t pair_count;
};

/* All tokens in order. spare: space for the pairs, which tokens point to. Owned: bb_free. */
BB_MUST_CHECK enum bb_status bb_token_table_sort(const struct bb_token_table *table,
                                                 struct bb_buf *spare,
                                                 struct bb_sorted_token **ret_tokens,
                                                 size_t *ret_count);

/* Begins a segment. */
void bb_token_table_reset(struct bb_token_table *table);

#endif
