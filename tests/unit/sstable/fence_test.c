/* Goal: fences separate, are as short as possible, and survive storing; other bytes are refused.
 * Method: exhaustive pairs over a small alphabet compared with a search for the shortest separator;
 * random lists compared with a walk. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/index/fence_builder.h"
#include "sstable/index/fence_index.h"

/* ---- choosing ---- */

#define SHORT_KEYS 121 /* 0 ... 4 bytes of { 0, 1, 255 } */

static size_t short_key(uint32_t number, uint8_t *ret_key)
{
    static const uint8_t alphabet[] = {0, 1, 255};
    size_t size = 0;
    uint32_t first = 0;
    for (uint32_t count = 1; number >= first + count; count *= 3, size++)
        first += count;
    number -= first;
    for (size_t i = 0; i < size; i++, number /= 3)
        ret_key[i] = alphabet[number % 3];
    return size;
}

/* Length of the shortest string s with a < s <= b: prefixes of b are the only candidates worth
 * trying, which the library claims; here all strings over the alphabet are. */
static size_t shortest_separator(struct bb_bytes a, struct bb_bytes b)
{
    for (uint32_t i = 0; i < SHORT_KEYS; i++) { /* by length */
        uint8_t key[4];
        struct bb_bytes candidate = {.data = key, .size = short_key(i, key)};
        if (bb_bytes_compare(a, candidate) < 0 && bb_bytes_compare(candidate, b) <= 0)
            return candidate.size;
    }
    return SIZE_MAX;
}

static void fence__separators_are_shortest(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SHORT_KEYS * SHORT_KEYS; i++) {
        uint8_t left[4];
        uint8_t right[4];
        struct bb_bytes a = {.data = left, .size = short_key(i / SHORT_KEYS, left)};
        struct bb_bytes b = {.data = right, .size = short_key(i % SHORT_KEYS, right)};
        if (bb_bytes_compare(a, b) >= 0)
            continue;
        struct bb_fence fence = bb_fence_between(NULL, a, 5, b);
        assert_true(bb_bytes_compare(a, fence.key) < 0 && bb_bytes_compare(fence.key, b) <= 0);
        assert_true(fence.sequence == BB_SEQUENCE_MAX);
        assert_int_equal(fence.key.size, shortest_separator(a, b));
    }
}

static void fence__between_versions(void **state)
{
    (void)state;
    struct bb_bytes key = bb_bytes_of_text("key");
    struct bb_fence fence = bb_fence_between(NULL, key, 7, key);
    assert_true(bb_bytes_equal(fence.key, key));
    assert_true(fence.sequence == 6);
}

static void fence__other_orders_are_not_shortened(void **state)
{
    (void)state;
    struct bb_bytes b = bb_bytes_of_text("abc");
    struct bb_fence fence = bb_fence_between(&backwards, bb_bytes_of_text("xyz"), 7, b);
    assert_true(bb_bytes_equal(fence.key, b));
    assert_true(fence.sequence == BB_SEQUENCE_MAX);
}

/* ---- storing ---- */

static void fence__round_trip(void **state)
{
    (void)state;
    static const uint64_t sequences[] = {0, 1, 127, BB_SEQUENCE_MAX - 1, BB_SEQUENCE_MAX};
    for (size_t size = 0; size < 200; size += 13) {
        for (size_t i = 0; i < 5; i++) {
            uint8_t key[200] = {0};
            struct bb_buf buf = {0};
            struct bb_fence fence = {.key = {.data = key, .size = size}, .sequence = sequences[i]};
            struct bb_fence found = {0};
            assert_ok(bb_fence_encode(&fence, size / 2, &buf));
            struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
            assert_true(bb_fence_decode(&cursor, &found));
            assert_int_equal(bb_cursor_left(&cursor), 0);
            assert_int_equal(found.key.size, size - size / 2);
            assert_true(found.sequence == sequences[i]);
            for (size_t cut = 0; cut < buf.size; cut++) {
                cursor = bb_cursor_of(bb_bytes_of(buf.data, cut));
                assert_false(bb_fence_decode(&cursor, &found));
                assert_ptr_equal(cursor.position, buf.data);
            }
            bb_buf_deinit(&buf);
        }
    }
}

