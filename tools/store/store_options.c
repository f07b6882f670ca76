/* See store_options.h. */
#include "tools/store/store_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "kv/options.h"
#include "tools/output/number_text.h"
#include "tools/store/store_place.h"
#include "tools/store/store_words.h"

static void add(struct store_options *store, const char *name, const char *argument,
                enum option_type type, void *value, const char *help)
{
    BB_ASSERT(store->list_count < STORE_OPTION_COUNT);
    store->list[store->list_count++] = (struct option){
        .name = name, .argument = argument, .type = type, .value = value, .help = help};
}

static void add_memory(struct store_options *store)
{
    struct bb_db_options *db = &store->db;
    add(store, "write-buffer", "SIZE", OPTION_SIZE, &db->write_buffer_bytes,
        "memory for writes before they become a table (64M)");
    add(store, "cache", "SIZE", OPTION_SIZE, &db->cache_bytes, "block cache (64M)");
    add(store, "cache-off", NULL, OPTION_FLAG, &db->cache_off,
        "no block cache: every block request is a read");
    add(store, "read-mode", "copies|mapped|calls", OPTION_TEXT, &store->read_mode,
        "blocks are copied from a map when read again, used in it, or read by calls (copies)");
    add(store, "index-cached", NULL, OPTION_FLAG, &store->index_cached,
        "index pages live in the block cache instead of staying in memory");
    add(store, "open-tables", "N", OPTION_COUNT32, &db->open_tables_max,
        "table files open at a time (1000)");
}

static void add_filters(struct store_options *store)
{
    struct bb_db_options *db = &store->db;
    add(store, "target", "RATE", OPTION_REAL, &store->target,
        "wasted block requests per lookup of an absent key, whole store (0.01)");
    add(store, "filter-budget", "SIZE", OPTION_SIZE, &store->filter_budget,
        "instead of a target: memory for all filters");
    add(store, "bits-per-key", "N", OPTION_REAL, &store->bits_per_key,
        "instead of a target: bits of filters for each key");
    add(store, "absent-share", "SHARE", OPTION_REAL, &db->absent_share,
        "share of the lookups that are for absent keys (1)");
    add(store, "filter", "ribbon|blocked-bloom|bloom|none", OPTION_TABLE_FILTER_KIND,
        &db->filter_kind, "kind of the filters (ribbon)");
    add(store, "table-filter-bits", "N", OPTION_TEXT, &store->table_filter_bits,
        "bits per key in the table filters of the largest run, probed first (5); none; all");
    add(store, "table-filter-off", NULL, OPTION_FLAG, &db->table_filter_off,
        "no table filters: they are neither probed nor written");
    add(store, "granularity", "N", OPTION_GRANULARITY, &db->filter_granularity,
        "blocks that share a filter (1), or page: all of an index page");
}

static void add_tables(struct store_options *store)
{
    struct bb_db_options *db = &store->db;
    add(store, "block-size", "SIZE", OPTION_SIZE32, &db->block_size_bytes,
        "size at which a block is closed (4K)");
    add(store, "restart-interval", "N", OPTION_COUNT32, &db->restart_interval,
        "entries between full keys (20)");
    add(store, "compression", "lz4|none", OPTION_TEXT, &store->compression, "of blocks (lz4)");
    add(store, "table-size", "SIZE", OPTION_SIZE, &db->table_size_bytes,
        "size at which compaction begins a new table (1/8 of level 1, at most 8M)");
    add(store, "level0-compact", "N", OPTION_COUNT32, &db->level0_run_count_compact,
        "runs in level 0 that start a compaction (4)");
    add(store, "level0-busy", "N", OPTION_COUNT32, &db->level0_run_count_busy,
        "the same while flushes follow each other (3 times as many)");
    add(store, "level0-stop", "N", OPTION_COUNT32, &db->level0_run_count_stop,
        "runs in level 0 at which writes wait (36)");
    add(store, "level1-size", "SIZE", OPTION_SIZE, &db->level1_size_bytes,
        "size of level 1 (4 write buffers)");
    add(store, "level-ratio", "N", OPTION_COUNT32, &db->level_size_ratio,
        "ratio of the sizes of a level and the level above; if tiered, also its runs (10 leveled, "
        "else 4)");
    add(store, "style", "leveled|tiered|lazy", OPTION_TEXT, &store->style,
        "compaction style (leveled)");
    add(store, "tombstone-age", "N", OPTION_COUNT, &db->tombstone_age_max,
        "operations after which a deletion is compacted away (no bound)");
}

void store_options_init(struct store_options *store, const struct command *command)
{
    *store = (struct store_options){.db = {0}, .command = command};
    add_memory(store);
    add_filters(store);
    add_tables(store);
    add(store, "deterministic", NULL, OPTION_FLAG, &store->db.deterministic,
        "flush and compact on the writing thread, so that a seed fixes everything");
    add(store, "recovery", "strict|synced|point-in-time|salvage", OPTION_TEXT, &store->recovery,
        "which losses by damaged logs an opening accepts (synced)");
}

