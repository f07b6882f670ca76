/* Goal: a block returns its entries to lookups and to iterators, and refuses invalid bytes, field
 * by field. Method: random blocks compared with a walk of the list; hand-made blocks. */
#include "tests/unit/sstable/table_fixture.h"

#include <sys/mman.h>

#include "base/coding.h"
#include "sstable/block/block_builder.h"
#include "sstable/block/block_iter.h"
#include "tests/support/step.h"

static const struct bb_place place = {.file = "/file", .offset = 1000};

/* The payload indexed; the block is the caller's on success. */
static enum bb_status load(struct bb_bytes payload, const struct bb_comparator *comparator,
                           struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    assert_ok(bb_block_create(NULL, (uint32_t)payload.size, &block));
    if (payload.size > 0)
        memcpy(block->payload, payload.data, payload.size);
    enum bb_status status = bb_block_index(block, (uint32_t)payload.size, comparator, place);
    if (status == BB_OK)
        *ret_block = block;
    else
        bb_block_unref(block);
    return status;
}

static struct bb_block *build(const struct entry_list *list, uint32_t restart_interval,
                              const struct bb_comparator *comparator)
{
    struct bb_block_builder builder;
    struct bb_bytes payload = {0};
    struct bb_block *block = NULL;
    bb_block_builder_init(&builder, restart_interval);
    for (size_t i = 0; i < list->count; i++)
        assert_ok(bb_block_builder_add(&builder, &list->entries[i]));
    size_t size = bb_block_builder_size(&builder);
    assert_ok(bb_block_builder_finish(&builder, &payload));
    assert_int_equal(payload.size, size);
    assert_ok(load(payload, comparator, &block));
    bb_block_builder_deinit(&builder);
    return block;
}

/* ---- sound blocks ---- */

static void check_find(const struct bb_block *block, const struct entry_list *list,
                       const struct bb_comparator *comparator, struct bb_bytes key,
                       uint64_t sequence)
{
    struct bb_block_match match = {0};
    const struct bb_entry *expected = NULL;
    enum bb_visit visit = entry_list_get(list, key, sequence, comparator, &expected);
    assert_ok(bb_block_find(block, comparator, place, key, sequence, &match));
    assert_int_equal(match.is_found, expected != NULL);
    if (expected == NULL) {
        assert_int_equal(match.has_newer, visit == BB_VISIT_NOT_VISIBLE);
        return;
    }
    assert_true(match.sequence == expected->sequence);
    assert_int_equal(match.kind, expected->kind);
    assert_true(bb_bytes_equal(match.value, expected->value));
}

static void check_iterator(const struct bb_block *block, const struct entry_list *list,
                           const struct bb_comparator *comparator)
{
    struct bb_block_iter iter;
    bb_block_iter_init(&iter, comparator);
    bb_block_iter_reset(&iter, block, place);
    size_t at = 0;
    for (bb_block_iter_seek_first(&iter); iter.is_valid; bb_block_iter_next(&iter))
        assert_same_entry(&iter.entry, &list->entries[at++]);
    assert_ok(iter.status);
    assert_int_equal(at, list->count);
    for (bb_block_iter_seek_last(&iter); iter.is_valid; bb_block_iter_prev(&iter))
        assert_same_entry(&iter.entry, &list->entries[--at]);
    assert_ok(iter.status);
    assert_int_equal(at, 0);
    for (size_t i = 0; i < list->count; i++) {
        bb_block_iter_seek(&iter, list->entries[i].key, list->entries[i].sequence);
        assert_same_entry(&iter.entry, &list->entries[i]);
        bb_block_iter_prev(&iter);
        assert_int_equal(iter.is_valid, i > 0);
        if (iter.is_valid) {
            bb_block_iter_next(&iter);
            assert_same_entry(&iter.entry, &list->entries[i]);
        }
    }
    bb_block_iter_deinit(&iter);
}

static void check_block(struct bb_rng *rng, const struct entry_list *list, uint32_t interval,
                        const struct bb_comparator *comparator)
{
    struct bb_block *block = build(list, interval, comparator);
    check_iterator(block, list, comparator);
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_entry *entry = &list->entries[i];
        check_find(block, list, comparator, entry->key, entry->sequence);
        check_find(block, list, comparator, entry->key, entry->sequence - 1);
        check_find(block, list, comparator, entry->key, entry->sequence + 1);
        check_find(block, list, comparator, entry->key, 0);
        uint8_t key[300];
        size_t size = bb_rng_key(rng, key, sizeof(key));
        check_find(block, list, comparator, bb_bytes_of(key, size), BB_SEQUENCE_MAX);
    }
    bb_block_unref(block);
}

