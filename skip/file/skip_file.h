/* An open index file. It reads and checks units, and loads the head of an index when it is first
 * needed.
 *
 * Threads: any number. Each head is published by an atomic pointer. If two threads load the same
 * head, the second releases its copy.
 */
#ifndef BB_SKIP_FILE_SKIP_FILE_H
#define BB_SKIP_FILE_SKIP_FILE_H

#include <stdatomic.h>

#include "base/file.h"
#include "base/page_map.h"
#include "skip/layout/granule_table.h"
#include "skip/file/index_head.h"

struct bb_loaded_head {
    bool is_damaged; /* the contents of the index are unknown */
    struct bb_index_head head;
};

struct bb_skip_file {
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_file *file;          /* owned */
    uint64_t size;
    uint8_t id[BB_SKIP_ID_SIZE];
    struct bb_buf resident; /* owned: the whole file, or empty */
    struct bb_page_map map;
    struct bb_index_directory directory;
    struct bb_granule_table granules;
    _Atomic(struct bb_loaded_head *)
        *heads; /* owned: one for each index; NULL until it is loaded */
};

/* Maps the file, if the system can and the file is not resident. Units that a call has read before
 * are then copied from the map. files: its clock is used. Call it before other threads use the
 * file. */
void bb_skip_file_map(struct bb_skip_file *file, struct bb_file_system *files);

/* Lets the system drop the file from memory: the map refers to no page of it until the next use. */
void bb_skip_file_forget_pages(struct bb_skip_file *file);

/* Reads and checks a unit. *ret_unit excludes the checksum, which is readable after it; the bytes
 * are in the resident file or in scratch. account may be NULL; it counts calls that read.
 * BB_CORRUPT, BB_IO, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_skip_file_read(struct bb_skip_file *file, enum bb_skip_unit type,
                                               struct bb_skip_section section,
                                               struct bb_buf *scratch,
                                               struct bb_skip_account *account,
                                               struct bb_bytes *ret_unit);
/* Finds the head of a known index, and loads it if necessary. It lives as long as the file. A
 * damaged head is no failure: see is_damaged. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_skip_file_head(struct bb_skip_file *file, size_t index,
                                               struct bb_skip_account *account,
                                               const struct bb_loaded_head **ret_head);

#endif
