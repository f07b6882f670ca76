/* Goal: whenever the power fails, the store opens again, has lost no durable data, shows the state
 * after some commit, continues, and verifies; also when the power fails again during that recovery,
 * and when a call has failed before. Method: workloads on a file system in memory, with images of
 * possible disk contents before every call that changes something (tests/crash/crash_run.h). Every
 * sync and directory sync of the product can be removed from the sources, and this test or
 * manifest_test fails then: scripts/remove_syncs shows it.
 *
 * BB_TEST_CRASH_SEEDS sets the number of random images per call (default 3; from 10 on the power
 * fails a second time in every image, else in every fifth), BB_TEST_SEED their seed.
 */

#include "tests/crash/crash_run.h"

/* Creation, a few writes of each sort, close. */
static void workload_create(struct crash_run *run)
{
    crash_open(run);
    crash_put(run, 1, 100, false);
    crash_put(run, 2, 100, true);
    crash_delete(run, 1, false);
    crash_batch(run, 3, 5, false);
    crash_batch(run, 4, 3, true);
    crash_delete_range(run, 2, 5, false);
    crash_close(run);
}

/* Closing makes unsynced writes durable, and so does opening for recovered data (S9). */
static void workload_close(struct crash_run *run)
{
    for (uint32_t round = 0; round < 3; round++) {
        crash_open(run);
        crash_put(run, round, 300, false);
        crash_batch(run, round + 7, 4, false);
        crash_close(run);
    }
}

static void workload_close_buffered(struct crash_run *run)
{
    run->options.wal_buffer_bytes = 2000;
    run->keeps_process_death = false;
    workload_close(run);
}

static void workload_close_without_log(struct crash_run *run)
{
    run->options.wal_off = true;
    run->keeps_process_death = false;
    workload_close(run);
}

/* Full write buffers: rotation of logs, automatic flushes and compactions. */
static void workload_fill(struct crash_run *run)
{
    run->nested_interval *= 4; /* it has many calls of the same sort */
    crash_open(run);
    for (uint32_t i = 0; i < 110; i++) {
        if (i % 27 == 8)
            crash_delete_range(run, i % 19, i % 19 + 5, i % 25 == 24);
        else if (i % 9 == 8)
            crash_delete(run, i * 7, i % 25 == 24);
        else
            crash_put(run, i * 7, 3000, i % 25 == 24);
    }
    crash_close(run);
}

/* Flush and compaction by request, with reopening between. */
static void workload_compact(struct crash_run *run)
{
    crash_open(run);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 5; i++)
            crash_put(run, round * 5 + i, 700, false);
        crash_delete(run, round * 5 + 3, false);
        crash_flush(run);
        if (round == 2) {
            crash_close(run);
            crash_open(run);
        }
    }
    crash_compact(run);
    crash_put(run, 3, 50, false);
    crash_compact(run);
    crash_close(run);
}

/* Images are opened with the default style. */
static void workload_compact_tiered(struct crash_run *run)
{
    run->options.compaction_style = BB_COMPACTION_TIERED;
    workload_compact(run);
}

static void workload_compact_lazy(struct crash_run *run)
{
    run->options.compaction_style = BB_COMPACTION_LAZY_LEVELING;
    workload_compact(run);
}

static void workload_fill_tiered(struct crash_run *run)
{
    run->options.compaction_style = BB_COMPACTION_TIERED;
    workload_fill(run);
}

/* The process crashes and the store is opened again, several times, with data in the log. */
static void workload_recover(struct crash_run *run)
{
    for (uint32_t round = 0; round < 3; round++) {
        crash_open(run);
        for (uint32_t i = 0; i < 4; i++)
            crash_put(run, round * 3 + i, 200, i == 1);
        crash_kill(run);
    }
    crash_open(run);
    crash_close(run);
}

/* Synced writes while memtables are frozen and the worker has not begun to flush them: only the
 * syncs of the commit itself cover the new log's name (S6) and the logs before it (S7). Then the
 * worker continues. */
static void workload_frozen(struct crash_run *run)
{
    run->options.deterministic = false;
    crash_open(run);
    crash_wait_idle(run);
    crash_set_gate(run, CRASH_GATE_HELD);
    for (uint32_t logs = 0; logs < 2; logs++) {
        crash_fill_log(run, 15000);
        crash_put(run, logs, 10, true);
        crash_put(run, logs + 1, 10, false);
    }
    crash_set_gate(run, CRASH_GATE_OPEN);
    crash_wait_idle(run);
    crash_put(run, 7, 100, true);
    crash_close(run);
}

/* Closed although no flush succeeds: frozen memtables are durable in their logs (S7 through S9). */
static void workload_close_frozen(struct crash_run *run)
{
    run->options.deterministic = false;
    crash_open(run);
    crash_wait_idle(run);
    crash_set_gate(run, CRASH_GATE_HELD);
    crash_fill_log(run, 15000);
    crash_put(run, 3, 10, false);
    crash_set_gate(run, CRASH_GATE_REFUSED);
    crash_close(run);
    crash_set_gate(run, CRASH_GATE_OPEN);
    crash_open(run);
    crash_wait_idle(run);
    crash_close(run);
}

