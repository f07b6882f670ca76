/* See visible_rows.h. */
#include "kv/select/visible_rows.h"

#include "kv/select/newest.h"

/* A granule while it is counted. */
struct count {
    struct bb_visible_rows *rows;
    struct bb_known_granule *known;
    const struct bb_skip_row_bits *matches;
    uint64_t begin; /* blocks */
    uint64_t end;
    bool is_read;
};

/* Numbers of records that are not looked up yet. */
struct record_range {
    uint64_t next;
    uint64_t end;
};

void bb_visible_rows_init(struct bb_visible_rows *rows, struct bb_candidate_source *source,
                          struct bb_table_file *file, size_t run, struct bb_known_rows *known)
{
    *rows = (struct bb_visible_rows){.source = source, .file = file, .run = run, .known = known};
    bb_block_iter_init(&rows->entries, source->comparator);
}

void bb_visible_rows_deinit(struct bb_visible_rows *rows)
{
    bb_block_iter_deinit(&rows->entries);
    if (rows->has_blocks)
        bb_table_blocks_deinit(&rows->blocks);
    rows->has_blocks = false;
    bb_known_rows_unref(rows->known);
    rows->known = NULL;
}

/* ---- known records ---- */

static uint64_t match_word(const struct bb_skip_row_bits *matches, size_t word)
{
    uint64_t left = matches->record_count - (uint64_t)word * 64;
    if (matches->is_true != NULL)
        return matches->is_true[word];
    return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

static bool is_unknown_match(const struct count *count, uint64_t record)
{
    size_t word = (size_t)(record / 64);
    uint64_t unknown = match_word(count->matches, word) & ~bb_known_rows_known(count->known, word);
    return (unknown >> record % 64 & 1) != 0;
}

/* True when a match in [first, end) was not looked up yet. */
static bool has_unknown_match(const struct count *count, uint64_t first, uint64_t end)
{
    for (uint64_t word = first / 64; word * 64 < end; word++) {
        uint64_t unknown = match_word(count->matches, (size_t)word) &
                           ~bb_known_rows_known(count->known, (size_t)word);
        if (word == first / 64)
            unknown &= UINT64_MAX << first % 64;
        if (end < word * 64 + 64)
            unknown &= (UINT64_C(1) << end % 64) - 1;
        if (unknown != 0)
            return true;
    }
    return false;
}

/* ---- looking up ---- */

static enum bb_status look_up(struct count *count, const struct bb_entry *entry, uint64_t record)
{
    struct bb_visible_rows *rows = count->rows;
    struct bb_found found = {
        .run = rows->run, .is_only_version = true, .key = entry->key, .sequence = entry->sequence};
    bool is_newest = false;
    enum bb_status status = bb_newest_check(rows->source->newest, &found, &is_newest);
    if (status == BB_OK)
        bb_known_rows_learn(count->known, record, !is_newest);
    return status;
}

/* Looks up the matches of a loaded block. records->next: the number of its first record, on return
 * the number after its last one. Errors: BB_NOT_FOUND when the block has more records. */
static enum bb_status look_up_entries(struct count *count, const struct bb_block *block,
                                      struct bb_place place, struct record_range *records)
{
    struct bb_block_iter *entries = &count->rows->entries;
    enum bb_status status = BB_OK;
    bb_block_iter_reset(entries, block, place);
    bb_block_iter_seek_first(entries);
    for (; entries->is_valid && status == BB_OK; bb_block_iter_next(entries)) {
        if (entries->entry.kind != BB_ENTRY_PUT)
            continue;
        if (records->next == records->end)
            return BB_NOT_FOUND;
        if (is_unknown_match(count, records->next))
            status = look_up(count, &entries->entry, records->next);
        records->next++;
    }
    return status == BB_OK ? entries->status : status;
}

static enum bb_status open_blocks(struct bb_visible_rows *rows)
{
    struct bb_table *table = NULL;
    if (rows->has_blocks)
        return BB_OK;
    enum bb_status status = bb_table_file_open(rows->file, &table);
    if (status == BB_OK)
        status = bb_table_blocks_init(&rows->blocks, table);
    rows->blocks.uses_map = true;
    rows->has_blocks = status == BB_OK;
    return status;
}

/* next: the blocks before this one are looked up too, so that one read may fetch them. */
static enum bb_status look_up_block(struct count *count, uint64_t number, uint64_t next,
                                    struct record_range *records)
{
    struct bb_visible_rows *rows = count->rows;
    struct bb_select_account *account = &rows->source->account;
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    enum bb_status status = bb_candidate_source_report(rows->source);
    if (status == BB_OK)
        status = open_blocks(rows);
    if (status != BB_OK)
        return status;
    uint64_t reads = rows->blocks.read_count;
    uint64_t bytes = rows->blocks.read_bytes;
    status = bb_table_blocks_load(&rows->blocks, number, next, &block, &place);
    account->data_reads += rows->blocks.read_count - reads;
    account->data_read_bytes += rows->blocks.read_bytes - bytes;
    if (status != BB_OK)
        return status;
    count->is_read = true;
    account->blocks_read++;
    return look_up_entries(count, block, place, records);
}

/* Reads only blocks with a match that is not known yet. The column has the number of records of
 * each block. */
static enum bb_status look_up_parts(struct count *count)
{
    const uint32_t *part_records = count->matches->part_records;
    uint64_t first = 0;
    enum bb_status status = BB_OK;
    for (uint64_t number = count->begin; number < count->end && status == BB_OK; number++) {
        uint64_t end = first + part_records[number - count->begin];
        struct record_range records = {first, end};
        if (has_unknown_match(count, first, end)) {
            status = look_up_block(count, number, number + 1, &records);
            if (status == BB_OK && records.next != end)
                status = BB_NOT_FOUND;
        }
        first = end;
    }
    return status;
}

static enum bb_status look_up_all(struct count *count)
{
    struct record_range records = {0, count->matches->record_count};
    enum bb_status status = BB_OK;
    for (uint64_t number = count->begin; number < count->end && status == BB_OK; number++)
        status = look_up_block(count, number, count->end, &records);
    return status == BB_OK && records.next != records.end ? BB_NOT_FOUND : status;
}

static enum bb_status look_up_matches(struct count *count)
{
    if (!has_unknown_match(count, 0, count->matches->record_count))
        return BB_OK;
    return count->matches->part_count == count->end - count->begin ? look_up_parts(count)
                                                                   : look_up_all(count);
}

static uint64_t count_visible(const struct count *count)
{
    uint64_t visible = 0;
    for (size_t word = 0; word < count->known->word_count; word++)
        visible += (uint64_t)__builtin_popcountll(match_word(count->matches, word) &
                                                  ~bb_known_rows_hidden(count->known, word));
    return visible;
}

enum bb_status bb_visible_rows_count(struct bb_visible_rows *rows, size_t granule, uint64_t begin,
                                     uint64_t end, const struct bb_skip_row_bits *matches,
                                     uint64_t *ret_count, bool *ret_is_read)
{
    struct count count = {.rows = rows, .matches = matches, .begin = begin, .end = end};
    enum bb_status status =
        bb_known_rows_granule(rows->known, granule, matches->record_count, &count.known);
    if (status == BB_OK)
        status = look_up_matches(&count);
    if (status == BB_OK) {
        *ret_count = count_visible(&count);
        *ret_is_read = count.is_read;
    }
    return status;
}
