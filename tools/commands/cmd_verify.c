/* bloomblock verify: reads and checks every byte of a table or a store. */
#include <errno.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"
#include "tools/output/process_reads.h"
#include "tools/output/progress.h"
#include "tools/store/recovery_report.h"
#include "tools/store/store_options.h"

static void report_table(struct output *out, const struct bb_table_verify_report *report)
{
    if (!out->is_json) {
        output_print(out, "table is sound: %s in %s, %s; %s of %s; %s, rebuilt and the same: %s",
                     number_bytes(report->bytes).text,
                     number_of(report->blocks, "block", "blocks").text,
                     number_of(report->pages, "index page", "index pages").text,
                     number_of(report->entries, "entry", "entries").text,
                     number_of(report->keys, "key", "keys").text,
                     number_of(report->filters, "filter", "filters").text,
                     number_grouped(report->filters_compared).text);
        if (report->table_filter_chunks > 0)
            output_print(out, "; a table filter of %s, rebuilt and the same: %s",
                         number_of(report->table_filter_chunks, "chunk", "chunks").text,
                         number_grouped(report->table_filter_chunks_compared).text);
        output_print(out, "\n");
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "kind", "table");
    json_set_bool(document, "sound", true);
    json_set_count(document, "bytes", report->bytes);
    json_set_count(document, "blocks", report->blocks);
    json_set_count(document, "pages", report->pages);
    json_set_count(document, "entries", report->entries);
    json_set_count(document, "keys", report->keys);
    json_set_count(document, "filters", report->filters);
    json_set_count(document, "filters_compared", report->filters_compared);
    json_set_count(document, "table_filter_chunks", report->table_filter_chunks);
    json_set_count(document, "table_filter_chunks_compared", report->table_filter_chunks_compared);
    output_json(out, document);
}

/* is_damaged: the store is as the mode of recovery permits. recovery: takes the reference; may be
 * NULL. */
static void report_store(struct output *out, const struct bb_db_verify_report *report,
                         bool is_damaged, json_t *recovery)
{
    if (!out->is_json) {
        output_print(out, "store is %s: %s, %s, %s; %s with %s",
                     is_damaged ? "damaged, the rest is sound" : "sound",
                     number_of(report->tables, "table", "tables").text,
                     number_bytes(report->bytes).text,
                     number_of(report->entries, "entry", "entries").text,
                     number_of(report->logs, "log", "logs").text,
                     number_of(report->log_records, "record", "records").text);
        if (report->indexes > 0)
            output_print(out, ", %s without a missing record",
                         number_of(report->indexes, "index file", "index files").text);
        if (report->log_bytes_dropped > 0)
            output_print(out, ", %s of %s at the end", number_bytes(report->log_bytes_dropped).text,
                         is_damaged ? "damaged data" : "an interrupted write");
        output_print(out, "; files that nothing needs: %s", number_grouped(report->orphans).text);
        if (report->tables_unnamed + report->logs_unnamed > 0)
            output_print(out, " (whole tables: %s, logs: %s)",
                         number_grouped(report->tables_unnamed).text,
                         number_grouped(report->logs_unnamed).text);
        output_print(out, "; foreign files: %s\n", number_grouped(report->foreign).text);
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "kind", "store");
    json_set_bool(document, "sound", !is_damaged);
    json_set_count(document, "tables", report->tables);
    json_set_count(document, "indexes", report->indexes);
    json_set_count(document, "bytes", report->bytes);
    json_set_count(document, "entries", report->entries);
    json_set_count(document, "logs", report->logs);
    json_set_count(document, "log_records", report->log_records);
    json_set_count(document, "log_bytes_dropped", report->log_bytes_dropped);
    json_set_count(document, "orphans", report->orphans);
    json_set_count(document, "foreign", report->foreign);
    json_set_count(document, "tables_unnamed", report->tables_unnamed);
    json_set_count(document, "logs_unnamed", report->logs_unnamed);
    if (recovery != NULL)
        json_object_set_new(document, "recovery", recovery);
    output_json(out, document);
}

