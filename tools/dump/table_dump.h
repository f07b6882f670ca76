/* The contents of a table file, for `dump`: its ends (footer, sections, properties), its index
 * pages, its blocks, its entries.
 *
 * Damage below the root does not end a dump: an unreadable part is listed with its range of keys,
 * and the rest is shown. (Without footer, directory, properties and root a table cannot be opened:
 * salvage_dump.h.)
 */
#ifndef BB_TOOLS_DUMP_TABLE_DUMP_H
#define BB_TOOLS_DUMP_TABLE_DUMP_H

#include "sstable/table/table_walk.h"
#include "tools/output/output.h"

struct table_dump {
    /* Given. */
    struct bb_table *table; /* borrowed */
    struct output *out;     /* borrowed */
    uint64_t limit;         /* rows of each kind */
    bool with_blocks;
    bool with_entries;
    bool with_values;
    bool is_hex;
    /* Working. */
    json_t *document;      /* owned; NULL: text */
    json_t *damages;       /* messages; owned */
    struct bb_buf damaged; /* uint64_t offsets of the parts that can not be read */
    char first_damage[1024];
};

void table_dump_init(struct table_dump *dump, struct bb_table *table, struct output *out);
void table_dump_deinit(struct table_dump *dump);

/* Prints all requested parts. BB_OK also when parts were damaged; another failure ends the dump.
 */
BB_MUST_CHECK enum bb_status table_dump_write(struct table_dump *dump);

/* table_dump_ends.c: footer, sections, table filter, properties. */
BB_MUST_CHECK enum bb_status table_dump_write_ends(struct table_dump *dump);

/* table_dump_blocks.c: pages, blocks, entries. */
BB_MUST_CHECK enum bb_status table_dump_write_pages(struct table_dump *dump);
BB_MUST_CHECK enum bb_status table_dump_write_blocks(struct table_dump *dump);
BB_MUST_CHECK enum bb_status table_dump_write_entries(struct table_dump *dump);

/* table_dump_damage.c: the unreadable parts. */
bool table_dump_found_damage(const struct table_dump *dump);
/* Notes, once per offset, that a part can not be read and which keys are lost with it. */
BB_MUST_CHECK enum bb_status table_dump_note_damage(struct table_dump *dump, uint64_t offset,
                                                    const char *message, struct bb_bytes first_key,
                                                    struct bb_bytes end_key);
/* The same of the filters of an index page, with which no key is lost. */
BB_MUST_CHECK enum bb_status table_dump_note_filters(struct table_dump *dump, uint32_t page_index);
/* The same of the table filter. */
BB_MUST_CHECK enum bb_status table_dump_note_table_filter(struct table_dump *dump);

#endif
