/* Goal: damage never gives a wrong result. Every single flipped bit, every truncation and every
 * misplaced block of small tables gives the right result or an error that names the file, and
 * verification notices all of them. Method: a copy of the file for each damage, in memory; if it
 * opens, all present keys, as many absent ones and both scans are checked. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/table/table_walk.h"
#include "tests/support/step.h"

struct damage {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct entry_list absent;
    struct bb_hash_secret secret;
    uint8_t *bytes; /* of the sound file */
    size_t size;
    uint64_t errors;
    uint64_t opened;
    uint64_t damaged_filters;
};

static void fill_lists(struct damage *damage, size_t key_count)
{
    char key[32];
    char value[32];
    for (size_t i = 0; i < key_count; i++) {
        snprintf(key, sizeof(key), "key%05zu", i * 10);
        snprintf(value, sizeof(value), "value %zu", i);
        entry_list_add_text(&damage->list, key, 100 + i, i % 7 == 3 ? NULL : value);
        if (i % 5 == 0) /* an older version */
            entry_list_add_text(&damage->list, key, 50, "old");
        snprintf(key, sizeof(key), "key%05zu", i * 10 + 5);
        entry_list_add_text(&damage->absent, key, 1, "");
    }
}

static void damage_init_split(struct damage *damage, size_t key_count, uint32_t block_size,
                              double table_filter_bits)
{
    const uint8_t *bytes = NULL;
    *damage = (struct damage){0};
    damage->memory = bb_file_memory_create(77);
    bb_hash_secret_from_seed(5, &damage->secret);
    damage->options.file_system = bb_file_memory_system(damage->memory);
    damage->options.secret = &damage->secret;
    damage->options.block_size_bytes = block_size;
    damage->options.index_page_size_bytes = 256;
    damage->options.table_filter_bits = table_filter_bits;
    fill_lists(damage, key_count);
    build_table(FIXTURE_PATH, &damage->options, &damage->list, NULL);
    bytes = bb_file_memory_bytes(damage->memory, FIXTURE_PATH, &damage->size);
    damage->bytes = memcpy(bb_must_realloc(NULL, damage->size), bytes, damage->size);
}

static void damage_init(struct damage *damage, size_t key_count, uint32_t block_size)
{
    damage_init_split(damage, key_count, block_size, BB_TABLE_FILTER_DEFAULT);
}

static void damage_deinit(struct damage *damage)
{
    free(damage->bytes);
    entry_list_deinit(&damage->list);
    entry_list_deinit(&damage->absent);
    bb_file_memory_destroy(damage->memory);
}

/* An error is allowed, but must name the file. */
static void check_error(struct damage *damage, enum bb_status status)
{
    assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED || status == BB_INVALID);
    assert_non_null(strstr(bb_error_last()->message, FIXTURE_PATH));
    damage->errors++;
}

static void check_key(struct damage *damage, struct bb_table *table, struct bb_bytes key)
{
    struct bb_buf value = {0};
    const struct bb_entry *expected = NULL;
    struct bb_read_stats stats = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    enum bb_visit wanted = entry_list_get(&damage->list, key, BB_SEQUENCE_MAX, NULL, &expected);
    enum bb_status status = bb_table_get(table, NULL, key, bb_hash_key(&damage->secret, key),
                                         BB_SEQUENCE_MAX, &stats, &value, &sequence, &visit);
    damage->damaged_filters += stats.damaged_filters;
    if (status != BB_OK) {
        check_error(damage, status);
    } else if (expected == NULL) {
        assert_true(visit == wanted || visit == BB_VISIT_FILTER_NEGATIVE ||
                    visit == BB_VISIT_TABLE_FILTER_NEGATIVE);
    } else {
        assert_int_equal(visit, wanted);
        assert_true(sequence == expected->sequence);
        if (visit == BB_VISIT_PRESENT)
            assert_true(bb_bytes_equal(bb_buf_bytes(&value), expected->value));
    }
    bb_buf_deinit(&value);
}

