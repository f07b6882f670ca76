/* Declarations shared by the filter and its builder. */
#ifndef BB_PYTHON_BLOOMBLOCK_NATIVE_FILTER_H
#define BB_PYTHON_BLOOMBLOCK_NATIVE_FILTER_H

#include "module.h"

#include <string.h>

/* A filter of an envelope, whose keys were hashed under the secret. The envelope is copied.
 * planned_key_count: as in struct bb_filter_file. */
PyObject *filter_of(const struct bb_hash_secret *secret, uint64_t planned_key_count,
                    const struct bb_buf *envelope);
/* The first keys of a filter of no keys that is planned for a number of them: its envelope, sized
 * by the plan, replaces *envelope. */
enum bb_status filter_begin_planned(const struct bb_filter_file *file, const uint64_t *hashes,
                                    size_t count, struct bb_buf *envelope, uint64_t *ret_inserted);
/* kind, rate, slack, salt, secret, planned_keys */
#define BUILDER_OPTIONS 6
/* A filter of the keys. options: NULL for each that is not given. */
PyObject *filter_builder_build(PyObject *const *options, PyObject *keys);
/* Reads a secret of 192 bytes from an argument; makes a random one for NULL and None. */
bool filter_secret_read(PyObject *object, struct bb_hash_secret *ret_secret);

#endif
