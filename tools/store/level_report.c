/* See level_report.h. */
#include "tools/store/level_report.h"

#include "base/assert.h"
#include "tools/output/number_text.h"
#include "tools/output/text_table.h"

static double bits_per_key(const struct bb_level_stats *level)
{
    return level->key_count == 0 ? 0 : 8 * (double)level->filter_bytes / (double)level->key_count;
}

bool level_report_is_weighted(const struct bb_db_stats *stats)
{
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        if (stats->levels[i].expected_wasted_reads != stats->levels[i].filter_rate_sum)
            return true;
    }
    return false;
}

static void add_row(struct text_table *table, const char *name, const struct bb_level_stats *level,
                    bool weighted)
{
    text_table_add(table, "%s", name);
    text_table_add(table, "%s", number_grouped(level->run_count).text);
    text_table_add(table, "%s", number_grouped(level->table_count).text);
    text_table_add(table, "%s", number_bytes(level->file_bytes).text);
    text_table_add(table, "%s", number_grouped(level->entry_count).text);
    text_table_add(table, "%s", number_grouped(level->key_count).text);
    text_table_add(table, "%s", number_bytes(level->filter_bytes).text);
    text_table_add(table, "%.2f", bits_per_key(level));
    text_table_add(table, "%s", number_rate(level->filter_rate_sum).text);
    if (weighted)
        text_table_add(table, "%s", number_rate(level->expected_wasted_reads).text);
}

struct bb_level_stats level_report_total(const struct bb_db_stats *stats)
{
    struct bb_level_stats total = {0};
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        const struct bb_level_stats *level = &stats->levels[i];
        total.table_count += level->table_count;
        total.run_count += level->run_count;
        total.file_bytes += level->file_bytes;
        total.entry_count += level->entry_count;
        total.key_count += level->key_count;
        total.filter_bytes += level->filter_bytes;
        total.filter_rate_sum += level->filter_rate_sum;
        total.passing_table_count += level->passing_table_count;
        total.unpredicted_table_count += level->unpredicted_table_count;
        total.expected_wasted_reads += level->expected_wasted_reads;
    }
    return total;
}

void level_report_write(const struct bb_db_stats *stats, struct output *out)
{
    static const char *const headers[] = {"level",         "runs",    "tables",  "size",
                                          "entries",       "keys",    "filters", "bits/key",
                                          "expected rate", "weighted"};
    bool weighted = level_report_is_weighted(stats);
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers) - !weighted);
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        char name[8] = {(char)('0' + i)};
        if (stats->levels[i].table_count > 0)
            add_row(&table, name, &stats->levels[i], weighted);
    }
    struct bb_level_stats total = level_report_total(stats);
    add_row(&table, "total", &total, weighted);
    text_table_write(&table, out);
    text_table_deinit(&table);
}

static void write_passing(const struct bb_level_stats *total, struct output *out)
{
    if (total->passing_table_count == total->table_count)
        output_print(
            out,
            "NO KEY IS RULED OUT: the store has %s. A lookup of an absent key requests a block "
            "in each run\n",
            total->filter_bytes == 0 ? "no filters" : "filters that pass every key");
    else
        output_print(out,
                     "%s of %s rule out no key: they have no filters, or filters that pass every "
                     "key\n",
                     number_grouped(total->passing_table_count).text,
                     number_of(total->table_count, "table", "tables").text);
}

void level_report_write_doubts(const struct bb_level_stats *total, struct output *out)
{
    if (total->passing_table_count > 0)
        write_passing(total, out);
    if (total->unpredicted_table_count > 0)
        output_print(out,
                     "%s of %s do not record the rate of their filters, because an older version "
                     "wrote them: they count with their target\n",
                     number_grouped(total->unpredicted_table_count).text,
                     number_of(total->table_count, "table", "tables").text);
}

json_t *level_report_json(const struct bb_db_stats *stats)
{
    json_t *levels = json_array();
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        const struct bb_level_stats *level = &stats->levels[i];
        if (level->table_count == 0)
            continue;
        json_t *row = json_object();
        json_set_count(row, "level", i);
        json_set_count(row, "runs", level->run_count);
        json_set_count(row, "tables", level->table_count);
        json_set_count(row, "file_bytes", level->file_bytes);
        json_set_count(row, "entries", level->entry_count);
        json_set_count(row, "keys", level->key_count);
        json_set_count(row, "filter_bytes", level->filter_bytes);
        json_set_count(row, "table_filter_bytes", level->table_filter_bytes);
        json_set_real(row, "filter_bits_per_key", bits_per_key(level));
        json_set_real(row, "expected_rate", level->filter_rate_sum);
        json_set_count(row, "passing_tables", level->passing_table_count);
        json_set_count(row, "unpredicted_tables", level->unpredicted_table_count);
        json_set_real(row, "visit_share", level->visit_share);
        json_set_real(row, "expected_wasted_reads", level->expected_wasted_reads);
        json_array_append_new(levels, row);
    }
    return levels;
}
