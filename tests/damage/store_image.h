/* The files of a store after a crash or an orderly end, names and bytes, to be damaged and opened
 * many times. Failures of the file system end the process. */
#ifndef BB_TESTS_DAMAGE_STORE_IMAGE_H
#define BB_TESTS_DAMAGE_STORE_IMAGE_H

#include "bb/base.h"
#include "tests/support/file_memory.h"

#define STORE_IMAGE_FILES_MAX 64

/* The four kinds of files that LevelDB, RocksDB and bloomblock have in common. */
enum image_kind {
    IMAGE_TABLE,
    IMAGE_LOG,
    IMAGE_MANIFEST,
    IMAGE_CURRENT,
    IMAGE_OTHER, /* locks, notes for people, copies of options: not damaged */
};
#define IMAGE_KINDS 4 /* without IMAGE_OTHER */

struct image_file {
    char name[64];
    enum image_kind kind;
    uint8_t *bytes; /* owned */
    size_t size;
};

struct store_image {
    struct image_file files[STORE_IMAGE_FILES_MAX]; /* by name */
    size_t count;
};

/* "table", "log", "manifest", "CURRENT". */
const char *image_kind_name(enum image_kind kind);

/* Reads all files of a directory of the operating system, except an engine's notes for people. */
void store_image_read(struct store_image *image, const char *directory);
/* Makes the directory contain exactly these files. */
void store_image_write(const struct store_image *image, const char *directory);
/* The same in a file system in memory. */
void store_image_take(struct store_image *image, struct bb_file_memory *memory,
                      const char *directory);
struct bb_file_memory *store_image_load(const struct store_image *image, const char *directory);

void store_image_copy(const struct store_image *from, struct store_image *ret_image);
void store_image_deinit(struct store_image *image);
/* NULL if no file has that name. */
const struct image_file *store_image_find(const struct store_image *image, const char *name);
uint64_t store_image_size(const struct store_image *image, enum image_kind kind);

#endif
