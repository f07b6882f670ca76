/* bloomblock load: lines or TSV into a store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/output/clock.h"
#include "tools/output/escape.h"
#include "tools/output/interrupt.h"
#include "tools/keys/key_reader.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/records/line_load.h"
#include "tools/store/store_idle.h"
#include "tools/store/store_options.h"
#include "tools/store/store_place.h"

/* A batch is one append to the log; beyond this many bytes more operations save nothing. */
#define BATCH_BYTES_MAX     (1024 * 1024)
#define BATCH_COUNT_DEFAULT 100

struct load {
    struct store_options store;
    struct output out;
    struct progress progress;
    /* Options. */
    bool is_tsv;
    bool is_hex;
    bool is_synced;
    bool no_flush;
    bool with_ack;
    bool wal_off;
    bool is_forced;
    uint64_t batch_count_max;
    struct line_load lines;
    const char *secret_seed;
    struct bb_hash_secret secret;
    /* At work. */
    struct bb_db *db;
    struct bb_batch *batch;
    struct bb_buf acks; /* lines for the operations of the batch */
    uint64_t records;
    bool is_complete; /* to the end of the input */
    uint64_t bytes;
    uint64_t nanoseconds_load;
    uint64_t nanoseconds_all;
};

static enum bb_status commit(struct load *load)
{
    if (bb_batch_count(load->batch) == 0)
        return BB_OK;
    struct bb_write_options options = {.sync = load->is_synced};
    enum bb_status status = bb_db_write(load->db, &options, load->batch);
    if (status != BB_OK)
        return status;
    load->records += bb_batch_count(load->batch);
    bb_batch_reset(load->batch);
    if (load->with_ack) {
        /* A reader of this may kill the process immediately: the records are committed. */
        output_write(&load->out, bb_buf_bytes(&load->acks));
        output_flush(&load->out);
        bb_buf_reset(&load->acks);
    }
    return BB_OK;
}

static enum bb_status add_ack(struct load *load, const struct key_record *record)
{
    enum bb_status status = bb_buf_print(&load->acks, "%" PRIu64 "\t", record->line);
    if (status == BB_OK)
        status = load->is_hex ? hex_append(&load->acks, record->key)
                              : escape_append(&load->acks, record->key, ESCAPE_ALL);
    if (status == BB_OK)
        status = bb_buf_append(&load->acks, "\n", 1);
    return status;
}

/* The next one into the batch. */
static enum bb_status take_record(struct load *load, struct key_reader *reader)
{
    struct key_record record = {0};
    enum bb_status status = load->lines.is_on ? line_load_next(&load->lines, reader, &record)
                                              : key_reader_next(reader, &record);
    if (status != BB_OK)
        return status;
    status = bb_batch_put(load->batch, record.key, record.value);
    if (status != BB_OK)
        return bb_fail_context(status, "%s: line %" PRIu64, record.path, record.line);
    load->bytes += record.key.size + record.value.size;
    return load->with_ack ? add_ack(load, &record) : BB_OK;
}

static bool is_full(const struct load *load)
{
    return bb_batch_count(load->batch) >= load->batch_count_max ||
           bb_batch_size_bytes(load->batch) >= BATCH_BYTES_MAX;
}

/* Ctrl-C, or a bad or unreadable line: the lines before it are good and are committed. */
static enum bb_status fail_record(struct load *load)
{
    struct bb_error failure = *bb_error_last();
    enum bb_status committed = commit(load);
    return committed == BB_OK ? bb_error_restore(&failure) : committed;
}

static enum bb_status load_records(struct load *load, struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK && !load->out.has_failed) {
        status =
            interrupt_is_wanted() ? bb_fail(BB_BUSY, "interrupted") : take_record(load, reader);
        if (status == BB_NOT_FOUND)
            return commit(load);
        if (status != BB_OK)
            return fail_record(load);
        if (is_full(load))
            status = commit(load);
    }
    return status;
}

static enum bb_status settle(struct load *load)
{
    if (load->no_flush)
        return BB_OK;
    progress_next(&load->progress, "flushing and merging");
    enum bb_status status = bb_db_flush(load->db);
    if (status == BB_OK)
        status = store_idle_wait(&load->db);
    return status;
}

static void report_json(struct load *load, const struct bb_db_stats *stats, uint64_t tables,
                        uint64_t file_bytes)
{
    json_t *document = json_object();
    json_set_count(document, "records", load->records);
    json_set_count(document, "bytes", load->bytes);
    json_set_real(document, "seconds_load", (double)load->nanoseconds_load / 1e9);
    json_set_real(document, "seconds", (double)load->nanoseconds_all / 1e9);
    json_set_count(document, "tables", tables);
    json_set_count(document, "file_bytes", file_bytes);
    json_set_count(document, "flushes", stats->flushes);
    json_set_count(document, "compactions", stats->compactions);
    output_json(&load->out, document);
}