static void block__random(void **state)
{
    (void)state;
    static const uint32_t intervals[] = {1, 2, 3, 16, 1000};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block__random", 21));
    for (size_t round = 0; round < 300; round += bb_test_step()) {
        const struct bb_comparator *comparator = round % 4 == 0 ? &backwards : NULL;
        struct entry_list list = {0};
        size_t keys = round % 50 == 0 ? 300 : bb_rng_between(&rng, 1, 40);
        entry_list_add_random(&list, &rng, keys, 30);
        entry_list_sort(&list, comparator);
        check_block(&rng, &list, intervals[bb_rng_below(&rng, 5)], comparator);
        entry_list_deinit(&list);
    }
}

/* Offsets of two bytes end where the entries take 65,535 bytes. */
static void block__wide_offsets(void **state)
{
    (void)state;
    for (size_t value_size = 65520; value_size < 65540; value_size++) {
        struct entry_list list = {0};
        uint8_t *value = bb_must_alloc_zeroed(value_size);
        entry_list_add(&list, bb_bytes_of_text("a"), 1, BB_ENTRY_PUT,
                       bb_bytes_of(value, value_size));
        struct bb_block *block = build(&list, 16, NULL);
        bool is_wide = block->entries_size > 65535;
        assert_int_equal(block->raw_size, block->entries_size + (is_wide ? 4 : 2) + 4);
        check_iterator(block, &list, NULL);
        bb_block_unref(block);
        entry_list_add(&list, bb_bytes_of_text("b"), 1, BB_ENTRY_PUT, bb_bytes_of("x", 1));
        block = build(&list, 1, NULL);
        check_iterator(block, &list, NULL);
        bb_block_unref(block);
        free(value);
        entry_list_deinit(&list);
    }
}

/* The scratch holds the payload in its stored bytes, or after the block. */
static void block__larger_than_its_scratch(void **state)
{
    (void)state;
    struct bb_block_scratch scratch;
    struct bb_block *block = bb_block_in_scratch(&scratch, BB_BLOCK_SCRATCH_SIZE, scratch.stored);
    assert_non_null(block);
    assert_ptr_equal(block->payload, scratch.stored);
    bb_block_unref(block);
    assert_null(bb_block_in_scratch(&scratch, BB_BLOCK_SCRATCH_SIZE, NULL));
    block = bb_block_in_scratch(&scratch, BB_BLOCK_SCRATCH_SIZE / 2, NULL);
    assert_non_null(block);
    assert_true(block->payload > scratch.block &&
                block->payload + block->capacity <= scratch.block + BB_BLOCK_SCRATCH_SIZE);
    bb_block_unref(block);
}

/* ---- hand-made blocks ---- */

struct draft {
    struct bb_buf bytes;
    uint32_t restarts[16];
    uint32_t restart_count;
};

static void draft_entry(struct draft *draft, uint64_t shared, const char *suffix, uint64_t tag,
                        const char *value)
{
    assert_ok(bb_append_varint(&draft->bytes, shared));
    assert_ok(bb_append_varint(&draft->bytes, strlen(suffix)));
    assert_ok(bb_append_varint(&draft->bytes, strlen(value)));
    assert_ok(bb_append_varint(&draft->bytes, tag));
    assert_ok(bb_buf_append(&draft->bytes, suffix, strlen(suffix)));
    assert_ok(bb_buf_append(&draft->bytes, value, strlen(value)));
}

#define PUT(sequence)    ((uint64_t)(sequence) << 1 | 1)
#define DELETE(sequence) ((uint64_t)(sequence) << 1)

static void draft_restart(struct draft *draft)
{
    draft->restarts[draft->restart_count++] = (uint32_t)draft->bytes.size;
}

/* Five entries, restarts at the first and the fourth. */
static struct draft sound_draft(void)
{
    struct draft draft = {0};
    draft_restart(&draft);
    draft_entry(&draft, 0, "abc", PUT(5), "1");
    draft_entry(&draft, 3, "", DELETE(4), "");
    draft_entry(&draft, 2, "d", PUT(7), "3");
    draft_restart(&draft);
    draft_entry(&draft, 0, "abdd", PUT(7), "4");
    draft_entry(&draft, 1, "x", PUT(9), "5");
    return draft;
}