static bool decodes(const struct bb_buf *buf)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(buf));
    struct bb_fence fence = {0};
    return bb_fence_decode(&cursor, &fence);
}

static void fence__corrupt_suffix_size(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    uint8_t *bytes = NULL;
    assert_ok(bb_append_varint(&buf, (BB_KEY_SIZE_MAX + 1) << 1));
    assert_ok(bb_buf_extend(&buf, BB_KEY_SIZE_MAX + 1, &bytes));
    assert_false(decodes(&buf)); /* all the bytes are there */
    bb_buf_reset(&buf);
    assert_ok(bb_append_varint(&buf, UINT64_MAX));
    assert_false(decodes(&buf));
    bb_buf_deinit(&buf);
}

static void fence__corrupt_sequence(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_append_varint(&buf, 0 << 1 | 1));
    assert_ok(bb_append_varint(&buf, BB_SEQUENCE_MAX - 1));
    assert_true(decodes(&buf));
    bb_buf_reset(&buf);
    assert_ok(bb_append_varint(&buf, 0 << 1 | 1));
    assert_ok(bb_append_varint(&buf, BB_SEQUENCE_MAX)); /* is encoded by omission */
    assert_false(decodes(&buf));
    bb_buf_deinit(&buf);
}

/* ---- lists ---- */

struct listed {
    struct bb_buf bytes;
    struct bb_fence_index index;
    void *memory;
};

static void list_fences(const struct bb_comparator *comparator, const struct entry_list *list,
                        struct listed *ret_listed)
{
    struct bb_fence_builder builder;
    const char *problem = NULL;
    bb_fence_builder_init(&builder, comparator);
    for (size_t i = 0; i < list->count; i++) {
        struct bb_fence fence = {.key = list->entries[i].key,
                                 .sequence = list->entries[i].sequence};
        assert_ok(bb_fence_builder_add(&builder, &fence));
    }
    *ret_listed = (struct listed){0};
    size_t estimate = bb_fence_builder_size_estimate(&builder);
    assert_ok(bb_fence_builder_encode(&builder, &ret_listed->bytes));
    assert_true(estimate >= ret_listed->bytes.size);
    bb_fence_builder_deinit(&builder);
    ret_listed->memory = bb_must_realloc(NULL, bb_fence_index_memory(list->count));
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&ret_listed->bytes));
    assert_true(bb_fence_index_init(&ret_listed->index, comparator, &cursor, (uint32_t)list->count,
                                    ret_listed->memory, &problem));
    assert_int_equal(bb_cursor_left(&cursor), 0);
}

static void listed_deinit(struct listed *listed)
{
    bb_buf_deinit(&listed->bytes);
    free(listed->memory);
}

static void check_find(const struct listed *listed, const struct entry_list *list,
                       const struct bb_comparator *comparator, struct bb_bytes key,
                       uint64_t sequence)
{
    struct bb_entry wanted = {.key = key, .sequence = sequence};
    uint32_t expected = 0;
    while (expected < list->count &&
           compare_entries(&list->entries[expected], &wanted, comparator) <= 0)
        expected++;
    assert_int_equal(bb_fence_index_find(&listed->index, comparator, key, sequence), expected);
    if (expected > 0)
        assert_true(
            bb_fence_index_compare(&listed->index, expected - 1, comparator, key, sequence) <= 0);
    if (expected < list->count)
        assert_true(bb_fence_index_compare(&listed->index, expected, comparator, key, sequence) >
                    0);
}

