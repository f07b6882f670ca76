/* One lookup in one table: bounds -> range tombstones -> table filter -> root -> index page ->
 * filter -> block. Range tombstones are checked before all filters: filters only have keys of
 * entries, and return no for a deleted range without entries. Any thread. */
#include "sstable/table.h"

#include "base/assert.h"
#include "base/pinned.h"
#include "bloomblock/domain.h"
#include "sstable/read_options.h"
#include "sstable/table_visit.h"

struct lookup {
    struct bb_table *table;
    const struct bb_read_options *options;
    struct bb_bytes key;
    uint64_t key_hash; /* under the table's secret */
    uint64_t sequence;
    bool is_covered;   /* a range tombstone covers the key */
    uint64_t covering; /* the highest covering sequence, else 0 */
    struct bb_read_stats *stats;
    struct bb_buf *value;     /* receives a copy */
    struct bb_pinned *pinned; /* if not NULL, the value stays in its block */
    bool is_let_through;      /* bounds, range tombstones and table filter were checked */
};

/* Probes the block's filter. True: the block may have the key. */
static bool ask_filter(const struct lookup *lookup, const struct bb_index_page *page,
                       uint32_t ordinal)
{
    struct bb_table *table = lookup->table;
    if (lookup->options->ignore_filters)
        return true;
    bool is_distrusted = atomic_load_explicit(&table->is_distrusted, memory_order_relaxed);
    if (!page->has_filters || is_distrusted) {
        lookup->stats->damaged_filters +=
            page->has_damaged_filters || table->has_unusable_filters || is_distrusted;
        return true;
    }
    struct bb_block_filter_key key = bb_block_filter_key(&table->filter_format, lookup->key_hash);
    return bb_index_page_may_contain(page, &table->filter_format, ordinal, key);
}

static bool is_block_cached(const struct lookup *lookup, const struct bb_index_page *page,
                            uint32_t ordinal)
{
    const struct bb_table *table = lookup->table;
    return bb_block_cache_contains(table->cache, table->cache_owner,
                                   bb_index_page_block_offset(page, ordinal));
}

/* Counts a request for a block that was avoided; and, if the caller wants to know, a read. */
static void account_avoided(const struct lookup *lookup, const struct bb_index_page *page,
                            uint32_t ordinal)
{
    lookup->stats->avoided_requests++;
    if (lookup->options->account_avoided)
        lookup->stats->avoided_reads +=
            lookup->table->cache == NULL || !is_block_cached(lookup, page, ordinal);
}

/* True when the block that the search would have found is cached. This runs the search that was
 * skipped, but reads no index page: if the page is not in memory, its blocks rarely are. */
static bool is_unsearched_cached(const struct lookup *lookup)
{
    struct bb_table *table = lookup->table;
    uint32_t index = bb_root_find(&table->root, table->comparator, lookup->key, lookup->sequence);
    struct bb_index_page *page = bb_table_page_peek(table, index);
    if (page == NULL)
        return false;
    uint32_t ordinal = bb_index_page_find(page, table->comparator, lookup->key, lookup->sequence);
    bool is_cached = is_block_cached(lookup, page, ordinal);
    bb_table_page_release(table, page);
    return is_cached;
}

/* The same statistics when the search was skipped. */
static void account_summary(const struct lookup *lookup)
{
    lookup->stats->avoided_requests++;
    if (lookup->options->account_avoided)
        lookup->stats->avoided_reads +=
            lookup->table->cache == NULL || !is_unsearched_cached(lookup);
}

/* Probes the table filter. True: the table may have the key. */
static bool ask_summary(const struct lookup *lookup)
{
    struct bb_table *table = lookup->table;
    if (lookup->options->ignore_filters)
        return true;
    bool is_distrusted = atomic_load_explicit(&table->is_distrusted, memory_order_relaxed);
    if (!table->asks_summary || is_distrusted) {
        lookup->stats->damaged_filters +=
            table->has_unusable_summary || (table->asks_summary && is_distrusted);
        return true;
    }
    return bb_table_summary_may_contain(table, lookup->key, lookup->key_hash, lookup->stats);
}

