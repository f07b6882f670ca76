/* Builds a store with all writes of writes.h through few functions of an engine. */
#ifndef BB_TESTS_DAMAGE_BUILDER_H
#define BB_TESTS_DAMAGE_BUILDER_H

#include "tests/damage/engine.h"

/* Failures end the process with a message. */
struct builder {
    void *(*open)(const char *directory);
    void (*write)(void *store, uint32_t number, bool sync);
    void (*compact)(void *store);
    void (*close)(void *store);
};

/* Returns the open store. */
void *builder_write_all(const struct builder *builder, const char *directory, bool sync);
/* Does it in a child process, which ends in the way of `end`. The files are then in the
 * directory. */
void builder_run_process(const struct builder *builder, enum store_end end, const char *directory);

#endif
