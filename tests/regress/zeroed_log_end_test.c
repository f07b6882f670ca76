/* A log whose last synced record was replaced with zeros, up to the end of the file, looked like a
 * shorter log in the default recovery mode, and the opening reported no loss. No reader can know
 * the replaced bytes, but no writer leaves zeros there: the opening must report them. (Strict
 * refuses.) tests/damage found it. Later only an event did: the recovery reports of an opening and
 * of a verification counted nothing. */
#include "tests/support/store.h"

static void count_reports(void *context, const struct bb_event *event)
{
    size_t *reports = context;
    bool is_report =
        event->kind == BB_EVENT_RECOVERY && strstr(event->message, "ends in zeros") != NULL;
    *reports += is_report;
    /* The number is unknown. */
    assert_true(!is_report || strstr(event->message, "0 bytes were dropped") == NULL);
}

/* A verification foresees the report of the opening. */
static void open_foreseen(struct store *store, struct bb_db_recovery *ret_report)
{
    struct bb_db_recovery foreseen;
    store->options.recovery_report = &foreseen;
    assert_ok(bb_db_verify(STORE_PATH, &store->options, NULL));
    store->options.recovery_report = ret_report;
    store_open(store);
    assert_memory_equal(&foreseen, ret_report, sizeof(foreseen));
}

/* A killed store with two synced writes; the second one may be replaced with zeros. */
static size_t open_after(bool is_zeroed)
{
    struct store store;
    struct bb_db_recovery report;
    size_t reports = 0;
    size_t before = 0;
    size_t after = 0;
    store_init(&store);
    store_open(&store);
    store_put_synced(&store, "first", "1");
    (void)bb_file_memory_bytes(store.memory, STORE_PATH "/000002.wal", &before);
    store_put_synced(&store, "second", "2");
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    uint8_t *log = bb_file_memory_bytes(image, STORE_PATH "/000002.wal", &after);
    assert_true(log != NULL && before > 0 && after > before);
    if (is_zeroed)
        memset(log + before, 0, after - before);
    store_close(&store);
    store_replace_disk(&store, image);
    store.options.on_event = count_reports;
    store.options.event_context = &reports;
    open_foreseen(&store, &report);
    assert_int_equal(report.records, is_zeroed ? 1 : 2);
    assert_int_equal(report.zeroed_logs, is_zeroed);
    assert_int_equal(report.dropped_bytes, 0);
    assert_content(&store, is_zeroed ? "first=1" : "first=1 second=2");
    store_deinit(&store);
    return reports;
}

static void zeroed_log_end__is_reported(void **state)
{
    (void)state;
    assert_int_equal(open_after(true), 1);
    assert_int_equal(open_after(false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_log_end__is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
