/* Goal: a forked child releases a selection only when no thread was changing it at the fork.
 * Method: an extractor of the program forks, from inside each call that reads records; the child
 * destroys the selection, and tells whether it was released. */
#include "tests/support/store.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bb/select.h"
#include "kv/store/store.h"

enum answer { ANSWER_KEPT = 10, ANSWER_RELEASED = 11 };

struct forking {
    struct bb_db *db;
    struct bb_select *select;
    bool forks; /* in the next extraction */
    pid_t child;
};

/* A released selection is not counted any more: kv/select/select.c. */
static _Noreturn void end_child(struct forking *forking)
{
    size_t before = atomic_load(&forking->db->iterator_count);
    bb_select_destroy(forking->select);
    _exit(atomic_load(&forking->db->iterator_count) == before ? ANSWER_KEPT : ANSWER_RELEASED);
}

static void fork_here(struct forking *forking)
{
    forking->forks = false;
    forking->child = fork();
    if (forking->child == 0)
        end_child(forking);
}

static void extract(void *context, struct bb_bytes key, struct bb_bytes value,
                    struct bb_attribute *attribute)
{
    struct forking *forking = context;
    (void)key;
    if (forking->forks)
        fork_here(forking);
    attribute->state = BB_ATTRIBUTE_PRESENT;
    attribute->as.bytes = value;
}

static enum answer answer_of(struct forking *forking)
{
    int status = 0;
    assert_true(forking->child > 0);
    assert_int_equal(waitpid(forking->child, &status, 0), forking->child);
    assert_true(WIFEXITED(status));
    forking->child = 0;
    return (enum answer)WEXITSTATUS(status);
}

/* At a record, with a fork due in the next extraction. */
static void begin(struct store *store, struct forking *forking, struct bb_schema **ret_schema)
{
    bool has_record = false;
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    store_put(store, "b", "2");
    *forking = (struct forking){.db = store->db};
    assert_ok(bb_schema_create(ret_schema));
    assert_ok(bb_schema_add_callback(*ret_schema, "forking", extract, forking));
    assert_ok(bb_schema_add(*ret_schema, "text bytes = callback(forking)"));
    struct bb_select_options options = {.schema = *ret_schema, .where = "text != '0'"};
    assert_ok(bb_db_select(store->db, &options, &forking->select));
    assert_ok(bb_select_next(forking->select, &has_record));
    assert_true(has_record);
    forking->forks = true;
}

static void end(struct store *store, struct forking *forking, struct bb_schema *schema)
{
    bb_select_destroy(forking->select);
    bb_schema_destroy(schema);
    store_deinit(store);
}

static void fork_select__is_released_between_calls(void **state)
{
    (void)state;
    struct store store;
    struct forking forking;
    struct bb_schema *schema = NULL;
    begin(&store, &forking, &schema);
    fork_here(&forking);
    assert_int_equal(answer_of(&forking), ANSWER_RELEASED);
    end(&store, &forking, schema);
}

static void fork_select__is_kept_while_it_moves(void **state)
{
    (void)state;
    struct store store;
    struct forking forking;
    struct bb_schema *schema = NULL;
    bool has_record = false;
    begin(&store, &forking, &schema);
    assert_ok(bb_select_next(forking.select, &has_record));
    assert_int_equal(answer_of(&forking), ANSWER_KEPT);
    assert_true(has_record);
    end(&store, &forking, schema);
}

/* Regression: the call did not raise the flag, and the child released memory that a thread of its
 * parent was using. */
static void fork_select__is_kept_while_attributes_are_read(void **state)
{
    (void)state;
    struct store store;
    struct forking forking;
    struct bb_schema *schema = NULL;
    const struct bb_attribute *attributes = NULL;
    begin(&store, &forking, &schema);
    assert_ok(bb_select_attributes(forking.select, &attributes));
    assert_int_equal(answer_of(&forking), ANSWER_KEPT);
    assert_int_equal(attributes[0].state, BB_ATTRIBUTE_PRESENT);
    end(&store, &forking, schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_select__is_released_between_calls),
        cmocka_unit_test(fork_select__is_kept_while_it_moves),
        cmocka_unit_test(fork_select__is_kept_while_attributes_are_read),
    };
    return cmocka_run_group_tests_name("fork_select", tests, NULL, NULL);
}