static void report_damage(struct output *out, const char *kind, enum bb_status status,
                          uint64_t indexes_damaged, json_t *recovery)
{
    if (!out->is_json)
        return;
    json_t *document = json_object();
    json_set_text(document, "kind", kind);
    json_set_bool(document, "sound", false);
    json_set_text(document, "status", bb_status_name(status));
    json_set_text(document, "message", bb_error_last()->message);
    if (indexes_damaged > 0)
        json_set_count(document, "indexes_damaged", indexes_damaged);
    if (recovery != NULL)
        json_object_set_new(document, "recovery", recovery);
    output_json(out, document);
}

/* ---- recovery ---- */

/* Arguments and results of the command. */
struct verify {
    struct output out;
    const char *recovery_name; /* NULL: not given */
    enum bb_recovery recovery;
    bool is_running;           /* the store is open, in another process */
    uint64_t bytes_per_second; /* 0: no limit */
    bool is_store;             /* not a table */
    bool needs_indexes;        /* only index files are damaged: all were reported */
    struct bb_db_recovery found;
};

static bool drops(const struct bb_db_recovery *found)
{
    uint64_t dropped = found->dropped_bytes + found->dropped_manifest_bytes;
    return found->is_damaged || dropped + found->dropped_records + found->zeroed_logs > 0;
}

static const char *judge_synced(const struct bb_db_recovery *found)
{
    if (found->is_damaged)
        return "; some of it had been synced";
    return found->zeroed_logs > 0 ? "" : "; no synced data is dropped";
}

static void report_repair_text(struct verify *verify)
{
    const struct bb_db_recovery *found = &verify->found;
    output_print(
        &verify->out,
        "opening with --recovery %s would repair the store: read %s batches and lose %s of "
        "tables and logs%s; `bloomblock repair --dry-run` has the details\n",
        verify->recovery_name, number_grouped(found->records).text,
        number_bytes(found->dropped_bytes).text,
        found->deletions_may_return ? "; deletions may return" : "");
}

static void report_recovery_text(struct verify *verify)
{
    const struct bb_db_recovery *found = &verify->found;
    if (found->is_repaired) {
        report_repair_text(verify);
        return;
    }
    if (!drops(found)) {
        output_print(&verify->out, "opening with --recovery %s would read %s and drop nothing\n",
                     verify->recovery_name, number_of(found->records, "batch", "batches").text);
        return;
    }
    output_print(
        &verify->out,
        "opening with --recovery %s would read %s and drop %s of %s, with %s, and %s of the "
        "manifest",
        verify->recovery_name, number_of(found->records, "batch", "batches").text,
        number_bytes(found->dropped_bytes).text, number_of(found->dropped_logs, "log", "logs").text,
        number_of(found->dropped_records, "whole batch", "whole batches").text,
        number_bytes(found->dropped_manifest_bytes).text);
    if (found->dropped_records > 0)
        output_print(&verify->out, "; sequences %s to %s",
                     number_grouped(found->dropped_sequence_first).text,
                     number_grouped(found->dropped_sequence_last).text);
    if (found->zeroed_logs > 0)
        output_print(&verify->out, "; %s in zeros: what they replaced, if anything, is lost",
                     number_of(found->zeroed_logs, "log ends", "logs end").text);
    output_print(&verify->out, "%s\n", judge_synced(found));
}

/* NULL where it goes to no JSON document. */
static json_t *take_recovery_json(const struct verify *verify)
{
    bool is_wanted = verify->out.is_json && verify->recovery_name != NULL;
    return is_wanted ? recovery_json(&verify->found) : NULL;
}

/* True if a read-only opening would fail. It does not notice all damage: it reads no blocks of
 * tables, and no index files. */
static bool is_unreadable(const char *path)
{
    const struct bb_db_options options = {.read_only = true};
    struct bb_error damage = *bb_error_last();
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(path, &options, &db);
    if (status == BB_OK)
        status = bb_db_close(db);
    (void)bb_error_restore(&damage);
    return status == BB_CORRUPT;
}

/* An opening with salvage repairs a store that it would reject: a dry run predicts the result. Of
 * missing logs, a read-only opening notices only the first. */
static void foresee_repair(struct verify *verify, const char *path)
{
    const struct bb_db_repair_options how = {.dry_run = true};
    struct bb_error damage = *bb_error_last();
    struct bb_db_repair_report report = {0};
    bool is_foreseen = bb_db_repair(path, NULL, &how, &report) == BB_OK;
    if (is_foreseen && (report.logs_lost > 0 || is_unreadable(path))) {
        verify->found =
            (struct bb_db_recovery){.records = report.log_records,
                                    .dropped_bytes = report.log_bytes_lost + report.bytes_lost,
                                    .dropped_logs = report.logs_lost,
                                    .is_damaged = true,
                                    .is_repaired = true,
                                    .deletions_may_return = report.deletions_may_return};
    }
    (void)bb_error_restore(&damage);
}