static void check_list(struct bb_rng *rng, const struct entry_list *list,
                       const struct bb_comparator *comparator)
{
    struct listed listed;
    list_fences(comparator, list, &listed);
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_entry *entry = &list->entries[i];
        uint8_t longer[400] = {0};
        memcpy(longer, entry->key.data, entry->key.size);
        check_find(&listed, list, comparator, entry->key, entry->sequence);
        check_find(&listed, list, comparator, entry->key, 0);
        check_find(&listed, list, comparator, entry->key, BB_SEQUENCE_MAX);
        check_find(&listed, list, comparator, bb_bytes_of(longer, entry->key.size + 1), 3);
        if (entry->key.size > 0)
            check_find(&listed, list, comparator, bb_bytes_of(longer, entry->key.size - 1), 3);
    }
    for (int i = 0; i < 100; i++) {
        uint8_t key[300];
        size_t size = bb_rng_key(rng, key, sizeof(key));
        check_find(&listed, list, comparator, bb_bytes_of(key, size), bb_rng_below(rng, 2001));
    }
    check_find(&listed, list, comparator, (struct bb_bytes){0}, BB_SEQUENCE_MAX);
    listed_deinit(&listed);
}

static void fence__random_lists(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("fence__random_lists", 11);
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    for (int round = 0; round < 200; round++) {
        const struct bb_comparator *comparator = round % 3 == 0 ? &backwards : NULL;
        struct entry_list list = {0};
        entry_list_add_random(&list, &rng, bb_rng_below(&rng, 40), 0);
        entry_list_sort(&list, comparator);
        check_list(&rng, &list, comparator);
        entry_list_deinit(&list);
    }
}

/* Eight bytes after the common prefix are not enough: zero-padded numbers tie in every way. */
static void fence__ties(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct entry_list list = {0};
    bb_rng_init(&rng, 12);
    static const size_t sizes[] = {0, 1, 7, 8, 9, 15, 16, 17};
    for (size_t common = 0; common < 20; common += 3) {
        for (size_t i = 0; i < 8; i++) {
            uint8_t key[64];
            memset(key, 'c', common);
            memset(key + common, 0, sizes[i]);
            entry_list_add(&list, bb_bytes_of(key, common + sizes[i]), 1 + i, BB_ENTRY_DELETE,
                           (struct bb_bytes){0});
            memset(key + common, 0xff, sizes[i]);
            entry_list_add(&list, bb_bytes_of(key, common + sizes[i]), 3, BB_ENTRY_DELETE,
                           (struct bb_bytes){0});
        }
        entry_list_sort(&list, NULL);
        check_list(&rng, &list, NULL);
        entry_list_deinit(&list);
    }
}

static void fence__collapse(void **state)
{
    (void)state;
    struct bb_fence_builder builder;
    bb_fence_builder_init(&builder, NULL);
    for (int i = 0; i < 20; i++) {
        char key[64];
        snprintf(key, sizeof(key), "http://one.example.com/%02d", i);
        struct bb_fence fence = {.key = bb_bytes_of_text(key), .sequence = BB_SEQUENCE_MAX};
        assert_false(bb_fence_builder_collapses(&builder, &fence));
        assert_ok(bb_fence_builder_add(&builder, &fence));
    }
    assert_int_equal(builder.common_size, strlen("http://one.example.com/"));
    struct bb_fence near = {.key = bb_bytes_of_text("http://one.example.com/5"), .sequence = 9};
    struct bb_fence far = {.key = bb_bytes_of_text("http://two"), .sequence = BB_SEQUENCE_MAX};
    assert_false(bb_fence_builder_collapses(&builder, &near));
    assert_true(bb_fence_builder_collapses(&builder, &far));
    bb_fence_builder_reset(&builder);
    /* Fences that differ early lose nothing with the prefix. */
    for (int i = 0; i < 20; i++) {
        char key[64];
        snprintf(key, sizeof(key), "x%02d", i);
        struct bb_fence fence = {.key = bb_bytes_of_text(key), .sequence = BB_SEQUENCE_MAX};
        assert_ok(bb_fence_builder_add(&builder, &fence));
    }
    struct bb_fence other = {.key = bb_bytes_of_text("y"), .sequence = BB_SEQUENCE_MAX};
    assert_false(bb_fence_builder_collapses(&builder, &other));
    bb_fence_builder_deinit(&builder);
}

