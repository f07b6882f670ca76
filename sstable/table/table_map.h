/* The data blocks of a table in a map of its file.
 *
 *     map        [ block 0 | block 1 | ... | index pages between them ]     bytes of the file
 *     verified     1         0         ...                                  one bit per block
 *
 * A block's checksum is verified when the block is first used, and its bit is set. Without
 * a map the caller reads the file.
 * Threads: any.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_MAP_H
#define BB_SSTABLE_TABLE_TABLE_MAP_H

#include <stdatomic.h>

#include "base/file.h"
#include "base/status.h"
#include "sstable/checksum.h"

struct bb_table_map {
    struct bb_file_map *file;  /* owned; NULL: no map */
    _Atomic uint8_t *verified; /* owned; bits */
    uint64_t memory_size;
};

/* Maps the first `size` bytes, if the system can. */
void bb_table_map_init(struct bb_table_map *map, struct bb_file *file, uint64_t size,
                       uint64_t block_count);
/* REQUIRES: no block in the map is in use. */
void bb_table_map_deinit(struct bb_table_map *map);

static inline bool bb_table_map_is_sound(const struct bb_table_map *map)
{
    return bb_file_map_is_sound(map->file);
}

/* Whether that is an address in the map. */
static inline bool bb_table_map_has(const struct bb_table_map *map, const uint8_t *bytes)
{
    return map->file != NULL && bytes >= map->file->bytes &&
           bytes < map->file->bytes + map->file->size;
}

/* The stored bytes of block `number` at an offset, with the right checksum. They are valid if the
 * map is sound after their use. NULL: there is no sound map, or the block is damaged. */
const uint8_t *bb_table_map_stored(struct bb_table_map *map, struct bb_table_id table,
                                   uint64_t offset, uint32_t size, uint64_t number);

/* The map refers to no page, so that the system can drop them. Blocks are verified again. */
void bb_table_map_forget(struct bb_table_map *map);

/* The place of an address in the map. */
static inline uint64_t bb_table_map_offset(const struct bb_table_map *map, const uint8_t *bytes)
{
    return (uint64_t)(bytes - map->file->bytes);
}

/* BB_IO: a block was used from a map that is unsound. */
BB_MUST_CHECK enum bb_status bb_table_map_fail(struct bb_place place);

#endif
