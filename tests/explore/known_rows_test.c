/* Goal: threads that count the same granule share its bits, and a known record has its final hidden
 * bit. Method: all executions of kv/indexes/known_rows.c. */
#include "base/alloc.h"
#include "kv/indexes/known_rows.h"
#include "tests/explore/explore.h"

#define RECORDS 70 /* two words */
#define HIDDEN  65
#define VISIBLE 3

struct scene {
    _Atomic uint64_t bytes;
    struct bb_known_rows *rows;
};
static struct scene *scene;

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    explore_check(bb_known_rows_create(1, (struct bb_bytes){0}, &scene->bytes, &scene->rows) ==
                      BB_OK,
                  "no rows");
}

static struct bb_known_granule *find_granule(void)
{
    struct bb_known_granule *granule = NULL;
    explore_check(bb_known_rows_granule(scene->rows, 0, RECORDS, &granule) == BB_OK, "no granule");
    explore_check(granule->word_count == 2, "a granule is not complete");
    return granule;
}

static void learn(void)
{
    struct bb_known_granule *granule = find_granule();
    bb_known_rows_learn(granule, HIDDEN, true);
    bb_known_rows_learn(granule, VISIBLE, false);
}

static void use(void)
{
    const struct bb_known_granule *granule = find_granule();
    bool knows_hidden = (bb_known_rows_known(granule, 1) >> HIDDEN % 64 & 1) != 0;
    bool knows_visible = (bb_known_rows_known(granule, 0) >> VISIBLE & 1) != 0;
    uint64_t hidden = bb_known_rows_hidden(granule, 1);
    explore_check(!knows_hidden || hidden == UINT64_C(1) << HIDDEN % 64,
                  "a known record lacks its hidden bit");
    explore_check(!knows_visible || bb_known_rows_hidden(granule, 0) == 0, "a record is hidden");
}

/* A selection that ends, and the index file that takes another list. */
static void drop(void)
{
    bb_known_rows_unref(scene->rows);
}

static void learn_and_drop(void)
{
    learn();
    drop();
}

static void make_shared_scene(void)
{
    make_scene();
    (void)bb_known_rows_ref(scene->rows);
}

static void check_both(void)
{
    const struct bb_known_granule *granule = find_granule();
    explore_check(bb_known_rows_known(granule, 0) == 1 << VISIBLE &&
                      bb_known_rows_known(granule, 1) == 1 << HIDDEN % 64,
                  "a bit was lost");
}

static void check_dropped(void)
{
    explore_check(atomic_load(&scene->bytes) == 0, "memory is still counted");
}

static const struct explore_program programs[] = {
    {"one learns, one uses", make_scene, {learn, use}, check_both},
    {"two learn", make_scene, {learn, learn}, check_both},
    {"one learns, one drops the rows", make_shared_scene, {learn_and_drop, drop}, check_dropped},
};

static const char *const not_needed[] = {NULL};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
