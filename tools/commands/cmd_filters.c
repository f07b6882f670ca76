/* bloomblock filters: the filters of a table, one by one. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/dump/index_dump.h"
#include "tools/filter/filter_list.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"
#include "tools/store/table_report.h"
#include "tools/output/text_table.h"

#define LIMIT_DEFAULT     50
#define BLOCK_CACHE_BYTES (64 * 1024 * 1024)

struct filters {
    struct output out;
    const char *absent_path;
    bool is_hex;
    uint64_t limit;
    struct bb_block_cache *cache;
    struct bb_table *table;
    struct filter_list list;
    struct key_list keys;
};

static double rate_of(uint64_t passed, uint64_t probed)
{
    return probed == 0 ? NAN : (double)passed / (double)probed;
}

static double bits_per_key(uint64_t bits, uint64_t keys)
{
    return keys == 0 ? 0 : (double)bits / (double)keys;
}

static const char *layout_of(const struct filter_row *row)
{
    switch (row->state) {
    case FILTER_GOOD:
        return row->info.layout;
    case FILTER_DAMAGED:
        return "damaged";
    default:
        return "none";
    }
}

static const char *kind_of(const struct filters *filters)
{
    const char *name =
        bb_filter_kind_name((enum bb_filter_kind)filters->table->properties.filter_kind);
    return name == NULL ? "unknown" : name;
}

/* ---- text ---- */

static void add_row(struct text_table *table, const struct filters *filters,
                    const struct filter_row *row)
{
    if (row->block_count == 1)
        text_table_add(table, "%" PRIu64, row->first_block);
    else
        text_table_add(table, "%" PRIu64 "-%" PRIu64, row->first_block,
                       row->first_block + row->block_count - 1);
    if (row->shard_count > 1)
        text_table_add(table, "%" PRIu32 "/%" PRIu32, row->shard + 1, row->shard_count);
    else
        text_table_add(table, "-");
    text_table_add(table, "%s%" PRIu64, row->is_incomplete ? ">" : "", row->keys);
    text_table_add(table, "%" PRIu64, filter_row_bits(row));
    text_table_add(table, "%.2f", bits_per_key(filter_row_bits(row), row->keys));
    text_table_add(table, "%s", layout_of(row));
    text_table_add(table, "%" PRIu32, row->info.seed);
    text_table_add(table, "%" PRIu32, row->info.bits_per_probe);
    text_table_add(table, "%.3f", row->info.fill);
    text_table_add(table, "%s", number_rate(row->info.predicted_rate).text);
    if (filters->absent_path == NULL)
        return;
    text_table_add(table, "%" PRIu64, row->probed);
    text_table_add(table, "%" PRIu64, row->passed);
    text_table_add(table, "%s", number_rate(rate_of(row->passed, row->probed)).text);
}

/* The end of a row: the number of keys that were probed, and the results. */
static void add_measured(struct text_table *table, const struct filters *filters, uint64_t probed,
                         uint64_t passed)
{
    if (filters->absent_path == NULL)
        return;
    text_table_add(table, "%" PRIu64, probed);
    text_table_add(table, "%" PRIu64, passed);
    text_table_add(table, "%s", number_rate(rate_of(passed, probed)).text);
}

static void add_blocks(struct text_table *table, const struct filters *filters, const char *name,
                       const struct filter_total *total)
{
    text_table_add(table, "%s", name);
    text_table_add(table, "-");
    text_table_add(table, "%" PRIu64, total->keys);
    text_table_add(table, "%" PRIu64, total->bits);
    text_table_add(table, "%.2f", bits_per_key(total->bits, total->keys));
    text_table_add(table, "%s", kind_of(filters));
    text_table_add(table, "-");
    text_table_add(table, "-");
    text_table_add(table, "%.3f", total->fill);
    text_table_add(table, "%s", number_rate(total->predicted_rate).text);
    add_measured(table, filters, total->probed, total->passed);
}

static void add_table_filter(struct text_table *table, const struct filters *filters)
{
    const struct filter_list *list = &filters->list;
    const struct table_filter_report *table_filter = &list->table_filter;
    text_table_add(table, "table filter");
    text_table_add(table, "%" PRIu64, table_filter->shard_count);
    text_table_add(table, "%" PRIu64, table_filter->keys);
    text_table_add(table, "%" PRIu64, table_filter->bits);
    text_table_add(table, "%.2f", bits_per_key(table_filter->bits, table_filter->keys));
    text_table_add(table, "%s", table_filter->is_damaged ? "damaged" : "ribbon");
    text_table_add(table, "-");
    text_table_add(table, "%.2f", table_filter->bits_per_probe);
    text_table_add(table, "%.3f", table_filter->fill);
    text_table_add(table, "%s", number_rate(table_filter->predicted_rate).text);
    add_measured(table, filters, list->table_filter_probed, list->table_filter_passed);
}

