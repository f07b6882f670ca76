/* See account_report.h. */
#include "tools/records/account_report.h"

#include <math.h>

#include "base/assert.h"
#include "tools/output/number_text.h"

#define INDEX_NAME_SIZE 96

/* The work of one index. */
struct index_account {
    char name[INDEX_NAME_SIZE];
    double rate; /* that it is made for; 0: exact */
    struct bb_skip_account account;
};

/* ---- taking ---- */

/* An index that the condition cannot use was not asked. */
static enum bb_status add_index(struct account_report *report, const struct index_account *index)
{
    const struct bb_skip_account *account = &index->account;
    if (account->leaves == 0 && account->reads == 0)
        return BB_OK;
    return bb_buf_append(&report->indexes, index, sizeof(*index));
}

static enum bb_status end_taking(enum bb_status status, struct account_report *report,
                                 struct account_report *ret_report)
{
    if (status == BB_OK)
        *ret_report = *report;
    else
        account_report_deinit(report);
    return status;
}

enum bb_status account_report_of_store(const struct bb_select *select,
                                       struct account_report *ret_report)
{
    struct account_report report = {0};
    const struct bb_select_index_account *accounts = NULL;
    size_t count = 0;
    enum bb_status status = BB_OK;
    bb_select_account(select, &report.total);
    bb_select_index_accounts(select, &accounts, &count);
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        struct index_account index = {.rate = accounts[i].rate, .account = accounts[i].account};
        (void)snprintf(index.name, sizeof(index.name), "%s", accounts[i].name);
        status = add_index(&report, &index);
    }
    return end_taking(status, &report, ret_report);
}

static void take_total(const struct bb_lines_account *a, struct account_report *report)
{
    report->unindexed_bytes = a->unindexed_bytes;
    report->total = (struct bb_select_account){
        .granules = a->granules,
        .granules_excluded = a->granules_excluded,
        .granules_counted = a->granules_counted,
        .granules_read = a->granules_read,
        .granules_matching = a->granules_matching,
        .data_reads = a->data_reads,
        .data_read_bytes = a->data_read_bytes,
        .index_reads = a->index_reads,
        .index_read_bytes = a->index_read_bytes,
        .damaged_indexes = a->damaged_indexes,
        .records_examined = a->records_examined,
        .records_matching = a->records_matching,
        .records_returned = a->records_returned,
        .index_nanoseconds = a->index_nanoseconds,
        .nanoseconds = a->nanoseconds,
    };
}

enum bb_status account_report_of_file(const struct bb_lines *lines,
                                      const struct bb_lines_select *select,
                                      struct account_report *ret_report)
{
    struct account_report report = {.is_of_file = true};
    struct bb_lines_account total;
    const struct bb_skip_account *accounts = NULL;
    size_t count = 0;
    enum bb_status status = BB_OK;
    bb_lines_select_account(select, &total);
    take_total(&total, &report);
    bb_lines_select_index_accounts(select, &accounts, &count);
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(bb_lines_index(lines), i, &info);
        const char *kind = bb_skip_kind_name(info.spec.kind);
        struct index_account index = {.rate = info.spec.rate, .account = accounts[i]};
        (void)snprintf(index.name, sizeof(index.name), "%s(%s)", kind == NULL ? "unknown" : kind,
                       info.attribute_name);
        status = add_index(&report, &index);
    }
    return end_taking(status, &report, ret_report);
}

void account_report_deinit(struct account_report *report)
{
    bb_buf_deinit(&report->indexes);
}

static const struct index_account *indexes_of(const struct account_report *report,
                                              size_t *ret_count)
{
    *ret_count = report->indexes.size / sizeof(struct index_account);
    return (const void *)report->indexes.data;
}

uint64_t account_report_damaged(const struct account_report *report)
{
    size_t count = 0;
    const struct index_account *indexes = indexes_of(report, &count);
    uint64_t damaged = 0;
    if (!report->is_of_file)
        return report->total.damaged_indexes;
    for (size_t i = 0; i < count; i++)
        damaged += indexes[i].account.damaged_segments > 0;
    return damaged;
}

