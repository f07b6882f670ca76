/* Goal: folding edits gives the live tables and counters, and no edit that contradicts them is
 * taken, not even in part. Method: random edits against a model that is an array over all numbers;
 * one hand-made edit for every contradiction, after each of which the state must be what it was. */
#include "tests/unit/kv/sample_edit.h"

#include "kv/manifest/filename.h"
#include "kv/manifest/manifest_state.h"

static const struct bb_place here = {.file = "M", .offset = 50};

/* Everything a state says, as text. */
static void print_state(const struct bb_manifest_state *state, struct bb_buf *text)
{
    bb_buf_reset(text);
    struct bb_edit edit = {.has_identity = state->has_identity,
                           .identity = state->identity,
                           .next_file_number = state->next_file_number,
                           .last_sequence = state->last_sequence,
                           .log_number = state->log_number,
                           .log_is_absent = state->log_is_absent};
    assert_ok(bb_edit_print(&edit, text));
    for (size_t i = 0; i < state->table_count; i++) {
        struct bb_edit table = {.added = state->tables[i], .added_count = 1};
        assert_ok(bb_edit_print(&table, text));
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

#define NUMBERS 2000

struct model {
    bool is_live[NUMBERS];
    int level[NUMBERS];
    uint64_t next;
};

static void remove_some(struct bb_rng *rng, struct model *model,
                        const struct bb_manifest_state *state, struct bb_edit *edit)
{
    for (uint64_t n = bb_rng_below(rng, 4); n > 0 && state->table_count > 0; n--) {
        const struct bb_edit_table *table = state->tables[bb_rng_below(rng, state->table_count)];
        if (!model->is_live[table->number])
            continue; /* taken already */
        assert_ok(bb_edit_remove_table(edit, table->number));
        model->is_live[table->number] = false;
        if (bb_rng_one_in(rng, 3)) { /* moved instead */
            int level = (int)bb_rng_below(rng, BB_LEVEL_COUNT);
            assert_ok(bb_edit_add_table(edit, level, table->number, &table->meta));
            model->is_live[table->number] = true;
            model->level[table->number] = level;
        }
    }
}

static void add_some(struct bb_rng *rng, struct model *model, struct bb_edit *edit)
{
    for (uint64_t n = bb_rng_below(rng, 5); n > 0; n--) {
        uint64_t number = bb_rng_between(rng, 1, NUMBERS - 1);
        if (model->is_live[number] || model->level[number] >= 0)
            continue; /* every number once */
        int level = (int)bb_rng_below(rng, BB_LEVEL_COUNT);
        sample_add_table(rng, edit, level, number, 1000);
        model->is_live[number] = true;
        model->level[number] = level;
    }
}

static void assert_model(const struct model *model, const struct bb_manifest_state *state)
{
    size_t count = 0;
    for (uint64_t number = 1; number < NUMBERS; number++) {
        const struct bb_edit_table *table = bb_manifest_state_find(state, number);
        assert_int_equal(table != NULL, model->is_live[number]);
        if (table == NULL)
            continue;
        assert_int_equal(table->number, number);
        assert_int_equal(table->level, model->level[number]);
        assert_ptr_equal(state->tables[count], table); /* ascending */
        count++;
    }
    assert_int_equal(state->table_count, count);
}

static void manifest_state__folds_like_the_model(void **unused)
{
    (void)unused;
    struct bb_rng rng;
    struct bb_manifest_state state;
    static struct model model;
    size_t moves = 0;
    bb_rng_init(&rng, bb_rng_seed("manifest_state__folds_like_the_model", 9));
    begin(&state);
    for (size_t i = 0; i < NUMBERS; i++)
        model.level[i] = -1;
    for (size_t round = 0; round < 600; round++) {
        struct bb_edit edit;
        bb_edit_init(&edit);
        edit.next_file_number = NUMBERS + round;
        remove_some(&rng, &model, &state, &edit);
        moves += edit.added_count;
        add_some(&rng, &model, &edit);
        assert_ok(bb_manifest_state_apply(&state, &edit, here));
        bb_edit_deinit(&edit);
        assert_model(&model, &state);
        assert_int_equal(state.next_file_number, NUMBERS + round);
    }
    assert_true(moves > 100);
    assert_true(state.table_count > 10);
    bb_manifest_state_deinit(&state);
    assert_int_equal(state.table_count, 0);
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
    assert_true(
        state.log_is_absent); /* an edit that says nothing of logs changes nothing of them */
    edit = (struct bb_edit){.log_number = 60};
    expect(&state, &edit, BB_OK, NULL);
    assert_false(state.log_is_absent);
    bb_manifest_state_deinit(&state);
}

static struct bb_edit with_table(struct bb_rng *rng, uint64_t number)
{
    struct bb_edit edit;
    bb_edit_init(&edit);
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