static void draft_finish(struct draft *draft, uint32_t tail)
{
    bool is_wide = draft->bytes.size > BB_NARROW_OFFSETS_MAX;
    for (uint32_t i = 0; i < draft->restart_count; i++)
        if (is_wide)
            assert_ok(bb_append_u32(&draft->bytes, draft->restarts[i]));
        else
            assert_ok(bb_append_u16(&draft->bytes, (uint16_t)draft->restarts[i]));
    assert_ok(bb_append_u32(&draft->bytes, tail | (is_wide ? BB_RESTARTS_WIDE : 0)));
}

/* Loading fails with a message that contains part; the draft is released. */
static void assert_not_loaded(struct draft *draft, const char *part)
{
    struct bb_block *block = NULL;
    assert_status(load(bb_buf_bytes(&draft->bytes), NULL, &block), BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
    bb_buf_deinit(&draft->bytes);
}

/* Loading succeeds, and reading entry after entry fails; in either direction. */
static void assert_not_read(struct draft *draft, const char *part)
{
    struct bb_block *block = NULL;
    struct bb_block_iter iter;
    draft_finish(draft, draft->restart_count);
    assert_ok(load(bb_buf_bytes(&draft->bytes), NULL, &block));
    bb_block_iter_init(&iter, NULL);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek_first(&iter);
    while (iter.is_valid)
        bb_block_iter_next(&iter);
    assert_int_equal(iter.status, BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
    bb_block_iter_seek_last(&iter);
    while (iter.is_valid)
        bb_block_iter_prev(&iter);
    bb_block_iter_deinit(&iter);
    bb_block_unref(block);
    bb_buf_deinit(&draft->bytes);
}

static void block__drafts_are_sound(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    struct bb_block *block = NULL;
    struct bb_block_match match = {0};
    draft_finish(&draft, 2);
    assert_ok(load(bb_buf_bytes(&draft.bytes), NULL, &block));
    assert_ok(bb_block_find(block, NULL, place, bb_bytes_of_text("abdd"), 99, &match));
    assert_true(match.is_found && match.sequence == 7);
    assert_ok(bb_block_find(block, NULL, place, bb_bytes_of_text("abc"), 3, &match));
    assert_true(!match.is_found && match.has_newer);
    bb_block_unref(block);
    bb_buf_deinit(&draft.bytes);
}

static void block__corrupt_raw_size(void **state)
{
    (void)state;
    struct bb_block *block = NULL;
    for (size_t size = 0; size < 4; size++)
        assert_status(load(bb_bytes_of("\1\0\0", size), NULL, &block), BB_CORRUPT);
    assert_message("too short");
}

static void block__corrupt_restart_count(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 14, 1000, 0x7fffffff};
    for (size_t i = 0; i < 4; i++) {
        struct draft draft = sound_draft();
        draft_finish(&draft, counts[i] == 14 ? (uint32_t)draft.bytes.size : counts[i]);
        assert_not_loaded(&draft, "restarts");
    }
}

static void block__corrupt_offset_width(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    assert_ok(bb_append_u32(&draft.bytes, 0));
    assert_ok(bb_append_u32(&draft.bytes, draft.restarts[1]));
    assert_ok(bb_append_u32(&draft.bytes, 2 | BB_RESTARTS_WIDE));
    assert_not_loaded(&draft, "offsets of 4 bytes");
}

static void block__corrupt_restart_offset(void **state)
{
    (void)state;
    struct draft first = sound_draft();
    first.restarts[0] = 9;
    draft_finish(&first, 2);
    assert_not_loaded(&first, "restart 0 of 2 at 9");

    struct draft twice = sound_draft();
    twice.restarts[1] = 0;
    draft_finish(&twice, 2);
    assert_not_loaded(&twice, "restart 1 of 2 at 0");

    struct draft end = sound_draft();
    end.restarts[1] = (uint32_t)end.bytes.size;
    draft_finish(&end, 2);
    assert_not_loaded(&end, "restart 1");

    struct draft beyond = sound_draft();
    beyond.restarts[1] = 60000;
    draft_finish(&beyond, 2);
    assert_not_loaded(&beyond, "60000");
}

static void block__corrupt_restart_key(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    draft.restarts[1] = 8; /* the second entry, which shares */
    draft_finish(&draft, 2);
    assert_not_loaded(&draft, "whole key");
}

/* A restart that reads as an entry, from the inside of one. */
static void block__corrupt_restart_inside_an_entry(void **state)
{
    (void)state;
    struct draft draft = {0};
    draft_restart(&draft);
    draft_entry(&draft, 0, "a", PUT(1), "");
    assert_ok(bb_buf_append(&draft.bytes, "\0\1\6\3b", 5)); /* its value is an entry too */
    draft_restart(&draft);
    assert_ok(bb_buf_append(&draft.bytes, "\0\1\1\3bv", 6));
    draft_entry(&draft, 0, "c", PUT(1), "");
    assert_not_read(&draft, "restart");

    struct draft last = {0};
    draft_restart(&last);
    assert_ok(bb_buf_append(&last.bytes, "\0\1\6\3b", 5));
    draft_restart(&last);
    assert_ok(bb_buf_append(&last.bytes, "\0\1\1\3bv", 6));
    assert_not_read(&last, "restart");
}

static void block__corrupt_shared(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    draft_entry(&draft, 3, "y", PUT(1), ""); /* the key before is "ax" */
    assert_not_read(&draft, "cannot be read");

    struct draft shorter = sound_draft();
    draft_entry(&shorter, 1, "xx", PUT(1), ""); /* could share two */
    assert_not_read(&shorter, "not after");

    struct draft huge = sound_draft();
    draft_entry(&huge, UINT32_MAX, "", PUT(1), "");
    assert_not_read(&huge, "cannot be read");
}

/* Sizes that reach beyond the entries, and sizes that overflow when added. */
static void block__corrupt_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {20, 65536, 65537, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        struct draft unshared = sound_draft();
        assert_ok(bb_append_varint(&unshared.bytes, 0));
        assert_ok(bb_append_varint(&unshared.bytes, sizes[i]));
        assert_ok(bb_append_varint(&unshared.bytes, 0));
        assert_ok(bb_append_varint(&unshared.bytes, PUT(1)));
        assert_not_read(&unshared, "cannot be read");
        struct draft value = sound_draft();
        assert_ok(bb_append_varint(&value.bytes, 1));
        assert_ok(bb_append_varint(&value.bytes, 0));
        assert_ok(bb_append_varint(&value.bytes, sizes[i]));
        assert_ok(bb_append_varint(&value.bytes, PUT(1)));
        assert_not_read(&value, "cannot be read");
    }
}

