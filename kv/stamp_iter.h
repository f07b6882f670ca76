/* A stream whose entries all get one sequence: what a table that was built elsewhere looks like to
 * the store that takes it in. Versions of one key keep their order, newest first. Threads: one. */
#ifndef BB_KV_STAMP_ITER_H
#define BB_KV_STAMP_ITER_H

#include "bb/table.h"

/* Owns the stream from here on, also when it fails. Seeks forward alone: first and next. */
BB_MUST_CHECK enum bb_status bb_stamp_iter_create(struct bb_iter *stream, uint64_t sequence,
                                                  struct bb_iter **ret_iter);

#endif
