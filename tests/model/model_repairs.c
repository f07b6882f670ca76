/* See model_store.h: a closed store loses the files that name its current files, and is repaired.
 * Every entry still exists, so the contents are unchanged. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

#include <stdio.h>
#include <string.h>

/* The header, and the mark of a clean end. */
#define EMPTY_LOG_SIZE 67

enum loss {
    LOSS_OF_NOTHING,
    LOSS_OF_CURRENT,
    LOSS_OF_MANIFESTS, /* and CURRENT */
    LOSS_COUNT,
};

static bool is_lost(enum loss loss, const char *name)
{
    return (loss >= LOSS_OF_CURRENT && strcmp(name, "CURRENT") == 0) ||
           (loss == LOSS_OF_MANIFESTS && strncmp(name, "MANIFEST-", 9) == 0);
}

static void remove_files(struct model *model, bool (*is_chosen)(enum loss, const char *),
                         enum loss loss)
{
    struct bb_file_system *fs = bb_file_memory_system(model->memory);
    struct bb_file_names names = {0};
    model_must(model, fs->ops->list(fs, MODEL_DIRECTORY, &names), "list");
    for (size_t i = 0; i < names.count; i++) {
        char path[128];
        snprintf(path, sizeof(path), MODEL_DIRECTORY "/%.64s", names.names[i]);
        if (is_chosen(loss, names.names[i]))
            model_must(model, fs->ops->remove(fs, path), "remove");
    }
    bb_file_names_deinit(&names);
    model_must(model, fs->ops->sync_directory(fs, MODEL_DIRECTORY), "sync");
}

/* The files that the repair has renamed. */
static bool is_set_aside(enum loss loss, const char *name)
{
    (void)loss;
    return strstr(name, ".lost") != NULL;
}

/* Whether there were any tables, which know the secret. */
static bool repair(struct model *model, enum loss loss)
{
    struct bb_db_repair_options how = {.dry_run = true};
    struct bb_db_repair_report dry;
    struct bb_db_repair_report report;
    model_must(model, bb_db_repair(MODEL_DIRECTORY, &model->options, &how, &dry),
               "repair, but for the repair");
    model_must(model, bb_db_repair(MODEL_DIRECTORY, &model->options, NULL, &report), "repair");
    if (dry.is_whole != report.is_whole || dry.entries_kept != report.entries_kept ||
        dry.tables_kept != report.tables_kept || dry.last_sequence != report.last_sequence)
        model_differ(model, "a repair does something else than it says before");
    if (report.is_whole != (loss == LOSS_OF_NOTHING))
        model_differ(model, "a repair takes a whole store for damaged, or the other way round");
    if (report.tables_lost + report.entries_lost + report.bytes_lost + report.log_bytes_lost > 0)
        model_differ(model, "a repair loses what can be read");
    return report.tables_kept + report.tables_merged > 0;
}

/* Operations that left nothing in any table, as the deletion of an empty range, took sequences that
 * only a manifest knows. */
static void take_sequence(struct model *model, enum loss loss)
{
    struct bb_db_stats stats;
    bb_db_stats(model->db, &stats);
    bool may_be_less = loss == LOSS_OF_MANIFESTS && stats.last_sequence < model->sequence;
    if (stats.last_sequence != model->sequence && !may_be_less)
        model_differ(model, "a repair changes the last sequence");
    model_compare_at(model, model->sequence);
    oracle_prune(model->oracle, model->sequence);
    model->sequence = stats.last_sequence;
    oracle_lower(model->oracle, model->sequence);
    model_set_durable(model);
}

static bool file_has_data(struct model *model, const char *name)
{
    char path[128];
    size_t size = 0;
    snprintf(path, sizeof(path), MODEL_DIRECTORY "/%.64s", name);
    (void)bb_file_memory_bytes(model->memory, path, &size);
    return strstr(name, ".bbt") != NULL || (strstr(name, ".wal") != NULL && size > EMPTY_LOG_SIZE);
}

/* False for an empty store: without its manifest nothing shows that the directory is one, and a
 * repair refuses it. */
static bool has_data(struct model *model)
{
    struct bb_file_system *fs = bb_file_memory_system(model->memory);
    struct bb_file_names names = {0};
    bool has_any = false;
    model_must(model, fs->ops->list(fs, MODEL_DIRECTORY, &names), "list");
    for (size_t i = 0; i < names.count && !has_any; i++)
        has_any = file_has_data(model, names.names[i]);
    bb_file_names_deinit(&names);
    return has_any;
}

void model_repair(struct model *model)
{
    enum loss loss = (enum loss)bb_rng_below(&model->rng, LOSS_COUNT);
    model_close(model);
    model_end_view(model);
    if (loss == LOSS_OF_MANIFESTS && !has_data(model))
        loss = LOSS_OF_CURRENT;
    remove_files(model, is_lost, loss);
    bool has_tables = repair(model, loss);
    if (loss == LOSS_OF_MANIFESTS) { /* with them the definitions are lost */
        model->has_attributes = false;
        model->indexes = 0;
        model->tombstone_age_max = model->options.tombstone_age_max;
    }
    model_open(model);
    if (loss == LOSS_OF_MANIFESTS && !has_tables)
        bb_db_secret(model->db, &model->secret);
    take_sequence(model, loss);
    remove_files(model, is_set_aside, loss);
    model->coverage->repairs++;
    model->coverage->repairs_without_manifest += loss == LOSS_OF_MANIFESTS;
}
