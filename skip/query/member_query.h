/* A leaf as a question for members. The question is true if every group is true. A group is true if
 * one of its alternatives is, and an alternative if the value has all of its members.
 *
 *     x = 'GET /a' over tokens          {GET, a}
 *     x IN (1, 2) over values           {1} or {2}
 *     x LIKE '% GET /a %' over tokens   {GET, a}
 *     x LIKE '%ET /a%' over text        {token that ends with ET, token that begins with a}
 *
 * Parts of the leaf that members cannot express are omitted. So the question may be true where the
 * leaf is false, but never the reverse.
 */
#ifndef BB_SKIP_QUERY_MEMBER_QUERY_H
#define BB_SKIP_QUERY_MEMBER_QUERY_H

#include "skip/condition/leaf.h"
#include "skip/member/member_scan.h"

/* TEXT: a token to find, or a part of one. */
struct bb_token_part {
    struct bb_bytes bytes; /* borrowed from the leaf or the question; at least one */
    bool is_open_at_start; /* the token may begin before it */
    bool is_open_at_end;   /* the token may end after it */
    bool ignores_case;     /* the bytes are in lower case */
};

/* Whether the whole dictionary must be searched for the part. Tokens are sorted bytewise, so a
 * binary search finds only a part that begins a token, in its exact case. */
static inline bool bb_token_part_is_searched(const struct bb_token_part *part)
{
    return part->is_open_at_start || part->ignores_case;
}

struct bb_member_list {
    size_t first;
    size_t count;
};

struct bb_member_query {
    uint64_t *hashes; /* owned; for VALUES, TOKENS, NGRAMS */
    size_t hash_count;
    size_t hash_capacity;
    struct bb_buf parts;                 /* owned; for TEXT: struct bb_token_part */
    struct bb_buf words;                 /* owned; for words of Unicode: the bytes of the parts */
    struct bb_member_list *alternatives; /* owned; each a range of hashes or parts */
    size_t alternative_count;
    struct bb_member_list *groups; /* owned; each a range of alternatives. No groups: always true */
    size_t group_count;
};

/* Whether an index with the spec can answer the leaf: a cheap check before bb_member_query_init. */
bool bb_member_query_fits(const struct bb_skip_spec *spec, const struct bb_leaf *leaf);
BB_MUST_CHECK enum bb_status bb_member_query_init(struct bb_member_query *query,
                                                  const struct bb_skip_spec *spec,
                                                  const struct bb_hash_secret *secret,
                                                  const struct bb_leaf *leaf);
static inline const struct bb_token_part *bb_member_query_part(const struct bb_member_query *query,
                                                               size_t number)
{
    return (const struct bb_token_part *)(const void *)query->parts.data + number;
}

void bb_member_query_deinit(struct bb_member_query *query);

#endif