/* Checks the range tombstones; true when they decide, because there are no entries. WHY this
 * excludes a tombstone with the newest sequence of the table: an entry may have the same sequence,
 * as in an ingest, and is not hidden then. */
static bool ask_range_tombstones(struct lookup *lookup)
{
    const struct bb_table *table = lookup->table;
    if (__builtin_expect(table->range_tombstones == NULL, 1))
        return false;
    lookup->is_covered = bb_range_tombstones_cover(table->range_tombstones, lookup->key,
                                                   lookup->sequence, &lookup->covering);
    return table->root.page_count == 0;
}

/* The result of a visit when the entries do not decide. */
static enum bb_visit end_with(const struct lookup *lookup, enum bb_visit visit)
{
    return lookup->is_covered ? BB_VISIT_TOMBSTONE : visit;
}

/* The same when only the range tombstones were checked. */
static enum bb_visit end_uncovered(const struct lookup *lookup)
{
    return end_with(lookup, BB_VISIT_OUT_OF_BOUNDS);
}

/* Treats a match that a range tombstone covers as absent. */
static void hide_covered(const struct lookup *lookup, struct bb_block_match *match)
{
    match->is_found = match->is_found && match->sequence >= lookup->covering;
}

static enum bb_visit classify(const struct bb_block_match *match)
{
    if (match->is_found)
        return match->kind == BB_ENTRY_PUT ? BB_VISIT_PRESENT : BB_VISIT_TOMBSTONE;
    return match->has_newer ? BB_VISIT_NOT_VISIBLE : BB_VISIT_FALSE_POSITIVE;
}

static void unref_block(void *block)
{
    bb_block_unref(block);
}

/* Returns the value and, if it is pinned, the block. */
static enum bb_status deliver(const struct lookup *lookup, struct bb_block **block,
                              struct bb_bytes value)
{
    if (lookup->pinned == NULL)
        return bb_buf_assign(lookup->value, value);
    *lookup->pinned = bb_pinned_of(value, *block, unref_block);
    *block = NULL;
    return BB_OK;
}

/* Takes the reference to the block. */
static enum bb_status search_in(const struct lookup *lookup, struct bb_block *block,
                                uint64_t offset, uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    struct bb_table *table = lookup->table;
    struct bb_block_match match = {0};
    struct bb_place place = bb_table_place(table, offset);
    enum bb_status status =
        bb_block_find(block, table->comparator, place, lookup->key, lookup->sequence, &match);
    hide_covered(lookup, &match);
    if (status == BB_OK && match.is_found && match.kind == BB_ENTRY_PUT)
        status = deliver(lookup, &block, match.value);
    bb_block_unref(block);
    if (status != BB_OK)
        return status;
    *ret_visit = match.is_found ? classify(&match) : end_with(lookup, classify(&match));
    *ret_sequence = match.is_found ? match.sequence : lookup->covering;
    return BB_OK;
}

static enum bb_status search_block(const struct lookup *lookup, const struct bb_index_page *page,
                                   uint32_t ordinal, uint64_t *ret_sequence,
                                   enum bb_visit *ret_visit)
{
    struct bb_block *block = NULL;
    struct bb_block_scratch scratch;
    enum bb_status status =
        bb_table_block_acquire(lookup->table, lookup->options, page, ordinal, &scratch,
                               lookup->pinned != NULL, lookup->stats, &block);
    if (status != BB_OK)
        return status;
    return search_in(lookup, block, bb_index_page_block_offset(page, ordinal), ret_sequence,
                     ret_visit);
}

static enum bb_status visit_page(const struct lookup *lookup, uint32_t page_index,
                                 uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    struct bb_table *table = lookup->table;
    struct bb_index_page *page = NULL;
    enum bb_status status = bb_table_page_acquire(table, page_index, lookup->stats, &page);
    if (status != BB_OK)
        return status;
    uint32_t ordinal = bb_index_page_find(page, table->comparator, lookup->key, lookup->sequence);
    if (ask_filter(lookup, page, ordinal)) {
        status = search_block(lookup, page, ordinal, ret_sequence, ret_visit);
    } else {
        account_avoided(lookup, page, ordinal);
        *ret_visit = end_with(lookup, BB_VISIT_FILTER_NEGATIVE);
        *ret_sequence = lookup->covering;
    }
    bb_table_page_release(table, page);
    return status;
}

