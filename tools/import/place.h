/* The two names of a store that is being imported: it is built as DIR.importing and renamed to DIR
 * when it is complete and durable. A process that is killed leaves DIR.importing, which the user
 * removes. */
#ifndef BB_TOOLS_IMPORT_PLACE_H
#define BB_TOOLS_IMPORT_PLACE_H

#include "base/buf.h"
#include "base/file.h"

struct import_place {
    struct bb_file_system *fs;
    struct bb_buf final;    /* terminated paths */
    struct bb_buf building; /* ends with ".importing" */
    bool is_published;      /* renamed, although perhaps not durably */
};

/* BB_EXISTS if the directory exists and is not empty, or if DIR.importing exists. BB_INVALID if the
 * directory cannot be replaced. Owned, also after a failure: import_place_deinit. */
BB_MUST_CHECK enum bb_status import_place_init(struct import_place *place, const char *directory);
void import_place_deinit(struct import_place *place);

/* The path to build under. Borrowed. */
const char *import_place_path(const struct import_place *place);
/* Renames the closed, durable store and syncs the parent directory. */
BB_MUST_CHECK enum bb_status import_place_publish(struct import_place *place);

#endif