/* Of both stages together: rates multiply. */
static void add_total(struct text_table *table, const struct filters *filters,
                      const struct filter_total *total)
{
    const struct filter_list *list = &filters->list;
    uint64_t bits = total->bits + list->table_filter.bits;
    text_table_add(table, "total");
    text_table_add(table, "-");
    text_table_add(table, "%" PRIu64, total->keys);
    text_table_add(table, "%" PRIu64, bits);
    text_table_add(table, "%.2f", bits_per_key(bits, total->keys));
    for (int i = 0; i < 4; i++)
        text_table_add(table, "-");
    text_table_add(table, "%s", number_rate(filter_list_rate(list)).text);
    add_measured(table, filters, total->probed, list->both_passed);
}

static void write_end(struct filters *filters, const struct filter_total *total)
{
    struct output *out = &filters->out;
    const struct bb_properties *p = &filters->table->properties;
    uint64_t stored = p->filter_size + p->table_filter_size;
    output_print(out, "\ntarget %s, predicted from the filters %s",
                 number_rate(p->filter_rate).text,
                 number_rate(filter_list_rate(&filters->list)).text);
    if (filters->absent_path != NULL)
        output_print(out, ", measured %s",
                     number_rate(rate_of(filters->list.both_passed, total->probed)).text);
    output_print(out, "\nstored with checksums: %s, %.2f bits per key\n", number_bytes(stored).text,
                 bits_per_key(8 * stored, total->keys));
    if (p->table_filter_rate != 1)
        output_print(out, "of these the table filter, of target %s: %s in %s\n",
                     number_rate(p->table_filter_rate).text,
                     number_bytes(p->table_filter_size).text,
                     number_of(filters->list.table_filter.chunk_count, "chunk", "chunks").text);
    if (filters->absent_path == NULL)
        return;
    output_print(
        out,
        "%s: %s probed a filter, %s outside the table's bounds, %s in the table and not probed\n",
        number_of(filters->list.lookups, "key", "keys").text, number_grouped(total->probed).text,
        number_grouped(filters->list.outside).text, number_grouped(filters->list.inside).text);
    if (filters->list.unread > 0)
        output_print(out, "%s keys fall into parts that cannot be read\n",
                     number_grouped(filters->list.unread).text);
}

static void write_text(struct filters *filters)
{
    static const char *const headers[] = {"block",  "shard",  "keys",       "bits", "bits/key",
                                          "layout", "seed",   "bits/probe", "fill", "predicted",
                                          "probed", "passed", "measured"};
    size_t column_count = BB_ARRAY_LENGTH(headers) - (filters->absent_path == NULL ? 3 : 0);
    struct filter_total total = filter_list_total(&filters->list);
    struct text_table table;
    text_table_init(&table, headers, column_count);
    for (size_t i = 0; i < filters->list.count && i < filters->limit; i++)
        add_row(&table, filters, &filters->list.rows[i]);
    if (filters->list.table_filter.is_there) {
        add_blocks(&table, filters, "blocks", &total);
        add_table_filter(&table, filters);
        add_total(&table, filters, &total);
    } else {
        add_blocks(&table, filters, "total", &total);
    }
    text_table_write(&table, &filters->out);
    text_table_deinit(&table);
    if (filters->list.count > filters->limit)
        output_print(&filters->out,
                     "(%" PRIu64 " of %zu filters; --limit 0 shows all; the total is of all)\n",
                     filters->limit, filters->list.count);
    write_end(filters, &total);
}

/* ---- JSON ---- */

