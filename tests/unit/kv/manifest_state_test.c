/* Goal: applying edits gives the live tables and counters, and a contradicting edit is refused as a
 * whole. Method: edits as in the life of a store (flushes, compactions, moves, ingests, over all
 * levels) compared with a model that is an array over all numbers, each in memory and from its
 * bytes, and each again with one error in it; one hand-made edit for every contradiction, after
 * each of which the state must be unchanged. */
#include "tests/unit/kv/sample_edit.h"

#include <stdlib.h>

#include "kv/manifest/filename.h"
#include "kv/manifest/manifest_state.h"
#include "tests/unit/kv/edit_print.h"

static const struct bb_place here = {.file = "M", .offset = 50};

/* A whole state as text. */
static void print_state(const struct bb_manifest_state *state, struct bb_buf *text)
{
    bb_buf_reset(text);
    struct bb_edit edit = {.has_identity = state->has_identity,
                           .identity = state->identity,
                           .next_file_number = state->next_file_number,
                           .last_sequence = state->last_sequence,
                           .log_number = state->log_number,
                           .log_is_absent = state->log_is_absent};
    assert_ok(edit_print(&edit, text));
    for (size_t i = 0; i < state->table_count; i++) {
        struct bb_edit table = {.added = state->tables[i], .added_count = 1};
        assert_ok(edit_print(&table, text));
    }
}

static void expect(struct bb_manifest_state *state, struct bb_edit *edit, enum bb_status status,
                   const char *message)
{
    struct bb_buf before = {0};
    struct bb_buf after = {0};
    print_state(state, &before);
    assert_status(bb_manifest_state_apply(state, edit, here), status);
    print_state(state, &after);
    if (status != BB_OK) {
        assert_message(message);
        assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    }
    bb_buf_deinit(&before);
    bb_buf_deinit(&after);
    bb_edit_deinit(edit);
}

static void begin(struct bb_manifest_state *state)
{
    struct bb_edit edit = {
        .has_identity = true, .identity = sample_identity(4), .next_file_number = 100};
    *state = (struct bb_manifest_state){0};
    edit.last_sequence = 1000;
    edit.log_number = 50;
    expect(state, &edit, BB_OK, NULL);
}

/* ---- the model ---- */

#define NUMBERS 6000
#define ROUNDS  700

/* The state of each table number: its level, or one of these. */
#define NEVER -1
#define GONE  -2

struct life {
    struct bb_rng rng;
    struct bb_manifest_state state;
    struct bb_manifest_state replayed; /* from the bytes of the edits */
    int level[NUMBERS];
    uint64_t run[NUMBERS];
    struct bb_table_meta meta[NUMBERS]; /* of the live ones */
    uint64_t next;
    uint64_t last_sequence;
    uint64_t log_number;
    bool log_is_absent;
    /* Counts of the rounds' events. */
    size_t moved_down, moved_aside, emptied, refused;
    size_t levels_max; /* with tables at the same time */
};

static uint64_t any_run(struct life *life, int level)
{
    return level == 0 || bb_rng_one_in(&life->rng, 2)
               ? 0
               : bb_rng_skewed(&life->rng, BB_RUN_NUMBER_MAX);
}

static void add_new(struct life *life, struct bb_edit *edit, int level, uint64_t count)
{
    uint64_t run = any_run(life, level);
    for (; count > 0 && life->next < NUMBERS; count--) {
        life->next += bb_rng_below(&life->rng, 2); /* a file that was not used */
        uint64_t number = life->next++;
        if (number >= NUMBERS)
            return;
        life->meta[number] = sample_meta(&life->rng, life->last_sequence);
        life->level[number] = level;
        life->run[number] = run;
        assert_ok(bb_edit_add_table(edit, level, run, number, &life->meta[number]));
    }
}

static void remove_one(struct life *life, struct bb_edit *edit, uint64_t number)
{
    assert_ok(bb_edit_remove_table(edit, number));
    bb_table_meta_deinit(&life->meta[number]);
    life->level[number] = GONE;
}

/* One in this many of the level's tables; 1: all. */
static void remove_part(struct life *life, struct bb_edit *edit, int level, uint64_t one_in)
{
    for (uint64_t number = 1; number < life->next && number < NUMBERS; number++)
        if (life->level[number] == level && bb_rng_one_in(&life->rng, one_in))
            remove_one(life, edit, number);
}