static bool list_is_read(const struct bb_buf *bytes, uint32_t count,
                         const struct bb_comparator *comparator, const char **ret_problem)
{
    struct bb_fence_index index;
    uint64_t memory[64];
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(bytes));
    assert_true(bb_fence_index_memory(count) <= sizeof(memory));
    return bb_fence_index_init(&index, comparator, &cursor, count, memory, ret_problem);
}

static void append_fence(struct bb_buf *bytes, const char *suffix, uint64_t sequence)
{
    struct bb_fence fence = {.key = bb_bytes_of_text(suffix), .sequence = sequence};
    assert_ok(bb_fence_encode(&fence, 0, bytes));
}

static void fence__corrupt_order(void **state)
{
    (void)state;
    const char *problem = NULL;
    struct bb_buf bytes = {0};
    assert_ok(bb_append_bytes(&bytes, bb_bytes_of_text("common")));
    append_fence(&bytes, "b", 5);
    append_fence(&bytes, "b", 4);
    assert_true(list_is_read(&bytes, 2, NULL, &problem));
    append_fence(&bytes, "b", 4);
    assert_false(list_is_read(&bytes, 3, NULL, &problem));
    assert_non_null(strstr(problem, "not after"));
    bytes.size -= 3;
    append_fence(&bytes, "a", 3);
    assert_false(list_is_read(&bytes, 3, NULL, &problem));
    bb_buf_deinit(&bytes);
}

static void fence__corrupt_common(void **state)
{
    (void)state;
    const char *problem = NULL;
    struct bb_buf bytes = {0};
    assert_ok(bb_append_bytes(&bytes, bb_bytes_of_text("common")));
    assert_false(list_is_read(&bytes, 0, NULL, &problem)); /* of no fence */
    append_fence(&bytes, "b", 5);
    assert_true(list_is_read(&bytes, 1, NULL, &problem));
    assert_false(list_is_read(&bytes, 2, NULL, &problem)); /* one is missing */
    assert_false(list_is_read(&bytes, 1, &backwards, &problem));
    bytes.size = 4;
    assert_false(list_is_read(&bytes, 1, NULL, &problem));
    assert_non_null(strstr(problem, "cannot be read"));
    bb_buf_deinit(&bytes);

    uint8_t *key = bb_must_alloc_zeroed(BB_KEY_SIZE_MAX + 1);
    assert_ok(bb_append_bytes(&bytes, bb_bytes_of(key, BB_KEY_SIZE_MAX + 1)));
    append_fence(&bytes, "", 5);
    assert_false(list_is_read(&bytes, 1, NULL, &problem));
    assert_non_null(strstr(problem, "cannot be read"));
    bb_buf_reset(&bytes);
    assert_ok(bb_append_bytes(&bytes, bb_bytes_of(key, BB_KEY_SIZE_MAX)));
    append_fence(&bytes, "", 5);
    assert_true(list_is_read(&bytes, 1, NULL, &problem));
    append_fence(&bytes, "b", 4); /* one byte over the limit of a key */
    assert_false(list_is_read(&bytes, 2, NULL, &problem));
    free(key);
    bb_buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fence__separators_are_shortest),
        cmocka_unit_test(fence__between_versions),
        cmocka_unit_test(fence__other_orders_are_not_shortened),
        cmocka_unit_test(fence__round_trip),
        cmocka_unit_test(fence__corrupt_suffix_size),
        cmocka_unit_test(fence__corrupt_sequence),
        cmocka_unit_test(fence__random_lists),
        cmocka_unit_test(fence__ties),
        cmocka_unit_test(fence__collapse),
        cmocka_unit_test(fence__corrupt_order),
        cmocka_unit_test(fence__corrupt_common),
    };
    return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
