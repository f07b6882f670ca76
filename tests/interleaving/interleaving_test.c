/* Goal: while a thread of the store is anywhere in its work, every call of another thread keeps the
 * manual.
 * Method: each thread of the first table is stopped before a call of the file seam; while it is
 * stopped there, each step of the second table runs on another thread. The step ends before the
 * stopped thread continues, or only after it, according to the first table. No thread sleeps.
 *
 *     thread A    call ........ stopped at its point ................... continues, ends
 *     thread B                  step, ends (r)          or: step ................, ends (w)
 *     checks                    the process crashes here: an image is opened    the store
 *
 * An image has all acknowledged writes; the store has the effects of both, and verifies. */
#include "tests/interleaving/stage.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/support/step.h"

#include "tests/interleaving/acts.h"

/* A step that hangs ends the test. */
#define SECONDS_MAX 120 /* for one interleaving */
/* The project requires this many. */
#define COUNT_MIN 40

static unsigned interleavings;

/* The state after the process crashes now. */
static void check_image(struct stage *stage, const struct step *ended)
{
    struct bb_file_memory *image = bb_file_memory_clone(stage->store.memory);
    struct bb_db_options options = store_options(image);
    struct bb_db *db = NULL;
    require_ok(bb_db_open(STORE_PATH, &options, &db));
    require_rows(db);
    if (ended != NULL && ended->check != NULL)
        ended->check(db);
    require_ok(bb_db_close(db));
    bb_file_memory_destroy(image);
}

static void check_end(struct stage *stage, const struct act *act, const struct step *step)
{
    require_rows(stage->store.db);
    if (act->check != NULL)
        act->check(stage->store.db);
    if (step->check != NULL)
        step->check(stage->store.db);
    require_ok(bb_db_refresh(stage->reader));
    require_rows(stage->reader);
}

static void interleave(const struct act *act, const struct step *step, bool waits)
{
    struct stage stage;
    struct call first = {.stage = &stage, .run = act->run};
    struct call second = {.stage = &stage, .run = step->run};
    char name[200];
    snprintf(name, sizeof(name), "%s; then %s%s", act->name, step->name,
             waits ? ", which waits" : "");
    printf("  %s\n", name);
    fflush(stdout);
    alarm(SECONDS_MAX);
    stage_init(&stage, act->state);
    stage_begin_reads(&stage);
    stage_arm(&stage, act->point);
    call_start(&first);
    stage_wait_for_stop(&stage);
    call_start(&second);
    if (!waits)
        call_wait(&second);
    check_image(&stage, waits ? NULL : step);
    require_true(call_is_done(&second) != waits, name, "the step waits", 0);
    stage_release(&stage);
    call_join(&first);
    call_join(&second);
    check_end(&stage, act, step);
    stage_end_reads(&stage);
    stage_deinit(&stage);
    interleavings++;
}

/* The number of steps is a prime, so every n-th interleaving has every act and every step. */
static void interleaving__every_step_while_a_thread_is_stopped(void **state)
{
    (void)state;
    for (size_t i = 0; i < act_count * step_count; i += bb_test_step()) {
        const struct act *act = &acts[i / step_count];
        size_t step = i % step_count;
        interleave(act, &steps[step], act->outcomes[step] == 'w');
    }
    printf("%u interleavings\n", interleavings);
    assert_true(interleavings >= COUNT_MIN);
}

/* ---- docs/interleavings.md ---- */

static void add_text(struct bb_buf *text, const char *added)
{
    require_ok(bb_buf_append(text, added, strlen(added)));
}

/* The outcomes in groups of five. */
static void add_outcomes(struct bb_buf *text, const char *outcomes)
{
    require(strlen(outcomes) == step_count);
    for (size_t i = 0; i < step_count; i++) {
        char letter[3] = {outcomes[i], i % 5 == 4 ? ' ' : 0, 0};
        add_text(text, letter);
    }
}

static void write_tables(struct bb_buf *text)
{
    char row[300];
    add_text(text, "| | step of another thread |\n|---|---|\n");
    for (size_t i = 0; i < step_count; i++) {
        snprintf(row, sizeof(row), "| %zu | %s |\n", i + 1, steps[i].name);
        add_text(text, row);
    }
    add_text(text, "\n| a thread stops | steps 1 to 19 | close |\n|---|---|---|\n");
    for (size_t i = 0; i < act_count; i++) {
        snprintf(row, sizeof(row), "| %s | `", acts[i].name);
        add_text(text, row);
        add_outcomes(text, acts[i].outcomes);
        add_text(text, acts[i].is_read ? "` | |\n" : "` | w |\n");
    }
}

static void interleaving__the_document_lists_all(void **state)
{
    (void)state;
    struct bb_file_system *fs = NULL;
    struct bb_buf expected = {0};
    struct bb_buf document = {0};
    write_tables(&expected);
    require_ok(bb_file_system_posix_create(&fs));
    require_ok(bb_file_read_whole(fs, BB_SOURCE_DIR "/docs/interleavings.md", 1 << 20, &document));
    if (memmem(document.data, document.size, expected.data, expected.size) == NULL) {
        printf("docs/interleavings.md must have these lines:\n%.*s", (int)expected.size,
               (const char *)expected.data);
        fail();
    }
    bb_file_system_posix_destroy(fs);
    bb_buf_deinit(&document);
    bb_buf_deinit(&expected);
}

/* Close waits for the call, which ends as usual or fails because the store is being closed. */
static void close_during(const struct act *act)
{
    struct stage stage;
    struct call first = {.stage = &stage, .run = act->run};
    struct call second = {.stage = &stage, .run = stage_close};
    printf("  %s; then the store is closed\n", act->name);
    fflush(stdout);
    alarm(SECONDS_MAX);
    stage_init(&stage, act->state);
    stage.is_closing = true;
    stage_arm(&stage, act->point);
    call_start(&first);
    stage_wait_for_stop(&stage);
    call_start(&second);
    check_image(&stage, NULL);
    require_true(!call_is_done(&second), act->name, "close does not wait", 0);
    stage_release(&stage);
    call_join(&first);
    call_join(&second);
    store_open(&stage.store);
    require_rows(stage.store.db);
    if (act->check != NULL && !stage.was_refused)
        act->check(stage.store.db);
    stage_deinit(&stage);
    interleavings++;
}

static void interleaving__close_while_a_thread_is_stopped(void **state)
{
    (void)state;
    for (size_t i = 0; i < act_count; i++) {
        if (!acts[i].is_read)
            close_during(&acts[i]);
    }
    printf("%u interleavings\n", interleavings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaving__every_step_while_a_thread_is_stopped),
        cmocka_unit_test(interleaving__close_while_a_thread_is_stopped),
        cmocka_unit_test(interleaving__the_document_lists_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
