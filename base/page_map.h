/* A map of a file: bytes that a call has read before are copied from it without a call.
 *
 *     map          [ page 0 | page 1 | ... ]    bytes of the file
 *     in_memory      1        0                 one bit per page: the system has it in memory
 *
 * A bit is set when a call reads the page, and all bits of a file that this process has just
 * written. WHY the first read is a call: a call reads bytes that are not in memory with one access
 * to the device, and a map needs one for each page. WHY copies, instead of the bytes in the map:
 * another program may change the file between the check of a checksum and the use of the bytes.
 *
 * The system may drop pages from memory later, and a copy then waits for the device at each page.
 * So copies that begin in every 16th page are timed. After a copy that waited all bits are cleared,
 * and as many calls as the file has pages set no bit.
 *
 * A page that is lost, because the file was truncated or its device failed, makes the map unsound:
 * base/map_watch.h. Then calls read all bytes.
 * Threads: any.
 */
#ifndef BB_BASE_PAGE_MAP_H
#define BB_BASE_PAGE_MAP_H

#include <stdatomic.h>

#include "base/file.h"

struct bb_page_map {
    struct bb_file_map *file;     /* owned; NULL: no map */
    struct bb_file_system *files; /* for its clock */
    _Atomic uint8_t *in_memory;   /* owned; bits */
    uint64_t page_count;
    _Atomic uint64_t rest; /* calls that set no bit any more */
};

/* WHY a limit: Linux gives a process 65,530 maps by default, which it also needs for memory. The
 * address space of 32 bits is too small for maps. */
#define BB_PAGE_MAPS_MAX (sizeof(void *) > 4 ? 16384u : 0u)

/* Maps the first `size` bytes, if the system can and the process has fewer than BB_PAGE_MAPS_MAX
 * of these maps. files: borrowed until deinit. */
void bb_page_map_init(struct bb_page_map *map, struct bb_file_system *files, struct bb_file *file,
                      uint64_t size);
/* Also of a map of zeros. */
void bb_page_map_deinit(struct bb_page_map *map);

/* Whether a copy would succeed now. */
bool bb_page_map_has(const struct bb_page_map *map, uint64_t offset, size_t size);
/* Copies bytes that the system has in memory. False: they must be read by a call. REQUIRES: they
 * are within the size. */
bool bb_page_map_copy(struct bb_page_map *map, uint64_t offset, void *bytes, size_t size);
/* A call has read these bytes. REQUIRES: they are within the size. */
void bb_page_map_note(struct bb_page_map *map, uint64_t offset, size_t size);
/* These bytes are not in memory: a call reads them next. */
void bb_page_map_drop(struct bb_page_map *map, uint64_t offset, size_t size);
/* This process has written the file, and the system probably has all of it in memory. */
void bb_page_map_note_all(struct bb_page_map *map);

/* The map refers to no page, so that the system can drop them. Calls read for a while. */
void bb_page_map_forget(struct bb_page_map *map);

static inline uint64_t bb_page_map_memory(const struct bb_page_map *map)
{
    return map->file == NULL ? 0 : map->page_count / 8 + 1;
}

#endif
