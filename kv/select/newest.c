/* See newest.h. */
#include "kv/select/newest.h"

#include "compaction/levels/levels.h"
#include "kv/memtable/memtable.h"

/* A run's information about a key: the newest visible version in it, or the range deletion that
 * covers it. */
struct word {
    bool is_any;
    bool is_put;
    uint64_t sequence;
};

static enum bb_status ask_memtable(struct bb_newest *newest, const struct bb_memtable *memtable,
                                   struct bb_bytes key, uint64_t hash, struct word *word)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    newest->asked++;
    if (!bb_memtable_may_contain(memtable, hash))
        return BB_OK;
    enum bb_status status =
        bb_memtable_get(memtable, key, hash, newest->sequence, &value, &kind, &word->sequence);
    word->is_any = status == BB_OK;
    word->is_put = word->is_any && kind == BB_ENTRY_PUT;
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status ask_table(struct bb_newest *newest, struct bb_table_file *file,
                                struct bb_bytes key, uint64_t hash, struct word *word)
{
    static const struct bb_read_options options;
    struct bb_table *table = NULL;
    struct bb_pinned value = {0};
    enum bb_visit visit = BB_VISIT_NOT_VISIBLE;
    newest->asked++;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_get_pinned(table, &options, key, hash, newest->sequence, &newest->stats,
                                     &value, &word->sequence, &visit);
    bb_pinned_release(&value);
    if (status != BB_OK)
        return status;
    word->is_put = visit == BB_VISIT_PRESENT;
    word->is_any = word->is_put || visit == BB_VISIT_TOMBSTONE;
    return BB_OK;
}

static enum bb_status ask_run(struct bb_newest *newest, size_t run, struct bb_bytes key,
                              uint64_t hash, struct word *word)
{
    const struct bb_memtable *memtable = bb_view_memtable(newest->view, run);
    if (memtable != NULL)
        return ask_memtable(newest, memtable, key, hash, word);
    struct bb_table_file *file =
        bb_run_find(bb_view_turn(newest->view, run)->run, newest->comparator, key);
    return file == NULL ? BB_OK : ask_table(newest, file, key, hash, word);
}

enum bb_status bb_newest_check(struct bb_newest *newest, const struct bb_found *found,
                               bool *ret_is_newest)
{
    uint64_t hash = bb_hash_key(newest->secret, found->key);
    struct word word = {0};
    size_t end = found->is_only_version ? found->run : found->run + 1;
    enum bb_status status = BB_OK;
    for (size_t run = 0; run < end && status == BB_OK && !word.is_any; run++)
        status = ask_run(newest, run, found->key, hash, &word);
    if (status != BB_OK)
        return status;
    *ret_is_newest =
        word.is_any ? word.is_put && word.sequence == found->sequence : found->is_only_version;
    return BB_OK;
}
