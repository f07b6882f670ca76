/* Selections: returns the candidates of all runs that no newer version hides. See bb/select.h. */
#include "base/assert.h"
#include "bb/select.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "kv/indexes/index_demand.h"
#include "kv/indexes/store_catalog.h"
#include "kv/select/select_streams.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "sstable/kept_range.h"

struct bb_select {
    struct bb_db *db;
    struct bb_view *view;           /* with a reference */
    struct bb_catalog *catalog;     /* one reference */
    struct bb_condition *condition; /* parsed here, or NULL */
    struct bb_kept_range kept;
    struct bb_candidate_source source;
    struct bb_select_streams streams;
    struct bb_newest newest;
    uint64_t limit;
    uint64_t begin; /* time of creation */
    bool is_started;
    bool has_record;
    _Atomic bool is_moving;  /* kv/store/inherited.h */
    struct bb_error failure; /* ended the selection */
};

/* ---- options ---- */

static enum bb_status take_options(const struct bb_select_options *options,
                                   struct bb_select_options *ret_options)
{
    *ret_options = options == NULL ? (struct bb_select_options){0} : *options;
    return bb_matcher_check(ret_options->where, ret_options->condition, ret_options->schema);
}

static enum bb_status take_condition(struct bb_select *select,
                                     const struct bb_select_options *options)
{
    const struct bb_schema *schema =
        options->schema != NULL ? options->schema : select->catalog->schema;
    return bb_matcher_init_with(&select->source.matcher, schema, options->where, options->condition,
                                &select->condition);
}

/* ---- making ---- */

static void pin(struct bb_select *select, const struct bb_select_options *options)
{
    struct bb_db *db = select->db;
    select->view = bb_current_view_pin(db);
    /* The view must be loaded before the sequence: see kv/read/lookup.c. */
    uint64_t sequence = options->snapshot != NULL
                            ? options->snapshot->sequence
                            : bb_view_sequence(select->view, &db->last_sequence);
    select->source.sequence = sequence;
    select->newest = (struct bb_newest){.view = select->view,
                                        .comparator = db->options.comparator,
                                        .secret = &db->secret,
                                        .sequence = sequence};
}

static enum bb_status name_accounts(struct bb_select *select)
{
    const struct bb_catalog *catalog = select->catalog;
    struct bb_select_index_account *accounts =
        bb_alloc_zeroed(catalog->index_count + 1, sizeof(*accounts));
    if (accounts == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the accounts of %zu indexes",
                       catalog->index_count);
    for (size_t i = 0; i < catalog->index_count; i++)
        accounts[i] = (struct bb_select_index_account){.name = catalog->names[i],
                                                       .rate = catalog->specs[i].rate};
    select->source.index_accounts = accounts;
    return BB_OK;
}

/* A selection without a condition does not use indexes. */
static enum bb_status make_evaluator(struct bb_select *select,
                                     const struct bb_select_options *options)
{
    const struct bb_matcher *matcher = &select->source.matcher;
    if (options->ignore_indexes || matcher->condition == NULL)
        return BB_OK;
    return bb_skip_evaluator_create(matcher->condition, matcher->schema, &select->source.evaluator);
}

static enum bb_status fill(struct bb_select *select, const struct bb_select_options *options)
{
    struct bb_candidate_source *source = &select->source;
    enum bb_status status = bb_kept_range_init(&select->kept, options->range);
    if (status == BB_OK)
        status = take_condition(select, options);
    if (status == BB_OK)
        status = make_evaluator(select, options);
    if (status == BB_OK)
        status = name_accounts(select);
    if (status != BB_OK)
        return status;
    source->catalog = select->catalog;
    source->comparator = select->db->options.comparator;
    source->range = &select->kept.range;
    source->system = select->db->system;
    source->is_read_only = select->db->options.read_only;
    source->newest = &select->newest;
    source->progress = options->progress;
    source->progress_context = options->progress_context;
    select->limit = options->limit;
    if (select->source.matcher.condition != NULL && !options->ignore_indexes &&
        select->catalog->index_count > 0)
        bb_index_demand_add(select->db);
    pin(select, options);
    return bb_select_streams_init(&select->streams, source, select->view, options->backward);
}