/* A scan returns a prefix of the entries, and all of them unless it reports an error. */
static void check_scan(struct damage *damage, struct bb_table *table)
{
    struct bb_iter *iter = NULL;
    size_t at = 0;
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        assert_same_entry(&iter->entry, &damage->list.entries[at++]);
    if (iter->status == BB_OK)
        assert_int_equal(at, damage->list.count);
    else
        check_error(damage, iter->status);
    at = damage->list.count;
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        assert_same_entry(&iter->entry, &damage->list.entries[--at]);
    if (iter->status == BB_OK)
        assert_int_equal(at, 0);
    else
        check_error(damage, iter->status);
    bb_iter_destroy(iter);
}

/* Every operation on the damaged bytes. */
static void check_damaged(struct damage *damage, const uint8_t *bytes, size_t size)
{
    struct bb_table *table = NULL;
    struct bb_table_verify_report report;
    bb_file_memory_put(damage->memory, FIXTURE_PATH, bb_bytes_of(bytes, size));
    check_error(damage, bb_table_verify(FIXTURE_PATH, &damage->options, &report));
    enum bb_status status = bb_table_open(FIXTURE_PATH, &damage->options, &table);
    if (status != BB_OK) {
        check_error(damage, status);
        return;
    }
    damage->opened++;
    for (size_t i = 0; i < damage->list.count; i++)
        check_key(damage, table, damage->list.entries[i].key);
    for (size_t i = 0; i < damage->absent.count; i++)
        check_key(damage, table, damage->absent.entries[i].key);
    check_scan(damage, table);
    bb_table_close(table);
}

static void check_sound(struct damage *damage)
{
    struct bb_table_verify_report report = {0};
    bb_file_memory_put(damage->memory, FIXTURE_PATH, bb_bytes_of(damage->bytes, damage->size));
    assert_ok(bb_table_verify(FIXTURE_PATH, &damage->options, &report));
    assert_true(report.bytes == damage->size);
    assert_true(report.entries == damage->list.count);
    assert_true(report.filters + report.table_filter_chunks > 0);
    assert_true(report.filters_compared == report.filters);
    assert_true(report.table_filter_chunks_compared == report.table_filter_chunks);
}

/* Every stride-th bit of the file, one at a time. */
static void flip_bits(struct damage *damage, size_t stride)
{
    stride *= bb_test_step();
    uint8_t *copy = memcpy(bb_must_realloc(NULL, damage->size), damage->bytes, damage->size);
    size_t flips = 0;
    check_sound(damage);
    for (size_t bit = 0; bit < damage->size * 8; bit += stride, flips++) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_damaged(damage, copy, damage->size);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    print_message("%zu bits: %llu opened, %llu errors, %llu filters passed over\n", flips,
                  (unsigned long long)damage->opened, (unsigned long long)damage->errors,
                  (unsigned long long)damage->damaged_filters);
    /* Damage must have been found in all places, filters among them. */
    assert_true(damage->opened > 0 && damage->opened < flips);
    assert_true(damage->damaged_filters > 0);
    free(copy);
}

static void table_damage__every_bit(void **state)
{
    (void)state;
    struct damage damage;
    damage_init_split(&damage, 25, 128, 5);
    flip_bits(&damage, 1);
    damage_deinit(&damage);
    static const double others[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_ALL};
    for (size_t i = 0; i < 2; i++) {
        damage_init_split(&damage, 40, 128, others[i]);
        flip_bits(&damage, 5);
        damage_deinit(&damage);
    }
}

/* Larger, so that there are several pages and fences in the root; a stride that covers every bit
 * position and, over the file, every field. */
static void table_damage__bits_of_many_pages(void **state)
{
    (void)state;
    struct damage damage;
    damage_init(&damage, 300, 128);
    flip_bits(&damage, 37);
    damage_deinit(&damage);
}

static void table_damage__every_truncation(void **state)
{
    (void)state;
    struct damage damage;
    damage_init(&damage, 40, 128);
    for (size_t size = 0; size < damage.size; size++)
        check_damaged(&damage, damage.bytes, size);
    assert_true(damage.opened == 0);
    damage_deinit(&damage);
}

static void table_damage__bytes_after_the_end(void **state)
{
    (void)state;
    struct damage damage;
    damage_init(&damage, 10, 128);
    uint8_t *copy = bb_must_alloc_zeroed(damage.size + 64);
    memcpy(copy, damage.bytes, damage.size);
    for (size_t extra = 1; extra <= 64; extra++)
        check_damaged(&damage, copy, damage.size + extra);
    free(copy);
    damage_deinit(&damage);
}