static json_t *row_json(const struct filters *filters, const struct filter_row *row)
{
    json_t *object = json_object();
    json_set_count(object, "page", row->page);
    json_set_count(object, "block", row->first_block);
    json_set_count(object, "blocks", row->block_count);
    json_set_count(object, "shard", row->shard);
    json_set_count(object, "shards", row->shard_count);
    json_set_count(object, "keys", row->keys);
    json_set_bool(object, "keys_incomplete", row->is_incomplete);
    json_set_count(object, "bits", filter_row_bits(row));
    json_set_real(object, "bits_per_key", bits_per_key(filter_row_bits(row), row->keys));
    json_set_text(object, "kind", kind_of(filters));
    json_set_text(object, "layout", layout_of(row));
    json_set_count(object, "descriptor", row->descriptor);
    json_set_count(object, "slots", row->info.slots);
    json_set_count(object, "seed", row->info.seed);
    json_set_count(object, "bits_per_probe", row->info.bits_per_probe);
    json_set_real(object, "fill", row->info.fill);
    json_set_real(object, "predicted_rate", row->info.predicted_rate);
    if (filters->absent_path != NULL) {
        json_set_count(object, "probed", row->probed);
        json_set_count(object, "passed", row->passed);
        json_set_real(object, "measured_rate", rate_of(row->passed, row->probed));
    }
    return object;
}

static void set_measured(json_t *object, const struct filters *filters, uint64_t probed,
                         uint64_t passed)
{
    if (filters->absent_path == NULL)
        return;
    json_set_count(object, "probed", probed);
    json_set_count(object, "passed", passed);
    json_set_real(object, "measured_rate", rate_of(passed, probed));
}

static json_t *blocks_json(const struct filters *filters, const struct filter_total *total)
{
    json_t *object = json_object();
    json_set_count(object, "filters", filters->list.count);
    json_set_count(object, "bits", total->bits);
    json_set_real(object, "bits_per_key", bits_per_key(total->bits, total->keys));
    json_set_count(object, "stored_bytes", filters->table->properties.filter_size);
    json_set_real(object, "fill", total->fill);
    json_set_real(object, "target_rate", bb_properties_block_rate(&filters->table->properties));
    json_set_real(object, "predicted_rate", total->predicted_rate);
    set_measured(object, filters, total->probed, total->passed);
    return object;
}

static json_t *table_filter_json(const struct filters *filters)
{
    const struct filter_list *list = &filters->list;
    const struct table_filter_report *table_filter = &list->table_filter;
    json_t *object = json_object();
    json_set_count(object, "parts", table_filter->part_count);
    json_set_count(object, "chunks", table_filter->chunk_count);
    json_set_count(object, "damaged_chunks", table_filter->damaged_chunks);
    json_set_bool(object, "damaged", table_filter->is_damaged);
    json_set_count(object, "shards", table_filter->shard_count);
    json_set_count(object, "keys", table_filter->keys);
    json_set_count(object, "stored_bytes", table_filter->bits / 8);
    json_set_real(object, "bits_per_key", bits_per_key(table_filter->bits, table_filter->keys));
    json_set_real(object, "bits_per_probe", table_filter->bits_per_probe);
    json_set_real(object, "fill", table_filter->fill);
    json_set_real(object, "target_rate", table_filter->target_rate);
    json_set_real(object, "predicted_rate", table_filter->predicted_rate);
    set_measured(object, filters, list->table_filter_probed, list->table_filter_passed);
    return object;
}

static json_t *total_json(const struct filters *filters, const struct filter_total *total)
{
    const struct filter_list *list = &filters->list;
    const struct bb_properties *p = &filters->table->properties;
    uint64_t bits = total->bits + list->table_filter.bits;
    uint64_t stored = p->filter_size + p->table_filter_size;
    json_t *object = json_object();
    json_set_count(object, "filters", list->count);
    json_set_count(object, "keys", total->keys);
    json_set_count(object, "bits", bits);
    json_set_real(object, "bits_per_key", bits_per_key(bits, total->keys));
    json_set_count(object, "stored_bytes", stored);
    json_set_real(object, "stored_bits_per_key", bits_per_key(8 * stored, total->keys));
    json_set_real(object, "fill", total->fill);
    json_set_real(object, "target_rate", p->filter_rate);
    json_set_real(object, "predicted_rate", filter_list_rate(list));
    set_measured(object, filters, total->probed, list->both_passed);
    if (filters->absent_path != NULL) {
        json_set_count(object, "lookups", list->lookups);
        json_set_count(object, "out_of_bounds", list->outside);
        json_set_count(object, "in_table", list->inside);
        json_set_count(object, "unread", list->unread);
    }
    return object;
}