static void report(struct load *load)
{
    struct bb_db_stats stats = {0};
    bb_db_stats(load->db, &stats);
    uint64_t tables = 0;
    uint64_t file_bytes = 0;
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        tables += stats.levels[i].table_count;
        file_bytes += stats.levels[i].file_bytes;
    }
    if (load->out.is_json)
        report_json(load, &stats, tables, file_bytes);
    else
        output_print(&load->out, "loaded %s, %s, in %s; %s, %s\n",
                     number_of(load->records, "record", "records").text,
                     number_bytes(load->bytes).text, number_duration(load->nanoseconds_all).text,
                     number_of(tables, "table", "tables").text, number_bytes(file_bytes).text);
}

static enum bb_status run_load(struct load *load, const char *directory, char *const *paths,
                               size_t path_count)
{
    struct key_reader reader;
    key_reader_init(&reader, paths, path_count);
    reader.is_tsv = load->is_tsv;
    reader.is_hex = load->is_hex;
    reader.is_value = load->lines.is_on;
    reader.value_size_max = (size_t)load->lines.line_size_max;
    reader.progress = &load->progress;

    /* First, so that a mistyped name creates no store. */
    enum bb_status status = key_reader_check(&reader);
    if (status == BB_OK && !load->is_forced)
        status = store_place_check(directory);
    if (status == BB_OK)
        status = bb_batch_create(&load->batch);
    if (status == BB_OK)
        status = store_open(&load->store, directory, &load->db);
    if (status == BB_OK) {
        uint64_t start = clock_now();
        progress_start(&load->progress, "loading", key_reader_size_bytes(paths, path_count), true);
        if (load->lines.is_on)
            status = line_load_begin(&load->lines, load->db);
        if (status == BB_OK)
            status = load_records(load, &reader);
        load->nanoseconds_load = clock_now() - start;
        load->is_complete = status == BB_OK;
        if (status == BB_OK)
            status = settle(load);
        load->nanoseconds_all = clock_now() - start;
        progress_stop(&load->progress);
    }
    key_reader_deinit(&reader);
    bb_batch_destroy(load->batch);
    return status;
}

static bool parse(struct load *load, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"tsv", NULL, OPTION_FLAG, &load->is_tsv, "the first tab of a line splits key and value"},
        {"hex", NULL, OPTION_FLAG, &load->is_hex, "keys and values are hexadecimal digits"},
        {"lines", NULL, OPTION_FLAG, &load->lines.is_on,
         "a line is a value; its key is a running number"},
        {"format", "FORMAT", OPTION_TEXT, &load->lines.format_text,
         "clf, csv[=HEADER], tsv[=HEADER], zeek or json"},
        {"key", "ATTRIBUTE", OPTION_TEXT, &load->lines.key_name,
         "keys begin with this attribute, such as a time"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &load->lines.attributes,
         "create an attribute of the lines; may be given again"},
        {"index", "SPEC", OPTION_TEXTS, &load->lines.indexes,
         "create an index over an attribute; may be given again"},
        {"granule", "SIZE", OPTION_SIZE, &load->lines.granule_bytes,
         "values of a granule, 8K to 1M (64K)"},
        {"line-max", "SIZE", OPTION_SIZE, &load->lines.line_size_max,
         "longest line that is accepted (1G)"},
        {"batch", "N", OPTION_COUNT, &load->batch_count_max,
         "records that are committed together (100)"},
        {"sync", NULL, OPTION_FLAG, &load->is_synced,
         "each commit is durable against loss of power"},
        {"no-flush", NULL, OPTION_FLAG, &load->no_flush, "leave the last records in the log"},
        {"ack", NULL, OPTION_FLAG, &load->with_ack,
         "print line and key of committed records; no --json"},
        {"no-wal", NULL, OPTION_FLAG, &load->wal_off,
         "no log: a crash loses unflushed data; without --sync"},
        {"force", NULL, OPTION_FLAG, &load->is_forced,
         "also in a directory that holds other files"},
        {"secret-seed", "N", OPTION_TEXT, &load->secret_seed,
         "new store: hash secret from a number, for tests"},
        {"json", NULL, OPTION_FLAG, &load->out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&load->store)};
    return options_parse(command, groups, 2, argc, argv, ret_arguments, ret_code);
}

static enum bb_status apply_options(struct load *load)
{
    load->store.db.create_if_missing = true;
    load->store.db.wal_off = load->wal_off;
    if (load->batch_count_max == 0)
        return bb_fail(BB_INVALID, "option --batch: 0 records cannot be committed");
    if (load->with_ack && load->out.is_json)
        return bb_fail(BB_INVALID, "options --ack and --json exclude each other: the acknowledged "
                                   "lines are instead of the report");
    if (load->is_synced && load->wal_off)
        return bb_fail(BB_INVALID, "options --sync and --no-wal exclude each other: without a log "
                                   "no commit can be synced");
    if (load->lines.is_on && (load->is_tsv || load->is_hex))
        return bb_fail(BB_INVALID,
                       "option --lines excludes --tsv and --hex: lines are not converted");
    enum bb_status status = line_load_init(&load->lines);
    if (status != BB_OK || load->secret_seed == NULL)
        return status;
    uint64_t seed = 0;
    status = option_size_decode("secret-seed", load->secret_seed, &seed);
    if (status != BB_OK)
        return status;
    bb_hash_secret_from_seed(seed, &load->secret);
    load->store.db.secret = &load->secret;
    return BB_OK;
}

