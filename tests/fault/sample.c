/* See sample.h. */
#include "tests/fault/sample.h"

#include <stdlib.h>

static void write_commit(struct bb_db *db, uint32_t i)
{
    char key[16];
    char value[400];
    snprintf(key, sizeof(key), "key%04u", i * 37 % 200);
    memset(value, 'a' + (char)(i % 26), sizeof(value));
    snprintf(value, sizeof(value), "%u:", i);
    assert_ok(bb_db_put(db,
                        &(struct bb_write_options){.sync = i == SAMPLE_COMMITS - SAMPLE_LOGGED / 2},
                        bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))));
}

struct sample sample_create(uint64_t seed, uint32_t first)
{
    struct sample sample;
    struct bb_db *db = NULL;
    struct bb_file_memory *memory = store_memory(seed);
    struct bb_db_options options = store_options(memory);
    options.compression = BB_COMPRESSION_NONE;
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    for (uint32_t i = first; i < first + SAMPLE_COMMITS; i++) {
        write_commit(db, i);
        if (i - first == 150)
            assert_ok(bb_db_compact(db));
        if (i - first == SAMPLE_COMMITS - SAMPLE_LOGGED - 1)
            assert_ok(bb_db_flush(db));
    }
    sample.memory = bb_file_memory_clone(memory);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
    bb_file_memory_put(sample.memory, STORE_PATH "/notes.txt", bb_bytes_of_text("foreign"));
    photo_take(&sample.photo, sample.memory, STORE_PATH);
    return sample;
}

void sample_destroy(struct sample *sample)
{
    photo_deinit(&sample->photo);
    bb_file_memory_destroy(sample->memory);
}

bool sample_shows(struct bb_db *db, uint32_t count, bool may_be_corrupt)
{
    bool is_equal = true;
    uint32_t last[200];
    memset(last, 0xff, sizeof(last));
    for (uint32_t i = 0; i < count; i++)
        last[i * 37 % 200] = i;
    for (uint32_t key = 0; key < 200 && is_equal; key++) {
        char name[16];
        struct bb_buf value = {0};
        snprintf(name, sizeof(name), "key%04u", key);
        enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(name), &value);
        if (status == BB_OK)
            is_equal = last[key] != UINT32_MAX &&
                       (uint32_t)strtoul((const char *)value.data, NULL, 10) == last[key];
        else if (status == BB_NOT_FOUND)
            is_equal = last[key] == UINT32_MAX;
        else
            is_equal = may_be_corrupt && status == BB_CORRUPT;
        bb_buf_deinit(&value);
    }
    return is_equal;
}

bool sample_shows_prefix(struct bb_db *db)
{
    for (uint32_t count = SAMPLE_COMMITS - SAMPLE_LOGGED; count <= SAMPLE_COMMITS; count++) {
        if (sample_shows(db, count, false))
            return true;
    }
    return false;
}

const char *sample_suffix(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot != NULL ? dot : file;
}