/* Between writes the store is cleanly closed, repeatedly; each time other work follows: a synced
 * write, an unsynced one and a crash of the process, a compaction before any write. */
static void workload_rest(struct crash_run *run)
{
    crash_open(run);
    crash_put(run, 1, 100, true);
    crash_close(run);
    crash_rest(run);
    crash_open(run);
    crash_put(run, 2, 100, true);
    crash_put(run, 3, 100, false);
    crash_kill(run);
    crash_rest(run);
    crash_open(run);
    crash_put(run, 4, 100, false);
    crash_kill(run);
    crash_rest(run);
    crash_open(run);
    crash_compact(run);
    crash_put(run, 5, 100, true);
    crash_flush(run);
    crash_close(run);
    crash_rest(run);
    crash_open(run);
    crash_kill(run);
    crash_open(run);
    crash_delete_range(run, 1, 4, true);
    crash_close(run);
}

/* Alternates between a log and no log. */
static void workload_rest_without_log(struct crash_run *run)
{
    run->options.wal_off = true;
    run->keeps_process_death = false;
    crash_open(run);
    crash_put(run, 1, 100, false);
    crash_close(run);
    crash_rest(run);
    crash_open(run);
    crash_put(run, 2, 100, false);
    crash_close(run);
    run->options.wal_off = false;
    crash_rest(run);
    crash_open(run);
    crash_put(run, 3, 100, true);
    crash_kill(run);
    run->options.wal_off = true;
    crash_rest(run);
}

/* Only range deletions: tables without entries, dropped at the bottom, and ranges over keys that
 * are only in the log, or in deeper tables. */
static void workload_ranges(struct crash_run *run)
{
    crash_open(run);
    for (uint32_t i = 0; i < HISTORY_KEYS; i++)
        crash_put(run, i, 700, false);
    crash_compact(run);
    crash_delete_range(run, 3, 9, false);
    crash_flush(run);
    crash_delete_range(run, 6, 12, true);
    crash_put(run, 7, 100, false);
    crash_close(run);
    crash_open(run);
    crash_delete_range(run, 0, HISTORY_KEYS, false);
    crash_put(run, 20, 100, false);
    crash_kill(run);
    crash_open(run);
    crash_delete_range(run, 20, 21, false);
    crash_compact(run);
    crash_put(run, 20, 50, true);
    crash_delete_range(run, 0, 2, false);
    crash_close(run);
}

static void workload_ranges_tiered(struct crash_run *run)
{
    run->options.compaction_style = BB_COMPACTION_TIERED;
    workload_ranges(run);
}

/* A log that fails: its acknowledged writes are in a table before the next write is accepted. */
static void workload_failing_log(struct crash_run *run)
{
    crash_open(run);
    crash_put(run, 1, 100, true);
    crash_put(run, 2, 100, false);
    crash_refuse(run, BB_FILE_CALL_SYNC, ".wal");
    crash_put_failing(run, 1, 200, true);
    crash_put(run, 3, 100, true);
    crash_put(run, 2, 50, false);
    crash_refuse(run, BB_FILE_CALL_APPEND, ".wal");
    crash_put_failing(run, 4, 100, false);
    crash_close(run);
    crash_open(run);
    crash_put(run, 5, 100, true);
    crash_close(run);
}

/* Flushes that fail at each of their calls, and succeed when they are tried again. */
static void workload_failing_flush(struct crash_run *run)
{
    static const struct {
        enum bb_file_call call;
        const char *path;
    } refusals[] = {
        {BB_FILE_CALL_CREATE, ".bbt"},   {BB_FILE_CALL_APPEND, ".bbt"},
        {BB_FILE_CALL_SYNC, ".bbt"},     {BB_FILE_CALL_APPEND, "MANIFEST"},
        {BB_FILE_CALL_SYNC, "MANIFEST"},
    };
    crash_open(run);
    for (uint32_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        crash_put(run, i, 100, false);
        crash_refuse(run, refusals[i].call, refusals[i].path);
        crash_flush_failing(run);
        crash_put(run, i + 1, 100, i % 2 == 0);
    }
    crash_flush(run);
    crash_close(run);
}

static const struct crash_workload workloads[] = {
    {"create", workload_create},
    {"close", workload_close},
    {"close_buffered", workload_close_buffered},
    {"close_without_log", workload_close_without_log},
    {"recover", workload_recover},
    {"rest", workload_rest},
    {"rest_without_log", workload_rest_without_log},
    {"compact", workload_compact},
    {"compact_tiered", workload_compact_tiered},
    {"compact_lazy", workload_compact_lazy},
    {"fill", workload_fill},
    {"fill_tiered", workload_fill_tiered},
    {"ranges", workload_ranges},
    {"ranges_tiered", workload_ranges_tiered},
    {"frozen", workload_frozen},
    {"close_frozen", workload_close_frozen},
    {"failing_log", workload_failing_log},
    {"failing_flush", workload_failing_flush},
};

int main(void)
{
    crash_run_workloads("crash_test", workloads, sizeof(workloads) / sizeof(workloads[0]), NULL);
    return 0;
}