/* A size of two bytes of which one would do. */
static void block__size_longer_than_needed(void **state)
{
    static const uint8_t entry[] = {1, 1, 0x85, 0, PUT(1), 'z', 'v', 'a', 'l', 'u', 'e'};
    (void)state;
    struct draft draft = sound_draft();
    assert_ok(bb_buf_append(&draft.bytes, entry, sizeof(entry)));
    assert_not_read(&draft, "cannot be read");
}

static void block__corrupt_key_size(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    char *suffix = memset(bb_must_alloc_zeroed(BB_KEY_SIZE_MAX + 1), 'y', BB_KEY_SIZE_MAX);
    draft_entry(&draft, 1, suffix, PUT(1), ""); /* one more than a key may have */
    assert_not_read(&draft, "cannot be read");
    struct draft limit = sound_draft();
    suffix[BB_KEY_SIZE_MAX - 1] = '\0';
    draft_entry(&limit, 1, suffix, PUT(1), "");
    draft_finish(&limit, 2);
    struct bb_block *block = NULL;
    struct bb_block_iter iter;
    assert_ok(load(bb_buf_bytes(&limit.bytes), NULL, &block));
    bb_block_iter_init(&iter, NULL);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek_last(&iter);
    assert_true(iter.is_valid && iter.entry.key.size == BB_KEY_SIZE_MAX);
    bb_block_iter_deinit(&iter);
    bb_block_unref(block);
    bb_buf_deinit(&limit.bytes);
    free(suffix);
}

/* A block of one entry. Its value is mapped, and untouched, so that it takes no memory. */
static enum bb_status load_large_value(uint32_t value_size)
{
    struct draft draft = {0};
    assert_ok(bb_append_varint(&draft.bytes, 0));
    assert_ok(bb_append_varint(&draft.bytes, 1));
    assert_ok(bb_append_varint(&draft.bytes, value_size));
    assert_ok(bb_append_varint(&draft.bytes, PUT(1)));
    assert_ok(bb_append_u8(&draft.bytes, 'k'));
    size_t size = draft.bytes.size + value_size + 4 + BB_BLOCK_TAIL_SIZE;
    uint8_t *payload = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(payload != MAP_FAILED);
    memcpy(payload, draft.bytes.data, draft.bytes.size);
    bb_store32(payload + size - BB_BLOCK_TAIL_SIZE, 1 | BB_RESTARTS_WIDE);
    struct bb_block *block = NULL;
    assert_ok(bb_block_create(NULL, 0, &block));
    block->payload = payload;
    block->capacity = (uint32_t)size;
    enum bb_status status = bb_block_index(block, (uint32_t)size, NULL, place);
    bb_block_unref(block);
    assert_int_equal(munmap(payload, size), 0);
    bb_buf_deinit(&draft.bytes);
    return status;
}

