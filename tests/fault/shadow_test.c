/* Goal: with shadow_verify_one_in a wrong filter is found in use: lookups return the stored data,
 * the contradiction is counted and reported, and the table's filters are not probed any more.
 * Method: the filters of a table are changed under valid checksums, so that they deny keys that the
 * table has. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "sstable/meta/footer.h"
#include "tests/support/must_alloc.h"
#include "tests/unit/sstable/table_repair.h"

#define KEYS 2000

struct told {
    int damages;
    char message[512];
};

static void note_event(void *context, const struct bb_event *event)
{
    struct told *told = context;
    if (event->kind != BB_EVENT_DAMAGE)
        return;
    told->damages++;
    snprintf(told->message, sizeof(told->message), "%s", event->message);
}

static struct bb_bytes key_of(int i, char text[16])
{
    snprintf(text, 16, "key%07d", i * 3);
    return bb_bytes_of_text(text);
}

/* ---- wrong filters ---- */

/* Bits of the table filter's second quarter: of a chunk, after the descriptors of its shards. */
static void spoil_table_filter(uint8_t *bytes, size_t size)
{
    uint64_t directory = bb_load64(bytes + size - BB_FOOTER_SIZE + 16);
    uint32_t directory_size = bb_load32(bytes + size - BB_FOOTER_SIZE + 24);
    for (uint64_t at = directory; at + BB_SECTION_ENTRY_SIZE <= directory + directory_size;
         at += BB_SECTION_ENTRY_SIZE) {
        if (bb_load16(bytes + at) != BB_SECTION_TABLE_FILTER)
            continue;
        uint64_t offset = bb_load64(bytes + at + 4);
        uint64_t half = bb_load64(bytes + at + 12) / 2;
        for (uint64_t i = half / 2; i < half; i++)
            bytes[offset + i] ^= (uint8_t)bb_hash_mix(i);
    }
}

/* Bits of the last half of each page's filters. Pages are found by their headers: the offset of the
 * first of their blocks is the end of the previous page. */
static void spoil_filters(uint8_t *bytes, size_t size)
{
    uint64_t base = 0;
    for (uint64_t page = 1; page + BB_PAGE_HEADER_SIZE < size; page++) {
        uint64_t fences = bb_load32(bytes + page);
        uint64_t filters = bb_load32(bytes + page + 4);
        uint64_t area = page + BB_PAGE_HEADER_SIZE + fences + BB_CHECKSUM_SIZE;
        if (bb_load64(bytes + page + 8) != base || fences == 0 || fences > size || filters < 16 ||
            filters > size || area + filters + BB_CHECKSUM_SIZE > size ||
            bb_load16(bytes + page + 16) == 0)
            continue;
        for (uint64_t i = filters / 2; i < filters; i++)
            bytes[area + i] ^= (uint8_t)bb_hash_mix(i);
        base = area + filters + BB_CHECKSUM_SIZE;
        page = base;
    }
}

/* A store of one table with a wrong filter; closed. */
static void make_liar(struct store *store, double table_filter_bits)
{
    char key[16];
    char path[64];
    struct bb_db_table_list list;
    store_init(store);
    store->options.write_buffer_bytes = 4 << 20;
    store->options.table_size_bytes = 4 << 20;
    store->options.table_filter_bits = table_filter_bits;
    store->options.index_residency = BB_INDEX_PINNED;
    store_open(store);
    for (int i = 0; i < KEYS; i++)
        assert_ok(bb_db_put(store->db, NULL, key_of(i, key), bb_bytes_of_text("value")));
    assert_ok(bb_db_compact(store->db));
    assert_ok(bb_db_tables(store->db, &list));
    assert_int_equal(list.count, 1);
    snprintf(path, sizeof(path), "%s", list.tables[0].path);
    bb_db_table_list_deinit(&list);
    store_close(store);
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(store->memory, path, &size);
    uint8_t *copy = memcpy(bb_must_realloc(NULL, size), bytes, size);
    table_filter_bits == BB_TABLE_FILTER_NONE ? spoil_filters(copy, size)
                                              : spoil_table_filter(copy, size);
    table_repair_all(copy, size);
    bb_file_memory_put(store->memory, path, bb_bytes_of(copy, size));
    free(copy);
}