struct block_place {
    uint64_t offset;
    uint32_t size;
};

static size_t list_blocks(struct damage *damage, struct block_place *places, size_t count_max)
{
    struct bb_table *table = NULL;
    struct bb_table_walk walk;
    bool has_block = false;
    size_t count = 0;
    assert_ok(bb_table_open(FIXTURE_PATH, &damage->options, &table));
    bb_table_walk_init(&walk, table);
    assert_ok(bb_table_walk_next(&walk, &has_block));
    while (has_block && count < count_max) {
        places[count++] = (struct block_place){.offset = walk.offset, .size = walk.stored_size};
        assert_ok(bb_table_walk_next(&walk, &has_block));
    }
    bb_table_walk_deinit(&walk);
    bb_table_close(table);
    return count;
}

/* An intact block moved to the place of another of the same size. */
static void table_damage__blocks_exchanged(void **state)
{
    (void)state;
    struct damage damage;
    struct block_place places[200];
    size_t exchanged = 0;
    damage_init(&damage, 300, 128);
    size_t count = list_blocks(&damage, places, 200);
    uint8_t *copy = memcpy(bb_must_realloc(NULL, damage.size), damage.bytes, damage.size);
    for (size_t i = 1; i < count; i++) {
        const struct block_place *a = &places[i - 1];
        for (size_t j = i; j < count; j++) {
            const struct block_place *b = &places[j];
            if (a->size != b->size)
                continue;
            memcpy(copy + a->offset, damage.bytes + b->offset, a->size);
            memcpy(copy + b->offset, damage.bytes + a->offset, a->size);
            check_damaged(&damage, copy, damage.size);
            memcpy(copy, damage.bytes, damage.size);
            exchanged++;
            break;
        }
    }
    assert_true(exchanged > 10);
    free(copy);
    damage_deinit(&damage);
}

/* A good block of another table, at the very same place. */
static void table_damage__block_of_another_table(void **state)
{
    (void)state;
    struct damage damage;
    struct block_place place;
    damage_init(&damage, 50, 128);
    assert_int_equal(list_blocks(&damage, &place, 1), 1);
    build_table("/other", &damage.options, &damage.list, NULL);
    size_t size = 0;
    const uint8_t *other = bb_file_memory_bytes(damage.memory, "/other", &size);
    assert_true(size > place.size && place.offset == 0);
    uint8_t *copy = memcpy(bb_must_realloc(NULL, damage.size), damage.bytes, damage.size);
    assert_memory_equal(copy, other, place.size - 8); /* everything except the checksum is equal */
    memcpy(copy, other, place.size);
    check_damaged(&damage, copy, damage.size);
    free(copy);
    damage_deinit(&damage);
}

static void table_damage__foreign_files(void **state)
{
    (void)state;
    struct damage damage;
    struct bb_table *table = NULL;
    damage_init(&damage, 1, 128);
    uint8_t foreign[200];
    memset(foreign, 'x', sizeof(foreign));
    bb_file_memory_put(damage.memory, FIXTURE_PATH, bb_bytes_of(foreign, 0));
    assert_status(bb_table_open(FIXTURE_PATH, &damage.options, &table), BB_CORRUPT);
    assert_message("0 bytes");
    bb_file_memory_put(damage.memory, FIXTURE_PATH, bb_bytes_of(foreign, sizeof(foreign)));
    assert_status(bb_table_open(FIXTURE_PATH, &damage.options, &table), BB_CORRUPT);
    assert_message("xxxxxxxx");
    assert_status(bb_table_open("/nowhere", &damage.options, &table), BB_NOT_FOUND);
    damage_deinit(&damage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_damage__every_bit),
        cmocka_unit_test(table_damage__bits_of_many_pages),
        cmocka_unit_test(table_damage__every_truncation),
        cmocka_unit_test(table_damage__bytes_after_the_end),
        cmocka_unit_test(table_damage__blocks_exchanged),
        cmocka_unit_test(table_damage__block_of_another_table),
        cmocka_unit_test(table_damage__foreign_files),
    };
    return cmocka_run_group_tests_name("table_damage", tests, NULL, NULL);
}
