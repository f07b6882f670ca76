/* Goal: a selection from a slow device announces its reads, so that they wait together. A selection
 * from memory announces none. Method: a file system with its own clock, which notes the announced
 * ranges, and the reads outside of them. */
#include "tests/support/store.h"

#include "base/file_forward.h"
#include "bb/select.h"

#define ROWS      20000
#define RARE_STEP 400 /* one row of these matches */
#define SLOW      (UINT64_C(1) << 20)
#define RANGES    4096

struct range {
    const char *path; /* of an open file */
    uint64_t begin;
    uint64_t end;
};

/* The files of the inner system share one table, so there is one device at a time. */
static struct {
    struct bb_file_forward forward; /* must be first */
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    uint64_t clock;
    uint64_t read_nanoseconds;
    struct range announced[RANGES];
    size_t announced_count;
    size_t index_announcements;
    size_t reads;             /* of tables */
    size_t unannounced_reads; /* of these */
} device;

static bool is_table(const char *path)
{
    return strstr(path, ".bbt") != NULL;
}

static bool is_announced(const char *path, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < device.announced_count; i++) {
        const struct range *range = &device.announced[i];
        if (strcmp(range->path, path) == 0 && range->begin <= offset && offset + size <= range->end)
            return true;
    }
    return false;
}

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    device.clock += device.read_nanoseconds;
    if (is_table(file->path)) {
        device.reads++;
        device.unannounced_reads += !is_announced(file->path, offset, size);
    }
    return device.sound->read_at(file, offset, buffer, size, ret_size);
}

static void will_need(struct bb_file *file, uint64_t offset, uint64_t size)
{
    if (!is_table(file->path)) {
        device.index_announcements++;
        return;
    }
    assert_true(device.announced_count < RANGES);
    device.announced[device.announced_count++] =
        (struct range){.path = file->path, .begin = offset, .end = offset + size};
}

static enum bb_status open_watched(struct bb_file_system *fs, const char *path,
                                   struct bb_file **ret_file)
{
    enum bb_status status = bb_file_open(bb_file_forward_inner(fs), path, ret_file);
    if (status != BB_OK)
        return status;
    if (device.sound == NULL) {
        device.sound = (*ret_file)->ops;
        device.ops = *device.sound;
        device.ops.read_at = read_at;
        device.ops.read_now = NULL;
        device.ops.will_need = will_need;
    }
    (*ret_file)->ops = &device.ops;
    return BB_OK;
}

static uint64_t now(struct bb_file_system *fs)
{
    (void)fs;
    return device.clock;
}

static void forget_announcements(uint64_t read_nanoseconds)
{
    device.read_nanoseconds = read_nanoseconds;
    device.announced_count = 0;
    device.index_announcements = 0;
    device.reads = 0;
    device.unannounced_reads = 0;
}

static void open_filled(struct store *store)
{
    store_init(store);
    memset(&device, 0, sizeof(device));
    bb_file_forward_init(&device.forward, bb_file_memory_system(store->memory));
    device.forward.ops.open = open_watched;
    device.forward.ops.now = now;
    store->options.file_system = &device.forward.base;
    store->options.table_size_bytes = 256 * 1024;
    store->options.compression = BB_COMPRESSION_NONE;
    store_open(store);
    assert_ok(bb_db_attribute_create(store->db, "word bytes = csv(1)"));
    assert_ok(bb_db_granule_set(store->db, BB_GRANULE_BYTES_MIN));
    assert_ok(bb_db_index_create(store->db, "words", "values(word, rate=0.0001)"));
    for (unsigned row = 0; row < ROWS; row++) {
        char key[16];
        char value[64];
        snprintf(key, sizeof(key), "%08u", row);
        int size = snprintf(value, sizeof(value), "%s,row %u of some length",
                            row % RARE_STEP == 0 ? "rare" : "other", row);
        assert_ok(
            bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, (size_t)size)));
    }
    assert_ok(bb_db_compact(store->db));
    store_close(store);
    store_open(store);
}

static void close_all(struct store *store)
{
    store_close(store);
    bb_file_memory_destroy(store->memory);
}

static void select_rare(struct store *store, bool is_backward)
{
    struct bb_select_options options = {.where = "word = 'rare'", .backward = is_backward};
    struct bb_select *select = NULL;
    bool has_record = false;
    size_t rows = 0;
    assert_ok(bb_db_select(store->db, &options, &select));
    assert_ok(bb_select_next(select, &has_record));
    for (; has_record; rows++)
        assert_ok(bb_select_next(select, &has_record));
    bb_select_destroy(select);
    assert_int_equal(rows, ROWS / RARE_STEP);
}

static void announced_spans__cover_the_reads_of_a_slow_device(void **state)
{
    (void)state;
    struct store store;
    open_filled(&store);
    forget_announcements(SLOW);
    select_rare(&store, false);
    assert_true(device.index_announcements > 0);
    /* Each row is in another span. The first span and opening tables are not announced. */
    assert_true(device.announced_count >= ROWS / RARE_STEP / 2);
    assert_true(device.unannounced_reads < device.reads / 2);
    close_all(&store);
}

/* The first selection opens index files, which announces their ends. */
static void announced_spans__are_none_if_reads_do_not_wait(void **state)
{
    (void)state;
    struct store store;
    open_filled(&store);
    forget_announcements(1000);
    select_rare(&store, false);
    assert_int_equal(device.announced_count, 0);
    forget_announcements(1000);
    select_rare(&store, false);
    assert_int_equal(device.announced_count + device.index_announcements, 0);
    close_all(&store);
}

static void announced_spans__are_those_of_forward_selections(void **state)
{
    (void)state;
    struct store store;
    open_filled(&store);
    forget_announcements(SLOW);
    select_rare(&store, true);
    forget_announcements(SLOW);
    select_rare(&store, true);
    assert_int_equal(device.announced_count, 0);
    select_rare(&store, false);
    assert_true(device.announced_count > 0);
    close_all(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(announced_spans__cover_the_reads_of_a_slow_device),
        cmocka_unit_test(announced_spans__are_none_if_reads_do_not_wait),
        cmocka_unit_test(announced_spans__are_those_of_forward_selections),
    };
    return cmocka_run_group_tests_name("announced_spans", tests, NULL, NULL);
}