/* Finds the block and probes its filter. The page is held while the block may be searched. */
static enum bb_status find_block(const struct lookup *lookup, struct bb_table_visit *visit)
{
    struct bb_table *table = lookup->table;
    uint32_t index = bb_root_find(&table->root, table->comparator, lookup->key, lookup->sequence);
    enum bb_status status = bb_table_page_acquire(table, index, lookup->stats, &visit->page);
    if (status != BB_OK)
        return status;
    visit->ordinal =
        bb_index_page_find(visit->page, table->comparator, lookup->key, lookup->sequence);
    visit->block_offset = bb_index_page_block_offset(visit->page, visit->ordinal);
    if (ask_filter(lookup, visit->page, visit->ordinal))
        return BB_OK;
    account_avoided(lookup, visit->page, visit->ordinal);
    bb_table_page_release(table, visit->page);
    visit->has_ended = true;
    visit->result = end_with(lookup, BB_VISIT_FILTER_NEGATIVE);
    return BB_OK;
}

static enum bb_status begin_visit(struct lookup *lookup, struct bb_table_visit *visit)
{
    struct bb_table *table = lookup->table;
    if (lookup->is_let_through)
        return find_block(lookup, visit);
    visit->has_ended = true;
    visit->result = BB_VISIT_OUT_OF_BOUNDS;
    if (!bb_bounds_contain(&table->bounds, table->comparator, lookup->key))
        return BB_OK;
    bool is_decided = ask_range_tombstones(lookup);
    visit->is_covered = lookup->is_covered;
    visit->covering = lookup->covering;
    visit->found_sequence = lookup->covering;
    visit->result = end_uncovered(lookup);
    if (is_decided)
        return BB_OK;
    visit->result = end_with(lookup, BB_VISIT_SUMMARY_NEGATIVE);
    if (!ask_summary(lookup)) {
        account_summary(lookup);
        return BB_OK;
    }
    visit->has_ended = false;
    return find_block(lookup, visit);
}

/* Everything before the search; true when it decides. */
static bool ask_before_search(struct lookup *lookup, uint64_t *ret_sequence,
                              enum bb_visit *ret_visit)
{
    struct bb_table *table = lookup->table;
    if (!bb_bounds_contain(&table->bounds, table->comparator, lookup->key)) {
        *ret_visit = BB_VISIT_OUT_OF_BOUNDS;
        return true;
    }
    if (ask_range_tombstones(lookup)) {
        *ret_visit = end_uncovered(lookup);
        *ret_sequence = lookup->covering;
        return true;
    }
    if (ask_summary(lookup))
        return false;
    account_summary(lookup);
    *ret_visit = end_with(lookup, BB_VISIT_SUMMARY_NEGATIVE);
    *ret_sequence = lookup->covering;
    return true;
}

static __attribute__((noinline)) enum bb_status
visit_table(struct lookup *lookup, uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    struct bb_table *table = lookup->table;
    if (!lookup->is_let_through && ask_before_search(lookup, ret_sequence, ret_visit))
        return BB_OK;
    uint32_t page = bb_root_find(&table->root, table->comparator, lookup->key, lookup->sequence);
    return visit_page(lookup, page, ret_sequence, ret_visit);
}

