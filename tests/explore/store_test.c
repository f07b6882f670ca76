/* Goal: a reader of a store keeps its view, its memtable and its sequence while the store replaces
 * them, and the last reference releases them. Method: all executions of kv/store/current_view.c,
 * kv/view/view.c, kv/view/write_buffer.c and compaction/levels/companion.h, in a store without
 * files. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "compaction/levels/companion.h"
#include "compaction/levels/levels.h"
#include "kv/memtable/memtable.h"
#include "kv/store/current_view.h"
#include "kv/view/spare_memtable.h"
#include "kv/wal/wal_writer.h"
#include "tests/explore/explore.h"

#define CAPACITY 8192
#define KEY_HASH UINT64_C(0x123456789abcdef)
/* The last sequence before an ingest. */
#define SEQUENCE 10

struct scene {
    struct bb_db db;
    struct bb_spare_memtable spare;
    struct bb_companion *companion;
    struct bb_write_buffer *loose; /* with two references */
};
static struct scene *scene;

/* ---- the parts of a store that this one lacks ---- */

struct bb_levels *bb_levels_ref(struct bb_levels *levels)
{
    return levels;
}

void bb_levels_unref(struct bb_levels *levels)
{
    (void)levels;
}

enum bb_status bb_wal_writer_close(struct bb_wal_writer *writer)
{
    (void)writer;
    abort();
}

/* ---- views ---- */

static struct bb_write_buffer *make_buffer(void)
{
    struct bb_memtable *memtable = NULL;
    struct bb_write_buffer *buffer = NULL;
    struct bb_entry entry = {.key = bb_bytes_of_text("k"),
                             .sequence = 1,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of_text("v")};
    explore_check(bb_memtable_create(NULL, CAPACITY, &memtable) == BB_OK, "no memtable");
    explore_check(bb_memtable_add(memtable, &entry, KEY_HASH) == BB_OK, "no entry");
    explore_check(bb_write_buffer_create(memtable, NULL, 0, &scene->spare, &buffer) == BB_OK,
                  "no buffer");
    return buffer;
}

/* As the store does it after a flush: the old buffer is in a table. */
static void publish(struct bb_write_buffer *buffer)
{
    struct bb_view *blank = NULL;
    explore_check(bb_view_create(&blank) == BB_OK, "no view");
    bb_mutex_lock(&scene->db.mutex);
    struct bb_write_buffer *old = scene->db.active;
    bb_current_view_publish(&scene->db, blank, &buffer, 1, NULL);
    scene->db.active = buffer;
    bb_mutex_unlock(&scene->db.mutex);
    if (old != NULL)
        bb_write_buffer_unref(old);
    bb_current_view_reclaim(&scene->db);
}

static void make_scene(void)
{
    scene = bb_alloc_aligned(128, sizeof(*scene));
    memset((void *)scene, 0, sizeof(*scene));
    bb_mutex_init(&scene->db.mutex);
    bb_spare_memtable_init(&scene->spare, CAPACITY);
    explore_check(bb_readers_init(&scene->db.readers) == BB_OK, "no readers");
    atomic_store(&scene->db.last_sequence, SEQUENCE);
    publish(make_buffer());
    scene->loose = bb_write_buffer_ref(make_buffer());
}

static void expect_entry(const struct bb_view *view)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    explore_check(bb_memtable_get(view->buffers[0]->memtable, bb_bytes_of_text("k"), KEY_HASH,
                                  SEQUENCE, &value, &kind, &sequence) == BB_OK,
                  "the view lost its entry");
}

static void look_up(void)
{
    struct bb_view *view = NULL;
    struct bb_reader *reader = bb_readers_enter(&scene->db.readers, &view);
    expect_entry(view);
    bb_reader_leave(reader);
}

static void iterate(void)
{
    struct bb_view *view = bb_current_view_pin(&scene->db);
    expect_entry(view);
    bb_current_view_unpin(&scene->db, view);
}

static void replace_buffer(void)
{
    publish(make_buffer());
}

/* ---- an ingest ends views ---- */

