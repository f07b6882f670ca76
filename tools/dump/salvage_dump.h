/* The readable parts of a table file that cannot be opened, for `dump`: its blocks, found and
 * verified by their checksums (sstable/salvage/table_salvage.h), their entries, and range
 * tombstones.
 */
#ifndef BB_TOOLS_DUMP_SALVAGE_DUMP_H
#define BB_TOOLS_DUMP_SALVAGE_DUMP_H

#include "sstable/salvage/table_salvage.h"
#include "tools/output/output.h"

struct salvage_dump {
    /* Given. */
    struct output *out; /* borrowed */
    uint64_t limit;     /* rows of each kind */
    bool with_blocks;
    bool with_entries;
    bool with_values;
    bool is_hex;
    /* Working. */
    struct bb_error reason; /* why the table cannot be opened */
    bool is_announced;
    json_t *blocks; /* owned; NULL: text */
    json_t *entries;
    json_t *losses;
    json_t *ranges;
    uint64_t block_rows;
    uint64_t entry_rows;
};

/* Prints it, marked as salvaged, with the reason why the table cannot be opened (the latest
 * failure of the thread). Always fails: with that reason, or with the reason why it finds no
 * readable part. */
BB_MUST_CHECK enum bb_status salvage_dump_write(struct salvage_dump *dump, const char *path);

#endif
