/* What an index file (.bbi) consists of, for `dump` and `filters`: its indexes, and its granules. */
#ifndef BB_TOOLS_DUMP_INDEX_DUMP_H
#define BB_TOOLS_DUMP_INDEX_DUMP_H

#include "tools/output.h"

struct index_dump {
    struct output *out; /* borrowed */
    bool with_granules;
    uint64_t limit; /* granules */
};

/* Whether the file is to be read as an index file: its name, or its last bytes, say so. */
bool index_dump_is_one(const char *path);

/* Every byte is checked. BB_CORRUPT after what can be shown of a damaged file. */
BB_MUST_CHECK enum bb_status index_dump_write(const struct index_dump *dump, const char *path);

#endif
