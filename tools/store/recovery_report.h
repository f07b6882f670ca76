/* The findings of an opening in logs and manifest, as JSON. */
#ifndef BB_TOOLS_STORE_RECOVERY_REPORT_H
#define BB_TOOLS_STORE_RECOVERY_REPORT_H

#include "bb/db.h"
#include "tools/output/output.h"

/* A new reference. */
json_t *recovery_json(const struct bb_db_recovery *found);

#endif
