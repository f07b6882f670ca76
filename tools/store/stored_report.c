/* See stored_report.h. */
#include "tools/store/stored_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "bb/table.h"
#include "tools/store/store_options.h"

/* A blank precedes each option. */
static void write_option(struct output *out, const char *name, const char *value)
{
    output_print(out, " %s %s", name, value);
}

static void write_real(struct output *out, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.9g", value);
    if (value != 0)
        write_option(out, name, text);
}

static void write_count(struct output *out, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    if (value != 0)
        write_option(out, name, text);
}

static void write_amount(const struct bb_filter_amount *amount, struct output *out)
{
    static const char *const names[] = {[BB_FILTER_WASTED_READS] = "--target",
                                        [BB_FILTER_BYTES] = "--filter-budget",
                                        [BB_FILTER_BITS_PER_KEY] = "--bits-per-key"};
    write_real(out, names[amount->unit], amount->value);
}

static void write_table_filter_bits(double bits, struct output *out)
{
    if (bits == BB_TABLE_FILTER_NONE || bits == BB_TABLE_FILTER_ALL)
        write_option(out, "--table-filter-bits", bits == BB_TABLE_FILTER_NONE ? "none" : "all");
    else
        write_real(out, "--table-filter-bits", bits);
}

static void write_filters(const struct bb_db_options *stored, struct output *out)
{
    write_amount(&stored->filter_amount, out);
    if (stored->filter_kind != BB_FILTER_DEFAULT)
        write_option(out, "--filter", bb_filter_kind_name(stored->filter_kind));
    write_table_filter_bits(stored->table_filter_bits, out);
    write_real(out, "--absent-share", stored->absent_share);
    if (stored->filter_granularity == BB_GRANULARITY_PAGE)
        write_option(out, "--granularity", "page");
    else
        write_count(out, "--granularity", stored->filter_granularity);
}

static void write_tables(const struct bb_db_options *stored, struct output *out)
{
    write_count(out, "--write-buffer", stored->write_buffer_bytes);
    write_count(out, "--block-size", stored->block_size_bytes);
    write_count(out, "--restart-interval", stored->restart_interval);
    if (stored->compression != BB_COMPRESSION_DEFAULT)
        write_option(out, "--compression",
                     stored->compression == BB_COMPRESSION_NONE ? "none" : "lz4");
    write_count(out, "--table-size", stored->table_size_bytes);
    if (stored->compaction_style != BB_COMPACTION_DEFAULT)
        write_option(out, "--style", store_style_name(stored->compaction_style));
    write_count(out, "--level0-compact", stored->level0_run_count_compact);
    write_count(out, "--level0-busy", stored->level0_run_count_busy);
    write_count(out, "--level0-stop", stored->level0_run_count_stop);
    write_count(out, "--level1-size", stored->level1_size_bytes);
    write_count(out, "--level-ratio", stored->level_size_ratio);
    write_count(out, "--tombstone-age", stored->tombstone_age_max);
}

/* The fields are compared, not the bytes: padding may have any value. */
static bool is_none(const struct bb_db_options *stored)
{
    json_t *fields = stored_report_json(stored);
    bool is_empty = json_object_size(fields) == 0;
    json_decref(fields);
    return is_empty;
}

void stored_report_write(const struct bb_db_options *stored, struct output *out)
{
    output_print(out, "stored options:%s", is_none(stored) ? " none, so defaults" : "");
    write_filters(stored, out);
    write_tables(stored, out);
    output_print(out, "\n");
}

static void set_real(json_t *object, const char *name, double value)
{
    if (value != 0)
        json_set_real(object, name, value);
}

static void set_count(json_t *object, const char *name, uint64_t value)
{
    if (value != 0)
        json_set_count(object, name, value);
}

static void set_filters(json_t *object, const struct bb_db_options *stored)
{
    static const char *const units[] = {[BB_FILTER_WASTED_READS] = "filter_wasted_reads",
                                        [BB_FILTER_BYTES] = "filter_bytes",
                                        [BB_FILTER_BITS_PER_KEY] = "filter_bits_per_key"};
    set_real(object, units[stored->filter_amount.unit], stored->filter_amount.value);
    if (stored->filter_kind != BB_FILTER_DEFAULT)
        json_set_text(object, "filter_kind", bb_filter_kind_name(stored->filter_kind));
    set_real(object, "table_filter_bits", stored->table_filter_bits);
    set_real(object, "absent_share", stored->absent_share);
    set_count(object, "filter_granularity", stored->filter_granularity);
}

json_t *stored_report_json(const struct bb_db_options *stored)
{
    json_t *object = json_object();
    set_filters(object, stored);
    set_count(object, "write_buffer_bytes", stored->write_buffer_bytes);
    set_count(object, "block_size_bytes", stored->block_size_bytes);
    set_count(object, "restart_interval", stored->restart_interval);
    if (stored->compression != BB_COMPRESSION_DEFAULT)
        json_set_text(object, "compression",
                      stored->compression == BB_COMPRESSION_NONE ? "none" : "lz4");
    set_count(object, "table_size_bytes", stored->table_size_bytes);
    if (stored->compaction_style != BB_COMPACTION_DEFAULT)
        json_set_text(object, "compaction_style", store_style_name(stored->compaction_style));
    set_count(object, "level0_run_count_compact", stored->level0_run_count_compact);
    set_count(object, "level0_run_count_busy", stored->level0_run_count_busy);
    set_count(object, "level0_run_count_stop", stored->level0_run_count_stop);
    set_count(object, "level1_size_bytes", stored->level1_size_bytes);
    set_count(object, "level_size_ratio", stored->level_size_ratio);
    set_count(object, "tombstone_age_max", stored->tombstone_age_max);
    return object;
}
