/* See recovery_report.h. */
#include "tools/store/recovery_report.h"

json_t *recovery_json(const struct bb_db_recovery *found)
{
    json_t *object = json_object();
    json_set_count(object, "logs", found->logs);
    json_set_count(object, "records", found->records);
    json_set_count(object, "sequence_first", found->sequence_first);
    json_set_count(object, "sequence_last", found->sequence_last);
    json_set_count(object, "dropped_bytes", found->dropped_bytes);
    json_set_count(object, "dropped_logs", found->dropped_logs);
    json_set_count(object, "dropped_records", found->dropped_records);
    json_set_count(object, "dropped_sequence_first", found->dropped_sequence_first);
    json_set_count(object, "dropped_sequence_last", found->dropped_sequence_last);
    json_set_count(object, "dropped_manifest_bytes", found->dropped_manifest_bytes);
    json_set_count(object, "files_set_aside", found->files_set_aside);
    json_set_count(object, "zeroed_logs", found->zeroed_logs);
    json_set_bool(object, "damaged", found->is_damaged);
    json_set_bool(object, "repaired", found->is_repaired);
    json_set_bool(object, "deletions_may_return", found->deletions_may_return);
    return object;
}