static void move_part(struct life *life, struct bb_edit *edit, int from, int to, uint64_t one_in)
{
    uint64_t run = any_run(life, to);
    for (uint64_t number = 1; number < life->next && number < NUMBERS; number++) {
        if (life->level[number] != from || !bb_rng_one_in(&life->rng, one_in))
            continue;
        assert_ok(bb_edit_remove_table(edit, number));
        assert_ok(bb_edit_add_table(edit, to, run, number, &life->meta[number]));
        life->level[number] = to;
        life->run[number] = run;
        life->moved_down += from != to;
        life->moved_aside += from == to;
    }
}

static void flush(struct life *life, struct bb_edit *edit)
{
    life->last_sequence += bb_rng_skewed(&life->rng, 1000);
    add_new(life, edit, 0, bb_rng_below(&life->rng, 4));
    life->log_number = life->next++;
    life->log_is_absent = bb_rng_one_in(&life->rng, 5);
    edit->log_number = life->log_number;
    edit->log_is_absent = life->log_is_absent;
}

/* A compaction may have no output, and take only tables from above. */
static void compact(struct life *life, struct bb_edit *edit, int from)
{
    int to = from + (from + 1 < BB_LEVEL_COUNT);
    remove_part(life, edit, from, from == 0 ? 1 : 3);
    if (to != from && bb_rng_one_in(&life->rng, 2))
        remove_part(life, edit, to, 4);
    add_new(life, edit, to, bb_rng_below(&life->rng, 6));
}

/* A random change of tables: one edit. */
static void live(struct life *life, struct bb_edit *edit)
{
    int level = (int)bb_rng_below(&life->rng, BB_LEVEL_COUNT);
    int below = level + (level + 1 < BB_LEVEL_COUNT);
    switch (bb_rng_below(&life->rng, 16)) {
    case 0: /* moved unread, with a concurrent compaction's changes */
        compact(life, edit, (level + 2) % BB_LEVEL_COUNT);
        move_part(life, edit, level, below, 3);
        break;
    case 1:
    case 2:
        move_part(life, edit, level, below, 2);
        break;
    case 3: /* another run of the same level */
        move_part(life, edit, level, level, 1);
        break;
    case 4: /* tables built elsewhere */
        life->last_sequence++;
        add_new(life, edit, level, 1 + bb_rng_below(&life->rng, 5));
        break;
    case 5:
        break; /* only counters, or an empty edit */
    case 6:
        if (bb_rng_one_in(&life->rng, 8)) /* all was deleted */
            for (int each = 0; each < BB_LEVEL_COUNT; each++)
                remove_part(life, edit, each, 1);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
        compact(life, edit, level);
        break;
    default:
        flush(life, edit);
        break;
    }
    edit->next_file_number = life->next;
    edit->last_sequence = life->last_sequence;
}

static void assert_like_model(struct life *life, const struct bb_manifest_state *state)
{
    size_t count = 0;
    uint64_t levels = 0;
    for (uint64_t number = 1; number < NUMBERS; number++) {
        const struct bb_edit_table *table = bb_manifest_state_find(state, number);
        assert_int_equal(table != NULL, life->level[number] >= 0);
        if (table == NULL)
            continue;
        assert_int_equal(table->number, number);
        assert_int_equal(table->level, life->level[number]);
        assert_int_equal(table->run, life->run[number]);
        assert_metas_equal(&table->meta, &life->meta[number]);
        assert_ptr_equal(state->tables[count], table); /* ascending */
        levels |= UINT64_C(1) << table->level;
        count++;
    }
    assert_int_equal(state->table_count, count);
    assert_int_equal(state->next_file_number, life->next);
    assert_int_equal(state->last_sequence, life->last_sequence);
    assert_int_equal(state->log_number, life->log_number);
    assert_int_equal(state->log_is_absent, life->log_is_absent);
    life->emptied += count == 0;
    if ((size_t)__builtin_popcountll(levels) > life->levels_max)
        life->levels_max = (size_t)__builtin_popcountll(levels);
}

/* ---- edits as bytes ---- */

/* Owned. */
static struct bb_edit reread(const struct bb_edit *edit)
{
    struct bb_buf bytes = {0};
    struct bb_edit copy;
    assert_ok(bb_edit_encode(edit, &bytes));
    assert_ok(bb_edit_decode(bb_buf_bytes(&bytes), here, &copy));
    bb_buf_deinit(&bytes);
    return copy;
}

