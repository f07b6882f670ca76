/* See damage.h. */
#include "tests/fault/damage.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/must_alloc.h"
#include "tests/support/store.h"

/* memory has space for twice the largest file. */
#define DAMAGE_SIZE_MAX (1 << 20)

static struct bb_bytes emptied(struct bb_bytes original, const struct sample *other,
                               const char *file, uint8_t *memory)
{
    (void)original;
    (void)other;
    (void)file;
    return bb_bytes_of(memory, 0);
}

static struct bb_bytes cut(struct bb_bytes original, uint8_t *memory, size_t size)
{
    if (size > 0)
        memcpy(memory, original.data, size);
    return bb_bytes_of(memory, size);
}

static struct bb_bytes without_a_byte(struct bb_bytes original, const struct sample *other,
                                      const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    return cut(original, memory, original.size - 1);
}

static struct bb_bytes halved(struct bb_bytes original, const struct sample *other,
                              const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    return cut(original, memory, original.size / 2);
}

static struct bb_bytes first_bytes(struct bb_bytes original, const struct sample *other,
                                   const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    return cut(original, memory, original.size < 7 ? original.size : 7);
}

static struct bb_bytes doubled(struct bb_bytes original, const struct sample *other,
                               const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    memcpy(memory, original.data, original.size);
    memcpy(memory + original.size, original.data, original.size);
    return bb_bytes_of(memory, 2 * original.size);
}

static struct bb_bytes zeroed(struct bb_bytes original, const struct sample *other,
                              const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    return bb_bytes_of(memset(memory, 0, original.size), original.size);
}

static struct bb_bytes ones(struct bb_bytes original, const struct sample *other, const char *file,
                            uint8_t *memory)
{
    (void)other;
    (void)file;
    return bb_bytes_of(memset(memory, 0xff, original.size), original.size);
}

static struct bb_bytes garbled_in_the_middle(struct bb_bytes original, const struct sample *other,
                                             const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    struct bb_bytes copy = cut(original, memory, original.size);
    for (size_t i = original.size / 3; i < original.size / 3 + original.size / 8; i++)
        memory[i] = (uint8_t)(i * 151);
    return copy;
}

static struct bb_bytes garbled_at_its_end(struct bb_bytes original, const struct sample *other,
                                          const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    struct bb_bytes copy = cut(original, memory, original.size);
    size_t size = original.size < 120 ? original.size : 120;
    memset(memory + original.size - size, 0x5a, size);
    return copy;
}

static struct bb_bytes with_garbage_after(struct bb_bytes original, const struct sample *other,
                                          const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    (void)cut(original, memory, original.size);
    memset(memory + original.size, 0x33, 50);
    return bb_bytes_of(memory, original.size + 50);
}

static struct bb_bytes without_its_beginning(struct bb_bytes original, const struct sample *other,
                                             const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    struct bb_bytes copy = cut(original, memory, original.size);
    memset(memory, 0, original.size < 60 ? original.size : 60);
    return copy;
}

static struct bb_bytes one_bit_off(struct bb_bytes original, const struct sample *other,
                                   const char *file, uint8_t *memory)
{
    (void)other;
    (void)file;
    struct bb_bytes copy = cut(original, memory, original.size);
    memory[original.size / 3] ^= 4;
    return copy;
}

static bool is_alike(const char *a, const char *b)
{
    return strcmp(sample_suffix(a), sample_suffix(b)) == 0 ||
           (strncmp(a, "MANIFEST", 8) == 0 && strncmp(b, "MANIFEST", 8) == 0);
}

/* The same kind of file from another, intact store. */
static struct bb_bytes of_another_store(struct bb_bytes original, const struct sample *other,
                                        const char *file, uint8_t *memory)
{
    for (size_t i = 0; i < other->photo.count; i++) {
        const struct photo_file *candidate = &other->photo.files[i];
        if (is_alike(candidate->name, file) && strcmp(file, "CURRENT") != 0)
            return cut(candidate->bytes, memory, candidate->bytes.size);
    }
    (void)original;
    return bb_bytes_of("MANIFEST-000777\n", 16);
}

/* A file of another kind of this store. */
static struct bb_bytes of_another_kind(struct bb_bytes original, const struct sample *other,
                                       const char *file, uint8_t *memory)
{
    (void)original;
    for (size_t i = 0; i < other->photo.count; i++) {
        const struct photo_file *candidate = &other->photo.files[i];
        if (!is_alike(candidate->name, file) && candidate->bytes.size > 100)
            return cut(candidate->bytes, memory, candidate->bytes.size);
    }
    return bb_bytes_of(memory, 0);
}

const struct file_damage damages[] = {
    {"missing", NULL},
    {"empty", emptied},
    {"without its last byte", without_a_byte},
    {"cut to its half", halved},
    {"cut to seven bytes", first_bytes},
    {"doubled", doubled},
    {"zeros", zeroed},
    {"ones", ones},
    {"one bit off", one_bit_off},
    {"garbled in the middle", garbled_in_the_middle},
    {"garbled at its end", garbled_at_its_end},
    {"with garbage after", with_garbage_after},
    {"without its beginning", without_its_beginning},
    {"of another store", of_another_store},
    {"of another kind", of_another_kind},
};

const size_t damage_count = sizeof(damages) / sizeof(damages[0]);

void damage_apply(struct bb_file_memory *memory, const struct file_damage *damage,
                  const struct photo_file *file, const struct sample *other)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    uint8_t *space = bb_must_realloc(NULL, DAMAGE_SIZE_MAX);
    char path[128];
    snprintf(path, sizeof(path), STORE_PATH "/%s", file->name);
    assert_true(file->bytes.size * 2 <= DAMAGE_SIZE_MAX);
    if (damage->change == NULL) {
        assert_ok(fs->ops->remove(fs, path));
        assert_ok(fs->ops->sync_directory(fs, STORE_PATH));
    } else {
        bb_file_memory_put(memory, path, damage->change(file->bytes, other, file->name, space));
    }
    free(space);
}
