/* Holds each thread that creates a table in a file system in memory, until the gate opens. So a
 * test decides how long a flush, a merge or an ingestion takes. */
#ifndef BB_TESTS_SUPPORT_TABLE_GATE_H
#define BB_TESTS_SUPPORT_TABLE_GATE_H

#include <string.h>

#include "base/sync.h"
#include "tests/support/file_memory.h"

struct table_gate {
    struct bb_file_memory *memory;
    struct bb_mutex mutex;
    struct bb_condvar changed;
    bool is_reached; /* some thread waits or waited */
    bool is_open;
};

static inline enum bb_status table_gate_pass(void *context, struct bb_file_memory *memory,
                                             uint64_t number, enum bb_file_call call,
                                             const char *path)
{
    struct table_gate *gate = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_CREATE || strstr(path, ".bbt") == NULL)
        return BB_OK;
    bb_mutex_lock(&gate->mutex);
    gate->is_reached = true;
    bb_condvar_broadcast(&gate->changed);
    while (!gate->is_open)
        bb_condvar_wait(&gate->changed, &gate->mutex);
    bb_mutex_unlock(&gate->mutex);
    return BB_OK;
}

/* A closed gate. It replaces the hook of the file system, which is borrowed. */
static inline void table_gate_init(struct table_gate *gate, struct bb_file_memory *memory)
{
    *gate = (struct table_gate){.memory = memory};
    bb_mutex_init(&gate->mutex);
    bb_condvar_init(&gate->changed);
    bb_file_memory_set_hook(memory, table_gate_pass, gate);
}

/* REQUIRES: no thread creates a table. */
static inline void table_gate_deinit(struct table_gate *gate)
{
    bb_file_memory_set_hook(gate->memory, NULL, NULL);
    bb_condvar_deinit(&gate->changed);
    bb_mutex_deinit(&gate->mutex);
}

/* Waits until a thread is at the gate. */
static inline void table_gate_wait(struct table_gate *gate)
{
    bb_mutex_lock(&gate->mutex);
    while (!gate->is_reached)
        bb_condvar_wait(&gate->changed, &gate->mutex);
    bb_mutex_unlock(&gate->mutex);
}

static inline void table_gate_open(struct table_gate *gate)
{
    bb_mutex_lock(&gate->mutex);
    gate->is_open = true;
    bb_condvar_broadcast(&gate->changed);
    bb_mutex_unlock(&gate->mutex);
}

#endif