static __attribute__((noinline)) enum bb_status
look_up(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
        uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats, struct bb_buf *value,
        struct bb_pinned *pinned, bool is_let_through, uint64_t *ret_sequence,
        enum bb_visit *ret_visit)
{
    static const struct bb_read_options defaults = {0};
    struct bb_read_stats unwanted;
    if (stats == NULL) {
        unwanted = (struct bb_read_stats){0};
        stats = &unwanted;
    }
    struct lookup lookup = {
        .table = table,
        .options = options == NULL ? &defaults : options,
        .key = key,
        .key_hash = table->takes_given_hash ? key_hash : bb_hash_key(&table->secret, key),
        .sequence = sequence,
        .stats = stats,
        .value = value,
        .pinned = pinned,
        .is_let_through = is_let_through,
    };
    enum bb_visit visit = BB_VISIT_COUNT;
    enum bb_status status = visit_table(&lookup, ret_sequence, &visit);
    if (status != BB_OK)
        return status;
    stats->visits[visit]++;
    *ret_visit = visit;
    return BB_OK;
}

static inline const struct bb_summary *ready_summary(const struct bb_table *table)
{
    return atomic_load_explicit(&table->ready_summary, memory_order_acquire);
}

const struct bb_summary *bb_table_ready_summary(const struct bb_table *table)
{
    return atomic_load(&table->ready_summary);
}

/* The fast path for most absent keys. It is separate, because a shorter path lets the processor
 * start more of the next lookups while it waits for the memory of this one. (Measured at 5 million
 * keys: two thirds of the time.) False: a full lookup is needed. */
static inline bool is_denied_at_once(struct bb_table *table, const struct bb_read_options *options,
                                     struct bb_bytes key, uint64_t key_hash)
{
    bool is_let_through = false;
    if (options != NULL && (options->ignore_filters || options->account_avoided))
        return false;
    const struct bb_summary *summary = ready_summary(table);
    return summary != NULL && bb_bounds_contain(&table->bounds, table->comparator, key) &&
           bb_summary_denies(summary, key_hash, &is_let_through);
}

static void count_denial(struct bb_read_stats *stats, enum bb_visit *ret_visit)
{
    *ret_visit = BB_VISIT_SUMMARY_NEGATIVE;
    if (stats == NULL)
        return;
    stats->avoided_requests++;
    stats->visits[BB_VISIT_SUMMARY_NEGATIVE]++;
}

/* For callers built against another header. */
static __attribute__((noinline)) enum bb_status
look_up_foreign(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
                uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats,
                struct bb_buf *value, struct bb_pinned *pinned, uint64_t *ret_sequence,
                enum bb_visit *ret_visit)
{
    struct bb_read_options known;
    enum bb_status status = bb_read_options_copy(options, &known);
    if (status != BB_OK)
        return status;
    return look_up(table, &known, key, key_hash, sequence, stats, value, pinned, false,
                   ret_sequence, ret_visit);
}

enum bb_status bb_table_get(struct bb_table *table, const struct bb_read_options *options,
                            struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                            struct bb_read_stats *stats, struct bb_buf *value,
                            uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    if (bb_read_options_are_foreign(options))
        return look_up_foreign(table, options, key, key_hash, sequence, stats, value, NULL,
                               ret_sequence, ret_visit);
    if (!is_denied_at_once(table, options, key, key_hash))
        return look_up(table, options, key, key_hash, sequence, stats, value, NULL, false,
                       ret_sequence, ret_visit);
    count_denial(stats, ret_visit);
    return BB_OK;
}

enum bb_status bb_table_get_pinned(struct bb_table *table, const struct bb_read_options *options,
                                   struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                                   struct bb_read_stats *stats, struct bb_pinned *ret_value,
                                   uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    if (bb_read_options_are_foreign(options))
        return look_up_foreign(table, options, key, key_hash, sequence, stats, NULL, ret_value,
                               ret_sequence, ret_visit);
    if (!is_denied_at_once(table, options, key, key_hash))
        return look_up(table, options, key, key_hash, sequence, stats, NULL, ret_value, false,
                       ret_sequence, ret_visit);
    count_denial(stats, ret_visit);
    return BB_OK;
}

enum bb_status bb_table_get_let_through(struct bb_table *table,
                                        const struct bb_read_options *options, struct bb_bytes key,
                                        uint64_t key_hash, uint64_t sequence,
                                        struct bb_read_stats *stats, struct bb_buf *value,
                                        struct bb_pinned *pinned, uint64_t *ret_sequence,
                                        enum bb_visit *ret_visit)
{
    return look_up(table, options, key, key_hash, sequence, stats, value, pinned, true,
                   ret_sequence, ret_visit);
}

