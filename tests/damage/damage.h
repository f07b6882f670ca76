/* One damage to one file of an image, drawn from a seed and a number. */
#ifndef BB_TESTS_DAMAGE_DAMAGE_H
#define BB_TESTS_DAMAGE_DAMAGE_H

#include "tests/damage/engine.h"
#include "tests/support/rng.h"

enum damage_kind {
    DAMAGE_FLIP, /* one bit */
    DAMAGE_ZERO, /* up to 512 bytes, of which one at least was not zero */
    DAMAGE_CUT,  /* the end of the file, 1 byte to all of them */
};
#define DAMAGE_KINDS 3

struct damage {
    enum store_end end; /* of the damaged store */
    enum image_kind file_kind;
    enum damage_kind kind;
    uint64_t offset; /* of the first changed byte, counted over all files of the kind */
    uint32_t size;   /* ZERO: bytes; FLIP: the bit */
};

/* Store, kind of file and kind of damage are drawn evenly, the byte evenly from the files of this
 * kind, of which the store has some. */
struct damage damage_draw(uint64_t seed, uint64_t number,
                          const struct store_image images[STORE_ENDS]);
/* Returns the damaged file. */
const struct image_file *damage_apply(const struct damage *damage, struct store_image *image);
/* "bit 3 of byte 77 of 000012.bbt is flipped". */
void damage_describe(const struct damage *damage, const struct store_image *image, char *text,
                     size_t size);
const char *damage_kind_name(enum damage_kind kind);

#endif
