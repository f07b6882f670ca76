/* Manifests for tests: a store in memory whose i-th edit is known. */
#ifndef BB_TESTS_UNIT_KV_SAMPLE_MANIFEST_H
#define BB_TESTS_UNIT_KV_SAMPLE_MANIFEST_H

#include "tests/unit/kv/sample_edit.h"

#include "kv/manifest/manifest.h"
#include "tests/support/file_memory.h"

struct place {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_rng rng;
};

static inline int setup(void **state)
{
    static struct place place;
    place = (struct place){.memory = bb_file_memory_create(1)};
    place.fs = bb_file_memory_system(place.memory);
    bb_rng_init(&place.rng, 5);
    assert_ok(place.fs->ops->make_directory(place.fs, "/db"));
    *state = &place;
    return 0;
}

static inline int teardown(void **state)
{
    struct place *place = *state;
    bb_file_memory_destroy(place->memory);
    return 0;
}

/* A new store with manifest `number`. */
static inline struct bb_manifest *create(struct bb_file_system *fs, uint64_t number)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest *manifest = NULL;
    struct bb_edit edit = {.has_identity = true, .next_file_number = number + 1};
    edit.identity = sample_identity(3);
    assert_ok(bb_manifest_state_apply(&state, &edit, (struct bb_place){0}));
    assert_ok(bb_manifest_create(fs, "/db", number, &state, &manifest));
    assert_false(state.has_identity);
    return manifest;
}

/* The i-th edit of a store's life: adds table 100 + i, and removes every second one again. */
static inline struct bb_edit nth_edit(struct bb_rng *rng, uint64_t i)
{
    struct bb_edit edit = {0};
    edit.last_sequence = 10 * i;
    edit.next_file_number = 101 + i;
    edit.log_number = 50 + i;
    sample_add_table(rng, &edit, (int)(i % BB_LEVEL_COUNT), 100 + i, 10 * i);
    if (i % 2 == 0)
        assert_ok(bb_edit_remove_table(&edit, 100 + i - 1));
    return edit;
}

static inline enum bb_status append_nth(struct bb_manifest *manifest, struct bb_rng *rng,
                                        uint64_t i)
{
    struct bb_edit edit = nth_edit(rng, i);
    enum bb_status status = bb_manifest_append(manifest, &edit);
    bb_edit_deinit(&edit);
    return status;
}

/* Is it the state after the first i edits? */
static inline bool is_nth_state(const struct bb_manifest_state *state, uint64_t i)
{
    if (state->last_sequence != 10 * i || state->log_number != (i == 0 ? 0 : 50 + i))
        return false;
    if (state->table_count != (i + 1) / 2)
        return false;
    for (uint64_t n = 1; n <= i; n++) {
        bool is_live = n % 2 == 0 || n == i;
        if ((bb_manifest_state_find(state, 100 + n) != NULL) != is_live)
            return false;
    }
    return true;
}

static inline void assert_loads(struct bb_file_system *fs, uint64_t number, uint64_t i)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    assert_ok(bb_manifest_load(fs, "/db", &state, &report));
    assert_true(is_nth_state(&state, i));
    assert_true(report.is_whole);
    assert_string_equal(report.dropped, "");
    assert_int_equal(report.number, number);
    bb_manifest_state_deinit(&state);
}

#endif
