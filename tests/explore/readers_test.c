/* Goal: a view is not freed while a reader is in it, and counters of readers are added up without a
 * race. Method: all executions of kv/view/readers.c, in small programs. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/pinned.h"
#include "kv/view/readers.h"
#include "tests/explore/explore.h"

#define FIRST  UINT64_C(11)
#define SECOND UINT64_C(22)
#define THIRD  UINT64_C(33)

/* readers.c only compares addresses. */
struct bb_view {
    uint64_t content;
};

struct scene {
    struct bb_readers readers;
    struct bb_view *views[3];
    struct bb_pinned pinned;
};
static struct scene *scene;

static struct bb_view *make_view(uint64_t content)
{
    struct bb_view *view = bb_alloc(sizeof(*view));
    view->content = content;
    return view;
}

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    explore_check(bb_readers_init(&scene->readers) == BB_OK, "no readers");
    scene->views[0] = make_view(FIRST);
    bb_readers_publish(&scene->readers, scene->views[0]);
}

/* ---- a view is replaced ---- */

static void read_view(void)
{
    struct bb_view *view = NULL;
    struct bb_reader *reader = bb_readers_enter(&scene->readers, &view);
    explore_check(view->content == FIRST || view->content == SECOND || view->content == THIRD,
                  "the view has other content");
    bb_reader_leave(reader);
}

static void publish(size_t index, uint64_t content)
{
    scene->views[index] = make_view(content);
    bb_readers_publish(&scene->readers, scene->views[index]);
}

static void free_unused(size_t index)
{
    if (!bb_readers_is_used(&scene->readers, scene->views[index]))
        bb_free(scene->views[index]);
}

static void replace_view(void)
{
    publish(1, SECOND);
    free_unused(0);
}

/* A reader that has announced the first view has to announce the second one. */
static void replace_both_views(void)
{
    publish(1, SECOND);
    publish(2, THIRD);
    free_unused(1);
}

static void read_twice(void)
{
    read_view();
    read_view();
}

/* ---- counters ---- */

static void add_scan(void)
{
    struct bb_read_stats stats = {.block_requests = 1};
    bb_readers_add_scan(&scene->readers, &stats);
}

static void sum_all(void)
{
    struct bb_reader_counts counts;
    bb_readers_sum(&scene->readers, &counts);
    explore_check(counts.scan_reads.block_requests == 2, "a scan is missing in the sum");
}

/* ---- pinned values ---- */

static void make_pinned(void)
{
    make_scene();
    struct bb_view *view = NULL;
    struct bb_reader *reader = bb_readers_enter(&scene->readers, &view);
    scene->pinned.bytes = bb_bytes_of(&view->content, sizeof(view->content));
    bb_pinned_count(&scene->pinned, &reader->pinned_values);
    bb_reader_leave(reader);
}

static void release_pinned(void)
{
    struct bb_pinned pinned = scene->pinned;
    explore_check(*(const uint64_t *)(const void *)pinned.bytes.data == FIRST,
                  "the pinned value changed");
    bb_pinned_release(&pinned);
}

static void free_without_pins(void)
{
    if (bb_readers_pinned_values(&scene->readers) == 0)
        bb_free(scene->views[0]);
}

static const struct explore_program programs[] = {
    {"two readers enter and leave while a view is replaced",
     make_scene,
     {read_view, read_view, replace_view},
     NULL},
    {"a reader enters twice while a view is replaced",
     make_scene,
     {read_twice, replace_view},
     NULL},
    {"a reader enters while two views are replaced",
     make_scene,
     {read_view, replace_both_views},
     NULL},
    {"two readers add counts", make_scene, {add_scan, add_scan}, sum_all},
    {"a pinned value is released", make_pinned, {release_pinned, free_without_pins}, NULL},
};

/* enter loads the current view twice, and uses what the second load returns. */
static const char *const not_needed[] = {"bb_readers_enter: load, acquire -> relaxed", NULL};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
