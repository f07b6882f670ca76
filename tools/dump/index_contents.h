/* The values that indexes keep of each granule: bounds, members of sets, values of columns. */
#ifndef BB_TOOLS_DUMP_INDEX_CONTENTS_H
#define BB_TOOLS_DUMP_INDEX_CONTENTS_H

#include "bb/skip.h"
#include "tools/output/output.h"

/* A line for each granule and index of kind min_max, set or column. A damaged one says so. */
void index_contents_write(struct bb_skip_file *file, uint64_t granule_count, struct output *out);

/* The same of one granule as an array: index, attribute, and low, high, has_nan or value_count,
 * values. */
json_t *index_contents_json(struct bb_skip_file *file, size_t granule);

#endif
