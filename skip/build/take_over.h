/* Copies the segments of the first granules of an index file into a file that is built of the same
 * granules and of more after them. Records of copied segments are not read again.
 *
 * Of every index all segments but the last are taken: where that one ends depends on later records.
 * So the new file is the same as if all records had been read, and segments stay as large as they
 * can be, however often a file is extended.
 */
#ifndef BB_SKIP_BUILD_TAKE_OVER_H
#define BB_SKIP_BUILD_TAKE_OVER_H

#include "skip/build/skip_builder.h"
#include "skip/file/skip_file.h"

/* Does `from` have the builder's indexes and no others, in this order, with its secret? */
bool bb_take_over_is_possible(const struct bb_skip_builder *builder,
                              const struct bb_skip_file *from);

/* To a builder that has no granule yet. *ret_granules: how many of the first granules need not be
 * added; the next record is the first one of the next granule, at its place. Every unit is checked
 * on its way: BB_CORRUPT, after which the builder is of no use. REQUIRES:
 * bb_take_over_is_possible. */
BB_MUST_CHECK enum bb_status bb_take_over(struct bb_skip_builder *builder,
                                          struct bb_skip_file *from, size_t *ret_granules);

#endif
