/* An image of a directory, names and bytes, to compare with a later one. */
#ifndef BB_TESTS_FAULT_PHOTO_H
#define BB_TESTS_FAULT_PHOTO_H

#include "tests/support/file_memory.h"

#define PHOTO_FILES_MAX 64

struct photo_file {
    char *name; /* owned */
    bool is_directory;
    struct bb_bytes bytes; /* owned copy */
};

struct photo {
    struct photo_file files[PHOTO_FILES_MAX]; /* by name */
    size_t count;
};

void photo_take(struct photo *photo, struct bb_file_memory *memory, const char *directory);
void photo_deinit(struct photo *photo);
/* NULL if no file has that name. */
const struct photo_file *photo_find(const struct photo *photo, const char *name);

/* The difference of `after`, as a sentence valid until the next call; NULL if there is no
 * difference. Ignores the file `except`. */
const char *photo_difference(const struct photo *before, const struct photo *after,
                             const char *except);

#endif
