/* The report of a measurement of conditions. See selection.h. */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tools/measure/selection.h"
#include "tools/output/number_text.h"
#include "tools/records/account_report.h"
#include "tools/output/text_table.h"

static const char *const run_names[] = {
    [SELECTION_UNINDEXED] = "all is read",
    [SELECTION_INDEXED] = "by indexes",
    [SELECTION_COUNTED] = "count",
};

static const char *const json_names[] = {
    [SELECTION_UNINDEXED] = "unindexed",
    [SELECTION_INDEXED] = "indexed",
    [SELECTION_COUNTED] = "counted",
};

static uint64_t bytes_read(const struct selection_run *run)
{
    return run->account.data_read_bytes + run->account.index_read_bytes;
}

static double ratio_of(uint64_t without, uint64_t with)
{
    return with == 0 ? NAN : (double)without / (double)with;
}

static struct number_text ratio_text(double ratio)
{
    struct number_text text = {.text = "-"};
    if (!isnan(ratio))
        snprintf(text.text, sizeof(text.text), "%.3g x", ratio);
    return text;
}

/* The columns of the report. The short report omits the details. */
struct report_column {
    const char *header;
    bool is_detail;
};

static const struct report_column columns[] = {
    {"", false},    {"records", false}, {"granules", true}, {"excluded", true}, {"counted", true},
    {"read", true}, {"blocks", false},  {"preads", false},  {"bytes", false},   {"time", false},
};

static void add_cell(struct text_table *table, bool with_details, size_t column,
                     struct number_text text)
{
    if (with_details || !columns[column].is_detail)
        text_table_add(table, "%s", text.text);
}

static void add_run(struct text_table *table, const struct selection_run *run, const char *name,
                    bool with_details)
{
    const struct bb_select_account *a = &run->account;
    const struct number_text cells[] = {
        number_grouped(run->records),         number_grouped(a->granules),
        number_grouped(a->granules_excluded), number_grouped(a->granules_counted),
        number_grouped(a->granules_read),     number_grouped(a->blocks_read),
        number_grouped(run->engine_reads),    number_bytes(bytes_read(run)),
        number_duration(run->nanoseconds)};
    text_table_add(table, "%s", name);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cells); i++)
        add_cell(table, with_details, 1 + i, cells[i]);
}

/* Adds the row of ratios: the work without indexes divided by the work with indexes. */
static void add_ratios(struct text_table *table, const struct selection *selection,
                       bool with_details)
{
    const struct selection_run *all = &selection->runs[SELECTION_UNINDEXED];
    const struct selection_run *indexed = &selection->runs[SELECTION_INDEXED];
    const struct number_text none = {.text = ""};
    const struct number_text cells[] = {
        none,
        none,
        none,
        none,
        none,
        ratio_text(ratio_of(all->account.blocks_read, indexed->account.blocks_read)),
        ratio_text(ratio_of(all->engine_reads, indexed->engine_reads)),
        ratio_text(ratio_of(bytes_read(all), bytes_read(indexed))),
        ratio_text(ratio_of(all->nanoseconds, indexed->nanoseconds))};
    text_table_add(table, "ratio");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cells); i++)
        add_cell(table, with_details, 1 + i, cells[i]);
}

static void write_selection(const struct selection *selection, bool with_details,
                            struct output *out)
{
    const char *headers[BB_ARRAY_LENGTH(columns)];
    size_t header_count = 0;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(columns); i++)
        if (with_details || !columns[i].is_detail)
            headers[header_count++] = columns[i].header;
    struct text_table table;
    output_bytes(out, bb_bytes_of(selection->where, strlen(selection->where)), false);
    output_print(out, "\n");
    text_table_init(&table, headers, header_count);
    for (int kind = 0; kind < SELECTION_RUN_COUNT; kind++)
        add_run(&table, &selection->runs[kind], run_names[kind], with_details);
    add_ratios(&table, selection, with_details);
    text_table_write(&table, out);
    text_table_deinit(&table);
    output_print(out, "\n");
}

/* Sums over all conditions. */
static void write_headline(const struct selections *selections, struct output *out)
{
    uint64_t all = 0;
    uint64_t read = 0;
    uint64_t time_all = 0;
    uint64_t time_indexed = 0;
    for (size_t i = 0; i < selections->count; i++) {
        const struct selection_run *runs = selections->list[i].runs;
        all += runs[SELECTION_UNINDEXED].account.blocks_read;
        read += runs[SELECTION_INDEXED].account.blocks_read;
        time_all += runs[SELECTION_UNINDEXED].nanoseconds;
        time_indexed += runs[SELECTION_INDEXED].nanoseconds;
    }
    if (all > 0)
        output_print(out, "indexes avoided %.1f %% of %s; time without / with: %.3g\n",
                     100 * (1 - (double)read / (double)all), number_of(all, "block", "blocks").text,
                     ratio_of(time_all, time_indexed));
}

void selections_write(const struct selections *selections, bool with_details, struct output *out)
{
    for (size_t i = 0; i < selections->count; i++)
        write_selection(&selections->list[i], with_details, out);
    write_headline(selections, out);
    bool has_system = selections->count > 0 && selections->list[0].runs[0].has_system;
    if (!has_system)
        output_print(out, "the operating system's counts were not compared: %s\n",
                     selections->counters.reason);
    output_print(out, "accounting: %s checked, differing: %zu\n",
                 number_of(selections->check_count, "sum", "sums").text,
                 json_array_size(selections->mismatches));
}

static json_t *run_json(const struct selection_run *run)
{
    json_t *object = json_object();
    json_set_count(object, "records", run->records);
    json_object_set_new(object, "account", account_json(&run->account));
    json_set_count(object, "newer_reads", run->other_reads);
    json_set_count(object, "engine_reads", run->engine_reads);
    json_object_set_new(object, "system_reads",
                        run->has_system ? json_integer((json_int_t)run->system.read_calls)
                                        : json_null());
    json_set_count(object, "nanoseconds", run->nanoseconds);
    return object;
}

static json_t *selection_json(const struct selection *selection)
{
    const struct selection_run *all = &selection->runs[SELECTION_UNINDEXED];
    const struct selection_run *indexed = &selection->runs[SELECTION_INDEXED];
    json_t *object = json_object();
    json_set_text(object, "where", selection->where);
    for (int kind = 0; kind < SELECTION_RUN_COUNT; kind++)
        json_object_set_new(object, json_names[kind], run_json(&selection->runs[kind]));
    json_t *ratios = json_object();
    json_set_real(ratios, "blocks",
                  ratio_of(all->account.blocks_read, indexed->account.blocks_read));
    json_set_real(ratios, "preads", ratio_of(all->engine_reads, indexed->engine_reads));
    json_set_real(ratios, "bytes", ratio_of(bytes_read(all), bytes_read(indexed)));
    json_set_real(ratios, "time", ratio_of(all->nanoseconds, indexed->nanoseconds));
    json_object_set_new(object, "ratio", ratios);
    return object;
}

json_t *selections_json(const struct selections *selections)
{
    json_t *document = json_object();
    json_t *rows = json_array();
    for (size_t i = 0; i < selections->count; i++)
        json_array_append_new(rows, selection_json(&selections->list[i]));
    json_object_set_new(document, "conditions", rows);
    json_set_count(document, "checks", selections->check_count);
    json_object_set(document, "mismatches", selections->mismatches);
    json_set_bool(document, "ok", json_array_size(selections->mismatches) == 0);
    return document;
}