static void write_json(struct filters *filters)
{
    json_t *document = json_object();
    json_set_text(document, "file", filters->table->file->path);
    json_set_text(document, "kind", kind_of(filters));
    json_set_count(document, "granularity", filters->table->properties.filter_granularity);
    json_t *rows = json_array();
    for (size_t i = 0; i < filters->list.count && i < filters->limit; i++)
        json_array_append_new(rows, row_json(filters, &filters->list.rows[i]));
    json_object_set_new(document, "filters", rows);
    struct filter_total total = filter_list_total(&filters->list);
    if (filters->list.table_filter.is_there) {
        json_object_set_new(document, "blocks", blocks_json(filters, &total));
        json_object_set_new(document, "table_filter", table_filter_json(filters));
    }
    json_object_set_new(document, "total", total_json(filters, &total));
    json_set_count(document, "damaged_parts", filters->list.damaged_parts);
    output_json(&filters->out, document);
}

/* ---- command ---- */

static enum bb_status read_table(struct filters *filters, const char *path)
{
    enum bb_status status = bb_block_cache_create(BLOCK_CACHE_BYTES, &filters->cache);
    struct bb_table_options options = {.cache = filters->cache};
    if (status == BB_OK)
        status = bb_table_open(path, &options, &filters->table);
    if (status == BB_OK)
        status = filter_list_read(filters->table, &filters->list);
    if (status == BB_OK && filters->absent_path != NULL)
        status = key_list_read_file(&filters->keys, filters->absent_path, filters->is_hex);
    if (status == BB_OK && filters->absent_path != NULL)
        status = filter_list_ask(&filters->list, filters->table, &filters->keys);
    return status;
}

static void release(struct filters *filters)
{
    filter_list_deinit(&filters->list);
    key_list_deinit(&filters->keys);
    bb_table_close(filters->table);
    if (filters->cache != NULL)
        bb_block_cache_destroy(filters->cache);
}

static enum bb_status show(struct filters *filters)
{
    if (filters->out.is_json)
        write_json(filters);
    else
        write_text(filters);
    if (filters->list.damaged_parts == 0)
        return BB_OK;
    return bb_fail(BB_CORRUPT, "%s of the table cannot be read; first: %s",
                   number_of(filters->list.damaged_parts, "part", "parts").text,
                   filters->list.first_damage);
}

static enum bb_status show_index(struct filters *filters, const char *path)
{
    struct index_dump dump = {.out = &filters->out};
    if (filters->absent_path != NULL)
        return bb_fail(BB_INVALID, "%s: option --absent: an index file has no filters of keys",
                       path);
    return index_dump_write(&dump, path);
}

static enum bb_status show_table(struct filters *filters, const char *path)
{
    enum bb_status status = read_table(filters, path);
    return status == BB_OK ? show(filters) : status;
}

static enum bb_status show_path(struct filters *filters, const char *path)
{
    if (table_report_is_for(path))
        return table_report_show(path, &filters->out);
    return index_dump_is_one(path) ? show_index(filters, path) : show_table(filters, path);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct filters filters = {.limit = LIMIT_DEFAULT};
    const struct option own[] = {
        {"absent", "FILE", OPTION_TEXT, &filters.absent_path,
         "keys, one a line: measure the rate with them"},
        {"hex", NULL, OPTION_FLAG, &filters.is_hex, "these keys are hexadecimal digits"},
        {"limit", "N", OPTION_COUNT, &filters.limit, "rows (50); 0: all"},
        {"json", NULL, OPTION_FLAG, &filters.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    if (filters.limit == 0)
        filters.limit = UINT64_MAX;
    const char *path = arguments.values[0];
    enum bb_status status = show_path(&filters, path);
    if (status != BB_OK)
        code = command_fail(command, status);
    release(&filters);
    return command_finish(command, &filters.out, code);
}

const struct command command_filters = {
    .name = "filters",
    .summary = "the filters of a table, block by block: bits, fill, rates",
    .arguments = "FILE|DIR",
    .description =
        "Prints a row per filter: the block or blocks it covers, keys, bits (including its 16-bit "
        "descriptor),\n"
        "layout, seed, bits per probe, share of set bits, and the rate of false positives "
        "predicted from its\n"
        "bits. With --absent each key of the file that the table does not contain is looked up, "
        "and the row\n"
        "shows how many keys probed the filter and for how many it returned maybe. Rates of all "
        "blocks are\n"
        "weighted by keys. A table with a table filter has a row for it, and the rate of the total "
        "is the product\n"
        "of the two, next to the target. Damaged filters return maybe and are shown as damaged.\n"
        "For a directory it lists the tables of the store.\n"
        "For an index file (.bbi) it prints a row per index: pairs (members of granules, counted "
        "per granule),\n"
        "size, bits per pair, the target rate and the rate predicted from its pairs.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filters /tmp/words/000005.bbt\n"
        "  bloomblock filters /tmp/words/000005.bbt --absent other-words.txt --limit 0\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