double account_false_share(const struct bb_select_account *account)
{
    uint64_t read_in_vain = account->granules_read - account->granules_matching;
    uint64_t without_match = read_in_vain + account->granules_excluded;
    return without_match == 0 ? NAN : (double)read_in_vain / (double)without_match;
}

/* ---- text ---- */

static void write_tables(const struct bb_select_account *a, FILE *file)
{
    fprintf(file, "tables    %s; an index was used for %s of them, %s were not read\n",
            number_grouped(a->tables).text, number_grouped(a->tables_indexed).text,
            number_grouped(a->tables_excluded).text);
}

static void write_granules(const struct bb_select_account *a, FILE *file)
{
    fprintf(file,
            "granules  %s: %s excluded, %s counted unread, %s read, %s of these with a match\n",
            number_grouped(a->granules).text, number_grouped(a->granules_excluded).text,
            number_grouped(a->granules_counted).text, number_grouped(a->granules_read).text,
            number_grouped(a->granules_matching).text);
    double share = account_false_share(a);
    if (!isnan(share))
        fprintf(file, "false     %.3g %% of the granules without a match were read\n", 100 * share);
}

/* The share of granules without a match that were read: false positives by all negatives. If
 * several indexes were queried, false positives cannot be attributed to one. */
static double index_false_share(const struct account_report *report)
{
    size_t count = 0;
    (void)indexes_of(report, &count);
    return count == 1 ? account_false_share(&report->total) : NAN;
}

static void write_rates(const struct account_report *report, const struct index_account *index,
                        FILE *file)
{
    double share = index_false_share(report);
    if (index->rate == 0)
        return;
    if (!isnan(share))
        fprintf(file, "; %.3g %% false", 100 * share);
    fprintf(file, "; made for %.3g %%", 100 * index->rate);
}

static void write_index(const struct account_report *report, const struct index_account *index,
                        FILE *file)
{
    const struct bb_skip_account *a = &index->account;
    fprintf(file, "index     %s: %s, %s searched, %s excluded, %s included; ", index->name,
            number_of(a->segments_searched, "segment", "segments").text,
            number_of(a->granules_searched, "granule", "granules").text,
            number_grouped(a->granules_excluded).text, number_grouped(a->granules_included).text);
    fprintf(file, "%s, %s", number_of(a->reads, "read", "reads").text,
            number_bytes(a->read_bytes).text);
    write_rates(report, index, file);
    if (a->damaged_segments > 0)
        fprintf(file, "; damaged: %s", number_of(a->damaged_segments, "segment", "segments").text);
    fprintf(file, "\n");
}

static void write_indexes(const struct account_report *report, FILE *file)
{
    size_t count = 0;
    const struct index_account *indexes = indexes_of(report, &count);
    for (size_t i = 0; i < count; i++)
        write_index(report, &indexes[i], file);
    if (report->total.damaged_indexes > 0)
        fprintf(file, "damaged   %s ignored: damaged, missing or unknown\n",
                number_of(report->total.damaged_indexes, "index", "indexes").text);
}

static void write_reading(const struct account_report *report, FILE *file)
{
    const struct bb_select_account *a = &report->total;
    if (report->is_of_file)
        fprintf(file, "unindexed %s\n", number_bytes(report->unindexed_bytes).text);
    else
        fprintf(file, "blocks    %s decoded, %s of them without the bytes that a match has\n",
                number_grouped(a->blocks_read).text, number_grouped(a->blocks_passed).text);
    fprintf(file, "preads    %s of data, %s; %s of indexes, %s\n",
            number_grouped(a->data_reads).text, number_bytes(a->data_read_bytes).text,
            number_grouped(a->index_reads).text, number_bytes(a->index_read_bytes).text);
}

