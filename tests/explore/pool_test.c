/* Goal: no descriptor is closed during a read, and no read uses a descriptor before it is open.
 * Method: all executions of base/file_pool.c with one descriptor for two files, over files that
 * note whether they are open in plain bytes. */
#include "base/alloc.h"
#include "base/file_pool.h"
#include "tests/explore/explore.h"

struct plain_file {
    struct bb_file base;
    uint64_t content; /* freed when it is closed */
};

struct scene {
    struct bb_file_system system;
    struct bb_file_pool *pool;
    struct bb_file *files[2];
};
static struct scene *scene;

static enum bb_status read_file(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                                size_t *ret_size)
{
    (void)offset;
    *(uint64_t *)buffer = ((struct plain_file *)base)->content;
    *ret_size = size;
    return BB_OK;
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    *ret_size = sizeof(((struct plain_file *)base)->content);
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *base)
{
    bb_free(base);
    return BB_OK;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_file, .size = size_of_file, .close = close_file};

static enum bb_status open_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_file)
{
    (void)fs;
    struct plain_file *file = bb_alloc(sizeof(*file));
    *file =
        (struct plain_file){.base = {.ops = &file_ops, .path = path}, .content = (uint64_t)path[0]};
    *ret_file = &file->base;
    return BB_OK;
}

static const struct bb_file_system_ops system_ops = {.open = open_file};

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    scene->system.ops = &system_ops;
    explore_check(bb_file_pool_create(&scene->system, 1, &scene->pool) == BB_OK, "no pool");
    struct bb_file_system *pooled = bb_file_pool_system(scene->pool);
    explore_check(bb_file_open(pooled, "a", &scene->files[0]) == BB_OK, "no file");
    explore_check(bb_file_open(pooled, "b", &scene->files[1]) == BB_OK, "no file");
}

static void read_number(unsigned number)
{
    uint64_t content = 0;
    size_t size = 0;
    explore_check(bb_file_read_at(scene->files[number], 0, &content, sizeof(content), &size) ==
                      BB_OK,
                  "a read failed");
    explore_check(content == 'a' + number, "another file was read");
}

static void read_a(void)
{
    read_number(0);
}

static void read_b(void)
{
    read_number(1);
}

static const struct explore_program programs[] = {
    {"two read the closed file", make_scene, {read_a, read_a}, NULL},
    {"the descriptor goes from one file to the other", make_scene, {read_a, read_b}, NULL},
    {"the descriptor comes back", make_scene, {read_a, read_b, read_b}, NULL},
};

/* The thread holds the pool's mutex, which orders the work of the threads before it. */
static const char *const not_needed[] = {
    "enter: load, acquire -> relaxed",
    "evict_one: exchange, acq_rel -> acquire",
    NULL,
};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
