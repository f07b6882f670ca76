/* Lines that match a condition: granules that the index does not rule out, and the rest, which it
 * does not cover. See bb/lines.h.
 *
 *     choose_run    the next range of the file that has to be read, of granules or of the rest
 *     load          whole lines of it, into the window
 *     find_line     the next line in the window that may match
 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "skip/condition/matcher.h"
#include "skip/query/truth_bits.h"
#include "skip/lines/line_window.h"
#include "skip/lines/lines.h"

enum choice { CHOICE_EXCLUDED, CHOICE_COUNTED, CHOICE_READ };

/* The decision about a granule. */
struct judgement {
    enum choice choice;
    uint64_t matches; /* of a counted granule */
};

struct bb_lines_select {
    const struct bb_lines *lines;   /* borrowed */
    struct bb_schema *no_schema;    /* owned: of selections that need none */
    struct bb_condition *condition; /* parsed here, or NULL */
    struct bb_matcher matcher;
    struct bb_skip_verdicts verdicts; /* with no words: all granules are read */
    struct bb_skip_rows *rows;        /* owned; NULL: the condition has no column */
    struct bb_skip_counts *counts;    /* owned; NULL: none yet, or no index counts */
    bool has_asked_for_counts;
    struct bb_skip_account *accounts; /* owned: one for each index; NULL: no index was used */
    size_t judged;                    /* the granule of the latest judgement, plus 1 */
    struct judgement judgement;
    size_t granule_count;
    size_t granule;      /* the next one to choose */
    size_t reached;      /* the granule of the latest match */
    bool has_matching;   /* that one was counted */
    bool is_rest_chosen; /* the bytes that no granule covers */
    uint64_t run_begin;  /* the part of the chosen range that the window does not have yet */
    uint64_t run_end;
    struct bb_line_window window;
    size_t position;               /* in the window, of the next line */
    struct bb_needle_scan needles; /* of the window */
    struct bb_line line;
    bool has_line;
    bool counts_unread;       /* granules with only matches may be counted and not shown */
    uint64_t counted_records; /* of them */
    uint64_t limit;
    bool (*progress)(void *context, const struct bb_lines_account *account);
    void *progress_context;
    uint64_t begin; /* by the clock */
    struct bb_lines_account account;
    struct bb_error failure; /* that ended the selection */
};

/* ---- making ---- */

static enum bb_status take_options(const struct bb_lines_select_options *options,
                                   struct bb_lines_select_options *ret_options)
{
    *ret_options = options == NULL ? (struct bb_lines_select_options){0} : *options;
    return bb_matcher_check(ret_options->where, ret_options->condition, ret_options->schema);
}

/* The schema of a selection without a schema. */
static enum bb_status find_schema(struct bb_lines_select *select, bool has_condition,
                                  const struct bb_schema **ret_schema)
{
    const struct bb_lines *lines = select->lines;
    *ret_schema = lines->schema;
    if (lines->schema != NULL)
        return BB_OK;
    if (has_condition)
        return bb_fail(
            BB_INVALID,
            "%s: a condition needs definitions of attributes, and there is no index file "
            "that has them: %s",
            lines->file->path, lines->reason.message);
    enum bb_status status = bb_schema_create(&select->no_schema);
    *ret_schema = select->no_schema;
    return status;
}

