/* Possible damage to one file of a store. */
#ifndef BB_TESTS_FAULT_DAMAGE_H
#define BB_TESTS_FAULT_DAMAGE_H

#include "tests/fault/sample.h"

struct file_damage {
    const char *name;
    /* The bytes that the file has now, in memory, which has space for twice the largest file; NULL:
     * it is gone. */
    struct bb_bytes (*change)(const struct bb_bytes original, const struct sample *other,
                              const char *file, uint8_t *memory);
};

extern const struct file_damage damages[];
extern const size_t damage_count;

/* Does that to a file of STORE_PATH. other: another store, of which files are taken. */
void damage_apply(struct bb_file_memory *memory, const struct file_damage *damage,
                  const struct photo_file *file, const struct sample *other);

#endif
