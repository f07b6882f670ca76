/* A map of an index file: units are copied from it without a system call.
 *
 *     map        [ page 0 | page 1 | ... ]    bytes of the file
 *     is_read      1        0                 one bit per page: a call has read it
 *
 * WHY only from pages that a call has read: a call reads a unit that is not in the page cache with
 * one access to the device, and a map needs one for each page. WHY a copy: another program may
 * change the file between the check of a unit's checksum and the unit's use.
 * Threads: any.
 */
#ifndef BB_SKIP_FILE_PAGE_MAP_H
#define BB_SKIP_FILE_PAGE_MAP_H

#include <stdatomic.h>

#include "base/file.h"

struct bb_page_map {
    struct bb_file_map *file; /* owned; NULL: no map */
    _Atomic uint8_t *is_read; /* owned; bits */
};

/* WHY a limit: Linux gives a process 65,530 maps by default, which it also needs for memory. The
 * address space of 32 bits is too small for maps. */
#define BB_PAGE_MAPS_MAX (sizeof(void *) > 4 ? 16384u : 0u)

/* Maps the first `size` bytes, if the system can and the process has fewer than BB_PAGE_MAPS_MAX
 * of these maps. */
void bb_page_map_init(struct bb_page_map *map, struct bb_file *file, uint64_t size);
void bb_page_map_deinit(struct bb_page_map *map);

/* Copies bytes that calls have read before. False: they must be read by a call. REQUIRES: they are
 * in the file. */
bool bb_page_map_copy(const struct bb_page_map *map, uint64_t offset, void *bytes, size_t size);
/* A call has read these bytes. REQUIRES: they are in the file. */
void bb_page_map_note(struct bb_page_map *map, uint64_t offset, size_t size);

#endif