static void block__corrupt_value_size(void **state)
{
    (void)state;
    assert_ok(load_large_value(BB_VALUE_SIZE_MAX));
    assert_status(load_large_value(BB_VALUE_SIZE_MAX + 1), BB_CORRUPT);
    assert_message("restart 0 of 1 is not an entry");
}

static void block__corrupt_sequence(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    draft_entry(&draft, 1, "y", PUT(BB_SEQUENCE_MAX + 1), "");
    assert_not_read(&draft, "cannot be read");
}

static void block__corrupt_deletion(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    draft_entry(&draft, 1, "y", DELETE(3), "value");
    assert_not_read(&draft, "cannot be read");
}

static void block__corrupt_order(void **state)
{
    (void)state;
    struct draft down = sound_draft();
    draft_entry(&down, 1, "w", PUT(1), "");
    assert_not_read(&down, "not after");
    struct draft prefix = sound_draft();
    draft_entry(&prefix, 1, "", PUT(1), "");
    assert_not_read(&prefix, "not after");
    struct draft same = sound_draft();
    draft_entry(&same, 2, "", PUT(9), "");
    assert_not_read(&same, "not after");
    struct draft newer = sound_draft();
    draft_entry(&newer, 2, "", PUT(10), "");
    assert_not_read(&newer, "not after");
    struct draft restart = sound_draft();
    draft_restart(&restart);
    draft_entry(&restart, 0, "aw", PUT(10), "");
    assert_not_read(&restart, "not after");
}

static void block__corrupt_varint(void **state)
{
    (void)state;
    struct draft draft = sound_draft();
    assert_ok(bb_buf_append(&draft.bytes, "\x81\x00\1\0\2y", 6)); /* one, in two bytes */
    assert_not_read(&draft, "cannot be read");
    struct draft cut = sound_draft();
    assert_ok(bb_buf_append(&cut.bytes, "\1\1\0\x80", 4));
    assert_not_read(&cut, "cannot be read");
}

/* Lookups over any bytes stay inside of them; the sanitizers watch. */
static void block__random_bytes(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint64_t loaded = 0;
    bb_rng_init(&rng, bb_rng_seed("block__random_bytes", 22));
    for (int round = 0; round < 20000; round++) {
        struct draft draft = sound_draft();
        draft_finish(&draft, 2);
        for (uint64_t flips = bb_rng_between(&rng, 1, 3); flips > 0; flips--)
            draft.bytes.data[bb_rng_below(&rng, draft.bytes.size)] ^=
                (uint8_t)(1u << bb_rng_below(&rng, 8));
        struct bb_block *block = NULL;
        if (load(bb_buf_bytes(&draft.bytes), NULL, &block) == BB_OK) {
            struct bb_block_match match;
            enum bb_status status =
                bb_block_find(block, NULL, place, bb_bytes_of_text("abdd"), 9, &match);
            assert_true(status == BB_OK || status == BB_CORRUPT);
            loaded++;
            bb_block_unref(block);
        }
        bb_buf_deinit(&draft.bytes);
    }
    assert_true(loaded > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block__random),
        cmocka_unit_test(block__wide_offsets),
        cmocka_unit_test(block__larger_than_its_scratch),
        cmocka_unit_test(block__drafts_are_sound),
        cmocka_unit_test(block__corrupt_raw_size),
        cmocka_unit_test(block__corrupt_restart_count),
        cmocka_unit_test(block__corrupt_offset_width),
        cmocka_unit_test(block__corrupt_restart_offset),
        cmocka_unit_test(block__corrupt_restart_key),
        cmocka_unit_test(block__corrupt_restart_inside_an_entry),
        cmocka_unit_test(block__corrupt_shared),
        cmocka_unit_test(block__corrupt_sizes),
        cmocka_unit_test(block__size_longer_than_needed),
        cmocka_unit_test(block__corrupt_key_size),
        cmocka_unit_test(block__corrupt_value_size),
        cmocka_unit_test(block__corrupt_sequence),
        cmocka_unit_test(block__corrupt_deletion),
        cmocka_unit_test(block__corrupt_order),
        cmocka_unit_test(block__corrupt_varint),
        cmocka_unit_test(block__random_bytes),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
