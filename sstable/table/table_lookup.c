/* See table_lookup.h. Range tombstones are checked before all filters: filters only have keys of
 * entries, and return no for a deleted range without entries. */
#include "sstable/table/table_lookup.h"

#include "base/assert.h"
#include "base/counter.h"
#include "base/pinned.h"
#include "sstable/table/read_options.h"
#include "sstable/table/table.h"

/* ---- results ---- */

static void end_with(struct bb_table_lookup *lookup, enum bb_visit visit, uint64_t sequence)
{
    lookup->state = BB_LOOKUP_ENDED;
    lookup->visit = visit;
    lookup->found_sequence = sequence;
    bb_counter_add(&lookup->stats->visits[visit], 1);
}

/* Ends a lookup that found no visible entry: a range tombstone that covers the key decides. */
static void end_without(struct bb_table_lookup *lookup, enum bb_visit visit)
{
    end_with(lookup, lookup->is_covered ? BB_VISIT_TOMBSTONE : visit, lookup->covering);
}

/* ---- the checks, in their order ---- */

/* True when the range tombstones decide, because there are no entries. WHY this excludes a
 * tombstone with the newest sequence of the table: an entry may have the same sequence, as in an
 * ingest, and is not hidden then. */
static bool decide_by_ranges(struct bb_table_lookup *lookup)
{
    const struct bb_table *table = lookup->table;
    const struct bb_table_question *ask = lookup->question;
    if (__builtin_expect(table->range_tombstones == NULL, 1))
        return false;
    lookup->is_covered = bb_range_tombstones_cover(table->range_tombstones, ask->key, ask->sequence,
                                                   &lookup->covering);
    return table->root.page_count == 0;
}

static const struct bb_table_filter *ready_table_filter(const struct bb_table *table)
{
    return atomic_load_explicit(&table->ready_table_filter, memory_order_acquire);
}

const struct bb_table_filter *bb_table_lookup_ready_filter(const struct bb_table *table)
{
    return atomic_load(&table->ready_table_filter);
}

static bool is_distrusted(const struct bb_table *table)
{
    return atomic_load_explicit(&table->is_distrusted, memory_order_relaxed);
}

/* Probes the table filter. True: the table may have the key. */
static bool ask_table_filter(const struct bb_table_lookup *lookup)
{
    struct bb_table *table = lookup->table;
    if (lookup->question->options.ignore_filters)
        return true;
    if (!table->probes_table_filter || is_distrusted(table)) {
        bb_counter_add(&lookup->stats->damaged_filters,
                       table->has_unusable_table_filter || table->probes_table_filter);
        return true;
    }
    const struct bb_table_filter *ready = ready_table_filter(table);
    bool is_sound = false;
    if (ready == NULL)
        return bb_table_may_contain(table, lookup->question->key, lookup->table_hash,
                                    lookup->stats);
    if (bb_table_filter_denies(ready, lookup->table_hash, &is_sound))
        return false;
    bb_counter_add(&lookup->stats->damaged_filters, !is_sound);
    return true;
}

/* Probes the block's filter. True: the block may have the key. */
static bool ask_filter(const struct bb_table_lookup *lookup)
{
    const struct bb_table *table = lookup->table;
    const struct bb_index_page *page = lookup->page;
    if (lookup->question->options.ignore_filters)
        return true;
    if (!page->has_filters || is_distrusted(table)) {
        bb_counter_add(&lookup->stats->damaged_filters, page->has_damaged_filters ||
                                                            table->has_unusable_filters ||
                                                            is_distrusted(table));
        return true;
    }
    struct bb_block_filter_key key = bb_block_filter_key(&table->filter_format, lookup->table_hash);
    return bb_index_page_may_contain(page, &table->filter_format, lookup->ordinal, key);
}

/* ---- statistics of avoided work ---- */

static bool is_block_cached(const struct bb_table_lookup *lookup, const struct bb_index_page *page,
                            uint32_t ordinal)
{
    const struct bb_table *table = lookup->table;
    struct bb_cache_item *item = NULL;
    if (table->cache != NULL)
        item = bb_block_cache_peek(table->cache, table->cache_owner,
                                   bb_index_page_block_offset(page, ordinal));
    bb_block_cache_item_unref(item);
    return item != NULL;
}

