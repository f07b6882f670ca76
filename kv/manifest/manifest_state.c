/* See manifest_state.h.
 *
 * The live tables are an array of pointers in numerical order. New tables have the highest numbers,
 * so most edits append, and a lookup is a binary search.
 */
#include "kv/manifest/manifest_state.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/comparator.h"
#include "kv/manifest/filename.h"
#include "sstable/meta/table_meta.h"

static void destroy_table(struct bb_edit_table *table)
{
    bb_table_meta_deinit(&table->meta);
    bb_free(table);
}

void bb_manifest_state_deinit(struct bb_manifest_state *state)
{
    for (size_t i = 0; i < state->table_count; i++)
        destroy_table(state->tables[i]);
    bb_free(state->tables);
    bb_buf_deinit(&state->catalog);
    bb_free(state->log_ends);
    *state = (struct bb_manifest_state){0};
}

/* The index of the first table with this number or a higher one. */
static size_t lower_bound(const struct bb_manifest_state *state, uint64_t number)
{
    size_t low = 0;
    size_t high = state->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->tables[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct bb_edit_table *bb_manifest_state_find(const struct bb_manifest_state *state,
                                                   uint64_t number)
{
    size_t index = lower_bound(state, number);
    bool is_there = index < state->table_count && state->tables[index]->number == number;
    return is_there ? state->tables[index] : NULL;
}

bool bb_manifest_state_has_index(const struct bb_manifest_state *state, uint64_t index_number)
{
    for (size_t i = 0; i < state->table_count; i++) {
        if (state->tables[i]->index_number == index_number)
            return true;
    }
    return false;
}

bool bb_manifest_state_ends_before(const struct bb_comparator *comparator,
                                   const struct bb_table_meta *a, const struct bb_table_meta *b)
{
    int order = bb_key_compare(comparator, bb_buf_bytes(&a->largest), bb_buf_bytes(&b->smallest));
    return order < 0 || (order == 0 && a->largest_is_exclusive);
}

static bool overlaps(const struct bb_comparator *comparator, const struct bb_edit_table *a,
                     const struct bb_edit_table *b)
{
    return a->level == b->level && a->run == b->run &&
           !bb_manifest_state_ends_before(comparator, &a->meta, &b->meta) &&
           !bb_manifest_state_ends_before(comparator, &b->meta, &a->meta);
}

bool bb_manifest_state_find_overlap(const struct bb_manifest_state *state,
                                    const struct bb_comparator *comparator,
                                    const struct bb_edit_table **ret_a,
                                    const struct bb_edit_table **ret_b)
{
    for (size_t i = 0; i < state->table_count; i++) {
        const struct bb_edit_table *a = state->tables[i];
        for (size_t j = i + 1; j < state->table_count && a->level > 0; j++) {
            if (!overlaps(comparator, a, state->tables[j]))
                continue;
            *ret_a = a;
            *ret_b = state->tables[j];
            return true;
        }
    }
    return false;
}

static enum bb_status check_identity(const struct bb_manifest_state *state,
                                     const struct bb_edit *edit, struct bb_place place)
{
    if (edit->has_identity && state->has_identity)
        return bb_corrupt(place, 0,
                          "an edit with an identity that is not the first of its manifest");
    if (!edit->has_identity && !state->has_identity)
        return bb_corrupt(place, 0, "the first edit of a manifest has no identity");
    if (edit->has_identity && edit->identity.format_version > BB_STORE_FORMAT_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "a store of format version %" PRIu32 ", this version knows up to %d",
                       edit->identity.format_version, BB_STORE_FORMAT_VERSION);
    return BB_OK;
}

static enum bb_status check_grows(struct bb_place place, const char *what, uint64_t before,
                                  uint64_t after)
{
    if (after == 0 || after >= before)
        return BB_OK;
    return bb_corrupt(place, 0, "%s goes back from %" PRIu64 " to %" PRIu64, what, before, after);
}

static uint64_t later(uint64_t before, uint64_t after)
{
    return after == 0 ? before : after;
}

static enum bb_status check_counters(const struct bb_manifest_state *state,
                                     const struct bb_edit *edit, struct bb_place place)
{
    uint64_t next = later(state->next_file_number, edit->next_file_number);
    uint64_t log_number = later(state->log_number, edit->log_number);
    enum bb_status status =
        check_grows(place, "the next file number", state->next_file_number, edit->next_file_number);
    if (status == BB_OK)
        status = check_grows(place, "the last sequence", state->last_sequence, edit->last_sequence);
    if (status == BB_OK)
        status =
            check_grows(place, "the number of the first log", state->log_number, edit->log_number);
    if (status != BB_OK)
        return status;
    if (log_number != 0 && log_number >= next)
        return bb_corrupt(place, 0,
                          "the first log has number %" PRIu64 ", the next file number is %" PRIu64,
                          log_number, next);
    if (next > BB_FILE_NUMBER_MAX + 1 ||
        later(state->last_sequence, edit->last_sequence) > BB_SEQUENCE_MAX)
        return bb_corrupt(place, 0, "a file number or sequence beyond its limit");
    return BB_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static int compare_tables(const void *a, const void *b)
{
    uint64_t first = (*(struct bb_edit_table *const *)a)->number;
    uint64_t second = (*(struct bb_edit_table *const *)b)->number;
    return (first > second) - (first < second);
}

static enum bb_status stage_removed(const struct bb_manifest_state *state, struct bb_place place,
                                    struct bb_manifest_change *change)
{
    size_t count = change->edit->removed_count;
    if (count == 0)
        return BB_OK;
    change->removed = bb_alloc_zeroed(count, sizeof(*change->removed));
    if (change->removed == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the removal of %zu tables", count);
    memcpy(change->removed, change->edit->removed, count * sizeof(*change->removed));
    qsort(change->removed, count, sizeof(*change->removed), compare_numbers);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = change->removed[i];
        if (i > 0 && number == change->removed[i - 1])
            return bb_corrupt(place, 0, "table %" PRIu64 " is removed twice", number);
        if (bb_manifest_state_find(state, number) == NULL)
            return bb_corrupt(place, 0, "table %" PRIu64 " is removed, but is not there", number);
    }
    return BB_OK;
}

static bool is_removed(const struct bb_manifest_change *change, uint64_t number)
{
    return change->removed != NULL && bsearch(&number, change->removed, change->edit->removed_count,
                                              sizeof(*change->removed), compare_numbers) != NULL;
}

/* The number of a live table may be added again only if the same table moves to another level or
 * run. */
static bool is_move(const struct bb_manifest_change *change, const struct bb_edit_table *live,
                    const struct bb_edit_table *added)
{
    return is_removed(change, added->number) && bb_edit_table_is_same(added, &live->meta);
}

static bool are_bounds_reversed(const struct bb_manifest_state *state, const struct bb_edit *edit,
                                const struct bb_table_meta *meta)
{
    const char *comparator =
        edit->has_identity ? edit->identity.comparator : state->identity.comparator;
    /* Only the store knows other orders. */
    return strcmp(comparator, bb_comparator_name(NULL)) == 0 &&
           bb_bytes_compare(bb_buf_bytes(&meta->smallest), bb_buf_bytes(&meta->largest)) > 0;
}

static enum bb_status check_added(const struct bb_manifest_state *state,
                                  const struct bb_manifest_change *change,
                                  const struct bb_edit_table *table, struct bb_place place)
{
    const struct bb_edit *edit = change->edit;
    const struct bb_edit_table *live = bb_manifest_state_find(state, table->number);
    const char *defect = bb_edit_table_defect(table);
    if (defect == NULL && are_bounds_reversed(state, edit, &table->meta))
        defect = "its smallest key is above its largest";
    if (defect == NULL && live != NULL && !is_move(change, live, table))
        defect = "there is a table of that number already";
    if (defect != NULL)
        return bb_corrupt(place, 0, "table %" PRIu64 " is added: %s", table->number, defect);
    if (table->number >= later(state->next_file_number, edit->next_file_number))
        return bb_corrupt(place, 0,
                          "table %" PRIu64 " is added, but the next file number is %" PRIu64,
                          table->number, later(state->next_file_number, edit->next_file_number));
    if (table->index_number >= later(state->next_file_number, edit->next_file_number))
        return bb_corrupt(place, 0,
                          "table %" PRIu64 " has index file %" PRIu64
                          ", the next file number is %" PRIu64,
                          table->number, table->index_number,
                          later(state->next_file_number, edit->next_file_number));
    if (table->meta.sequence_max > later(state->last_sequence, edit->last_sequence))
        return bb_corrupt(
            place, 0, "table %" PRIu64 " has sequence %" PRIu64 ", the last sequence is %" PRIu64,
            table->number, table->meta.sequence_max,
            later(state->last_sequence, edit->last_sequence));
    return BB_OK;
}

static enum bb_status copy_table(const struct bb_edit_table *table, struct bb_edit_table **ret_copy)
{
    struct bb_edit_table *copy = bb_alloc_zeroed(1, sizeof(*copy));
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the description of a table");
    *copy = *table;
    enum bb_status status = bb_table_meta_copy(&table->meta, &copy->meta);
    if (status == BB_OK)
        *ret_copy = copy;
    else
        bb_free(copy);
    return status;
}

static enum bb_status copy_added(struct bb_manifest_change *change)
{
    size_t count = change->edit->added_count;
    if (count == 0)
        return BB_OK;
    change->added = bb_alloc_zeroed(count, sizeof(struct bb_edit_table *));
    if (change->added == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu tables", count);
    enum bb_status status = BB_OK;
    while (change->added_count < count && status == BB_OK) {
        status = copy_table(&change->edit->added[change->added_count],
                            &change->added[change->added_count]);
        if (status == BB_OK)
            change->added_count++;
    }
    if (status == BB_OK)
        qsort(change->added, count, sizeof(struct bb_edit_table *), compare_tables);
    return status;
}

static enum bb_status stage_added(const struct bb_manifest_state *state, struct bb_place place,
                                  struct bb_manifest_change *change)
{
    enum bb_status status = copy_added(change);
    for (size_t i = 0; i < change->added_count && status == BB_OK; i++) {
        const struct bb_edit_table *table = change->added[i];
        if (i > 0 && table->number == change->added[i - 1]->number)
            return bb_corrupt(place, 0, "table %" PRIu64 " is added twice", table->number);
        status = check_added(state, change, table, place);
    }
    return status;
}

static enum bb_status reserve(struct bb_manifest_state *state, size_t extra)
{
    if (extra <= state->table_capacity - state->table_count)
        return BB_OK;
    size_t wanted = state->table_capacity * 2 > state->table_count + extra
                        ? state->table_capacity * 2
                        : state->table_count + extra;
    struct bb_edit_table **tables =
        bb_realloc(state->tables, wanted * sizeof(struct bb_edit_table *));
    if (tables == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", wanted);
    state->tables = tables;
    state->table_capacity = wanted;
    return BB_OK;
}

static enum bb_status stage_log_ends(struct bb_manifest_change *change)
{
    size_t size = change->edit->log_end_count * sizeof(*change->log_ends);
    if (size == 0)
        return BB_OK;
    change->log_ends = bb_alloc(size);
    if (change->log_ends == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the ends of %zu logs",
                       change->edit->log_end_count);
    memcpy(change->log_ends, change->edit->log_ends, size);
    return BB_OK;
}

enum bb_status bb_manifest_state_stage(struct bb_manifest_state *state, const struct bb_edit *edit,
                                       struct bb_place place, struct bb_manifest_change *ret_change)
{
    struct bb_manifest_change change = {.edit = edit};
    enum bb_status status = check_identity(state, edit, place);
    if (status == BB_OK)
        status = check_counters(state, edit, place);
    if (status == BB_OK)
        status = stage_removed(state, place, &change);
    if (status == BB_OK)
        status = stage_added(state, place, &change);
    if (status == BB_OK)
        status = stage_log_ends(&change);
    if (status == BB_OK)
        status = reserve(state, change.added_count);
    if (status == BB_OK && edit->has_catalog)
        status = bb_buf_assign(&change.catalog, bb_buf_bytes(&edit->catalog));
    if (status == BB_OK)
        *ret_change = change;
    else
        bb_manifest_state_drop(&change);
    return status;
}

void bb_manifest_state_drop(struct bb_manifest_change *change)
{
    for (size_t i = 0; i < change->added_count; i++)
        destroy_table(change->added[i]);
    bb_free(change->added);
    bb_free(change->removed);
    bb_buf_deinit(&change->catalog);
    bb_free(change->log_ends);
    *change = (struct bb_manifest_change){0};
}

static void commit_removed(struct bb_manifest_state *state, const struct bb_manifest_change *change)
{
    size_t count = change->edit->removed_count;
    if (count == 0)
        return;
    size_t removed = 0;
    size_t kept = lower_bound(state, change->removed[0]);
    for (size_t i = kept; i < state->table_count; i++) {
        if (removed < count && state->tables[i]->number == change->removed[removed]) {
            destroy_table(state->tables[i]);
            removed++;
        } else {
            state->tables[kept++] = state->tables[i];
        }
    }
    state->table_count = kept;
}

/* Merges two sorted lists from the back, so that each element is moved before it is overwritten. */
static void commit_added(struct bb_manifest_state *state, struct bb_manifest_change *change)
{
    size_t old = state->table_count;
    size_t added = change->added_count;
    size_t end = old + added;
    state->table_count = end;
    while (added > 0) {
        bool is_old = old > 0 && state->tables[old - 1]->number > change->added[added - 1]->number;
        state->tables[--end] = is_old ? state->tables[--old] : change->added[--added];
    }
    change->added_count = 0; /* the state owns them now */
}

static void commit_log_ends(struct bb_manifest_state *state, struct bb_manifest_change *change)
{
    bb_free(state->log_ends);
    state->is_closed = change->edit->is_close;
    state->log_ends = change->log_ends;
    state->log_end_count = change->edit->log_end_count;
    change->log_ends = NULL; /* the state owns them now */
}

void bb_manifest_state_commit(struct bb_manifest_state *state, struct bb_manifest_change *change)
{
    const struct bb_edit *edit = change->edit;
    if (edit->has_identity) {
        state->has_identity = true;
        state->identity = edit->identity;
    }
    state->next_file_number = later(state->next_file_number, edit->next_file_number);
    state->last_sequence = later(state->last_sequence, edit->last_sequence);
    if (edit->log_number != 0) {
        state->log_number = edit->log_number;
        state->log_is_absent = edit->log_is_absent;
    }
    if (edit->has_catalog) {
        struct bb_buf before = state->catalog;
        state->catalog = change->catalog;
        change->catalog = before;
    }
    if (!bb_stored_options_are_empty(&edit->options))
        state->options = edit->options;
    commit_removed(state, change);
    commit_added(state, change);
    commit_log_ends(state, change);
    bb_manifest_state_drop(change);
}

enum bb_status bb_manifest_state_apply(struct bb_manifest_state *state, const struct bb_edit *edit,
                                       struct bb_place place)
{
    struct bb_manifest_change change;
    enum bb_status status = bb_manifest_state_stage(state, edit, place, &change);
    if (status == BB_OK)
        bb_manifest_state_commit(state, &change);
    return status;
}
