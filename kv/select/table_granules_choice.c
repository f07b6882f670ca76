/* Chooses the granules of a table to read for a condition, by its index file. See
 * table_granules.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/status.h"
#include "kv/indexes/index_file.h"
#include "kv/select/candidates.h"
#include "kv/select/table_granules.h"
#include "kv/select/visible_rows.h"
#include "skip/query/truth_bits.h"

/* Index files that are announced ahead. */
#define ANNOUNCED_FILES 16

struct choice {
    struct bb_candidate_source *source;
    const struct bb_table_reading *reading;
    struct bb_companion *companion;   /* the index file; borrowed */
    struct bb_skip_file *index;       /* open */
    struct bb_skip_account *accounts; /* of the indexes of the file; the source owns them */
    struct bb_skip_verdicts verdicts; /* the evaluator owns them */
    /* Owned; NULL until needed, or if columns do not decide. */
    struct bb_skip_rows *rows;
    bool has_asked_for_rows;
    /* Owned; NULL until needed, or if no index counts. */
    struct bb_skip_counts *counts;
    bool has_asked_for_counts;
    enum bb_counting counting;
    struct bb_visible_rows visible; /* if counting is VISIBLE */
};

static void add_account(struct bb_skip_account *sum, const struct bb_skip_account *part)
{
    sum->leaves += part->leaves;
    sum->segments_searched += part->segments_searched;
    sum->granules_searched += part->granules_searched;
    sum->granules_excluded += part->granules_excluded;
    sum->granules_included += part->granules_included;
    sum->reads += part->reads;
    sum->read_bytes += part->read_bytes;
    sum->damaged_segments += part->damaged_segments;
}

/* The account of the catalog's index for this index of the file; NULL if it was dropped. */
static struct bb_skip_account *account_of(struct choice *choice, size_t index)
{
    const struct bb_candidate_source *source = choice->source;
    struct bb_skip_index_info info;
    bb_skip_file_index(choice->index, index, &info);
    for (size_t i = 0; i < source->catalog->index_count; i++) {
        if (bb_index_file_is(&info, source->catalog, &source->catalog->specs[i]))
            return &source->index_accounts[i].account;
    }
    return NULL;
}

/* Adds the work of all indexes of the file. */
static void add_accounts(struct choice *choice)
{
    struct bb_select_account *account = &choice->source->account;
    for (size_t i = 0; i < bb_skip_file_index_count(choice->index); i++) {
        const struct bb_skip_account *part = &choice->accounts[i];
        struct bb_skip_account *of_index =
            part->leaves > 0 || part->reads > 0 ? account_of(choice, i) : NULL;
        if (of_index != NULL)
            add_account(of_index, part);
        account->index_reads += part->reads;
        account->index_read_bytes += part->read_bytes;
        account->damaged_indexes += part->damaged_segments > 0;
    }
}

/* Provides zeroed accounts for this many indexes. All tables use the same memory. */
static enum bb_status reset_accounts(struct bb_candidate_source *source, size_t count)
{
    if (count > source->file_account_capacity) {
        bb_free(source->file_accounts);
        source->file_accounts = bb_alloc(count * sizeof(*source->file_accounts));
        source->file_account_capacity = source->file_accounts == NULL ? 0 : count;
    }
    if (count > source->file_account_capacity)
        return bb_fail(BB_NO_MEMORY, "no memory for the accounts of %zu indexes", count);
    if (count > 0)
        memset(source->file_accounts, 0, count * sizeof(*source->file_accounts));
    return BB_OK;
}

static enum bb_status evaluate(struct choice *choice)
{
    struct bb_candidate_source *source = choice->source;
    enum bb_status status = reset_accounts(source, bb_skip_file_index_count(choice->index));
    choice->accounts = source->file_accounts;
    return status == BB_OK ? bb_skip_evaluator_ask(source->evaluator, choice->index,
                                                   choice->accounts, &choice->verdicts)
                           : status;
}

/* Finds the records of the granule that can match, if any attribute has a column. */
static bool read_rows(struct choice *choice, size_t granule, struct bb_skip_row_bits *ret_bits)
{
    const struct bb_matcher *matcher = &choice->source->matcher;
    if (!choice->has_asked_for_rows && bb_skip_rows_create(choice->index, matcher->condition,
                                                           matcher->schema, &choice->rows) != BB_OK)
        choice->rows = NULL;
    choice->has_asked_for_rows = true;
    return choice->rows != NULL &&
           bb_skip_rows_read(choice->rows, granule, choice->accounts, ret_bits) == BB_OK;
}

/* Counts the matching records of the granule with the counts of indexes. */
static bool read_count(struct choice *choice, size_t granule, uint64_t *ret_matches)
{
    const struct bb_matcher *matcher = &choice->source->matcher;
    if (!choice->has_asked_for_counts &&
        bb_skip_counts_create(choice->index, matcher->condition, matcher->schema, choice->accounts,
                              &choice->counts) != BB_OK)
        choice->counts = NULL;
    choice->has_asked_for_counts = true;
    return choice->counts != NULL &&
           bb_skip_counts_read(choice->counts, granule, ret_matches) == BB_OK;
}