/* True when the block that the search would have found is cached. This runs the search that was
 * skipped, but reads no index page: if the page is not in memory, its blocks rarely are. */
static bool is_unsearched_cached(const struct bb_table_lookup *lookup)
{
    struct bb_table *table = lookup->table;
    const struct bb_table_question *ask = lookup->question;
    uint32_t index = bb_root_find(&table->root, table->comparator, ask->key, ask->sequence);
    struct bb_index_page *page = bb_table_page_peek(table, index);
    if (page == NULL)
        return false;
    uint32_t ordinal = bb_index_page_find(page, table->comparator, ask->key, ask->sequence);
    bool is_cached = is_block_cached(lookup, page, ordinal);
    bb_table_page_release(table, page);
    return is_cached;
}

/* Counts a request for a block that a filter avoided; and, if the caller wants to know, a read. */
static void end_denied(struct bb_table_lookup *lookup, enum bb_visit visit)
{
    bb_counter_add(&lookup->stats->avoided_requests, 1);
    if (lookup->question->options.account_avoided)
        bb_counter_add(&lookup->stats->avoided_reads,
                       lookup->page == NULL
                           ? !is_unsearched_cached(lookup)
                           : !is_block_cached(lookup, lookup->page, lookup->ordinal));
    end_without(lookup, visit);
}

/* ---- the steps ---- */

/* Takes the step of the state NEW. True: the table may have the key. */
static bool pass_table(struct bb_table_lookup *lookup)
{
    const struct bb_table *table = lookup->table;
    if (!bb_bounds_contain(&table->bounds, table->comparator, lookup->question->key) ||
        decide_by_ranges(lookup)) {
        end_without(lookup, BB_VISIT_OUT_OF_BOUNDS);
        return false;
    }
    if (ask_table_filter(lookup))
        return true;
    end_denied(lookup, BB_VISIT_TABLE_FILTER_NEGATIVE);
    return false;
}

/* True if probing the table filter may read the file. */
static bool is_table_filter_unread(const struct bb_table *table)
{
    return table->probes_table_filter && !is_distrusted(table) &&
           atomic_load_explicit(&table->table_filter, memory_order_acquire) == NULL;
}

static enum bb_status acquire_page(struct bb_table_lookup *lookup, uint32_t index)
{
    struct bb_table *table = lookup->table;
    if (!lookup->question->is_immediate)
        return bb_table_page_acquire(table, index, lookup->stats, &lookup->page);
    bb_counter_add(&lookup->stats->page_requests, 1);
    lookup->page = bb_table_page_peek(table, index);
    return lookup->page != NULL ? BB_OK : BB_WOULD_WAIT;
}

/* Takes the step of the state LET_THROUGH. */
static enum bb_status find_block(struct bb_table_lookup *lookup)
{
    struct bb_table *table = lookup->table;
    const struct bb_table_question *ask = lookup->question;
    uint32_t index = bb_root_find(&table->root, table->comparator, ask->key, ask->sequence);
    enum bb_status status = acquire_page(lookup, index);
    if (status != BB_OK)
        return status;
    lookup->ordinal = bb_index_page_find(lookup->page, table->comparator, ask->key, ask->sequence);
    lookup->block_offset = bb_index_page_block_offset(lookup->page, lookup->ordinal);
    lookup->state = BB_LOOKUP_BLOCK;
    /* The filter's line and the cache's line arrive together. WHY only after a table filter:
     * without one most keys may be absent, and then no block is searched for. */
    if (table->probes_table_filter && !table->uses_blocks_in_place)
        bb_table_block_prefetch(table, lookup->page, lookup->ordinal);
    if (ask_filter(lookup))
        return BB_OK;
    end_denied(lookup, BB_VISIT_FILTER_NEGATIVE);
    bb_table_page_release(table, lookup->page);
    return BB_OK;
}

