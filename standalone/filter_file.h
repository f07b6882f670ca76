/* What the beginning of a filter file shows, before the rest of the file is read: damage can make a
 * file of any length of a small one, and a header disproves that length.
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
