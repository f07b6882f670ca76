/* Goal: a table is closed once, after its last use, and its file is removed exactly when it is
 * obsolete; so are levels and index files. Method: all executions of compaction/levels/levels.c,
 * table_file.c and companion.h, over one small table. */
#include <stdatomic.h>

#include "compaction/levels/levels.h"
#include "tests/explore/table_scene.h"

#define FILES 3

struct scene {
    struct bb_file_system system;
    struct bb_table_file_env env;
    struct bb_levels *levels[2];
    unsigned removed[FILES];            /* how often, by number of the table */
    unsigned removed_companions[FILES]; /* the same of index files */
};
static struct scene *scene;

static const struct bb_file_system_ops system_ops = {.open = plain_open};

/* Plain counts: the last reference is released after all uses. */
static void remove_table(void *context, uint64_t number)
{
    (void)context;
    scene->removed[number]++;
}

static struct bb_levels *levels_with(const struct bb_levels *before, uint64_t removed,
                                     struct bb_table_file *file)
{
    struct bb_levels *levels = NULL;
    struct bb_level_change added = {.level = 1, .run = 1, .file = file};
    explore_check(bb_levels_apply(before, &removed, removed != 0, &added, 1, &levels) == BB_OK,
                  "no levels");
    return levels;
}

/* Levels with table 1, which is open, for two users. */
static void make_scene(void)
{
    struct bb_levels *empty = NULL;
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    scene->system.ops = &system_ops;
    table_env_init(&scene->env, &scene->system);
    scene->env.remove = remove_table;
    explore_check(bb_levels_create_empty(NULL, &empty) == BB_OK, "no levels");
    struct bb_table_file *file = table_file_create(&scene->env, 1);
    table_expect_key(file, 0);
    scene->levels[0] = bb_levels_ref(levels_with(empty, 0, file));
    bb_table_file_unref(file);
}

static struct bb_table_file *first_table(size_t levels)
{
    return bb_levels_table(scene->levels[levels], 1, 0);
}

/* The references order this. */
static void mark_obsolete(struct bb_table_file *file)
{
    atomic_store_explicit(&file->is_obsolete, true, memory_order_relaxed);
}

static void expect_removed(unsigned first, unsigned second)
{
    explore_check(scene->removed[1] == first && scene->removed[2] == second,
                  "a file is removed that is not obsolete, or the other way round");
}

/* ---- references of levels and tables ---- */

static void read_and_release(void)
{
    table_expect_key(first_table(0), 0);
    bb_levels_unref(scene->levels[0]);
}

static void release(void)
{
    explore_check(first_table(0)->number == 1, "the levels have another table");
    bb_levels_unref(scene->levels[0]);
}

static void nothing_removed(void)
{
    expect_removed(0, 0);
}

static void make_obsolete(void)
{
    make_scene();
    mark_obsolete(first_table(0));
}

static void first_removed(void)
{
    expect_removed(1, 0);
}

/* As an edit does it: the next levels have table 2 instead. */
static void replace(void)
{
    struct bb_table_file *next = table_file_create(&scene->env, 2);
    scene->levels[1] = levels_with(scene->levels[0], 1, next);
    bb_table_file_unref(next);
    mark_obsolete(first_table(0));
    bb_levels_unref(scene->levels[0]);
}

/* Table 1 is in the levels before and after an edit, each with one user. */
static void make_shared(void)
{
    struct bb_levels *empty = NULL;
    make_scene();
    explore_check(bb_levels_create_empty(NULL, &empty) == BB_OK, "no levels");
    scene->levels[1] = levels_with(empty, 0, first_table(0));
    bb_levels_unref(scene->levels[0]);
}

static void release_next(void)
{
    table_expect_key(first_table(1), 1);
    mark_obsolete(first_table(1));
    bb_levels_unref(scene->levels[1]);
}

/* ---- index files ---- */

static void destroy_companion(struct bb_companion *companion)
{
    scene->removed_companions[companion->number] +=
        atomic_load_explicit(&companion->is_obsolete, memory_order_relaxed);
    bb_free(companion);
}

static struct bb_companion *make_companion(uint64_t number)
{
    struct bb_companion *companion = bb_alloc_zeroed(1, sizeof(*companion));
    bb_companion_init(companion, number, destroy_companion);
    return companion;
}

static void make_indexed(void)
{
    make_scene();
    bb_table_file_set_companion(first_table(0), make_companion(1));
}

static void use_companion(void)
{
    struct bb_companion *companion = bb_table_file_companion(first_table(0));
    explore_check(companion->number == 1 || companion->number == 2, "another index file");
    bb_companion_unref(companion);
}

static void replace_companion(void)
{
    bb_table_file_set_companion(first_table(0), make_companion(2));
}

static void first_companion_removed(void)
{
    explore_check(bb_table_file_companion_number(first_table(0)) == 2, "another index file");
    explore_check(scene->removed_companions[1] == 1 && scene->removed_companions[2] == 0,
                  "an index file is removed that is not obsolete, or the other way round");
}

static void drop_table(void)
{
    mark_obsolete(first_table(0));
    bb_levels_unref(scene->levels[0]);
}

static void use_companion_and_release(void)
{
    use_companion();
    bb_levels_unref(scene->levels[0]);
}

static void table_and_companion_removed(void)
{
    expect_removed(1, 0);
    explore_check(scene->removed_companions[1] == 1, "the index file of a removed table stays");
}

static const struct explore_program programs[] = {
    {"levels are released by two", make_scene, {read_and_release, release}, nothing_removed},
    {"obsolete levels are released by two",
     make_obsolete,
     {read_and_release, release},
     first_removed},
    {"a table is replaced under a lookup", make_scene, {read_and_release, replace}, first_removed},
    {"levels that share a table are released",
     make_shared,
     {read_and_release, release_next},
     first_removed},
    {"an index file is replaced under a use",
     make_indexed,
     {use_companion, replace_companion},
     first_companion_removed},
    {"a table with an index file is removed under a use",
     make_indexed,
     {use_companion_and_release, drop_table},
     table_and_companion_removed},
};

static const char *const not_needed[] = {
    /* The programs of table_test.c and cache_test.c need these, or show why not. */
    "bb_table_file_open: load, acquire -> relaxed",
    "ready_table_filter: load, acquire -> relaxed",
    "bb_table_page_acquire: load, acquire -> relaxed",
    "bb_block_cache_item_unref: change, acq_rel -> release",
    "bb_block_cache_item_unref: change, acq_rel -> acquire",
    /* After the last reference, or before one is released. */
    "bb_table_file_unref: load, seq_cst -> acquire",
    "bb_table_file_unref: load, seq_cst -> relaxed",
    "bb_table_file_unref: load 2, seq_cst -> acquire",
    "bb_table_file_unref: load 2, seq_cst -> relaxed",
    "bb_companion_drop: store, seq_cst -> release",
    "bb_companion_drop: store, seq_cst -> relaxed",
    NULL,
};

int main(void)
{
    table_build();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
