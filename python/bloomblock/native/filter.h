/* Declarations shared by the filter and its builder. */
#ifndef BB_PYTHON_BLOOMBLOCK_NATIVE_FILTER_H
#define BB_PYTHON_BLOOMBLOCK_NATIVE_FILTER_H

#include "module.h"

#include <string.h>

/* A filter of an envelope, whose keys were hashed under the secret. The envelope is copied. */
PyObject *filter_of(const struct bb_hash_secret *secret, const struct bb_buf *envelope);
/* Adds the keys to a builder and finishes it. */
PyObject *filter_builder_build(PyObject *builder, PyObject *keys);
/* Reads a secret of 192 bytes from an argument; makes a random one for NULL and None. */
bool filter_secret_read(PyObject *object, struct bb_hash_secret *ret_secret);

#endif