/* Marks the blocks that may have matches as needed; all blocks of the granule if the column does
 * not have the number of records of each block. */
static void want_matches(struct bb_table_granules *granules, uint64_t begin, uint64_t end,
                         const struct bb_skip_row_bits *bits)
{
    if (bits->part_count != end - begin) {
        bb_table_granules_want(granules, begin, end);
        return;
    }
    uint32_t first = 0;
    for (size_t part = 0; part < bits->part_count; part++) {
        if (bb_truth_bits_any(bits->may_be_true, first, bits->part_records[part]))
            bb_table_granules_want(granules, begin + part, begin + part + 1);
        first += bits->part_records[part];
    }
}

static void count(struct choice *choice, uint64_t matches)
{
    choice->source->account.granules_excluded += matches == 0;
    choice->source->account.granules_counted += matches > 0;
    choice->source->counted_records += matches;
}

/* Counts the matches that no newer table hides. False: the granule must be read. */
static bool count_visible(struct choice *choice, const struct bb_table_granules *granules,
                          size_t granule, uint64_t begin, const struct bb_skip_row_bits *matches)
{
    struct bb_select_account *account = &choice->source->account;
    uint64_t count = 0;
    bool is_read = false;
    if (choice->counting != BB_COUNTING_VISIBLE ||
        bb_visible_rows_count(&choice->visible, granule, begin, granules->ends[granule], matches,
                              &count, &is_read) != BB_OK)
        return false;
    account->granules_counted += !is_read;
    account->granules_read += is_read;
    account->granules_matching += is_read;
    choice->source->counted_records += count;
    return true;
}

/* Decides about a granule that may have a match: counts its matches, or marks blocks as needed. If
 * columns are damaged or lack the granule, all its blocks are needed. True: a block is marked. */
static bool judge(struct choice *choice, struct bb_table_granules *granules, size_t granule)
{
    const struct bb_skip_verdicts *verdicts = &choice->verdicts;
    struct bb_skip_granule_info info = {0};
    struct bb_skip_row_bits bits;
    uint64_t matches = 0;
    bb_skip_file_granule(choice->index, granule, &info);
    bool counts_all = choice->counting == BB_COUNTING_ALL;
    bool all_match =
        !bb_bit_get(verdicts->may_be_false, granule) && !bb_bit_get(verdicts->may_be_null, granule);
    if (all_match && counts_all) {
        count(choice, info.record_count);
        return false;
    }
    if (counts_all && read_count(choice, granule, &matches)) {
        count(choice, matches);
        return false;
    }
    if (all_match)
        bits = (struct bb_skip_row_bits){.record_count = info.record_count};
    else if (!read_rows(choice, granule, &bits)) {
        bb_table_granules_want(granules, info.place, granules->ends[granule]);
        return true;
    }
    enum bb_skip_judgement judgement = all_match ? BB_SKIP_EXACT : bb_skip_row_bits_judge(&bits);
    if (judgement == BB_SKIP_EXCLUDED || (judgement == BB_SKIP_EXACT && counts_all)) {
        count(choice, bits.certain_count);
        return false;
    }
    if (judgement == BB_SKIP_EXACT && count_visible(choice, granules, granule, info.place, &bits))
        return false;
    if (all_match)
        bb_table_granules_want(granules, info.place, granules->ends[granule]);
    else
        want_matches(granules, info.place, granules->ends[granule], &bits);
    return true;
}

/* Blocks outside the granules of the index have no records. Blocks between two granules become part
 * of the earlier one, blocks before the first granule part of the first. Errors: BB_CORRUPT when
 * the file is damaged in spite of its checksums. */
static enum bb_status set_ends(struct choice *choice, struct bb_table_granules *granules)
{
    struct bb_skip_granule_info granule = {0};
    uint64_t end = choice->reading->file->meta.block_count;
    for (size_t i = granules->count; i > 0; i--) {
        bb_skip_file_granule(choice->index, i - 1, &granule);
        if (granule.place >= end)
            return BB_CORRUPT;
        granules->ends[i - 1] = end;
        end = granule.place;
    }
    return BB_OK;
}

/* Decides about all granules with a bit in may_be_true. Returns how many must be read. */
static size_t judge_all(struct choice *choice, struct bb_table_granules *granules)
{
    size_t wanted = 0;
    for (size_t word = 0; word < choice->verdicts.word_count; word++) {
        uint64_t left = choice->verdicts.may_be_true[word];
        for (; left != 0; left &= left - 1) {
            size_t i = word * 64 + (size_t)__builtin_ctzll(left);
            wanted += judge(choice, granules, i);
        }
    }
    return wanted;
}

