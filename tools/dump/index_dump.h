/* The contents of an index file (.bbi), for `dump` and `filters`: its indexes and its granules. */
#ifndef BB_TOOLS_DUMP_INDEX_DUMP_H
#define BB_TOOLS_DUMP_INDEX_DUMP_H

#include "tools/output/output.h"

struct index_dump {
    struct output *out; /* borrowed */
    bool with_granules;
    uint64_t limit; /* granules */
};

/* Whether the file is an index file, by its name or its last bytes. */
bool index_dump_is_one(const char *path);

/* Checks every byte. BB_CORRUPT after the readable part of a damaged file is shown. */
BB_MUST_CHECK enum bb_status index_dump_write(const struct index_dump *dump, const char *path);

#endif
