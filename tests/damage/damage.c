/* See damage.h. */
#include "tests/damage/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZERO_SIZE_MAX 512

const char *damage_kind_name(enum damage_kind kind)
{
    static const char *const names[] = {"flip", "zeros", "cut"};
    return names[kind];
}

/* The file that contains the damage, and the offset there. */
static size_t find_file(const struct damage *damage, const struct store_image *image,
                        uint64_t *ret_offset)
{
    uint64_t offset = damage->offset;
    for (size_t i = 0; i < image->count; i++) {
        if (image->files[i].kind != damage->file_kind)
            continue;
        if (offset < image->files[i].size) {
            *ret_offset = offset;
            return i;
        }
        offset -= image->files[i].size;
    }
    abort();
}

static bool has_effect(const struct damage *damage, const struct store_image *image)
{
    uint64_t offset = 0;
    const struct image_file *file = &image->files[find_file(damage, image, &offset)];
    if (damage->kind != DAMAGE_ZERO)
        return true;
    for (uint64_t i = offset; i < offset + damage->size && i < file->size; i++) {
        if (file->bytes[i] != 0)
            return true;
    }
    return false;
}

struct damage damage_draw(uint64_t seed, uint64_t number,
                          const struct store_image images[STORE_ENDS])
{
    struct bb_rng rng;
    struct damage damage;
    uint64_t size = 0;
    bb_rng_init(&rng, seed * 1000000007u + number);
    do {
        damage.end = (enum store_end)bb_rng_below(&rng, STORE_ENDS);
        damage.file_kind = (enum image_kind)bb_rng_below(&rng, IMAGE_KINDS);
        size = store_image_size(&images[damage.end], damage.file_kind);
        if (size == 0) /* an empty log */
            continue;
        damage.kind = (enum damage_kind)bb_rng_below(&rng, DAMAGE_KINDS);
        damage.offset = bb_rng_below(&rng, size);
        damage.size =
            (uint32_t)(damage.kind == DAMAGE_FLIP ? bb_rng_below(&rng, 8)
                                                  : bb_rng_between(&rng, 1, ZERO_SIZE_MAX));
    } while (size == 0 || !has_effect(&damage, &images[damage.end]));
    return damage;
}

const struct image_file *damage_apply(const struct damage *damage, struct store_image *image)
{
    uint64_t offset = 0;
    struct image_file *file = &image->files[find_file(damage, image, &offset)];
    size_t left = file->size - offset;
    switch (damage->kind) {
    case DAMAGE_FLIP:
        file->bytes[offset] ^= (uint8_t)(1u << damage->size);
        break;
    case DAMAGE_ZERO:
        memset(file->bytes + offset, 0, damage->size < left ? damage->size : left);
        break;
    case DAMAGE_CUT:
        file->size = offset;
        break;
    }
    return file;
}

void damage_describe(const struct damage *damage, const struct store_image *image, char *text,
                     size_t size)
{
    uint64_t offset = 0;
    const struct image_file *file = &image->files[find_file(damage, image, &offset)];
    const char *store = store_end_name(damage->end);
    if (damage->kind == DAMAGE_FLIP)
        snprintf(text, size,
                 "store %s: bit %" PRIu32 " of byte %" PRIu64 " of %s (%zu bytes) is flipped",
                 store, damage->size, offset, file->name, file->size);
    else if (damage->kind == DAMAGE_ZERO)
        snprintf(text, size,
                 "store %s: %" PRIu32 " bytes at %" PRIu64 " of %s (%zu bytes) are zeros", store,
                 damage->size, offset, file->name, file->size);
    else
        snprintf(text, size, "store %s: %s (%zu bytes) is cut to %" PRIu64 " bytes", store,
                 file->name, file->size, offset);
}
