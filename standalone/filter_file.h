/* Checks of the beginning of a filter file, before the rest is read: damage can make a small file
 * very long, and the header disproves the length.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_FILTER_FILE_H
#define BB_STANDALONE_FILTER_FILE_H

#include "bb/filter.h"

/* Checks the header of a filter file or of a bare envelope against the size of the whole file.
 * REQUIRES: beginning has the first BB_FILTER_FILE_HEADER_SIZE bytes, or all of a shorter file.
 * BB_CORRUPT with the offset, BB_UNSUPPORTED. */
BB_MUST_CHECK enum bb_status bb_filter_file_check_beginning(struct bb_bytes beginning,
                                                            uint64_t file_size);

#endif
