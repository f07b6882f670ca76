/* bloomblock export: all keys and values, in a form that others read. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/buf.h"
#include "tools/output/escape.h"
#include "tools/output/json_row.h"
#include "tools/keys/key_range.h"
#include "tools/output/output.h"
#include "tools/output/process_reads.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"

/* mdb_load makes a map of the size that the dump names; it takes no space before it is filled. */
#define MAP_SIZE_MIN UINT64_C(1073741824)
#define MAP_FACTOR   4

struct export
{
    struct store_options store;
    struct output out;
    bool is_hex;
    struct key_range range;
    struct bb_db *db;
    struct bb_buf line;
};

/* ---- text ---- */

/* Printable ASCII as it is, all else, and the backslash, as \NN. */
static enum bb_status append_printed(struct bb_buf *line, struct bb_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    enum bb_status status = bb_buf_reserve(line, 3 * bytes.size);
    if (status != BB_OK)
        return status;
    uint8_t *to = line->data + line->size;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data[i];
        if (byte >= ' ' && byte <= '~' && byte != '\\') {
            *to++ = byte;
            continue;
        }
        *to++ = '\\';
        *to++ = (uint8_t)digits[byte >> 4];
        *to++ = (uint8_t)digits[byte & 15];
    }
    line->size = (size_t)(to - line->data);
    return BB_OK;
}

static enum bb_status write_line(struct export *export, struct bb_bytes bytes)
{
    struct bb_buf *line = &export->line;
    bb_buf_reset(line);
    enum bb_status status = bb_buf_append(line, " ", 1);
    if (status == BB_OK)
        status = export->is_hex ? hex_append(line, bytes) : append_printed(line, bytes);
    if (status == BB_OK)
        status = bb_buf_append(line, "\n", 1);
    output_write(&export->out, bb_buf_bytes(line));
    return status;
}

static enum bb_status write_header(struct export *export)
{
    struct bb_key_range everything = {0};
    struct bb_range_size size = {0};
    enum bb_status status = bb_db_approximate_sizes(export->db, &everything, 1, &size);
    uint64_t map_size = MAP_FACTOR * (size.raw_bytes + size.memtable_bytes);
    if (map_size < MAP_SIZE_MIN)
        map_size = MAP_SIZE_MIN;
    output_print(&export->out,
                 "VERSION=3\nformat=%s\ntype=btree\nmapsize=%" PRIu64 "\nHEADER=END\n",
                 export->is_hex ? "bytevalue" : "print", map_size & ~UINT64_C(65535));
    return status;
}

/* ---- entries ---- */

static enum bb_status write_entry(struct export *export, struct bb_bytes key, struct bb_bytes value)
{
    if (!export->out.is_json) {
        enum bb_status status = write_line(export, key);
        return status == BB_OK ? write_line(export, value) : status;
    }
    return json_row_write(&export->out, key, value, export->is_hex, &export->line);
}

static enum bb_status write_entries(struct export *export, struct bb_db_iter *iter)
{
    enum bb_status status = BB_OK;
    bb_db_iter_seek_first(iter);
    for (; bb_db_iter_valid(iter) && status == BB_OK && !export->out.has_failed;
         bb_db_iter_next(iter))
        status = write_entry(export, bb_db_iter_key(iter), bb_db_iter_value(iter));
    return status == BB_OK ? bb_db_iter_status(iter) : status;
}

static enum bb_status export_store(struct export *export)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = key_range_iter_create(&export->range, export->db, &iter);
    if (status == BB_OK && !export->out.is_json)
        status = write_header(export);
    if (status == BB_OK)
        status = write_entries(export, iter);
    /* The last line marks a complete dump. */
    if (status == BB_OK && !export->out.is_json)
        output_print(&export->out, "DATA=END\n");
    bb_db_iter_destroy(iter);
    return status;
}

/* The bar and the output do not mix in one terminal. */
static enum bb_status export_with_progress(struct export *export, const char *directory)
{
    struct progress progress;
    if (isatty(STDOUT_FILENO))
        return export_store(export);
    progress_start_reads(&progress, "exporting",
                         key_range_is_everything(&export->range) ? process_reads_expected(directory)
                                                                 : 0);
    enum bb_status status = export_store(export);
    progress_stop(&progress);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct export export = {0};
    store_options_init_to_read(&export.store, command);
    const struct option own[] = {
        {"from", "KEY", OPTION_TEXT, &export.range.from, "first key of the range, inclusive"},
        {"to", "KEY", OPTION_TEXT, &export.range.to, "end of the range, exclusive"},
        {"prefix", "P", OPTION_TEXT, &export.range.prefix, "keys that begin with these bytes"},
        {"hex", NULL, OPTION_FLAG, &export.is_hex,
         "every byte as two hexadecimal digits (format=bytevalue), in options too"},
        {"json", NULL, OPTION_FLAG, &export.out.is_json, "JSON lines instead of a dump"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&export.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = key_range_decode(&export.range, export.is_hex);
    if (status == BB_OK)
        status = store_open_to_read(&export.store, arguments.values[0], &export.db);
    if (status == BB_OK)
        status = export_with_progress(&export, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    bb_buf_deinit(&export.line);
    key_range_deinit(&export.range);
    code = store_close(&export.store, export.db, code);
    return command_finish(command, &export.out, code);
}

const struct command command_export = {
    .name = "export",
    .summary = "print all keys and values as a dump or as JSON lines",
    .arguments = "STORE",
    .description =
        "Prints everything that is in the store at one moment, or in a range of its keys, in "
        "order: as a dump,\n"
        "which mdb_load, db_load and `import text` read and whose last line is DATA=END, or as "
        "JSON, a line for\n"
        "each key.\n"
        "\n"
        "Examples:\n"
        "  bloomblock export /tmp/pets > pets.dump\n"
        "  bloomblock export /tmp/pets | mdb_load -n pets.mdb\n"
        "  bloomblock export /tmp/pets --json --from a --to d | jq .key\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
