/* See transcript.h. */
#include "tests/model/transcript.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bb/db_files.h"
#include "bb/select.h"

#define DIRECTORY  "/store"
#define COPY       "/copy"
#define TABLE      "/in.bbt"
#define KEYS       900
#define KEY_SIZE   16
#define VALUE_SIZE 512
#define BATCH_MAX  30
#define SCAN_MAX   60

static void must(const struct transcript *t, enum bb_status status, const char *what)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "transcript: options \"%s\", operation %" PRIu64 ", %s: %s: %s\n", t->set->name,
            t->operation, what, bb_status_name(status), bb_error_last()->message);
    fprintf(stderr, "    replay: BB_TEST_SEED=%" PRIu64 " model_metamorphic_test\n", t->seed);
    exit(1);
}

/* ---- results ---- */

/* FNV-1a. */
static void show(struct transcript *t, struct bb_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        t->hash = (t->hash ^ bytes.data[i]) * UINT64_C(1099511628211);
    t->hash = (t->hash ^ bytes.size) * UINT64_C(1099511628211);
}

static void show_number(struct transcript *t, uint64_t number)
{
    show(t, (struct bb_bytes){.data = (const uint8_t *)&number, .size = sizeof(number)});
}

static struct bb_bytes of_text(const char *text, int size)
{
    return (struct bb_bytes){.data = (const uint8_t *)text, .size = (size_t)size};
}

static struct bb_bytes key_text(uint64_t number, char *buffer)
{
    return of_text(buffer, snprintf(buffer, KEY_SIZE, "key%04" PRIu64, number));
}

/* A row for the attributes, of a size that depends on the number. */
static struct bb_bytes value_text(uint64_t number, char *buffer)
{
    int size = snprintf(buffer, VALUE_SIZE, "%" PRIu64 ",user%" PRIu64 ",some words w%" PRIu64 " ",
                        number % 50, number % 17, number % 200);
    int end = size + (int)(number * 7919 % 300);
    for (; size < end; size++)
        buffer[size] = (char)('a' + (number + (uint64_t)size * 31) % 26);
    return of_text(buffer, size);
}

static uint64_t draw_key(struct transcript *t)
{
    return bb_rng_below(&t->rng, KEYS);
}

/* ---- the life of the store ---- */

static void open_store(struct transcript *t)
{
    must(t, bb_db_open(DIRECTORY, &t->options, &t->db), "open");
}

static void end_snapshot(struct transcript *t)
{
    bb_snapshot_release(t->db, t->snapshot);
    t->snapshot = NULL;
}

static void reopen(struct transcript *t)
{
    end_snapshot(t);
    must(t, bb_db_close(t->db), "close");
    open_store(t);
}

/* Without a log that has everything, the process must not crash. */
static void kill_process(struct transcript *t)
{
    if (t->options.wal_off || t->options.wal_buffer_bytes > 0) {
        reopen(t);
        return;
    }
    struct bb_file_memory *image = bb_file_memory_clone(t->memory);
    end_snapshot(t);
    must(t, bb_db_close(t->db), "close");
    bb_file_memory_destroy(t->memory);
    t->memory = image;
    t->options.file_system = bb_file_memory_system(image);
    open_store(t);
}

/* ---- writing ---- */

static struct bb_write_options draw_write(struct transcript *t)
{
    bool sync = bb_rng_one_in(&t->rng, 10);
    return (struct bb_write_options){.sync = sync && !t->options.wal_off};
}

static void put(struct transcript *t)
{
    char key[KEY_SIZE];
    char value[VALUE_SIZE];
    struct bb_write_options options = draw_write(t);
    struct bb_bytes name = key_text(draw_key(t), key);
    must(t, bb_db_put(t->db, &options, name, value_text(bb_rng_below(&t->rng, 100000), value)),
         "put");
}

static void erase(struct transcript *t)
{
    char key[KEY_SIZE];
    struct bb_write_options options = draw_write(t);
    must(t, bb_db_delete(t->db, &options, key_text(draw_key(t), key)), "delete");
}

static void erase_range(struct transcript *t)
{
    char low[KEY_SIZE];
    char high[KEY_SIZE];
    struct bb_write_options options = draw_write(t);
    uint64_t first = draw_key(t);
    uint64_t end = first + bb_rng_below(&t->rng, 20);
    must(t, bb_db_delete_range(t->db, &options, key_text(first, low), key_text(end, high)),
         "delete range");
}

static void add_to_batch(struct transcript *t, struct bb_batch *batch)
{
    char key[KEY_SIZE];
    char value[VALUE_SIZE];
    struct bb_bytes name = key_text(draw_key(t), key);
    if (bb_rng_one_in(&t->rng, 4))
        must(t, bb_batch_delete(batch, name), "batch");
    else
        must(t, bb_batch_put(batch, name, value_text(bb_rng_below(&t->rng, 100000), value)),
             "batch");
}