enum bb_status bb_db_select(struct bb_db *db, const struct bb_select_options *options,
                            struct bb_select **ret_select)
{
    struct bb_select_options taken;
    enum bb_status status = bb_inherited_check(db);
    if (status == BB_OK)
        status = take_options(options, &taken);
    if (status != BB_OK)
        return status;
    struct bb_select *select = bb_alloc_zeroed(1, sizeof(*select));
    if (select == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a selection");
    atomic_fetch_add(&db->iterator_count, 1);
    select->db = db;
    select->begin = db->system->ops->now(db->system);
    select->catalog = bb_store_catalog_ref(db);
    status = fill(select, &taken);
    if (status != BB_OK) {
        struct bb_error failure = *bb_error_last();
        bb_select_destroy(select);
        return bb_error_restore(&failure);
    }
    *ret_select = select;
    return BB_OK;
}

/* Releases everything except the view. */
static void release_memory(struct bb_select *select)
{
    bb_newest_deinit(&select->newest);
    bb_select_streams_deinit(&select->streams);
    bb_skip_evaluator_destroy(select->source.evaluator);
    bb_matcher_deinit(&select->source.matcher);
    bb_free(select->source.file_accounts);
    bb_free(select->source.index_accounts);
    bb_buf_deinit(&select->source.newer);
    bb_condition_destroy(select->condition);
    bb_catalog_unref(select->catalog);
    bb_kept_range_deinit(&select->kept);
    bb_free(select);
}

/* Destroys a selection in a forked child. Does not free a selection that a thread of the parent was
 * moving. See leave_iter in kv/read/scan.c. */
static void leave(struct bb_select *select)
{
    struct bb_db *db = select->db;
    struct bb_view *view = select->view;
    if (bb_move_was_begun(&select->is_moving))
        return;
    release_memory(select);
    bb_inherited_release(db, view);
}

void bb_select_destroy(struct bb_select *select)
{
    if (select == NULL)
        return;
    if (bb_store_is_inherited(select->db)) {
        leave(select);
        return;
    }
    struct bb_db *db = select->db;
    struct bb_view *view = select->view;
    bb_readers_add_scan(&db->readers, &select->newest.stats);
    release_memory(select);
    if (view != NULL)
        bb_current_view_unpin(db, view);
    /* This must be last: a thread that sees the lower count may close the store. */
    atomic_fetch_sub(&db->iterator_count, 1);
}

/* ---- moving ---- */

static const struct bb_entry *entry_of(const struct bb_select *select)
{
    return &select->streams.current->iter->entry;
}

static enum bb_status is_newest(struct bb_select *select, bool *ret_is_newest)
{
    const struct bb_select_stream *stream = select->streams.current;
    struct bb_found found = {.run = stream->run,
                             .is_only_version = stream->is_only_version,
                             .key = entry_of(select)->key,
                             .sequence = entry_of(select)->sequence};
    enum bb_status status = bb_newest_check(&select->newest, &found, ret_is_newest);
    if (status == BB_OK && !*ret_is_newest)
        select->source.account.records_hidden++;
    return status;
}

static enum bb_status move(struct bb_select *select)
{
    bool is_first = !select->is_started;
    select->is_started = true;
    return is_first ? bb_select_streams_first(&select->streams)
                    : bb_select_streams_next(&select->streams);
}

/* Moves to the next candidate that is not hidden. */
static enum bb_status find_shown(struct bb_select *select)
{
    bool is_shown = false;
    enum bb_status status = BB_OK;
    while (status == BB_OK && !is_shown) {
        status = move(select);
        if (status != BB_OK || select->streams.current == NULL)
            return status;
        status = is_newest(select, &is_shown);
    }
    select->has_record = status == BB_OK;
    return status;
}

/* Damage of an index, for example, costs only reads. Then no error remains. */
static enum bb_status advance(struct bb_select *select)
{
    struct bb_error before;
    bb_error_save(&before);
    bb_move_begin(&select->is_moving);
    enum bb_status status = find_shown(select);
    bb_move_end(&select->is_moving);
    return bb_error_settle(status, &before);
}

static bool is_at_limit(const struct bb_select *select)
{
    return select->limit > 0 && select->source.account.records_returned == select->limit;
}

enum bb_status bb_select_next(struct bb_select *select, bool *ret_has_record)
{
    enum bb_status inherited = bb_inherited_check(select->db);
    if (inherited != BB_OK)
        return inherited;
    if (select->failure.status != BB_OK)
        return bb_error_restore(&select->failure);
    bool is_over = is_at_limit(select) || (select->is_started && !select->has_record);
    select->has_record = false;
    enum bb_status status = is_over ? BB_OK : advance(select);
    if (status != BB_OK) {
        select->failure = *bb_error_last();
        return status;
    }
    select->source.account.records_returned += select->has_record;
    *ret_has_record = select->has_record;
    return BB_OK;
}

struct bb_bytes bb_select_key(const struct bb_select *select)
{
    BB_DEBUG_ASSERT(select->has_record);
    return entry_of(select)->key;
}

struct bb_bytes bb_select_value(const struct bb_select *select)
{
    return entry_of(select)->value;
}

enum bb_status bb_select_attributes(struct bb_select *select,
                                    const struct bb_attribute **ret_attributes)
{
    enum bb_status status = bb_inherited_check(select->db);
    if (status != BB_OK)
        return status;
    const struct bb_entry *entry = entry_of(select);
    bb_move_begin(&select->is_moving);
    status = bb_matcher_read(&select->source.matcher, entry->key, entry->value, ret_attributes);
    bb_move_end(&select->is_moving);
    return status;
}

void bb_select_index_accounts(const struct bb_select *select,
                              const struct bb_select_index_account **ret_accounts,
                              size_t *ret_count)
{
    *ret_accounts = select->source.index_accounts;
    *ret_count = select->catalog->index_count;
}

void bb_select_account(const struct bb_select *select, struct bb_select_account *ret_account)
{
    struct bb_db *db = select->db;
    *ret_account = select->source.account;
    ret_account->records_examined = select->source.matcher.examined;
    ret_account->records_matching = select->source.matcher.matching;
    ret_account->newer_searched = select->newest.asked;
    ret_account->newer_blocks = select->newest.stats.block_requests;
    ret_account->nanoseconds = bb_file_elapsed(db->system, select->begin);
}

enum bb_status bb_select_count(struct bb_select *select, uint64_t *ret_count)
{
    BB_DEBUG_ASSERT(!select->is_started);
    uint64_t count = 0;
    bool has_record = true;
    enum bb_status status = BB_OK;
    select->source.counts_unread = select->limit == 0;
    while (status == BB_OK && has_record) {
        status = bb_select_next(select, &has_record);
        count += status == BB_OK && has_record;
    }
    if (status == BB_OK)
        *ret_count = count + select->source.counted_records;
    return status;
}

enum bb_status bb_db_select_count(struct bb_db *db, const struct bb_select_options *options,
                                  uint64_t *ret_count, struct bb_select_account *account)
{
    struct bb_select *select = NULL;
    enum bb_status status = bb_db_select(db, options, &select);
    if (status == BB_OK)
        status = bb_select_count(select, ret_count);
    if (select != NULL && account != NULL)
        bb_select_account(select, account);
    bb_select_destroy(select);
    return status;
}