enum bb_status bb_table_lookup_begin(struct bb_table_lookup *lookup)
{
    const struct bb_table *table = lookup->table;
    bool is_let_through = lookup->state == BB_LOOKUP_LET_THROUGH;
    lookup->table_hash = table->takes_given_hash
                             ? lookup->question->key_hash
                             : bb_hash_key(&table->secret, lookup->question->key);
    lookup->is_covered = false;
    lookup->covering = 0;
    lookup->page = NULL;
    if (lookup->question->is_immediate && !is_let_through && is_table_filter_unread(table)) {
        lookup->state = BB_LOOKUP_ENDED;
        return BB_WOULD_WAIT;
    }
    if (!is_let_through && !pass_table(lookup))
        return BB_OK;
    lookup->state = BB_LOOKUP_ENDED; /* if find_block fails */
    return find_block(lookup);
}

static void unref_block(void *block)
{
    bb_block_unref(block);
}

/* Returns the value and, if it is pinned, the block. */
static enum bb_status deliver(const struct bb_table_lookup *lookup, struct bb_block **block,
                              struct bb_bytes value)
{
    if (lookup->question->pinned == NULL)
        return bb_buf_assign(lookup->question->value, value);
    *lookup->question->pinned = bb_pinned_of(value, *block, unref_block);
    *block = NULL;
    return BB_OK;
}

/* Searches the block. Takes over the caller's reference to it. */
static enum bb_status search(struct bb_table_lookup *lookup, struct bb_block *block)
{
    const struct bb_table *table = lookup->table;
    const struct bb_table_question *ask = lookup->question;
    struct bb_block_match match = {0};
    struct bb_place place = bb_table_place(table, lookup->block_offset);
    enum bb_status status =
        bb_block_find(block, table->comparator, place, ask->key, ask->sequence, &match);
    bool is_found = match.is_found && match.sequence >= lookup->covering;
    bool is_put = is_found && match.kind == BB_ENTRY_PUT;
    bool is_in_map = bb_table_map_has(&table->map, block->payload);
    if (status == BB_OK && is_put)
        status = deliver(lookup, &block, match.value);
    if (is_in_map && !bb_table_map_is_sound(&table->map))
        status = bb_table_map_fail(place);
    bb_block_unref(block);
    if (status != BB_OK)
        return status;
    if (is_found)
        end_with(lookup, is_put ? BB_VISIT_PRESENT : BB_VISIT_TOMBSTONE, match.sequence);
    else
        end_without(lookup, match.has_newer ? BB_VISIT_NOT_VISIBLE : BB_VISIT_FALSE_POSITIVE);
    return BB_OK;
}

enum bb_status bb_table_lookup_try(struct bb_table_lookup *lookup)
{
    struct bb_block *block = NULL;
    struct bb_block_scratch scratch;
    BB_ASSERT(lookup->state == BB_LOOKUP_BLOCK && lookup->question->pinned == NULL);
    enum bb_status status = bb_table_block_try(
        lookup->table, &lookup->question->options, lookup->page, lookup->ordinal, &scratch,
        !lookup->question->is_immediate, lookup->stats, &lookup->is_wanted, &block);
    lookup->state = status == BB_OK && block == NULL ? BB_LOOKUP_AWAITED : BB_LOOKUP_ENDED;
    if (lookup->state == BB_LOOKUP_AWAITED)
        return BB_OK;
    if (status == BB_OK)
        status = search(lookup, block);
    bb_table_page_release(lookup->table, lookup->page);
    return status;
}

enum bb_status bb_table_lookup_end(struct bb_table_lookup *lookup)
{
    const struct bb_table_question *ask = lookup->question;
    struct bb_block *block = NULL;
    struct bb_block_scratch scratch;
    bool is_awaited = lookup->state == BB_LOOKUP_AWAITED;
    BB_ASSERT(is_awaited || lookup->state == BB_LOOKUP_BLOCK);
    enum bb_status status =
        is_awaited
            ? bb_table_block_await(lookup->table, lookup->page, lookup->ordinal, &scratch,
                                   lookup->is_wanted, lookup->stats, &block)
            : bb_table_block_acquire(lookup->table, &ask->options, lookup->page, lookup->ordinal,
                                     &scratch, ask->pinned != NULL, lookup->stats, &block);
    if (status == BB_OK)
        status = search(lookup, block);
    lookup->state = BB_LOOKUP_ENDED;
    bb_table_page_release(lookup->table, lookup->page);
    return status;
}

