/* Goal: a memtable without memory returns BB_NO_MEMORY and leaks nothing; adding and getting never
 * allocate.
 *
 * Method: the allocation seam fails at each allocation, once and permanently.
 */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "kv/memtable/memtable.h"
#include "tests/support/alloc/alloc_fault.h"

#define KEY_COUNT     500
#define VERSION_COUNT 300

static uint64_t hash_of(uint32_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(struct bb_memtable *memtable)
{
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < KEY_COUNT + VERSION_COUNT; i++) {
        uint32_t number = i < KEY_COUNT ? i * 7919 % KEY_COUNT : 0;
        struct bb_entry entry = {
            .key = bb_bytes_of(&number, 4), .sequence = ++sequence, .kind = BB_ENTRY_PUT};
        assert_ok(bb_memtable_add(memtable, &entry, hash_of(number)));
    }
    for (uint32_t number = 0; number < KEY_COUNT; number++) {
        struct bb_bytes value;
        enum bb_entry_kind kind;
        uint64_t found = 0;
        assert_int_equal(bb_memtable_get(memtable, bb_bytes_of(&number, 4), hash_of(number),
                                         BB_SEQUENCE_MAX, &value, &kind, &found),
                         BB_OK);
    }
}

static enum bb_status walk_back(const struct bb_memtable *memtable)
{
    struct bb_iter *iter = NULL;
    enum bb_status status = bb_memtable_iter_create(memtable, &iter);
    if (status != BB_OK)
        return status;
    uint64_t count = 0;
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        count++;
    status = iter->status;
    if (status == BB_OK)
        assert_true(count == KEY_COUNT + VERSION_COUNT);
    /* An iterator that had no memory for a step can be used again. */
    bb_iter_seek_first(iter);
    assert_true(iter->is_valid && iter->status == BB_OK);
    bb_iter_destroy(iter);
    return status;
}

static enum bb_status scenario(void *context)
{
    (void)context;
    struct bb_memtable *memtable = NULL;
    enum bb_status status = bb_memtable_create(NULL, 1 << 20, &memtable);
    if (status != BB_OK)
        return status;
    uint64_t requests = bb_alloc_fault_requests();
    fill(memtable);
    assert_true(bb_alloc_fault_requests() == requests);
    status = walk_back(memtable);
    bb_memtable_destroy(memtable);
    return status;
}

static void memtable_alloc__every_allocation_fails(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(scenario, NULL, false) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memtable_alloc__every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
