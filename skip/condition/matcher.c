/* See matcher.h. */
#include "skip/condition/matcher.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"

/* The reader of the condition's attributes. */
static enum bb_status create_reader(struct bb_matcher *matcher)
{
    size_t count = bb_schema_count(matcher->schema);
    bool *wanted = bb_alloc_zeroed(count + 1, sizeof(*wanted));
    if (wanted == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu attributes", count);
    for (size_t i = 0; i < count; i++)
        wanted[i] = bb_condition_uses(matcher->condition, i);
    enum bb_status status = bb_record_reader_create(matcher->schema, wanted, &matcher->reader);
    bb_free(wanted);
    if (status == BB_OK)
        status = bb_condition_run_create(matcher->condition, &matcher->run);
    return status;
}

enum bb_status bb_matcher_init(struct bb_matcher *matcher, const struct bb_schema *schema,
                               const struct bb_condition *condition)
{
    size_t count = bb_schema_count(schema);
    *matcher = (struct bb_matcher){.schema = schema, .condition = condition};
    matcher->attributes = bb_alloc_zeroed(count + 1, sizeof(*matcher->attributes));
    if (matcher->attributes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu attributes", count);
    if (condition == NULL)
        return BB_OK;
    bb_needle_scan_init_finder(&matcher->finder, condition, schema);
    return create_reader(matcher);
}

enum bb_status bb_matcher_check(const char *where, const struct bb_condition *condition,
                                const struct bb_schema *schema)
{
    if (where != NULL && condition != NULL)
        return bb_fail(BB_INVALID,
                       "a selection has both a condition as text and a built condition");
    if (condition != NULL && schema == NULL)
        return bb_fail(BB_INVALID, "a built condition needs the schema that it was built for");
    return BB_OK;
}

enum bb_status bb_matcher_init_with(struct bb_matcher *matcher, const struct bb_schema *schema,
                                    const char *where, const struct bb_condition *condition,
                                    struct bb_condition **ret_parsed)
{
    if (where == NULL)
        return bb_matcher_init(matcher, schema, condition);
    enum bb_status status = bb_condition_parse(schema, bb_bytes_of_text(where), ret_parsed);
    return status == BB_OK ? bb_matcher_init(matcher, schema, *ret_parsed) : status;
}

void bb_matcher_deinit(struct bb_matcher *matcher)
{
    bb_condition_run_destroy(matcher->run);
    bb_record_reader_destroy(matcher->reader);
    bb_record_reader_destroy(matcher->all);
    bb_free(matcher->attributes);
    *matcher = (struct bb_matcher){0};
}

bool bb_matcher_may_match(const struct bb_matcher *matcher, struct bb_bytes bytes)
{
    return bb_needle_finder_is_empty(&matcher->finder) ||
           bb_needle_scan_finds(&matcher->finder, bytes);
}

enum bb_status bb_matcher_test(struct bb_matcher *matcher, struct bb_bytes key,
                               struct bb_bytes value, bool *ret_matches)
{
    enum bb_truth truth = BB_TRUTH_TRUE;
    enum bb_status status = BB_OK;
    matcher->examined++;
    if (matcher->condition != NULL) {
        status = bb_record_read(matcher->reader, key, value, matcher->attributes);
        if (status == BB_OK)
            status = bb_condition_test(matcher->run, matcher->attributes, &truth);
    }
    if (status != BB_OK)
        return status;
    matcher->matching += truth == BB_TRUTH_TRUE;
    *ret_matches = truth == BB_TRUTH_TRUE;
    return BB_OK;
}

enum bb_status bb_matcher_read(struct bb_matcher *matcher, struct bb_bytes key,
                               struct bb_bytes value, const struct bb_attribute **ret_attributes)
{
    enum bb_status status = BB_OK;
    if (matcher->all == NULL)
        status = bb_record_reader_create(matcher->schema, NULL, &matcher->all);
    if (status == BB_OK)
        status = bb_record_read(matcher->all, key, value, matcher->attributes);
    if (status == BB_OK)
        *ret_attributes = matcher->attributes;
    return status;
}
