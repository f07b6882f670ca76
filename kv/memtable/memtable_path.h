/* The path from the root of a memtable to a leaf. */
#ifndef BB_KV_MEMTABLE_MEMTABLE_PATH_H
#define BB_KV_MEMTABLE_MEMTABLE_PATH_H

#include <stdint.h>

/* Enough for half-full inner nodes over 2^32 units of records, which need 8 levels. Appending
 * leaves some nodes less than half full. */
#define BB_MEMTABLE_HEIGHT_MAX 16

struct bb_memtable_path {
    unsigned height;                          /* number of inner nodes */
    uint32_t nodes[BB_MEMTABLE_HEIGHT_MAX];   /* from the root on */
    uint8_t children[BB_MEMTABLE_HEIGHT_MAX]; /* the chosen child of each */
    uint32_t leaf;
};

#endif