void store_options_init_to_read(struct store_options *store, const struct command *command)
{
    store_options_init(store, command);
    add(store, "read-only", NULL, OPTION_FLAG, &store->db.read_only,
        "without the lock, concurrently with a writer: change nothing, show the current state");
}

struct option_group store_options_group(const struct store_options *store)
{
    return (struct option_group){.title = "Options of the store",
                                 .options = store->list,
                                 .count = store->list_count,
                                 .is_shared = true};
}

/* Flushes and compactions are the store's own business. Called from its threads, hence one print
 * each. */
static void tell_event(void *context, const struct bb_event *event)
{
    const struct store_options *store = context;
    if (event->kind == BB_EVENT_RECOVERY)
        command_note(store->command, event->message);
    else if (event->kind == BB_EVENT_ERROR)
        command_warn(store->command, event->message);
}

static enum bb_status decode_table_filter_bits(const char *text, double *ret_bits)
{
    char *end = NULL;
    double bits = strtod(text, &end);
    if (strcmp(text, "none") == 0)
        *ret_bits = BB_TABLE_FILTER_NONE;
    else if (strcmp(text, "all") == 0)
        *ret_bits = BB_TABLE_FILTER_ALL;
    else if (end != text && *end == '\0' && bits > 0)
        *ret_bits = bits;
    else
        return bb_fail(
            BB_INVALID,
            "option --table-filter-bits: \"%s\" is neither a number above 0, none nor all", text);
    return BB_OK;
}

static const char *const style_names[] = {[BB_COMPACTION_LEVELED] = "leveled",
                                          [BB_COMPACTION_TIERED] = "tiered",
                                          [BB_COMPACTION_LAZY_LEVELING] = "lazy"};

const char *store_style_name(enum bb_compaction_style style)
{
    return style_names[style];
}

static enum bb_status decode_compression(const char *text, enum bb_compression *ret)
{
    if (strcmp(text, "lz4") == 0)
        *ret = BB_COMPRESSION_LZ4;
    else if (strcmp(text, "none") == 0)
        *ret = BB_COMPRESSION_NONE;
    else
        return bb_fail(BB_INVALID, "option --compression: \"%s\" is not lz4 or none", text);
    return BB_OK;
}

static enum bb_status decode_read_mode(const char *text, enum bb_read_mode *ret)
{
    static const char *const names[] = {
        [BB_READ_COPIES] = "copies", [BB_READ_MAPPED] = "mapped", [BB_READ_CALLS] = "calls"};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum bb_read_mode)i;
            return BB_OK;
        }
    return bb_fail(BB_INVALID, "option --read-mode: \"%s\" is not copies, mapped or calls", text);
}

static enum bb_status decode_style(const char *text, enum bb_compaction_style *ret)
{
    for (size_t i = BB_COMPACTION_LEVELED; i < BB_ARRAY_LENGTH(style_names); i++)
        if (strcmp(text, style_names[i]) == 0) {
            *ret = (enum bb_compaction_style)i;
            return BB_OK;
        }
    return bb_fail(BB_INVALID, "option --style: \"%s\" is not leveled, tiered or lazy", text);
}

enum bb_status store_recovery_decode(const char *text, enum bb_recovery *ret_recovery)
{
    static const char *const names[] = {[BB_RECOVERY_SYNCED] = "synced",
                                        [BB_RECOVERY_STRICT] = "strict",
                                        [BB_RECOVERY_POINT_IN_TIME] = "point-in-time",
                                        [BB_RECOVERY_SALVAGE] = "salvage"};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *ret_recovery = (enum bb_recovery)i;
            return BB_OK;
        }
    return bb_fail(BB_INVALID,
                   "option --recovery: \"%s\" is not synced, strict, point-in-time or salvage",
                   text);
}

static enum bb_status decode_texts(struct store_options *store)
{
    struct bb_db_options *db = &store->db;
    enum bb_status status = BB_OK;
    if (store->table_filter_bits != NULL)
        status = decode_table_filter_bits(store->table_filter_bits, &db->table_filter_bits);
    if (status == BB_OK && store->compression != NULL)
        status = decode_compression(store->compression, &db->compression);
    if (status == BB_OK && store->style != NULL)
        status = decode_style(store->style, &db->compaction_style);
    if (status == BB_OK && store->read_mode != NULL)
        status = decode_read_mode(store->read_mode, &db->read_mode);
    if (status == BB_OK && store->recovery != NULL)
        status = store_recovery_decode(store->recovery, &db->recovery);
    return status;
}