static void write_batch(struct transcript *t)
{
    struct bb_batch *batch = NULL;
    struct bb_write_options options = draw_write(t);
    uint64_t count = bb_rng_below(&t->rng, BATCH_MAX);
    must(t, bb_batch_create(&batch), "batch");
    for (uint64_t i = 0; i < count; i++)
        add_to_batch(t, batch);
    must(t, bb_db_write(t->db, &options, batch), "write");
    bb_batch_destroy(batch);
}

/* A table built elsewhere comes in. */
static void ingest(struct transcript *t)
{
    char key[KEY_SIZE];
    char value[VALUE_SIZE];
    const char *path = TABLE;
    struct bb_file_system *fs = t->options.file_system;
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_builder *builder = NULL;
    uint64_t first = draw_key(t);
    uint64_t step = 1 + bb_rng_below(&t->rng, 5);
    must(t, bb_table_builder_create(TABLE, &options, &builder), "table");
    for (uint64_t i = 0; i < 40; i++) {
        struct bb_entry entry = {.key = key_text(first + i * step, key), .kind = BB_ENTRY_PUT};
        entry.value = value_text(first * 3 + i, value);
        must(t, bb_table_builder_add(builder, &entry), "table");
    }
    must(t, bb_table_builder_finish(builder, NULL), "table");
    bb_table_builder_destroy(builder);
    must(t, bb_db_ingest(t->db, &path, 1, NULL), "ingest");
    must(t, fs->ops->remove(fs, TABLE), "remove");
}

/* ---- reading ---- */

static void show_get(struct transcript *t, struct bb_db *db, const struct bb_snapshot *snapshot,
                     uint64_t number)
{
    char key[KEY_SIZE];
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(db, &options, key_text(number, key), &value);
    must(t, status == BB_NOT_FOUND ? BB_OK : status, "get");
    show_number(t, (uint64_t)status);
    show(t, (struct bb_bytes){.data = value.data, .size = value.size});
    bb_buf_deinit(&value);
}

static void get(struct transcript *t)
{
    show_get(t, t->db, NULL, draw_key(t));
}

static void get_many(struct transcript *t)
{
    char texts[BATCH_MAX][KEY_SIZE];
    struct bb_bytes keys[BATCH_MAX];
    struct bb_buf values[BATCH_MAX] = {0};
    enum bb_status statuses[BATCH_MAX];
    for (size_t i = 0; i < BATCH_MAX; i++)
        keys[i] = key_text(draw_key(t), texts[i]);
    must(t, bb_db_get_many(t->db, NULL, keys, BATCH_MAX, values, statuses), "get many");
    for (size_t i = 0; i < BATCH_MAX; i++) {
        show_number(t, (uint64_t)statuses[i]);
        show(t, (struct bb_bytes){.data = values[i].data, .size = values[i].size});
        bb_buf_deinit(&values[i]);
    }
}

static void show_scan(struct transcript *t, struct bb_db *db, const struct bb_snapshot *snapshot,
                      const struct bb_bytes *from, bool backward, uint64_t count)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    must(t, bb_db_iter_create(db, &options, &iter), "iterator");
    if (from != NULL)
        bb_db_iter_seek(iter, *from);
    else
        bb_db_iter_seek_first(iter);
    for (; bb_db_iter_valid(iter) && count > 0; count--) {
        show(t, bb_db_iter_key(iter));
        show(t, bb_db_iter_value(iter));
        if (backward)
            bb_db_iter_prev(iter);
        else
            bb_db_iter_next(iter);
    }
    must(t, bb_db_iter_status(iter), "iterator");
    bb_db_iter_destroy(iter);
}

static void scan(struct transcript *t)
{
    char key[KEY_SIZE];
    struct bb_bytes from = key_text(draw_key(t), key);
    bool backward = bb_rng_one_in(&t->rng, 2);
    show_scan(t, t->db, NULL, &from, backward, bb_rng_below(&t->rng, SCAN_MAX));
}

static void take_snapshot(struct transcript *t)
{
    end_snapshot(t);
    must(t, bb_snapshot_create(t->db, &t->snapshot), "snapshot");
}

static void read_snapshot(struct transcript *t)
{
    char key[KEY_SIZE];
    uint64_t number = draw_key(t);
    struct bb_bytes from = key_text(number, key);
    show_number(t, t->snapshot != NULL);
    if (t->snapshot == NULL)
        return;
    show_get(t, t->db, t->snapshot, number);
    show_scan(t, t->db, t->snapshot, &from, false, SCAN_MAX);
}

