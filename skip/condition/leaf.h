/* A leaf of a condition, as indexes see it: a requirement on one attribute.
 *
 * A condition is a tree of AND, OR and NOT over leaves. Every comparison is one of four leaves:
 *
 *     =, IN, <, <=, >, >=, BETWEEN    INTERVALS  the attribute is in one of some intervals
 *     !=, NOT IN, NOT LIKE ...                   NOT over the leaf without it
 *     IS NULL, IS NOT NULL            NULLS      IS NOT NULL is NOT over it
 *     LIKE, has_token, matches ...    TEXT       the attribute's bytes match; every match
 *                                                contains the pieces
 *     x = 5 with x always unknown...  CONSTANT   the same for every record
 *
 * A leaf is true, false or unknown for a record; only NULLS is never unknown. NaN is in no
 * interval, so INTERVALS is false for it. A leaf is constant; any number of threads may read it.
 */
#ifndef BB_SKIP_CONDITION_LEAF_H
#define BB_SKIP_CONDITION_LEAF_H

#include "bb/record.h"

enum bb_leaf_kind { BB_LEAF_INTERVALS, BB_LEAF_NULLS, BB_LEAF_TEXT, BB_LEAF_CONSTANT };

/* One end of an interval. */
struct bb_bound {
    bool is_open;              /* no bound on this side: value is not set */
    bool is_exclusive;         /* the value itself is outside */
    struct bb_attribute value; /* PRESENT, of the attribute's type, never NaN; -0 is +0 */
};

/* Never empty. A single value is an interval with the same inclusive value at both ends. */
struct bb_interval {
    struct bb_bound low;
    struct bb_bound high;
};

/* Bytes that a matching attribute contains. The flags describe the match: a token that touches an
 * end of the piece is a whole token only where the flag of that end is set, or the piece continues
 * with a separator there. */
struct bb_piece {
    struct bb_bytes bytes;
    bool is_at_start;  /* the attribute starts with the piece */
    bool is_at_end;    /* the attribute ends with the piece */
    bool is_token;     /* the piece is one whole token of the attribute (has_token) */
    bool ignores_case; /* ASCII case is ignored: the bytes are in lower case */
    /* Bytes outside ASCII that fold to letters of another piece of the group: hardly any value has
     * them. */
    bool is_other_form;
};

/* One of the pieces is in every match. */
struct bb_piece_group {
    const struct bb_piece *pieces;
    size_t piece_count; /* at least 1 */
};

struct bb_leaf {
    enum bb_leaf_kind kind;
    size_t attribute; /* number in the schema; of CONSTANT none */
    enum bb_attribute_type type;
    /* INTERVALS: ascending and disjoint. None: false for every record that has a value. For
     * integers and times all bounds are inclusive or open. Adjacent values stay separate points. */
    const struct bb_interval *intervals;
    size_t interval_count;
    bool is_points; /* every interval is a single value: =, IN */
    /* TEXT: every match satisfies all groups. No groups: the bytes of matches are unknown. */
    const struct bb_piece_group *groups;
    size_t group_count;
    /* TEXT: words of every match, as groups; each piece is one whole word, folded or not. In
     * `groups` are the bytes of matches: of a folded word its bytes without regard to case, and its
     * other forms. */
    const struct bb_piece_group *word_groups;
    size_t word_group_count;
    bool words_are_folded;
    /* TEXT: an interval that contains every match; NULL: unknown. Exact: every value in it
     * matches too. */
    const struct bb_interval *cover;
    bool is_cover_exact;
    /* CONSTANT. */
    bool may_be_true;
    bool may_be_false;
    bool may_be_null;
};

#endif
