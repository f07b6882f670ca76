/* See query_cache.h. */
#include "skip/query/query_cache.h"

#include "base/alloc.h"
#include "base/status.h"

struct bb_kept_query {
    const struct bb_leaf *leaf;
    struct bb_skip_spec spec;
    struct bb_hash_secret secret;
    struct bb_member_query query; /* owned */
};

/* Do both specs make the same members of a value? */
static bool makes_same_members(const struct bb_skip_spec *a, const struct bb_skip_spec *b)
{
    return a->kind == b->kind && a->ngram_size == b->ngram_size && a->folds_case == b->folds_case &&
           a->tokenizer == b->tokenizer;
}

static struct bb_kept_query *find(const struct bb_query_cache *cache,
                                  const struct bb_skip_spec *spec, const struct bb_leaf *leaf)
{
    for (size_t i = 0; i < cache->count; i++) {
        struct bb_kept_query *kept = &cache->queries[i];
        if (kept->leaf == leaf && makes_same_members(&kept->spec, spec))
            return kept;
    }
    return NULL;
}

static struct bb_kept_query *add(struct bb_query_cache *cache, const struct bb_skip_spec *spec,
                                 const struct bb_leaf *leaf)
{
    struct bb_kept_query *queries =
        bb_realloc(cache->queries, (cache->count + 1) * sizeof(queries[0]));
    if (queries == NULL)
        return NULL;
    cache->queries = queries;
    queries[cache->count] = (struct bb_kept_query){.leaf = leaf, .spec = *spec};
    return &queries[cache->count++];
}

/* Makes the question of an entry. After a failure no leaf matches the entry. */
static enum bb_status make(struct bb_kept_query *kept, const struct bb_hash_secret *secret)
{
    bb_member_query_deinit(&kept->query);
    kept->secret = *secret;
    enum bb_status status = bb_member_query_init(&kept->query, &kept->spec, secret, kept->leaf);
    if (status != BB_OK)
        kept->leaf = NULL;
    return status;
}

enum bb_status bb_query_cache_get(struct bb_query_cache *cache, const struct bb_skip_spec *spec,
                                  const struct bb_hash_secret *secret, const struct bb_leaf *leaf,
                                  const struct bb_member_query **ret_query)
{
    struct bb_kept_query *kept = find(cache, spec, leaf);
    bool is_made = kept != NULL && memcmp(&kept->secret, secret, sizeof(*secret)) == 0;
    if (kept == NULL)
        kept = add(cache, spec, leaf);
    if (kept == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for probing an index");
    enum bb_status status = is_made ? BB_OK : make(kept, secret);
    if (status == BB_OK)
        *ret_query = &kept->query;
    return status;
}

void bb_query_cache_deinit(struct bb_query_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        bb_member_query_deinit(&cache->queries[i].query);
    bb_free(cache->queries);
    *cache = (struct bb_query_cache){0};
}