static void assert_states_equal(const struct bb_manifest_state *a,
                                const struct bb_manifest_state *b)
{
    struct bb_buf text_a = {0};
    struct bb_buf text_b = {0};
    print_state(a, &text_a);
    print_state(b, &text_b);
    assert_true(bb_bytes_equal(bb_buf_bytes(&text_a), bb_buf_bytes(&text_b)));
    bb_buf_deinit(&text_a);
    bb_buf_deinit(&text_b);
}

/* The edit that adds everything to an empty state gives the same state. */
static void assert_snapshot(const struct bb_manifest_state *state)
{
    struct bb_manifest_state copy = {0};
    struct bb_edit edit = {0};
    edit.has_identity = true;
    edit.identity = state->identity;
    edit.next_file_number = state->next_file_number;
    edit.last_sequence = state->last_sequence;
    edit.log_number = state->log_number;
    edit.log_is_absent = state->log_is_absent;
    for (size_t i = state->table_count; i > 0; i--) { /* in any order */
        const struct bb_edit_table *table = state->tables[i - 1];
        assert_ok(bb_edit_add_table(&edit, table->level, table->run, table->number, &table->meta));
    }
    assert_ok(bb_manifest_state_apply(&copy, &edit, here));
    assert_states_equal(&copy, state);
    bb_edit_deinit(&edit);
    bb_manifest_state_deinit(&copy);
}

/* ---- an edit with one thing wrong in it ---- */

static uint64_t number_of(struct life *life, bool is_live)
{
    for (;;) {
        uint64_t number = bb_rng_between(&life->rng, 1, NUMBERS - 1);
        if ((bb_manifest_state_find(&life->state, number) != NULL) == is_live)
            return number;
    }
}

static bool is_removed(const struct bb_edit *edit, uint64_t number)
{
    for (size_t i = 0; i < edit->removed_count; i++)
        if (edit->removed[i] == number)
            return true;
    return false;
}

/* False where this edit cannot have that wrong. */
static bool spoil(struct life *life, struct bb_edit *edit)
{
    uint64_t number = 0;
    switch (bb_rng_below(&life->rng, 6)) {
    case 0:
        assert_ok(bb_edit_remove_table(edit, number_of(life, false)));
        return true;
    case 1:
        if (edit->removed_count == 0)
            return false;
        assert_ok(bb_edit_remove_table(
            edit, edit->removed[bb_rng_below(&life->rng, edit->removed_count)]));
        return true;
    case 2:
        if (life->state.table_count == 0)
            return false;
        number = number_of(life, true);
        if (is_removed(edit, number))
            return false;
        sample_add_table(&life->rng, edit, 1, number, 1);
        return true;
    case 3: /* another table than the moved one */
        if (edit->added_count == 0 || !is_removed(edit, edit->added[0].number))
            return false;
        edit->added[0].meta.table_id[bb_rng_below(&life->rng, 16)] ^= 1;
        return true;
    case 4:
        sample_add_table(&life->rng, edit, 2, edit->next_file_number, 1);
        return true;
    default:
        if (edit->added_count == 0)
            return false;
        edit->added[0].meta.sequence_max = edit->last_sequence + 1;
        return true;
    }
}

static void refuse_spoilt(struct life *life, const struct bb_edit *edit)
{
    struct bb_edit copy = reread(edit);
    if (!spoil(life, &copy)) {
        bb_edit_deinit(&copy);
        return;
    }
    life->refused++;
    expect(&life->state, &copy, BB_CORRUPT, "M: at offset 50: ");
}

static void take(struct life *life, const struct bb_edit *edit)
{
    struct bb_edit copy = reread(edit);
    assert_edits_equal(&copy, edit);
    assert_ok(bb_manifest_state_apply(&life->state, edit, here));
    assert_ok(bb_manifest_state_apply(&life->replayed, &copy, here));
    assert_states_equal(&life->replayed, &life->state);
    bb_edit_deinit(&copy);
}

static struct life *life_create(uint64_t seed)
{
    struct life *life = calloc(1, sizeof(*life));
    assert_non_null(life);
    bb_rng_init(&life->rng, seed);
    begin(&life->state);
    begin(&life->replayed);
    life->next = 100;
    life->last_sequence = 1000;
    life->log_number = 50;
    for (size_t i = 0; i < NUMBERS; i++)
        life->level[i] = NEVER;
    return life;
}