static void note_without_key(const struct command *command, const struct line_load *lines)
{
    char text[200];
    snprintf(text, sizeof(text), "%" PRIu64 " lines have no \"%.100s\": they are first",
             lines->without_key, lines->key_name);
    command_note(command, text);
}

static void note_skipped(const struct command *command, uint64_t count, const char *one,
                         const char *many, const char *why)
{
    char text[200];
    snprintf(text, sizeof(text), "no attributes come from %s: %s", number_of(count, one, many).text,
             why);
    if (count > 0)
        command_note(command, text);
}

/* A header of one column in which other separators occur. */
static bool has_other_separator(const struct line_format *format)
{
    struct bb_bytes names = bb_buf_bytes(&format->names);
    const char *separators = format->kind == LINE_FORMAT_CSV ? ";\t|" : ",;|";
    bool is_found = false;
    for (size_t i = 0; i < names.size; i++)
        is_found |= names.data[i] != 0 && strchr(separators, names.data[i]) != NULL;
    return is_found && strstr(line_format_last(format).text, "(1)") != NULL;
}

static void note_one_column(const struct command *command, const struct line_load *lines)
{
    char text[200];
    bool is_table = lines->format.kind == LINE_FORMAT_CSV || lines->format.kind == LINE_FORMAT_TSV;
    if (!is_table || !has_other_separator(&lines->format))
        return;
    snprintf(text, sizeof(text),
             "the header has one column and another separator: is --format %.*s correct?",
             (int)strcspn(lines->format_text, "="), lines->format_text);
    command_note(command, text);
}

/* Rows of a table may end early: a note only if each one does. */
static void note_other_format(const struct command *command, const struct line_load *lines)
{
    char text[200];
    const struct line_probe *probe = &lines->probe;
    bool is_table = lines->format.kind != LINE_FORMAT_CLF;
    if (probe->lines_without == 0 || (is_table && probe->lines_without < probe->examined_lines))
        return;
    snprintf(text, sizeof(text), "no %s in %s of the first %s: is --format %.*s correct?",
             probe->extractor, number_of(probe->lines_without, "line", "lines").text,
             number_grouped(LINE_PROBE_LINES_MAX).text, (int)strcspn(lines->format_text, "="),
             lines->format_text);
    command_note(command, text);
}

/* The store is closed next, so that all of them can be read by whatever opens it then. */
static void note_committed(const struct command *command, const struct load *load)
{
    char text[200];
    if (load->is_complete) {
        snprintf(text, sizeof(text),
                 "the whole input is in the store, %s; merging continues at its next use",
                 number_of(load->records, "record", "records").text);
        command_warn(command, text);
        return;
    }
    snprintf(text, sizeof(text), "%s record%s committed before and %s in the store",
             number_grouped(load->records).text, load->records == 1 ? " was" : "s were",
             load->records == 1 ? "is" : "are");
    command_warn(command, text);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct load load = {.batch_count_max = BATCH_COUNT_DEFAULT,
                        .lines.line_size_max = BB_VALUE_SIZE_MAX};
    store_options_init(&load.store, command);
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&load, command, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = apply_options(&load);
    if (status == BB_OK)
        status = run_load(&load, arguments.values[0], arguments.values + 1, arguments.count - 1);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (!load.with_ack)
        report(&load);
    if (status != BB_OK && load.records > 0)
        note_committed(command, &load);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    if (load.lines.without_key > 0)
        note_without_key(command, &load.lines);
    note_skipped(command, load.lines.fields.skipped_lines, "line", "lines",
                 "no JSON object, or a key or number that cannot be used");
    note_skipped(command, load.lines.fields.skipped_fields, "field", "fields",
                 "a name that is too long or has control characters");
    note_other_format(command, &load.lines);
    note_one_column(command, &load.lines);
    line_load_deinit(&load.lines);
    bb_buf_deinit(&load.acks);
    code = store_close(&load.store, load.db, code);
    return command_finish(command, &load.out, code);
}

const struct command command_load = {
    .name = "load",
    .summary = "put the lines of files into a store, which is created when missing",
    .arguments = "DIR [FILE...]",
    .description = "Each line of the files (without any, or for -, of standard input) is a key; "
                   "with --tsv, key and value separated by a tab. Lines are used unchanged. A "
                   "later line replaces an earlier one with the same key. Finally all data is in "
                   "tables, and due compactions have run.\n"
                   "\n"
                   "With --lines a line is the value of a record, to be searched with `bloomblock "
                   "select`. Its key is a running number in 16 digits; loading again continues "
                   "after the largest.\n"
                   "\n"
                   "The store keeps the options that shape its data: give them once. Sizes accept "
                   "K, M and G.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock load /tmp/words /usr/share/dict/words\n"
                   "  printf 'cat\\t9 lives\\ndog\\t1\\n' | bloomblock load /tmp/pets --tsv\n"
                   "  bloomblock load /tmp/access --lines access.log --format clf\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