/* Searches the block only if it is in memory. */
static enum bb_status end_at_once(struct bb_table_lookup *lookup)
{
    enum bb_status status = bb_table_lookup_try(lookup);
    if (lookup->state != BB_LOOKUP_AWAITED)
        return status;
    bb_table_page_release(lookup->table, lookup->page);
    lookup->state = BB_LOOKUP_ENDED;
    return BB_WOULD_WAIT;
}

enum bb_status bb_table_lookup_run(struct bb_table_lookup *lookup)
{
    enum bb_status status = bb_table_lookup_begin(lookup);
    if (lookup->state == BB_LOOKUP_ENDED)
        return status;
    return lookup->question->is_immediate ? end_at_once(lookup) : bb_table_lookup_end(lookup);
}

/* ---- single gets ---- */

/* The fast path for most absent keys. It is separate, because a shorter path lets the processor
 * start more of the next lookups while it waits for the memory of this one. (Measured at 5 million
 * keys: two thirds of the time.) False: a lookup is needed, from the state *ret_state. */
static inline bool is_denied_at_once(const struct bb_table *table,
                                     const struct bb_table_question *question,
                                     enum bb_table_lookup_state *ret_state)
{
    bool is_let_through = false;
    if (!bb_read_options_permit_denials(&question->options))
        return false;
    const struct bb_table_filter *table_filter = ready_table_filter(table);
    if (table_filter == NULL ||
        !bb_bounds_contain(&table->bounds, table->comparator, question->key))
        return false;
    if (bb_table_filter_denies(table_filter, question->key_hash, &is_let_through))
        return true;
    *ret_state = is_let_through ? BB_LOOKUP_LET_THROUGH : BB_LOOKUP_NEW;
    return false;
}

/* stats may be NULL. */
static __attribute__((noinline)) enum bb_status
run(struct bb_table *table, const struct bb_table_question *question,
    enum bb_table_lookup_state state, struct bb_read_stats *stats, uint64_t *ret_sequence,
    enum bb_visit *ret_visit)
{
    struct bb_read_stats unwanted;
    struct bb_table_lookup lookup;
    if (stats == NULL)
        unwanted = (struct bb_read_stats){0};
    bb_table_lookup_init(&lookup, table, question, stats == NULL ? &unwanted : stats, state);
    enum bb_status status = bb_table_lookup_run(&lookup);
    if (status != BB_OK)
        return status;
    *ret_sequence = lookup.found_sequence;
    *ret_visit = lookup.visit;
    return BB_OK;
}

/* Completes the question with the options, and answers it. */
static inline enum bb_status get(struct bb_table *table, const struct bb_read_options *options,
                                 struct bb_table_question *question, struct bb_read_stats *stats,
                                 uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    enum bb_table_lookup_state state = BB_LOOKUP_NEW;
    question->options = bb_read_options_of(options);
    if (!is_denied_at_once(table, question, &state))
        return run(table, question, state, stats, ret_sequence, ret_visit);
    *ret_visit = BB_VISIT_TABLE_FILTER_NEGATIVE;
    if (stats != NULL)
        bb_read_stats_add_denial(stats);
    return BB_OK;
}

enum bb_status bb_table_get(struct bb_table *table, const struct bb_read_options *options,
                            struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                            struct bb_read_stats *stats, struct bb_buf *value,
                            uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    struct bb_table_question question = {
        .key = key, .key_hash = key_hash, .sequence = sequence, .value = value};
    return get(table, options, &question, stats, ret_sequence, ret_visit);
}

enum bb_status bb_table_get_pinned(struct bb_table *table, const struct bb_read_options *options,
                                   struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                                   struct bb_read_stats *stats, struct bb_pinned *ret_value,
                                   uint64_t *ret_sequence, enum bb_visit *ret_visit)
{
    struct bb_table_question question = {
        .key = key, .key_hash = key_hash, .sequence = sequence, .pinned = ret_value};
    return get(table, options, &question, stats, ret_sequence, ret_visit);
}