static enum bb_status ask_index(struct bb_lines_select *select)
{
    struct bb_skip_file *index = select->lines->index;
    const struct bb_condition *condition = select->matcher.condition;
    const struct bb_schema *schema = select->matcher.schema;
    select->accounts =
        bb_alloc_zeroed(bb_skip_file_index_count(index) + 1, sizeof(select->accounts[0]));
    if (select->accounts == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for probing an index");
    uint64_t begin = select->lines->fs->ops->now(select->lines->fs);
    enum bb_status status =
        bb_skip_file_evaluate(index, condition, schema, select->accounts, &select->verdicts);
    if (status == BB_OK)
        status = bb_skip_rows_create(index, condition, schema, &select->rows);
    select->account.index_nanoseconds = bb_file_elapsed(select->lines->fs, begin);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

/* Queries the index, if there is one. */
static enum bb_status choose_granules(struct bb_lines_select *select,
                                      const struct bb_lines_select_options *options)
{
    const struct bb_lines *lines = select->lines;
    select->account.damaged_indexes += lines->index_state == BB_LINES_INDEX_UNREADABLE;
    if (options->ignore_indexes)
        return BB_OK;
    select->granule_count = bb_lines_granule_count(lines);
    select->account.granules = select->granule_count;
    return select->matcher.condition != NULL && select->granule_count > 0 ? ask_index(select)
                                                                          : BB_OK;
}

static enum bb_status fill(struct bb_lines_select *select,
                           const struct bb_lines_select_options *options)
{
    const struct bb_schema *schema = options->schema;
    enum bb_status status =
        schema == NULL ? find_schema(select, options->where != NULL, &schema) : BB_OK;
    if (status == BB_OK)
        status = bb_matcher_init_with(&select->matcher, schema, options->where, options->condition,
                                      &select->condition);
    if (status == BB_OK)
        status = choose_granules(select, options);
    select->limit = options->limit;
    select->progress = options->progress;
    select->progress_context = options->progress_context;
    return status;
}

enum bb_status bb_lines_select(const struct bb_lines *lines,
                               const struct bb_lines_select_options *options,
                               struct bb_lines_select **ret_select)
{
    struct bb_lines_select_options taken;
    enum bb_status status = take_options(options, &taken);
    if (status != BB_OK)
        return status;
    struct bb_lines_select *select = bb_alloc_zeroed(1, sizeof(*select));
    if (select == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a selection");
    select->lines = lines;
    select->begin = lines->fs->ops->now(lines->fs);
    select->window.file = lines->file;
    status = fill(select, &taken);
    if (status == BB_OK)
        *ret_select = select;
    else
        bb_lines_select_destroy(select);
    return status;
}

void bb_lines_select_destroy(struct bb_lines_select *select)
{
    if (select == NULL)
        return;
    bb_skip_counts_destroy(select->counts);
    bb_skip_rows_destroy(select->rows);
    bb_free(select->accounts);
    bb_skip_verdicts_deinit(&select->verdicts);
    bb_line_window_deinit(&select->window);
    bb_matcher_deinit(&select->matcher);
    bb_condition_destroy(select->condition);
    bb_schema_destroy(select->no_schema);
    bb_free(select);
}

/* ---- ranges to read ---- */

/* How many lines of the granule match, where lines are counted and the index counts them. */
static bool read_count(struct bb_lines_select *select, size_t granule, uint64_t *ret_matches)
{
    if (!select->counts_unread)
        return false;
    if (!select->has_asked_for_counts &&
        bb_skip_counts_create(select->lines->index, select->matcher.condition,
                              select->matcher.schema, select->accounts, &select->counts) != BB_OK)
        select->counts = NULL;
    select->has_asked_for_counts = true;
    return select->counts != NULL &&
           bb_skip_counts_read(select->counts, granule, ret_matches) == BB_OK;
}

/* The number of lines of the granule that match, where the index knows: none, all, a stored count,
 * or a count from columns. If columns are damaged, lack the granule or leave some of its lines
 * undecided, the granule is read. */
static bool count_matches(struct bb_lines_select *select, size_t granule, uint64_t *ret_matches)
{
    const struct bb_skip_verdicts *verdicts = &select->verdicts;
    bool knows = verdicts->word_count > 0;
    struct bb_skip_granule_info info;
    struct bb_skip_row_bits bits;
    *ret_matches = 0;
    if (knows && !bb_bit_get(verdicts->may_be_true, granule))
        return true;
    bool is_whole = knows ? !bb_bit_get(verdicts->may_be_false, granule) &&
                                !bb_bit_get(verdicts->may_be_null, granule)
                          : select->matcher.condition == NULL;
    if (is_whole) {
        bb_skip_file_granule(select->lines->index, granule, &info);
        *ret_matches = info.record_count;
        return true;
    }
    if (knows && read_count(select, granule, ret_matches))
        return true;
    if (select->rows == NULL ||
        bb_skip_rows_read(select->rows, granule, select->accounts, &bits) != BB_OK)
        return false;
    *ret_matches = bits.certain_count;
    return bb_skip_row_bits_judge(&bits) != BB_SKIP_READ;
}

static struct judgement judge(struct bb_lines_select *select, size_t granule)
{
    uint64_t begin = select->lines->fs->ops->now(select->lines->fs);
    struct judgement judgement = {.choice = CHOICE_READ};
    bool is_known = count_matches(select, granule, &judgement.matches);
    if (is_known && judgement.matches == 0)
        judgement.choice = CHOICE_EXCLUDED;
    else if (is_known && select->counts_unread)
        judgement.choice = CHOICE_COUNTED;
    if (select->rows != NULL || select->counts != NULL)
        select->account.index_nanoseconds += bb_file_elapsed(select->lines->fs, begin);
    return judgement;
}

/* A granule is checked twice where a run of granules ends with it. */
static enum choice choose(struct bb_lines_select *select, size_t granule)
{
    if (select->judged != granule + 1)
        select->judgement = judge(select, granule);
    select->judged = granule + 1;
    return select->judgement.choice;
}

/* Granules from the next one on that need not be read. */
static void pass_granules(struct bb_lines_select *select)
{
    for (; select->granule < select->granule_count; select->granule++) {
        enum choice choice = choose(select, select->granule);
        if (choice == CHOICE_READ)
            return;
        if (choice == CHOICE_COUNTED)
            select->counted_records += select->judgement.matches;
        select->account.granules_counted += choice == CHOICE_COUNTED;
        select->account.granules_excluded += choice == CHOICE_EXCLUDED;
    }
}

/* Neighbours are read together. */
static void take_granules(struct bb_lines_select *select)
{
    const struct bb_lines *lines = select->lines;
    select->run_begin = bb_lines_granule_begin(lines, select->granule);
    do {
        select->account.granules_read++;
        select->granule++;
        select->run_end = bb_lines_granule_begin(lines, select->granule);
    } while (select->granule < select->granule_count &&
             select->run_end - select->run_begin < BB_LINE_WINDOW_BYTES &&
             choose(select, select->granule) == CHOICE_READ);
}

/* False: all was read. */
static bool choose_run(struct bb_lines_select *select)
{
    pass_granules(select);
    if (select->granule < select->granule_count) {
        take_granules(select);
        return true;
    }
    if (select->is_rest_chosen)
        return false;
    select->is_rest_chosen = true;
    select->run_begin = select->granule_count > 0 ? select->lines->source.indexed_bytes : 0;
    select->run_end = select->lines->state.size;
    select->account.unindexed_bytes = select->run_end - select->run_begin;
    return select->run_begin < select->run_end;
}

static enum bb_status load(struct bb_lines_select *select)
{
    struct bb_line_window *window = &select->window;
    struct bb_lines_account account;
    if (select->progress != NULL) {
        bb_lines_select_account(select, &account);
        if (!select->progress(select->progress_context, &account))
            return bb_fail(BB_BUSY, "%s: the selection was cancelled", window->file->path);
    }
    enum bb_status status = bb_line_window_load(window, select->run_begin, select->run_end);
    select->run_begin += status == BB_OK ? window->bytes.size : 0;
    select->position = 0;
    if (status == BB_OK && !bb_needle_finder_is_empty(&select->matcher.finder))
        bb_needle_scan_init(&select->needles, &select->matcher.finder, window->bytes);
    return status;
}

/* ---- lines in the window ---- */

/* The place from which on a line may match: position, or the place of bytes that every match
 * contains. */
static bool next_place(struct bb_lines_select *select, size_t *ret_place)
{
    *ret_place = select->position;
    return bb_needle_finder_is_empty(&select->matcher.finder) ||
           bb_needle_scan_next(&select->needles, select->position, ret_place);
}

/* The next line that may match; false: the window has no more. */
static bool find_line(struct bb_lines_select *select)
{
    struct bb_bytes window = select->window.bytes;
    if (select->position == window.size)
        return false;
    size_t place = 0;
    if (!next_place(select, &place)) {
        select->position = window.size;
        return false;
    }
    const uint8_t *before = memrchr(window.data + select->position, '\n', place - select->position);
    const uint8_t *after = memchr(window.data + place, '\n', window.size - place);
    size_t begin = before == NULL ? select->position : (size_t)(before - window.data) + 1;
    size_t end = after == NULL ? window.size : (size_t)(after - window.data) + 1;
    struct bb_bytes bytes = bb_bytes_of(window.data + begin, end - begin);
    select->line = (struct bb_line){
        .offset = select->window.offset + begin, .record = bb_line_record(bytes), .bytes = bytes};
    select->position = end;
    return true;
}

static void count_matching_granule(struct bb_lines_select *select)
{
    uint64_t offset = select->line.offset;
    if (select->granule_count == 0 || offset >= select->lines->source.indexed_bytes)
        return;
    while (bb_lines_granule_begin(select->lines, select->reached + 1) <= offset) {
        select->reached++;
        select->has_matching = false;
    }
    select->account.granules_matching += !select->has_matching;
    select->has_matching = true;
}

/* ---- moving ---- */

static enum bb_status advance(struct bb_lines_select *select)
{
    enum bb_status status = BB_OK;
    bool matches = false;
    while (status == BB_OK && !matches) {
        if (find_line(select))
            status = bb_matcher_test(&select->matcher, (struct bb_bytes){0}, select->line.record,
                                     &matches);
        else if (select->run_begin < select->run_end || choose_run(select))
            status = load(select);
        else
            return BB_OK;
    }
    select->has_line = status == BB_OK;
    if (select->has_line)
        count_matching_granule(select);
    return status;
}

enum bb_status bb_lines_select_next(struct bb_lines_select *select, bool *ret_has_line)
{
    if (select->failure.status != BB_OK)
        return bb_error_restore(&select->failure);
    bool is_at_limit = select->limit > 0 && select->account.records_returned == select->limit;
    select->has_line = false;
    enum bb_status status = is_at_limit ? BB_OK : advance(select);
    if (status != BB_OK) {
        select->failure = *bb_error_last();
        return status;
    }
    select->account.records_returned += select->has_line;
    *ret_has_line = select->has_line;
    return BB_OK;
}

const struct bb_line *bb_lines_select_line(const struct bb_lines_select *select)
{
    BB_DEBUG_ASSERT(select->has_line);
    return &select->line;
}

enum bb_status bb_lines_select_attributes(struct bb_lines_select *select,
                                          const struct bb_attribute **ret_attributes)
{
    return bb_matcher_read(&select->matcher, (struct bb_bytes){0}, select->line.record,
                           ret_attributes);
}

static void add_accounts(const struct bb_lines_select *select, struct bb_lines_account *account)
{
    const struct bb_skip_file *index = select->lines->index;
    size_t count = select->accounts == NULL ? 0 : bb_skip_file_index_count(index);
    for (size_t i = 0; i < count; i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(index, i, &info);
        account->index_reads += select->accounts[i].reads;
        account->index_read_bytes += select->accounts[i].read_bytes;
        account->damaged_indexes += !info.is_known || select->accounts[i].damaged_segments > 0;
    }
}

void bb_lines_select_index_accounts(const struct bb_lines_select *select,
                                    const struct bb_skip_account **ret_accounts, size_t *ret_count)
{
    *ret_accounts = select->accounts;
    *ret_count = select->accounts == NULL ? 0 : bb_skip_file_index_count(select->lines->index);
}

void bb_lines_select_account(const struct bb_lines_select *select,
                             struct bb_lines_account *ret_account)
{
    *ret_account = select->account;
    add_accounts(select, ret_account);
    ret_account->data_reads = select->window.reads;
    ret_account->data_read_bytes = select->window.read_bytes;
    ret_account->records_examined = select->matcher.examined;
    ret_account->records_matching = select->matcher.matching;
    ret_account->nanoseconds = bb_file_elapsed(select->lines->fs, select->begin);
}

enum bb_status bb_lines_select_count(struct bb_lines_select *select, uint64_t *ret_count)
{
    uint64_t count = 0;
    bool has_line = true;
    enum bb_status status = BB_OK;
    select->counts_unread = select->limit == 0;
    while (status == BB_OK && has_line) {
        status = bb_lines_select_next(select, &has_line);
        count += status == BB_OK && has_line;
    }
    if (status == BB_OK)
        *ret_count = count + select->counted_records;
    return status;
}

enum bb_status bb_lines_count(const struct bb_lines *lines,
                              const struct bb_lines_select_options *options, uint64_t *ret_count,
                              struct bb_lines_account *account)
{
    struct bb_lines_select *select = NULL;
    enum bb_status status = bb_lines_select(lines, options, &select);
    if (status == BB_OK)
        status = bb_lines_select_count(select, ret_count);
    if (select != NULL && account != NULL)
        bb_lines_select_account(select, account);
    bb_lines_select_destroy(select);
    return status;
}
