/* See newest.h. */
#include "kv/select/newest.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "compaction/levels/levels.h"
#include "kv/memtable/memtable.h"

/* The answer of a run about a key: the key's newest visible version in the run, or the run's range
 * tombstone that covers the key. */
struct answer {
    bool is_any; /* the run has one of them */
    bool is_put;
    uint64_t sequence;
};

static enum bb_status ask_memtable(struct bb_newest *newest, const struct bb_memtable *memtable,
                                   struct bb_bytes key, uint64_t hash, struct answer *answer)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    newest->asked++;
    if (!bb_memtable_may_contain(memtable, hash))
        return BB_OK;
    enum bb_status status =
        bb_memtable_get(memtable, key, hash, newest->sequence, &value, &kind, &answer->sequence);
    answer->is_any = status == BB_OK;
    answer->is_put = answer->is_any && kind == BB_ENTRY_PUT;
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status ask_table(struct bb_newest *newest, struct bb_table_file *file,
                                struct bb_bytes key, uint64_t hash, struct answer *answer)
{
    static const struct bb_read_options options;
    struct bb_table *table = NULL;
    struct bb_pinned value = {0};
    enum bb_visit visit = BB_VISIT_NOT_VISIBLE;
    newest->asked++;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_get_pinned(table, &options, key, hash, newest->sequence, &newest->stats,
                                     &value, &answer->sequence, &visit);
    bb_pinned_release(&value);
    if (status != BB_OK)
        return status;
    answer->is_put = visit == BB_VISIT_PRESENT;
    answer->is_any = answer->is_put || visit == BB_VISIT_TOMBSTONE;
    return BB_OK;
}

/* ---- cursors ---- */

static size_t cursor_count(const struct bb_newest *newest)
{
    return bb_levels_run_count(newest->view->levels);
}

void bb_newest_deinit(struct bb_newest *newest)
{
    for (size_t i = 0; newest->cursors != NULL && i < cursor_count(newest); i++)
        bb_run_cursor_deinit(&newest->cursors[i]);
    bb_free(newest->cursors);
    newest->cursors = NULL;
    bb_buf_deinit(&newest->last_key);
}

/* Creates the cursors, one per run of the levels. WHY not at the first check: most selections check
 * few records. Without memory there are no cursors. */
static void make_cursors(struct bb_newest *newest)
{
    size_t count = cursor_count(newest);
    if (newest->cursors == NULL && newest->asked > 0 && count > 0)
        newest->cursors = bb_alloc_zeroed(count, sizeof(newest->cursors[0]));
}

static void leave_cursors(struct bb_newest *newest)
{
    for (size_t i = 0; i < cursor_count(newest); i++)
        bb_run_cursor_leave(&newest->cursors[i]);
}

/* Cursors follow ascending keys. If the key is below the previous one, they leave their runs. This
 * happens in a backward selection, and between the last granule of one table and the first of
 * another. */
static void prepare_cursors(struct bb_newest *newest, struct bb_bytes key)
{
    bool has_last = newest->cursors != NULL;
    make_cursors(newest);
    if (newest->cursors == NULL)
        return;
    struct bb_bytes last = bb_bytes_of(newest->last_key.data, newest->last_key.size);
    if (has_last && bb_key_compare(newest->comparator, last, key) > 0)
        leave_cursors(newest);
    if (bb_buf_assign(&newest->last_key, key) != BB_OK)
        bb_newest_deinit(newest);
}

/* Searches a run with its cursor. False: the cursor does not know, and the run must be searched. */
static bool ask_cursor(struct bb_newest *newest, struct bb_run_cursor *cursor,
                       const struct bb_run *run, struct bb_bytes key, struct answer *answer)
{
    const struct bb_entry *entry = NULL;
    struct bb_followed_run followed = {
        .run = run, .comparator = newest->comparator, .stats = &newest->stats};
    if (!bb_run_cursor_find(cursor, &followed, key, newest->sequence, &entry))
        return false;
    newest->asked++;
    answer->is_any = entry != NULL;
    answer->is_put = answer->is_any && entry->kind == BB_ENTRY_PUT;
    answer->sequence = answer->is_any ? entry->sequence : 0;
    return true;
}

/* ---- checking ---- */

static enum bb_status look_up(struct bb_newest *newest, const struct bb_run *run,
                              struct bb_bytes key, uint64_t hash, struct answer *answer)
{
    struct bb_table_file *file = bb_run_find(run, newest->comparator, key);
    return file == NULL ? BB_OK : ask_table(newest, file, key, hash, answer);
}

static enum bb_status ask_run(struct bb_newest *newest, size_t number, struct bb_bytes key,
                              uint64_t hash, struct answer *answer)
{
    const struct bb_memtable *memtable = bb_view_memtable(newest->view, number);
    if (memtable != NULL)
        return ask_memtable(newest, memtable, key, hash, answer);
    const struct bb_run *run = bb_view_turn(newest->view, number)->run;
    if (newest->cursors == NULL)
        return look_up(newest, run, key, hash, answer);
    struct bb_run_cursor *cursor = &newest->cursors[number - newest->view->buffer_count];
    if (ask_cursor(newest, cursor, run, key, answer))
        return BB_OK;
    uint64_t blocks = newest->stats.block_requests;
    enum bb_status status = look_up(newest, run, key, hash, answer);
    bb_run_cursor_learn(cursor, newest->stats.block_requests != blocks);
    return status;
}

enum bb_status bb_newest_check(struct bb_newest *newest, const struct bb_found *found,
                               bool *ret_is_newest)
{
    uint64_t hash = bb_hash_key(newest->secret, found->key);
    struct answer answer = {0};
    size_t end = found->is_only_version ? found->run : found->run + 1;
    enum bb_status status = BB_OK;
    if (end > newest->view->buffer_count)
        prepare_cursors(newest, found->key);
    for (size_t run = 0; run < end && status == BB_OK && !answer.is_any; run++)
        status = ask_run(newest, run, found->key, hash, &answer);
    if (status != BB_OK)
        return status;
    *ret_is_newest = answer.is_any ? answer.is_put && answer.sequence == found->sequence
                                   : found->is_only_version;
    return BB_OK;
}