static void report_verified(struct verify *verify, enum bb_status status,
                            const struct bb_db_verify_report *report)
{
    if (status == BB_OK)
        report_store(&verify->out, report, verify->found.is_damaged, take_recovery_json(verify));
    else
        report_damage(&verify->out, "store", status, report->indexes_damaged,
                      take_recovery_json(verify));
    bool is_opened = status == BB_OK || verify->found.is_repaired;
    if (is_opened && verify->recovery_name != NULL && !verify->out.is_json)
        report_recovery_text(verify);
}

static void on_event(void *context, const struct bb_event *event)
{
    if (event->kind == BB_EVENT_DAMAGE)
        command_warn(context, event->message);
}

static enum bb_status verify_store(struct verify *verify, const char *path)
{
    struct bb_db_verify_report report = {0};
    const struct bb_db_options options = {.recovery = verify->recovery,
                                          .recovery_report = &verify->found,
                                          .on_event = on_event,
                                          .event_context = (void *)(uintptr_t)&command_verify};
    enum bb_status status = bb_db_verify(path, &options, &report);
    verify->needs_indexes = report.indexes_damaged > 0;
    if (status == BB_CORRUPT && verify->recovery == BB_RECOVERY_SALVAGE)
        foresee_repair(verify, path);
    report_verified(verify, status, &report);
    if (verify->found.is_repaired)
        command_warn(&command_verify, bb_error_last()->message);
    struct bb_error error = *bb_error_last();
    if (status == BB_BUSY)
        return bb_fail(status, "%s; --running verifies it", error.message);
    return verify->found.is_repaired ? BB_OK : status;
}

/* ---- a store that is open ---- */

static void report_scrub(struct output *out, const struct bb_db_scrub_report *report)
{
    if (!out->is_json) {
        output_print(out,
                     "%s, %s, %s and %s of an open store: %s damaged; %s read, %s, %s in logs%s\n",
                     number_of(report->tables, "table", "tables").text,
                     number_of(report->indexes, "index file", "index files").text,
                     number_of(report->manifests, "manifest", "manifests").text,
                     number_of(report->logs, "log", "logs").text,
                     number_grouped(report->damaged).text, number_bytes(report->read_bytes).text,
                     number_of(report->entries, "entry", "entries").text,
                     number_of(report->log_records, "batch", "batches").text,
                     report->next_table == 0 ? "" : "; interrupted before the last file");
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "kind", "running");
    json_set_bool(document, "sound", report->damaged == 0);
    json_set_bool(document, "complete", report->next_table == 0);
    json_set_count(document, "tables", report->tables);
    json_set_count(document, "indexes", report->indexes);
    json_set_count(document, "entries", report->entries);
    json_set_count(document, "manifests", report->manifests);
    json_set_count(document, "logs", report->logs);
    json_set_count(document, "log_records", report->log_records);
    json_set_count(document, "damaged", report->damaged);
    json_set_count(document, "indexes_damaged", report->indexes_damaged);
    json_set_count(document, "read_bytes", report->read_bytes);
    json_set_count(document, "bytes_left", report->bytes_left);
    output_json(out, document);
}

static bool on_progress(void *context, const struct bb_db_scrub_report *so_far)
{
    (void)context, (void)so_far;
    return !interrupt_is_wanted();
}

static enum bb_status verify_running(struct verify *verify, const char *path)
{
    struct bb_db *db = NULL;
    struct bb_db_scrub_report report = {0};
    const struct bb_db_options options = {.read_only = true,
                                          .on_event = on_event,
                                          .event_context = (void *)(uintptr_t)&command_verify};
    const struct bb_db_scrub_options how = {.bytes_per_second = verify->bytes_per_second,
                                            .on_progress = on_progress};
    enum bb_status status = bb_db_open(path, &options, &db);
    if (status != BB_OK)
        return status;
    status = bb_db_scrub(db, &how, &report);
    verify->needs_indexes = (status == BB_CORRUPT || status == BB_IO) &&
                            report.indexes_damaged > 0 && report.indexes_damaged == report.damaged;
    struct bb_error error = *bb_error_last();
    report_scrub(&verify->out, &report);
    enum bb_status closed = bb_db_close(db);
    return status == BB_OK ? closed : bb_error_restore(&error);
}

