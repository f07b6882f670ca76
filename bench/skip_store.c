/* See skip_store.h. */
#include "bench/skip_store.h"

#include "base/hash.h"
#include "bench/die.h"
#include "bench/process_clock.h"

#define PARTS 6 /* flushes of overwritten rows */

static enum bb_read_mode read_mode_of(bool is_mapped)
{
    return is_mapped ? BB_READ_MAPPED : BB_READ_COPIES;
}

static struct bb_db *create(const struct skip_load *load)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = {.create_if_missing = true,
                                    .error_if_exists = true,
                                    .block_size_bytes = 16 * 1024,
                                    .table_size_bytes = load->table_bytes,
                                    .defer_index_files = load->defers,
                                    .read_mode = read_mode_of(load->is_mapped),
                                    .wal_buffer_bytes = 64 * 1024};
    if (load->is_overwritten) { /* six runs, which stay */
        options.level0_run_count_compact = 2 * PARTS;
        options.write_buffer_bytes = UINT64_C(512) << 20;
    }
    bench_must(bb_db_open(load->path, &options, &db));
    return db;
}

static void create_index(struct bb_db *db, const char *name, const char *spec)
{
    bench_must(bb_db_index_create(db, name, spec));
}

static void create_indexes(struct bb_db *db, const struct skip_load *load)
{
    static const char *const definitions[] = {
        "line bytes = value",         "host bytes = clf(host)",   "user bytes = clf(user)",
        "time time(clf) = clf(time)", "status u64 = clf(status)", "bytes u64 = clf(bytes)"};
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        bench_must(bb_db_attribute_create(db, definitions[i]));
    bench_must(bb_db_granule_set(db, load->granule_bytes));
    bool has_all = load->indexes == SKIP_INDEXES_ALL || load->indexes == SKIP_INDEXES_ALL_TEXT;
    if (load->indexes == SKIP_INDEXES_ONE || has_all) {
        create_index(db, "time", "min_max(time)");
        create_index(db, "host", "values(host, rate=0.0001)");
    }
    if (load->indexes == SKIP_INDEXES_TOKENS || load->indexes == SKIP_INDEXES_ALL)
        create_index(db, "tokens", "tokens(line, rate=0.00001)");
    if (load->indexes == SKIP_INDEXES_TEXT || load->indexes == SKIP_INDEXES_ALL_TEXT)
        create_index(db, "text", "text(line, counts=yes)");
    if (!has_all)
        return;
    create_index(db, "user", "values(user, rate=0.001)");
    create_index(db, "status", "set(status)");
    create_index(db, "status_column", "column(status)");
    create_index(db, "bytes", "min_max(bytes)");
    if (load->indexes == SKIP_INDEXES_ALL)
        create_index(db, "grams", "ngrams(line, n=4, rate=0.1)");
}

/* ---- rows ---- */

static struct bb_bytes key_of(uint64_t row, uint8_t bytes[8])
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(row >> (56 - 8 * i));
    return (struct bb_bytes){.data = bytes, .size = 8};
}

/* Keys leave space for deleted ones between them. */
static void put(struct bb_db *db, uint64_t number, struct bb_bytes line)
{
    uint8_t bytes[8];
    bench_must(bb_db_put(db, NULL, key_of(number, bytes), line));
}

static bool is_overwritten(uint64_t row)
{
    return bb_hash_mix(row) % 10 < 3;
}

static bool is_deleted(uint64_t row)
{
    return bb_hash_mix(row ^ 0x5bd1e995) % 10 == 0;
}

/* The line of another row nearby, so that hidden rows also satisfy conditions, with a plausible
 * time. */
static struct bb_bytes other_line(const struct skip_rows *rows, const struct skip_load *load,
                                  uint64_t row)
{
    return skip_rows_line(rows, (row + 1 + bb_hash_mix(row) % 200) % load->row_count);
}

static void put_hidden(struct bb_db *db, const struct skip_load *load, const struct skip_rows *rows,
                       uint64_t row)
{
    put(db, 2 * row, is_overwritten(row) ? other_line(rows, load, row) : skip_rows_line(rows, row));
    if (is_deleted(row))
        put(db, 2 * row + 1, other_line(rows, load, row + 1));
}

static void hide(struct bb_db *db, const struct skip_rows *rows, uint64_t row)
{
    uint8_t bytes[8];
    if (is_overwritten(row))
        put(db, 2 * row, skip_rows_line(rows, row));
    if (is_deleted(row))
        bench_must(bb_db_delete(db, NULL, key_of(2 * row + 1, bytes)));
}

static void load_overwritten(struct bb_db *db, const struct skip_load *load,
                             const struct skip_rows *rows)
{
    for (uint64_t row = 0; row < load->row_count; row++)
        put_hidden(db, load, rows, row);
    bench_must(bb_db_compact(db));
    for (uint64_t part = 0; part < PARTS; part++) {
        for (uint64_t row = 0; row < load->row_count; row++)
            if (bb_hash_mix(row + 77) % PARTS == part)
                hide(db, rows, row);
        bench_must(bb_db_flush(db));
    }
}

static void load_plain(struct bb_db *db, const struct skip_load *load, const struct skip_rows *rows)
{
    for (uint64_t row = 0; row < load->row_count; row++)
        put(db, 2 * row, skip_rows_line(rows, row));
    bench_must(bb_db_flush(db));
}

struct bb_db *skip_store_load(const struct skip_load *load, const struct skip_rows *rows,
                              struct skip_load_cost *ret_cost)
{
    struct bb_db *db = create(load);
    if (load->indexes != SKIP_INDEXES_NONE)
        create_indexes(db, load);
    uint64_t begin = process_clock_now();
    if (load->is_overwritten)
        load_overwritten(db, load, rows);
    else
        load_plain(db, load, rows);
    bench_must(bb_db_wait_idle(db));
    uint64_t loaded = process_clock_now();
    if (!load->is_overwritten)
        bench_must(bb_db_compact(db));
    uint64_t compacted = process_clock_now();
    bench_must(bb_db_wait_idle(db));
    *ret_cost = (struct skip_load_cost){.seconds = (double)(loaded - begin) / 1e9,
                                        .compacted_seconds = (double)(compacted - loaded) / 1e9,
                                        .later_seconds = process_clock_since(compacted) / 1e9};
    return db;
}

struct bb_db *skip_store_open(const char *path, bool is_mapped)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = {.read_mode = read_mode_of(is_mapped)};
    bench_must(bb_db_open(path, &options, &db));
    return db;
}