static enum bb_status take_amount(struct store_options *store)
{
    const struct {
        const char *name;
        struct bb_filter_amount amount;
    } given[] = {{"--target", {BB_FILTER_WASTED_READS, store->target}},
                 {"--filter-budget", {BB_FILTER_BYTES, (double)store->filter_budget}},
                 {"--bits-per-key", {BB_FILTER_BITS_PER_KEY, store->bits_per_key}}};
    store->filter_amount = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(given); i++) {
        if (given[i].amount.value == 0)
            continue;
        if (store->filter_amount != NULL)
            return bb_fail(BB_INVALID,
                           "options %s and %s are both given: each sets the amount of filters",
                           store->filter_amount, given[i].name);
        store->filter_amount = given[i].name;
        store->db.filter_amount = given[i].amount;
    }
    return BB_OK;
}

/* Events report unsynced ends; this reports lost synced data. */
static void tell_recovery(const struct store_options *store)
{
    const struct bb_db_recovery *found = &store->recovered;
    char text[320];
    struct number_text aside = number_of(found->files_set_aside, "file was", "files were");
    if (!found->is_damaged)
        return;
    if (found->is_repaired)
        snprintf(text, sizeof(text),
                 "the store was repaired: %s of tables and logs are lost; %s set aside%s",
                 number_bytes(found->dropped_bytes).text, aside.text,
                 found->deletions_may_return ? "; deletions may return" : "");
    else
        snprintf(
            text, sizeof(text),
            "the store was damaged: %s of logs were dropped that had been synced, with %s; %s set "
            "aside",
            number_bytes(found->dropped_bytes).text,
            number_of(found->dropped_records, "whole batch", "whole batches").text, aside.text);
    command_warn(store->command, text);
}

/* In the terms of the command line. */
static enum bb_status fail_open(const struct store_options *store, enum bb_status status)
{
    (void)!store_words_fail(status, store->filter_amount);
    struct bb_error error = *bb_error_last();
    if (status == BB_NOT_FOUND && !store->db.create_if_missing)
        return bb_fail(status, "%s; `bloomblock load` creates a store", error.message);
    return error.status;
}

/* Sets the options of the library from the others. */
static enum bb_status apply(struct store_options *store)
{
    struct bb_db_options *db = &store->db;
    if (db->cache_off && store->index_cached)
        return bb_fail(BB_INVALID, "options --cache-off and --index-cached exclude each other");
    if (store->index_cached)
        db->index_residency = BB_INDEX_CACHED;
    enum bb_status status = decode_texts(store);
    return status == BB_OK ? take_amount(store) : status;
}

enum bb_status store_options_check(struct store_options *store)
{
    struct bb_db_options resolved;
    enum bb_status status = apply(store);
    if (status != BB_OK)
        return status;
    status = bb_options_resolve(&store->db, &resolved);
    return status == BB_OK ? BB_OK : store_words_fail(status, store->filter_amount);
}

enum bb_status store_open(struct store_options *store, const char *directory, struct bb_db **ret_db)
{
    struct bb_db_options *db = &store->db;
    enum bb_status status = apply(store);
    if (status != BB_OK)
        return status;
    store->directory = directory;
    db->on_event = tell_event;
    db->event_context = store;
    db->recovery_report = &store->recovered;
    status = bb_db_open(directory, db, ret_db);
    if (status == BB_OK)
        tell_recovery(store);
    return status == BB_OK ? BB_OK : fail_open(store, status);
}

static bool has_read_only(const struct store_options *store)
{
    return strcmp(store->list[store->list_count - 1].name, "read-only") == 0;
}

/* WHY deterministic: only writes then do background work, and a reader is not to rewrite the
 * store. */
enum bb_status store_open_to_read(struct store_options *store, const char *directory,
                                  struct bb_db **ret_db)
{
    store->db.deterministic = true;
    enum bb_status status = store_open(store, directory, ret_db);
    struct bb_error error = *bb_error_last();
    if (!has_read_only(store) || store->db.read_only)
        return status;
    if (status == BB_BUSY)
        return bb_fail(status, "%s; --read-only reads it concurrently", error.message);
    bool is_refused = status == BB_IO || status == BB_READ_ONLY;
    if (status == BB_NO_SPACE || (is_refused && store_place_is_read_only(directory)))
        return bb_fail(status, "%s; --read-only reads it without writing", error.message);
    return status;
}

void store_hint(const char *directory, enum exit_code code)
{
    if (code != EXIT_CORRUPT)
        return;
    if (store_place_has_log(directory))
        fprintf(stderr, "Try: bloomblock import leveldb %s NEW-DIR, if LevelDB wrote it\n",
                directory);
    else
        fprintf(stderr, "Try: bloomblock repair %s --dry-run\n", directory);
}

enum exit_code store_close(const struct store_options *store, struct bb_db *db, enum exit_code code)
{
    enum bb_status status = bb_db_close(db);
    if (status != BB_OK && (code == EXIT_FOUND || code == EXIT_ABSENT))
        code = command_fail(store->command, status);
    if (store->directory != NULL)
        store_hint(store->directory, code);
    bool is_done = code == EXIT_FOUND || code == EXIT_ABSENT;
    return is_done && store->recovered.is_damaged ? EXIT_RECOVERED : code;
}
