/* Goal: two threads that need the head of the same index use one, complete head. Method: all
 * executions of skip/file/skip_file.c and index_head.c, over an index file with several indexes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "skip/file/skip_file.h"
#include "tests/explore/explore.h"

#define FILE_SIZE_MAX 65536

/* Constant while threads run. */
static uint8_t bytes[FILE_SIZE_MAX];
static size_t byte_count;

struct scene {
    struct bb_file_system system;
    struct bb_skip_file *file;
    const struct bb_loaded_head *heads[2];
};
static struct scene *scene;

/* ---- the file ---- */

static void read_golden(void)
{
    FILE *file = fopen(BB_SOURCE_DIR "/tests/golden/skip.bin", "rb");
    if (file == NULL)
        abort();
    byte_count = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
}

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    (void)file;
    *ret_size = offset >= byte_count ? 0 : byte_count - (size_t)offset;
    if (*ret_size > size)
        *ret_size = size;
    memcpy(buffer, bytes + offset, *ret_size);
    return BB_OK;
}

static enum bb_status size_of_file(struct bb_file *file, uint64_t *ret_size)
{
    (void)file;
    *ret_size = byte_count;
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *file)
{
    bb_free(file);
    return BB_OK;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at, .size = size_of_file, .close = close_file};

static enum bb_status open_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_file)
{
    (void)fs;
    struct bb_file *file = bb_alloc(sizeof(*file));
    *file = (struct bb_file){.ops = &file_ops, .path = path};
    *ret_file = file;
    return BB_OK;
}

static const struct bb_file_system_ops system_ops = {.open = open_file};

/* ---- heads ---- */

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    scene->system.ops = &system_ops;
    struct bb_skip_file_options options = {.file_system = &scene->system};
    explore_check(bb_skip_file_open("/index", &options, &scene->file) == BB_OK, "no index file");
}

static void need_head(size_t thread)
{
    explore_check(bb_skip_file_head(scene->file, 0, NULL, &scene->heads[thread]) == BB_OK,
                  "a head is not loaded");
    explore_check(!scene->heads[thread]->is_damaged && scene->heads[thread]->head.segment_count > 0,
                  "a head is incomplete");
}

static void need_first(void)
{
    need_head(0);
}

static void need_second(void)
{
    need_head(1);
}

static void same_head(void)
{
    explore_check(scene->heads[0] == scene->heads[1], "two threads use different heads");
    bb_skip_file_close(scene->file);
}

static const struct explore_program programs[] = {
    {"two need the same head", make_scene, {need_first, need_second}, same_head},
};

/* A thread that replaces NULL has nothing to learn, and the other one only acquires. */
static const char *const not_needed[] = {
    "bb_skip_file_head: exchange, seq_cst -> acq_rel",
    "bb_skip_file_head: exchange, seq_cst -> release",
    "bb_skip_file_head: failed exchange, seq_cst -> acquire",
    NULL,
};

int main(void)
{
    read_golden();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
