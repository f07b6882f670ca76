/* See shadow.h. */
#include "kv/read/shadow.h"

#include "base/counter.h"
#include "base/status.h"
#include "kv/manifest/filename.h"

/* Stops probing the filters of the table. Readers that have entered, also of other views, may probe
 * its table filter until they leave. */
static void distrust(struct bb_shadow *shadow, struct bb_table_file *file, struct bb_table *table)
{
    bb_table_distrust_filters(table);
    for (size_t i = 0; i < shadow->levels->turn_count; i++)
        bb_run_forget_table_filter(shadow->levels->turns[i].run, file);
    bb_counter_add(&shadow->reader->counts.shadow_contradictions, 1);
    if (shadow->wrong_table == 0)
        shadow->wrong_table = file->number;
}

enum bb_status bb_shadow_check(struct bb_shadow *shadow, struct bb_table_file *file,
                               struct bb_table_lookup *lookup)
{
    struct bb_read_stats unwanted = {0};
    struct bb_table_question question = *lookup->question;
    struct bb_table_lookup check;
    bb_table_lookup_init(&check, lookup->table, &question, &unwanted, BB_LOOKUP_NEW);
    if (lookup->visit != BB_VISIT_TABLE_FILTER_NEGATIVE &&
        lookup->visit != BB_VISIT_FILTER_NEGATIVE)
        return BB_OK;
    question.options = (struct bb_read_options){.ignore_filters = true, .bypass_fill = true};
    enum bb_status status = bb_table_lookup_run(&check);
    if (status != BB_OK)
        return status;
    bb_counter_add(&shadow->reader->counts.shadow_checks, 1);
    if (check.visit == BB_VISIT_FALSE_POSITIVE)
        return BB_OK;
    distrust(shadow, file, lookup->table);
    lookup->visit = check.visit;
    return BB_OK;
}

void bb_shadow_end(const struct bb_shadow *shadow)
{
    char path[BB_PATH_SIZE_MAX];
    if (shadow == NULL || shadow->wrong_table == 0)
        return;
    struct bb_db *db = shadow->db;
    struct bb_error before = *bb_error_last();
    bb_filename_path(db->directory, BB_FILE_TABLE, shadow->wrong_table, path);
    (void)!bb_corrupt((struct bb_place){.file = path}, 0,
                      "its filters rule out a key that it has; they are not probed any more until "
                      "the store is opened again. A compaction rebuilds them");
    struct bb_error damage = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_DAMAGE, .level = -1, .message = damage.message};
    bb_store_event(db, &event);
    (void)bb_error_restore(&before);
}