/* ---- the command ---- */

static enum bb_status verify_table(struct verify *verify, const char *path)
{
    struct bb_table_verify_report report = {0};
    if (verify->recovery_name != NULL || verify->is_running)
        return bb_fail(BB_INVALID, "%s: is a file; --recovery and --running are for stores", path);
    enum bb_status status = bb_table_verify(path, NULL, &report);
    if (status == BB_OK)
        report_table(&verify->out, &report);
    else
        report_damage(&verify->out, "table", status, 0, NULL);
    return status;
}

static enum bb_status verify_directory(struct verify *verify, const char *path)
{
    if (!verify->is_running)
        return verify_store(verify, path);
    if (verify->recovery_name != NULL)
        return bb_fail(BB_INVALID, "options --running and --recovery exclude each other: a "
                                   "recovery reads logs that are not being written");
    return verify_running(verify, path);
}

static enum bb_status verify_path(struct verify *verify, const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return bb_fail_errno(errno, "stat", path);
    struct progress progress;
    progress_start_reads(&progress, "verifying", process_reads_expected(path));
    verify->is_store = S_ISDIR(file.st_mode);
    enum bb_status status =
        verify->is_store ? verify_directory(verify, path) : verify_table(verify, path);
    progress_stop(&progress);
    return status;
}

static enum exit_code code_of(const struct verify *verify, const struct command *command,
                              enum bb_status status)
{
    if (status != BB_OK && verify->needs_indexes)
        return exit_code_of(status); /* an event has reported each index file */
    if (status != BB_OK)
        return command_fail(command, status);
    if (interrupt_is_wanted())
        return EXIT_INTERRUPTED;
    return verify->found.is_damaged ? EXIT_RECOVERED : EXIT_FOUND;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct verify verify = {0};
    const struct option own[] = {
        {"recovery", "strict|synced|point-in-time|salvage", OPTION_TEXT, &verify.recovery_name,
         "verify the logs as an opening in this mode, and report the data that it would drop"},
        {"running", NULL, OPTION_FLAG, &verify.is_running,
         "verify a store that another process has open"},
        {"rate", "SIZE", OPTION_SIZE, &verify.bytes_per_second,
         "with --running: read at most this much per second"},
        {"json", NULL, OPTION_FLAG, &verify.out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = BB_OK;
    if (verify.recovery_name != NULL)
        status = store_recovery_decode(verify.recovery_name, &verify.recovery);
    if (status == BB_OK && verify.is_running)
        interrupt_watch();
    if (status == BB_OK)
        status = verify_path(&verify, arguments.values[0]);
    code = code_of(&verify, command, status);
    if (verify.needs_indexes)
        fprintf(stderr, "Try: bloomblock index materialize %s\n", arguments.values[0]);
    else if (verify.is_store)
        store_hint(arguments.values[0], code);
    return command_finish(command, &verify.out, code);
}

const struct command command_verify = {
    .name = "verify",
    .summary = "read and check every byte of a table or a store",
    .arguments = "PATH",
    .description =
        "PATH is a table file or the directory of a store that is not open. Reads every byte; "
        "checks every\n"
        "checksum, order and count; probes every filter for every key of its block, and rebuilds "
        "and "
        "compares\n"
        "the filters that this version wrote. Names every damaged index file, else the first "
        "defect, with file "
        "and offset.\n"
        "Exit code 0: sound, 4: damaged, 5: written by a newer version. Changes nothing.\n"
        "With --recovery (strict, synced, point-in-time, salvage) the logs are judged as by an "
        "opening in that\n"
        "mode: 0 if it drops no synced data, 8 if it does, 4 if it fails.\n"
        "With --running the store may be open elsewhere: its tables, index files, manifest and "
        "logs "
        "are verified,\n"
        "all of them even if one is damaged, but not the ends of logs that are not synced yet.\n"
        "\n"
        "Examples:\n"
        "  bloomblock verify /tmp/words\n"
        "  bloomblock verify /tmp/words/000005.bbt --json\n"
        "  bloomblock verify /tmp/words --running --rate 10M\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