static void life_destroy(struct life *life)
{
    for (size_t i = 0; i < NUMBERS; i++)
        bb_table_meta_deinit(&life->meta[i]);
    bb_manifest_state_deinit(&life->state);
    bb_manifest_state_deinit(&life->replayed);
    free(life);
}

static void manifest_state__folds_like_the_model(void **unused)
{
    (void)unused;
    struct life *life = life_create(bb_rng_seed("manifest_state__folds_like_the_model", 9));
    for (size_t round = 0; round < ROUNDS; round++) {
        struct bb_edit edit = {0};
        live(life, &edit);
        refuse_spoilt(life, &edit);
        take(life, &edit);
        bb_edit_deinit(&edit);
        assert_like_model(life, &life->state);
        if (round % 8 == 0)
            assert_snapshot(&life->state);
    }
    /* States as stores have them were among them. */
    assert_int_equal(life->levels_max, BB_LEVEL_COUNT);
    assert_true(life->moved_down > 200);
    assert_true(life->moved_aside > 50);
    assert_true(life->emptied > 0);
    assert_true(life->refused > ROUNDS / 3);
    life_destroy(life);
}

/* ---- contradictions ---- */

static void manifest_state__corrupt_identity(void **unused)
{
    (void)unused;
    struct bb_manifest_state state = {0};
    struct bb_edit edit = {.next_file_number = 5};
    expect(&state, &edit, BB_CORRUPT,
           "M: at offset 50: the first edit of a manifest has no identity");
    edit = (struct bb_edit){.has_identity = true, .identity = sample_identity(1)};
    edit.identity.format_version = 9;
    expect(&state, &edit, BB_UNSUPPORTED,
           "a store of format version 9, this version knows up to 0");
    begin(&state);
    edit = (struct bb_edit){.has_identity = true, .identity = sample_identity(1)};
    expect(&state, &edit, BB_CORRUPT, "an identity that is not the first");
    bb_manifest_state_deinit(&state);
}

static void manifest_state__corrupt_counters(void **unused)
{
    (void)unused;
    struct bb_manifest_state state;
    begin(&state);
    struct bb_edit edit = {.next_file_number = 99};
    expect(&state, &edit, BB_CORRUPT, "the next file number goes back from 100 to 99");
    edit = (struct bb_edit){.last_sequence = 999};
    expect(&state, &edit, BB_CORRUPT, "the last sequence goes back from 1000 to 999");
    edit = (struct bb_edit){.log_number = 49};
    expect(&state, &edit, BB_CORRUPT, "the number of the first log goes back from 50 to 49");
    edit = (struct bb_edit){.log_number = 100};
    expect(&state, &edit, BB_CORRUPT, "the first log has number 100, the next file number is 100");
    edit = (struct bb_edit){.last_sequence = BB_SEQUENCE_MAX + 1};
    expect(&state, &edit, BB_CORRUPT, "beyond its limit");
    edit = (struct bb_edit){.next_file_number = BB_FILE_NUMBER_MAX + 2};
    expect(&state, &edit, BB_CORRUPT, "beyond its limit");
    edit = (struct bb_edit){.log_number = 60, .log_is_absent = true};
    expect(&state, &edit, BB_OK, NULL);
    assert_true(state.log_is_absent);
    edit = (struct bb_edit){.last_sequence = 1001};
    expect(&state, &edit, BB_OK, NULL);
    assert_true(state.log_is_absent); /* an edit without log fields does not change them */
    edit = (struct bb_edit){.log_number = 60};
    expect(&state, &edit, BB_OK, NULL);
    assert_false(state.log_is_absent);
    bb_manifest_state_deinit(&state);
}

static struct bb_edit with_table(struct bb_rng *rng, uint64_t number)
{
    struct bb_edit edit = {0};
    sample_add_table(rng, &edit, 1, number, 1000);
    return edit;
}