/* ---- lookups ---- */

enum way { GET, GET_PINNED, GET_MANY, WAYS };

static enum bb_status find(struct store *store, enum way way, int i)
{
    char text[16];
    struct bb_bytes key = key_of(i, text);
    struct bb_buf value = {0};
    struct bb_pinned pinned = {0};
    enum bb_status found = BB_OK;
    if (way == GET)
        found = bb_db_get(store->db, NULL, key, &value);
    else if (way == GET_PINNED)
        found = bb_db_get_pinned(store->db, NULL, key, &pinned);
    else
        assert_ok(bb_db_get_many(store->db, NULL, &key, 1, &value, &found));
    if (found == BB_OK)
        assert_true(bb_bytes_equal(way == GET_PINNED ? pinned.bytes : bb_buf_bytes(&value),
                                   bb_bytes_of_text("value")));
    if (way == GET_PINNED && found == BB_OK)
        bb_pinned_release(&pinned);
    bb_buf_deinit(&value);
    return found;
}

static int count_found(struct store *store, enum way way)
{
    int count = 0;
    for (int i = 0; i < KEYS; i++)
        count += find(store, way, i) == BB_OK;
    return count;
}

static void check_liar(double table_filter_bits, enum way way)
{
    struct store store;
    struct told told = {0};
    struct bb_db_stats stats;
    make_liar(&store, table_filter_bits);
    store.options.on_event = note_event;
    store.options.event_context = &told;

    store_open(&store);
    assert_true(count_found(&store, way) < KEYS); /* the wrong filter has an effect */
    bb_db_stats(store.db, &stats);
    assert_true(stats.shadow_checks == 0 && told.damages == 0);
    store_close(&store);

    store.options.shadow_verify_one_in = 1;
    store_open(&store);
    assert_int_equal(count_found(&store, way), KEYS);
    bb_db_stats(store.db, &stats);
    assert_int_equal(stats.shadow_contradictions, 1);
    assert_int_equal(stats.shadow_checks, 1);
    assert_int_equal(told.damages, 1);
    assert_non_null(strstr(told.message, ".bbt"));
    /* No filter is probed any more. */
    assert_int_equal(count_found(&store, (way + 1) % WAYS), KEYS);
    assert_int_equal(find(&store, way, KEYS + 1), BB_NOT_FOUND);
    bb_db_stats(store.db, &stats);
    assert_int_equal(stats.shadow_checks, 1);
    /* A compaction rebuilds them. */
    assert_ok(bb_db_delete(store.db, NULL, bb_bytes_of_text("key")));
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(count_found(&store, way), KEYS);
    store_deinit(&store);
}

static void shadow__finds_a_table_filter_that_lies(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        check_liar(BB_TABLE_FILTER_ALL, way);
}

static void shadow__finds_a_filter_that_lies(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++)
        check_liar(BB_TABLE_FILTER_NONE, way);
}

/* A sample: with sound filters no check is a contradiction, and the results are the same. */
static void shadow__one_in_ten(void **state)
{
    (void)state;
    char key[16];
    struct store store;
    struct told told = {0};
    struct bb_db_stats stats;
    store_init(&store);
    store.options.shadow_verify_one_in = 10;
    store.options.on_event = note_event;
    store.options.event_context = &told;
    store_open(&store);
    for (int i = 0; i < KEYS; i++)
        assert_ok(bb_db_put(store.db, NULL, key_of(i, key), bb_bytes_of_text("value")));
    assert_ok(bb_db_compact(store.db));
    for (int i = 0; i < KEYS; i++) {
        struct bb_buf value = {0};
        snprintf(key, sizeof(key), "key%07d", i * 3 + 1);
        assert_status(bb_db_get(store.db, NULL, bb_bytes_of_text(key), &value), BB_NOT_FOUND);
        bb_buf_deinit(&value);
    }
    bb_db_stats(store.db, &stats);
    assert_true(stats.shadow_checks > KEYS / 20 && stats.shadow_checks < KEYS / 5);
    assert_true(stats.shadow_contradictions == 0 && told.damages == 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shadow__finds_a_table_filter_that_lies),
        cmocka_unit_test(shadow__finds_a_filter_that_lies),
        cmocka_unit_test(shadow__one_in_ten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
