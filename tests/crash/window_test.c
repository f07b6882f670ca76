/* Goal: the guarantees of crash_test hold when the end of each log is in a window: after the end of
 * the process no acknowledged write is lost, and after a power failure no durable one, for any
 * states of the window's pages and of the log's bytes on the disk.
 *
 * Method: as crash_test, on a file system in memory with windows (tests/support/file_memory.h), and
 * with images after each write too, because a write into a window makes no call.
 *
 * BB_TEST_CRASH_SEEDS sets the number of random images per call or write (default 3), BB_TEST_SEED
 * their seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crash/crash_run.h"

static bool has_window(struct crash_run *run)
{
    struct bb_file_system *fs = bb_file_memory_system(run->memory);
    struct bb_file_names names = {0};
    bool is_there = false;
    if (fs->ops->list(fs, CRASH_DIRECTORY, &names) != BB_OK)
        return false;
    for (size_t i = 0; i < names.count; i++)
        is_there |= strstr(names.names[i], ".window") != NULL;
    bb_file_names_deinit(&names);
    return is_there;
}

/* Otherwise the workload tests nothing. */
static void expect_window(struct crash_run *run, bool is_expected)
{
    if (has_window(run) == is_expected)
        return;
    fprintf(stderr, "window_test: workload %s: %s window\n", run->workload,
            is_expected ? "no" : "there is a");
    exit(1);
}

/* The window is filled several times, after a sync in the middle without another one. */
static void workload_fillings(struct crash_run *run)
{
    run->options.write_buffer_bytes = 1024 * 1024;
    crash_open(run);
    crash_warm_up(run);
    for (uint32_t i = 0; i < 90; i++) {
        if (i % 16 == 7)
            crash_batch(run, i, 5, false);
        else
            crash_put(run, i * 7, i % 9 == 0 ? 9000 : 700 + 50 * (i % 40), i == 20);
    }
    expect_window(run, true);
    crash_close(run);
    expect_window(run, false);
}

/* Logs are frozen and flushed. */
static void workload_logs(struct crash_run *run)
{
    crash_open(run);
    for (uint32_t round = 0; round < 3; round++) {
        crash_warm_up(run);
        expect_window(run, true);
        for (uint32_t i = 0; i < 6; i++)
            crash_put(run, round * 5 + i, 2000, false);
        if (round == 1)
            crash_flush(run);
        else
            crash_fill_log(run, 9000);
        expect_window(run, false);
    }
    crash_compact(run);
    crash_close(run);
}

/* The process ends with records in the window; the next ones find them. */
static void workload_kills(struct crash_run *run)
{
    for (uint32_t round = 0; round < 3; round++) {
        crash_open(run);
        crash_warm_up(run);
        crash_put(run, round, 300, round == 1);
        crash_put(run, round + 1, 300, false);
        crash_delete_range(run, round, round + 2, false);
        expect_window(run, true);
        crash_kill(run);
    }
    crash_open(run);
    expect_window(run, false);
    crash_close(run);
}

/* A write of the window to the log fails: its records are in a table before the next write. */
static void workload_failing_log(struct crash_run *run)
{
    static const enum bb_file_call calls[] = {BB_FILE_CALL_APPEND, BB_FILE_CALL_SYNC};
    crash_open(run);
    for (uint32_t i = 0; i < 2; i++) {
        crash_warm_up(run);
        crash_put(run, 1, 100, false);
        crash_refuse(run, calls[i], ".wal");
        crash_put_failing(run, 2, 200, true);
        crash_put(run, 3, 100, false);
        expect_window(run, false);
    }
    crash_close(run);
}

/* Without a window the log is written directly. */
static void workload_failing_window(struct crash_run *run)
{
    crash_open(run);
    crash_refuse(run, BB_FILE_CALL_CREATE, ".window");
    crash_warm_up(run);
    expect_window(run, false);
    crash_put(run, 3, 100, false);
    crash_put(run, 4, 100, true);
    crash_close(run);
}

static const struct crash_workload workloads[] = {
    {"fillings", workload_fillings},
    {"logs", workload_logs},
    {"kills", workload_kills},
    {"failing_log", workload_failing_log},
    {"failing_window", workload_failing_window},
};

static void offer_windows(struct crash_run *run)
{
    crash_use_windows(run);
    run->has_each_tail = true;
}

int main(void)
{
    crash_run_workloads("window_test", workloads, sizeof(workloads) / sizeof(workloads[0]),
                        offer_windows);
    return 0;
}