static void write_records(const struct account_report *report, FILE *file)
{
    const struct bb_select_account *a = &report->total;
    if (report->is_of_file) {
        fprintf(file, "lines     %s examined, %s returned\n",
                number_grouped(a->records_examined).text, number_grouped(a->records_returned).text);
        return;
    }
    fprintf(file, "records   %s examined, %s matching, %s of these hidden, %s returned\n",
            number_grouped(a->records_examined).text, number_grouped(a->records_matching).text,
            number_grouped(a->records_hidden).text, number_grouped(a->records_returned).text);
    if (a->newer_searched > 0)
        fprintf(file, "newer     searched for newer versions: %s or memtables, %s\n",
                number_of(a->newer_searched, "run", "runs").text,
                number_of(a->newer_blocks, "block", "blocks").text);
}

void account_report_write(const struct account_report *report, FILE *file)
{
    const struct bb_select_account *a = &report->total;
    if (!report->is_of_file)
        write_tables(a, file);
    write_granules(a, file);
    write_indexes(report, file);
    write_reading(report, file);
    write_records(report, file);
    fprintf(file, "time      %s, of it %s to ask indexes\n", number_duration(a->nanoseconds).text,
            number_duration(a->index_nanoseconds).text);
}

/* ---- JSON ---- */

struct count {
    const char *name;
    uint64_t value;
    bool is_of_stores; /* files of lines do not have it */
};

static json_t *counts_json(const struct count *counts, size_t count, bool is_of_file)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        if (!is_of_file || !counts[i].is_of_stores)
            json_set_count(object, counts[i].name, counts[i].value);
    }
    return object;
}

static json_t *total_json(const struct bb_select_account *a, bool is_of_file)
{
    const struct count counts[] = {
        {"tables", a->tables, true},
        {"tables_indexed", a->tables_indexed, true},
        {"tables_excluded", a->tables_excluded, true},
        {"granules", a->granules, false},
        {"granules_excluded", a->granules_excluded, false},
        {"granules_counted", a->granules_counted, false},
        {"granules_read", a->granules_read, false},
        {"granules_matching", a->granules_matching, false},
        {"blocks_read", a->blocks_read, true},
        {"blocks_passed", a->blocks_passed, true},
        {"data_reads", a->data_reads, false},
        {"data_read_bytes", a->data_read_bytes, false},
        {"index_reads", a->index_reads, false},
        {"index_read_bytes", a->index_read_bytes, false},
        {"damaged_indexes", a->damaged_indexes, false},
        {"records_examined", a->records_examined, false},
        {"records_matching", a->records_matching, false},
        {"records_hidden", a->records_hidden, true},
        {"records_returned", a->records_returned, false},
        {"newer_searched", a->newer_searched, true},
        {"newer_blocks", a->newer_blocks, true},
        {"index_nanoseconds", a->index_nanoseconds, false},
        {"nanoseconds", a->nanoseconds, false},
    };
    json_t *object = counts_json(counts, BB_ARRAY_LENGTH(counts), is_of_file);
    json_set_real(object, "false_share", account_false_share(a));
    return object;
}

json_t *account_json(const struct bb_select_account *account)
{
    return total_json(account, false);
}

static json_t *index_json(const struct account_report *report, const struct index_account *index)
{
    const struct bb_skip_account *a = &index->account;
    const struct count counts[] = {
        {"leaves", a->leaves, false},
        {"segments_searched", a->segments_searched, false},
        {"granules_searched", a->granules_searched, false},
        {"granules_excluded", a->granules_excluded, false},
        {"granules_included", a->granules_included, false},
        {"reads", a->reads, false},
        {"read_bytes", a->read_bytes, false},
        {"damaged_segments", a->damaged_segments, false},
    };
    json_t *object = counts_json(counts, BB_ARRAY_LENGTH(counts), false);
    json_set_text(object, "name", index->name);
    json_set_real(object, "target_rate", index->rate);
    json_set_real(object, "false_share", index_false_share(report));
    return object;
}

json_t *account_report_json(const struct account_report *report)
{
    json_t *object = total_json(&report->total, report->is_of_file);
    json_t *rows = json_array();
    size_t count = 0;
    const struct index_account *indexes = indexes_of(report, &count);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, index_json(report, &indexes[i]));
    if (report->is_of_file)
        json_set_count(object, "unindexed_bytes", report->unindexed_bytes);
    json_object_set_new(object, "indexes", rows);
    return object;
}