static void manifest_state__corrupt_tables(void **unused)
{
    (void)unused;
    struct bb_rng rng;
    struct bb_manifest_state state;
    bb_rng_init(&rng, 2);
    begin(&state);
    struct bb_edit edit = with_table(&rng, 20);
    sample_add_table(&rng, &edit, 0, 10, 1000);
    expect(&state, &edit, BB_OK, NULL);

    edit = with_table(&rng, 20);
    expect(&state, &edit, BB_CORRUPT, "table 20 is added: there is a table of that number already");
    edit = with_table(&rng, 20); /* another table under the number of a removed one */
    assert_ok(bb_edit_remove_table(&edit, 20));
    expect(&state, &edit, BB_CORRUPT, "table 20 is added: there is a table of that number already");
    edit = with_table(&rng, 30);
    assert_ok(bb_edit_remove_table(&edit, 31));
    expect(&state, &edit, BB_CORRUPT, "table 31 is removed, but is not there");
    edit = with_table(&rng, 30);
    assert_ok(bb_edit_remove_table(&edit, 10));
    assert_ok(bb_edit_remove_table(&edit, 20));
    assert_ok(bb_edit_remove_table(&edit, 10));
    expect(&state, &edit, BB_CORRUPT, "table 10 is removed twice");
    edit = with_table(&rng, 30);
    sample_add_table(&rng, &edit, 2, 30, 1000);
    expect(&state, &edit, BB_CORRUPT, "table 30 is added twice");
    edit = with_table(&rng, 100);
    expect(&state, &edit, BB_CORRUPT, "table 100 is added, but the next file number is 100");
    edit = with_table(&rng, 30);
    edit.added[0].meta.sequence_max = 1001;
    expect(&state, &edit, BB_CORRUPT, "table 30 has sequence 1001, the last sequence is 1000");
    edit = with_table(&rng, 30);
    edit.added[0].meta.block_count = 0;
    expect(&state, &edit, BB_CORRUPT, "table 30 is added: a table without entries, keys or blocks");
    edit = with_table(&rng, 30);
    edit.added[0].level = BB_LEVEL_COUNT;
    expect(&state, &edit, BB_CORRUPT, "table 30 is added: a level that does not exist");
    edit = with_table(&rng, 30);
    assert_ok(bb_buf_assign(&edit.added[0].meta.smallest, bb_bytes_of_text("b")));
    assert_ok(bb_buf_assign(&edit.added[0].meta.largest, bb_bytes_of_text("a")));
    expect(&state, &edit, BB_CORRUPT, "table 30 is added: its smallest key is above its largest");
    bb_manifest_state_deinit(&state);
}

static void manifest_state__other_orders_are_not_judged(void **unused)
{
    (void)unused;
    struct bb_rng rng;
    struct bb_manifest_state state = {0};
    bb_rng_init(&rng, 2);
    struct bb_edit edit = with_table(&rng, 30);
    edit.has_identity = true;
    edit.identity = sample_identity(4);
    strcpy(edit.identity.comparator, "reverse");
    edit.next_file_number = 100;
    edit.last_sequence = 1000;
    assert_ok(bb_buf_assign(&edit.added[0].meta.smallest, bb_bytes_of_text("b")));
    assert_ok(bb_buf_assign(&edit.added[0].meta.largest, bb_bytes_of_text("a")));
    expect(&state, &edit, BB_OK, NULL);
    bb_manifest_state_deinit(&state);
}

static void manifest_state__stage_changes_nothing(void **unused)
{
    (void)unused;
    struct bb_rng rng;
    struct bb_manifest_state state;
    struct bb_manifest_change change;
    struct bb_buf before = {0};
    struct bb_buf after = {0};
    bb_rng_init(&rng, 2);
    begin(&state);
    struct bb_edit edit = with_table(&rng, 20);
    print_state(&state, &before);
    assert_ok(bb_manifest_state_stage(&state, &edit, here, &change));
    print_state(&state, &after);
    assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    bb_manifest_state_drop(&change);
    print_state(&state, &after);
    assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    assert_ok(bb_manifest_state_stage(&state, &edit, here, &change));
    bb_manifest_state_commit(&state, &change);
    assert_int_equal(state.table_count, 1);
    assert_metas_equal(&state.tables[0]->meta, &edit.added[0].meta);
    bb_edit_deinit(&edit);
    bb_buf_deinit(&before);
    bb_buf_deinit(&after);
    bb_manifest_state_deinit(&state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest_state__folds_like_the_model),
        cmocka_unit_test(manifest_state__corrupt_identity),
        cmocka_unit_test(manifest_state__corrupt_counters),
        cmocka_unit_test(manifest_state__corrupt_tables),
        cmocka_unit_test(manifest_state__other_orders_are_not_judged),
        cmocka_unit_test(manifest_state__stage_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
