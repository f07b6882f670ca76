/* The specification of an index: defaults and allowed values (struct bb_skip_spec of bb/skip.h). */
#ifndef BB_SKIP_MEMBER_SPEC_H
#define BB_SKIP_MEMBER_SPEC_H

#include "bb/skip.h"

#define BB_SPEC_SET_VALUES_DEFAULT 100
#define BB_SPEC_NGRAM_DEFAULT      3

/* Whether an attribute of the type can have such an index. */
bool bb_spec_is_valid(const struct bb_skip_spec *spec, enum bb_attribute_type type);

/* True for the same kind with the same parameters. Compares no attributes: their numbers belong to
 * a schema or to a file. */
bool bb_spec_is_same(const struct bb_skip_spec *a, const struct bb_skip_spec *b);

/* BB_UNSUPPORTED: this build cannot make the index, because it has no library for words. */
BB_MUST_CHECK enum bb_status bb_spec_check_build(const struct bb_skip_spec *spec);

/* Whether an index of the kind stores pairs of a member and a granule. Members are values, tokens,
 * n-grams or words. */
static inline bool bb_spec_has_members(enum bb_skip_kind kind)
{
    return kind == BB_SKIP_VALUES || kind == BB_SKIP_TOKENS || kind == BB_SKIP_NGRAMS ||
           kind == BB_SKIP_TEXT;
}

#endif