static void select_rows(struct transcript *t)
{
    static const char *const conditions[] = {
        "status = %u",          "status BETWEEN 10 AND %u AND user != 'user3'",
        "user = 'user%u'",      "has_token(text, 'w%u')",
        "text LIKE '%%w%u %%'", "NOT (status > %u)",
    };
    char where[128];
    uint64_t draw = bb_rng_below(&t->rng, sizeof(conditions) / sizeof(conditions[0]));
    snprintf(where, sizeof(where), conditions[draw], (unsigned)bb_rng_below(&t->rng, 40));
    struct bb_select_options options = {.where = where};
    struct bb_select *select = NULL;
    bool has_record = false;
    must(t, bb_db_select(t->db, &options, &select), "select");
    must(t, bb_select_next(select, &has_record), "select");
    while (has_record) {
        show(t, bb_select_key(select));
        show(t, bb_select_value(select));
        must(t, bb_select_next(select, &has_record), "select");
    }
    bb_select_destroy(select);
}

/* ---- work ---- */

static void flush(struct transcript *t)
{
    must(t, bb_db_flush(t->db), "flush");
}

static void compact(struct transcript *t)
{
    must(t, bb_db_compact(t->db), "compact");
}

static void checkpoint(struct transcript *t)
{
    struct bb_db *copy = NULL;
    struct bb_db_destroy_report report;
    must(t, bb_db_checkpoint(t->db, COPY), "checkpoint");
    must(t, bb_db_open(COPY, &t->options, &copy), "open the checkpoint");
    show_scan(t, copy, NULL, NULL, false, UINT64_MAX);
    must(t, bb_db_close(copy), "close the checkpoint");
    must(t, bb_db_destroy(COPY, &t->options, &report), "destroy the checkpoint");
}

/* Of indexes, where there are any: no results. */
static void tend_indexes(struct transcript *t)
{
    bool is_dropped = bb_rng_one_in(&t->rng, 2);
    if (!t->set->has_indexes)
        return;
    if (is_dropped) {
        must(t, bb_db_index_drop(t->db, "words"), "drop an index");
        must(t, bb_db_index_create(t->db, "words", "tokens(text, rate=0.01)"), "create an index");
    }
    must(t, bb_db_index_materialize(t->db, NULL), "materialize");
}

static void create_indexes(struct transcript *t)
{
    static const char *const indexes[][2] = {
        {"bounds", "min_max(status)"},
        {"statuses", "set(status, values=100)"},
        {"users", "values(user, rate=0.01)"},
        {"words", "tokens(text, rate=0.01)"},
        {"pieces", "ngrams(text, n=3, rate=0.1)"},
        {"column", "column(user)"},
        {"text", "text(text, counts=yes)"},
    };
    must(t, bb_db_attribute_create(t->db, "status u64 = csv(1)"), "attribute");
    must(t, bb_db_attribute_create(t->db, "user bytes = csv(2)"), "attribute");
    must(t, bb_db_attribute_create(t->db, "text bytes = csv(3)"), "attribute");
    must(t, bb_db_granule_set(t->db, BB_GRANULE_BYTES_MIN), "granules");
    for (size_t i = 0; t->set->has_indexes && i < sizeof(indexes) / sizeof(indexes[0]); i++)
        must(t, bb_db_index_create(t->db, indexes[i][0], indexes[i][1]), "index");
}

static const struct {
    uint32_t weight;
    void (*act)(struct transcript *t);
} actions[] = {
    {4500, put},          {800, erase},       {120, erase_range}, {400, write_batch},
    {2000, get},          {200, get_many},    {500, scan},        {80, take_snapshot},
    {200, read_snapshot}, {60, select_rows},  {25, flush},        {8, compact},
    {15, reopen},         {15, kill_process}, {25, ingest},       {8, checkpoint},
    {10, tend_indexes},
};

void transcript_init(struct transcript *t, const struct option_set *set, uint64_t seed)
{
    *t = (struct transcript){.set = set, .seed = seed, .memory = bb_file_memory_create(seed)};
    bb_rng_init(&t->rng, seed);
    t->options = option_set_options(set, bb_file_memory_system(t->memory));
    open_store(t);
    create_indexes(t);
}

uint64_t transcript_step(struct transcript *t)
{
    uint64_t total = 0;
    size_t choice = 0;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        total += actions[i].weight;
    uint64_t draw = bb_rng_below(&t->rng, total);
    while (draw >= actions[choice].weight)
        draw -= actions[choice++].weight;
    t->hash = choice;
    t->operation++;
    actions[choice].act(t);
    return t->hash;
}

uint64_t transcript_deinit(struct transcript *t)
{
    struct bb_db_verify_report report;
    t->hash = 0;
    end_snapshot(t);
    show_scan(t, t->db, NULL, NULL, false, UINT64_MAX);
    must(t, bb_db_close(t->db), "close");
    must(t, bb_db_verify(DIRECTORY, &t->options, &report), "verify");
    bb_file_memory_destroy(t->memory);
    return t->hash;
}