static struct lookup lookup_of(struct bb_table *table, const struct bb_read_options *options,
                               struct bb_bytes key, uint64_t sequence, struct bb_read_stats *stats)
{
    return (struct lookup){
        .table = table, .options = options, .key = key, .sequence = sequence, .stats = stats};
}

enum bb_status bb_table_visit_begin(struct bb_table *table, const struct bb_read_options *options,
                                    struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                                    bool is_let_through, struct bb_read_stats *stats,
                                    struct bb_table_visit *ret_visit)
{
    struct lookup lookup = lookup_of(table, options, key, sequence, stats);
    struct bb_table_visit visit = {.table = table};
    lookup.key_hash = table->takes_given_hash ? key_hash : bb_hash_key(&table->secret, key);
    lookup.is_let_through = is_let_through;
    enum bb_status status = begin_visit(&lookup, &visit);
    if (status != BB_OK)
        return status;
    if (visit.has_ended)
        stats->visits[visit.result]++;
    *ret_visit = visit;
    return BB_OK;
}

/* The lookup state that continues a visit. */
static struct lookup lookup_of_visit(const struct bb_table_visit *visit,
                                     const struct bb_read_options *options, struct bb_bytes key,
                                     uint64_t sequence, struct bb_read_stats *stats,
                                     struct bb_buf *value)
{
    struct lookup lookup = lookup_of(visit->table, options, key, sequence, stats);
    lookup.value = value;
    lookup.is_covered = visit->is_covered;
    lookup.covering = visit->covering;
    return lookup;
}

static enum bb_status end_visit(struct bb_table_visit *visit, struct bb_read_stats *stats,
                                enum bb_status status)
{
    bb_table_page_release(visit->table, visit->page);
    visit->has_ended = true;
    if (status == BB_OK)
        stats->visits[visit->result]++;
    return status;
}

enum bb_status bb_table_visit_try(struct bb_table_visit *visit,
                                  const struct bb_read_options *options, struct bb_bytes key,
                                  uint64_t sequence, struct bb_read_stats *stats,
                                  struct bb_buf *value)
{
    struct lookup lookup = lookup_of_visit(visit, options, key, sequence, stats, value);
    struct bb_block *block = NULL;
    struct bb_block_scratch scratch;
    BB_ASSERT(!visit->has_ended && !visit->awaits);
    enum bb_status status = bb_table_block_try(visit->table, options, visit->page, visit->ordinal,
                                               &scratch, stats, &visit->is_wanted, &block);
    visit->awaits = status == BB_OK && block == NULL;
    if (visit->awaits)
        return BB_OK;
    if (status == BB_OK)
        status =
            search_in(&lookup, block, visit->block_offset, &visit->found_sequence, &visit->result);
    return end_visit(visit, stats, status);
}

static enum bb_status await_block(const struct lookup *lookup, struct bb_table_visit *visit)
{
    struct bb_block *block = NULL;
    struct bb_block_scratch scratch;
    enum bb_status status = bb_table_block_await(visit->table, visit->page, visit->ordinal,
                                                 &scratch, visit->is_wanted, lookup->stats, &block);
    if (status != BB_OK)
        return status;
    return search_in(lookup, block, visit->block_offset, &visit->found_sequence, &visit->result);
}

enum bb_status bb_table_visit_end(struct bb_table_visit *visit,
                                  const struct bb_read_options *options, struct bb_bytes key,
                                  uint64_t sequence, struct bb_read_stats *stats,
                                  struct bb_buf *value)
{
    struct lookup lookup = lookup_of_visit(visit, options, key, sequence, stats, value);
    enum bb_status status = BB_OK;
    BB_ASSERT(!visit->has_ended);
    if (visit->awaits)
        status = await_block(&lookup, visit);
    else
        status = search_block(&lookup, visit->page, visit->ordinal, &visit->found_sequence,
                              &visit->result);
    return end_visit(visit, stats, status);
}
