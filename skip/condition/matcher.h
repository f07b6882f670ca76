/* Decides whether a record satisfies a condition: extracts the attributes that the condition uses,
 * and evaluates the condition. It uses no index.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_CONDITION_MATCHER_H
#define BB_SKIP_CONDITION_MATCHER_H

#include "bb/condition.h"
#include "bb/record.h"
#include "skip/condition/needle_scan.h"

struct bb_matcher {
    const struct bb_schema *schema;       /* borrowed */
    const struct bb_condition *condition; /* borrowed; NULL: every record matches */
    struct bb_condition_run *run;         /* owned; NULL without a condition */
    struct bb_record_reader *reader;      /* of the condition's attributes; owned */
    struct bb_record_reader *all;         /* of all attributes, on first use; owned */
    struct bb_attribute *attributes;      /* as many as the schema has; owned */
    struct bb_needle_finder finder;       /* of its needles: every matching value contains one */
    uint64_t examined;
    uint64_t matching;
};

/* Errors: BB_NO_MEMORY. Afterwards the matcher must not be copied or moved. */
BB_MUST_CHECK enum bb_status bb_matcher_init(struct bb_matcher *matcher,
                                             const struct bb_schema *schema,
                                             const struct bb_condition *condition);
void bb_matcher_deinit(struct bb_matcher *matcher);

/* Checks that a selection has at most one of a text and a built condition, and with a built one the
 * schema that it was built for. Errors: BB_INVALID. */
BB_MUST_CHECK enum bb_status bb_matcher_check(const char *where,
                                              const struct bb_condition *condition,
                                              const struct bb_schema *schema);
/* bb_matcher_init with such a condition. *ret_parsed: the parsed text, if there is one. It must
 * outlive the matcher, and the caller owns it even after a failure (bb_condition_destroy). Errors:
 * bb_condition_parse. */
BB_MUST_CHECK enum bb_status bb_matcher_init_with(struct bb_matcher *matcher,
                                                  const struct bb_schema *schema, const char *where,
                                                  const struct bb_condition *condition,
                                                  struct bb_condition **ret_parsed);

/* False when no value that is a part of these bytes can match. */
bool bb_matcher_may_match(const struct bb_matcher *matcher, struct bb_bytes bytes);

/* Errors: BB_NO_MEMORY; BB_TOO_LARGE for a regular expression beyond its limits. */
BB_MUST_CHECK enum bb_status bb_matcher_test(struct bb_matcher *matcher, struct bb_bytes key,
                                             struct bb_bytes value, bool *ret_matches);

/* All attributes of a record, borrowed until the next call. */
BB_MUST_CHECK enum bb_status bb_matcher_read(struct bb_matcher *matcher, struct bb_bytes key,
                                             struct bb_bytes value,
                                             const struct bb_attribute **ret_attributes);

#endif