static size_t count_possible(const struct bb_skip_verdicts *verdicts)
{
    size_t count = 0;
    for (size_t word = 0; word < verdicts->word_count; word++)
        count += (size_t)__builtin_popcountll(verdicts->may_be_true[word]);
    return count;
}

/* Sets how matches are counted. */
static enum bb_status set_counting(struct choice *choice)
{
    struct bb_candidate_source *source = choice->source;
    const struct bb_table_reading *reading = choice->reading;
    if (!source->counts_unread)
        return BB_OK;
    enum bb_status status = bb_table_counting_find(reading, &source->newer, &choice->counting);
    if (status != BB_OK || choice->counting != BB_COUNTING_VISIBLE)
        return status;
    struct bb_known_rows *known = NULL;
    status = bb_index_file_known_rows(choice->companion, bb_buf_bytes(&source->newer), &known);
    if (status == BB_OK)
        bb_visible_rows_init(&choice->visible, source, choice->reading->file, reading->run, known);
    else
        choice->counting = BB_COUNTING_NONE;
    return status;
}

/* Fills the granules from the verdicts. For a token that is absent from the table, this returns
 * without an allocation, and the table costs no more than that. */
static enum bb_status fill(struct choice *choice, struct bb_table_granules *granules)
{
    size_t count = bb_skip_file_granule_count(choice->index);
    size_t possible = count_possible(&choice->verdicts);
    struct bb_select_account *account = &choice->source->account;
    account->granules += count;
    account->granules_excluded += count - possible;
    *granules = (struct bb_table_granules){.is_indexed = true};
    if (possible == 0)
        return BB_OK;
    enum bb_status status = set_counting(choice);
    if (status == BB_OK)
        status = bb_table_granules_init(granules, count, choice->reading->file->meta.block_count);
    if (status == BB_OK)
        status = set_ends(choice, granules);
    if (status == BB_OK && judge_all(choice, granules) > 0) {
        granules->is_indexed = true;
        return BB_OK;
    }
    bb_table_granules_deinit(granules);
    return status;
}

/* Without a usable index, every block is read. WHY a missing file is no damage in a read-only
 * store: the writer may have replaced it, and the next refresh uses the new one. */
static enum bb_status pass_over(struct choice *choice, enum bb_status reason,
                                struct bb_table_granules *granules)
{
    bool is_expected = reason == BB_NOT_FOUND && choice->source->is_read_only;
    choice->source->account.damaged_indexes += !is_expected;
    return bb_table_granules_init_all(granules, choice->reading->file->meta.block_count);
}

static enum bb_status choose_by_index(struct choice *choice, struct bb_table_granules *granules)
{
    struct bb_candidate_source *source = choice->source;
    struct bb_select_account before = source->account;
    uint64_t counted_before = source->counted_records;
    enum bb_status status = evaluate(choice);
    if (status == BB_OK) {
        source->account.tables_indexed++;
        status = fill(choice, granules);
    }
    if (status == BB_CORRUPT) {
        source->account = before;
        source->counted_records = counted_before;
        status = pass_over(choice, status, granules);
    } else if (status == BB_OK) {
        add_accounts(choice);
    }
    bb_skip_counts_destroy(choice->counts);
    bb_skip_rows_destroy(choice->rows);
    if (choice->counting == BB_COUNTING_VISIBLE)
        bb_visible_rows_deinit(&choice->visible);
    return status;
}

/* The first selection opens the index file of each table of a run. The system reads the next ones
 * meanwhile, so that they wait for the device together. */
static void announce_following(const struct bb_table_reading *reading)
{
    const struct bb_run *run = bb_view_turn(reading->view, reading->run)->run;
    size_t next =
        1 + bb_run_find_index(run, reading->comparator, bb_table_file_largest(reading->file));
    for (size_t i = next; i < run->count && i < next + ANNOUNCED_FILES; i++) {
        struct bb_companion *companion = bb_table_file_companion(run->files[i]);
        if (companion != NULL)
            bb_index_file_announce(companion);
        bb_companion_unref(companion);
    }
}

enum bb_status bb_table_granules_choose(struct bb_table_granules *granules,
                                        struct bb_candidate_source *source,
                                        const struct bb_table_reading *reading)
{
    struct bb_table_file *file = reading->file;
    struct bb_companion *companion =
        source->evaluator != NULL ? bb_table_file_companion(file) : NULL;
    struct choice choice = {.source = source, .reading = reading, .companion = companion};
    uint64_t begin = source->system->ops->now(source->system);
    enum bb_status status = BB_OK;
    if (companion != NULL && !bb_index_file_is_tried(companion))
        announce_following(reading);
    if (companion == NULL) {
        status = bb_table_granules_init_all(granules, file->meta.block_count);
    } else {
        status = bb_index_file_open(companion, &choice.index);
        status = status == BB_OK ? choose_by_index(&choice, granules)
                                 : pass_over(&choice, status, granules);
    }
    bb_companion_unref(companion);
    source->account.index_nanoseconds += bb_file_elapsed(source->system, begin);
    return status;
}
