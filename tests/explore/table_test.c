/* Goal: threads that need the same table open it once, its parts are complete wherever they are
 * used, and no lookup that begins after a filter was distrusted probes it. Method: all executions
 * of compaction/levels/table_file.c and run.c, sstable/table/table.c, table_pages.c, table_read.c,
 * table_filter_read.c and table_lookup.c, over one small table. */
#include <stdatomic.h>

#include "compaction/levels/levels.h"
#include "compaction/levels/run.h"
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"
#include "tests/explore/table_scene.h"

struct scene {
    struct bb_file_system system;
    struct bb_table_file_env env;
    struct bb_table_file *file;
    struct bb_levels *levels;
    unsigned openings;
    bool is_refused; /* the next opening fails */
    bool has_failed[2];
};
static struct scene *scene;

/* Plain counts: openings of one table exclude each other. */
static enum bb_status open_counted(struct bb_file_system *fs, const char *path,
                                   struct bb_file **ret_file)
{
    scene->openings++;
    if (!scene->is_refused)
        return plain_open(fs, path, ret_file);
    scene->is_refused = false;
    return BB_IO;
}

static const struct bb_file_system_ops system_ops = {.open = open_counted};

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    scene->system.ops = &system_ops;
    table_env_init(&scene->env, &scene->system);
    scene->file = table_file_create(&scene->env, 1);
    scene->openings = 0;
}

static void make_open(void)
{
    struct bb_table *table = NULL;
    make_scene();
    explore_check(bb_table_file_open(scene->file, &table) == BB_OK, "no open table");
}

/* ---- opening ---- */

static void open_table(void)
{
    struct bb_table *table = NULL;
    explore_check(bb_table_file_open(scene->file, &table) == BB_OK, "a table is not opened");
    explore_check(bb_table_meta(table)->entry_count == TABLE_KEYS, "another table is open");
}

static void see_table(void)
{
    if (bb_table_file_is_open(scene->file))
        open_table();
    (void)bb_table_file_memory(scene->file);
}

static void opened_once(void)
{
    explore_check(scene->openings == 1, "a table was opened twice");
}

static void make_refused(void)
{
    make_scene();
    scene->is_refused = true;
}

static void try_to_open(size_t thread)
{
    struct bb_table *table = NULL;
    scene->has_failed[thread] = bb_table_file_open(scene->file, &table) != BB_OK;
    explore_check(scene->has_failed[thread] || bb_table_meta(table)->entry_count == TABLE_KEYS,
                  "another table is open");
}

static void try_first(void)
{
    try_to_open(0);
}

static void try_second(void)
{
    try_to_open(1);
}

static void one_failed(void)
{
    explore_check(scene->has_failed[0] != scene->has_failed[1],
                  "one failure is reported to both, or to none");
    explore_check(scene->openings == 2, "a failed opening is not tried again");
}

/* ---- index page and table filter ---- */

static void look_up_first(void)
{
    table_expect_key(scene->file, 0);
}

static void look_up_last(void)
{
    table_expect_key(scene->file, TABLE_KEYS - 1);
}

/* ---- filters that are distrusted ---- */

static void make_levels(void)
{
    struct bb_levels *empty = NULL;
    struct bb_level_change added = {.level = 1, .run = 1, .file = scene->file};
    explore_check(bb_levels_create_empty(NULL, &empty) == BB_OK &&
                      bb_levels_apply(empty, NULL, 0, &added, 1, &scene->levels) == BB_OK,
                  "no levels");
}

static const struct bb_run *run(void)
{
    return bb_levels_run(scene->levels, 1, 0);
}

static void make_run_closed(void)
{
    make_scene();
    make_levels();
}

static void make_run_unread(void)
{
    make_open();
    make_levels();
}

static void make_run(void)
{
    make_run_unread();
    table_expect_key(scene->file, 0);
}

/* As a lookup uses it: the filter is complete. */
static void probe_by_run(void)
{
    struct bb_bytes key = bb_bytes_of_text(table_keys[1]);
    bool is_sound = false;
    const struct bb_table_filter *table_filter = bb_run_table_filter(run(), 0);
    explore_check(
        table_filter == NULL ||
            !bb_table_filter_denies(table_filter, bb_hash_key(&table_secret, key), &is_sound),
        "a filter denies a key of its table");
}

static void look_up_and_probe(void)
{
    look_up_first();
    probe_by_run();
}

static void distrust(void)
{
    struct bb_table *table = atomic_load_explicit(&scene->file->table, memory_order_relaxed);
    bb_table_distrust_filters(table);
    bb_run_forget_table_filter(run(), scene->file);
}

static void no_filter_remains(void)
{
    struct bb_table *table = atomic_load(&scene->file->table);
    explore_check(bb_table_lookup_ready_filter(table) == NULL &&
                      atomic_load(&run()->places[0].table_filter) == NULL,
                  "a distrusted filter is still probed");
}

static const struct explore_program programs[] = {
    {"two open the same table", make_scene, {open_table, open_table, see_table}, opened_once},
    {"an opening fails, and another thread waits",
     make_refused,
     {try_first, try_second},
     one_failed},
    {"two look up in a table whose parts are not read",
     make_open,
     {look_up_first, look_up_last},
     NULL},
    {"a run takes the filter of a table that is being opened",
     make_run_closed,
     {look_up_first, probe_by_run},
     NULL},
    {"a run takes a filter that another lookup has taken",
     make_run_unread,
     {look_up_and_probe, probe_by_run},
     NULL},
    {"filters are distrusted while they are read",
     make_run_unread,
     {look_up_first, distrust},
     no_filter_remains},
    {"filters are distrusted while a run takes one",
     make_run,
     {probe_by_run, distrust},
     no_filter_remains},
};

static const char *const not_needed[] = {
    /* Under the environment's mutex. */
    "await_turn: load, acquire -> relaxed",
    /* A hint: a thread that uses the table loads it again. */
    "bb_table_file_is_open: load, acquire -> relaxed",
    /* A thread that replaces NULL has nothing to learn. */
    "publish: exchange, acq_rel -> release",
    "put_into_slot: exchange, acq_rel -> release",
    /* A page that was loaded twice has one owner. */
    "bb_block_cache_item_unref: change, acq_rel -> release",
    "bb_block_cache_item_unref: change, acq_rel -> acquire",
    /* Two threads each store and then load the other's variable. The search executes stores in the
     * order of the program, so that only the loads show a weaker order. */
    "publish: store, seq_cst -> release",
    "publish: store 2, seq_cst -> release",
    "publish: store 2, seq_cst -> relaxed",
    "bb_run_take_table_filter: store, seq_cst -> release",
    "bb_run_take_table_filter: store 2, seq_cst -> release",
    "bb_run_take_table_filter: store 2, seq_cst -> relaxed",
    "bb_run_forget_table_filter: store, seq_cst -> release",
    "bb_run_forget_table_filter: store, seq_cst -> relaxed",
    NULL,
};

int main(void)
{
    table_build();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