/* The ingested tables are in the new view only; the sequence after them is for both memtables. */
static void ingest_and_write(void)
{
    bb_mutex_lock(&scene->db.mutex);
    bb_current_view_end(&scene->db);
    bb_mutex_unlock(&scene->db.mutex);
    atomic_store_explicit(&scene->db.last_sequence, SEQUENCE + 1, memory_order_release);
}

static void read_sequence(void)
{
    struct bb_view *view = NULL;
    struct bb_reader *reader = bb_readers_enter(&scene->db.readers, &view);
    explore_check(bb_view_sequence(view, &scene->db.last_sequence) <= SEQUENCE,
                  "a view shows what was written after an ingest");
    bb_reader_leave(reader);
}

/* ---- references ---- */

static void release_buffer(void)
{
    expect_entry(&(struct bb_view){.buffers = {scene->loose}});
    bb_write_buffer_unref(scene->loose);
}

static void destroy_companion(struct bb_companion *companion)
{
    explore_check(atomic_load(&companion->is_obsolete), "the file of an obsolete index stays");
    bb_free(companion);
}

static void make_companion(void)
{
    make_scene();
    scene->companion = bb_alloc_zeroed(1, sizeof(*scene->companion));
    bb_companion_init(scene->companion, 7, destroy_companion);
    (void)bb_companion_ref(scene->companion);
}

static void use_companion(void)
{
    explore_check(scene->companion->number == 7, "another file");
    bb_companion_unref(scene->companion);
}

static void drop_companion(void)
{
    bb_companion_drop(scene->companion);
}

static const struct explore_program programs[] = {
    {"a buffer is replaced under a lookup", make_scene, {look_up, replace_buffer}, NULL},
    {"a buffer is replaced under an iterator", make_scene, {iterate, replace_buffer}, NULL},
    {"an ingest under a lookup", make_scene, {read_sequence, ingest_and_write}, NULL},
    {"a buffer is released by two", make_scene, {release_buffer, release_buffer}, NULL},
    {"an index file is dropped under a use", make_companion, {use_companion, drop_companion}, NULL},
};

static const char *const not_needed[] = {
    /* The programs of readers_test.c and memtable_test.c need these, or show why not. A memtable is
     * created and reset by its only owner. */
    "bb_readers_enter: load, acquire -> relaxed",
    "bb_readers_enter: store, seq_cst -> release",
    "bb_readers_enter: store, seq_cst -> relaxed",
    "has_ranges: load, acquire -> relaxed",
    "bb_memtable_inner_find_leaf: load, acquire -> relaxed",
    "bb_memtable_leaf_find: load, acquire -> relaxed",
    "is_key: load, acquire -> relaxed",
    "get_from_tree: load, acquire -> relaxed",
    "plant: store, release -> relaxed",
    "bb_memtable_leaf_append: store, release -> relaxed",
    "bb_memtable_ranges_reset: store, release -> relaxed",
    /* Under the store's mutex, or after the last reference. */
    "retire: change, seq_cst -> acq_rel",
    "retire: change, seq_cst -> release",
    "retire: change, seq_cst -> acquire",
    "is_unused: load, seq_cst -> acquire",
    "is_unused: load, seq_cst -> relaxed",
    "bb_view_destroy: load, seq_cst -> acquire",
    "bb_view_destroy: load, seq_cst -> relaxed",
    "bb_current_view_pin: change, seq_cst -> acq_rel",
    "bb_current_view_pin: change, seq_cst -> release",
    "bb_current_view_pin: change, seq_cst -> acquire",
    "bb_current_view_unpin: change, seq_cst -> acq_rel",
    "bb_current_view_unpin: change, seq_cst -> release",
    "bb_current_view_unpin: change, seq_cst -> acquire",
    "bb_current_view_end: load, acquire -> relaxed",
    "bb_companion_drop: store, seq_cst -> release",
    "bb_companion_drop: store, seq_cst -> relaxed",
    "destroy_companion: load, seq_cst -> acquire",
    "destroy_companion: load, seq_cst -> relaxed",
    NULL,
};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
