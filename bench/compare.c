/* bloomblock-compare: one workload through bloomblock and its peers.
 *
 * Each engine runs in a separate process, so that it inherits no other engine's heap or threads,
 * and has separate system counts. They pass a baton around: one loads after the other, then each
 * phase of reading runs in slices, and each turn begins with another engine (run.h, turns.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/baton.h"
#include "bench/compare_options.h"
#include "bench/die.h"
#include "bench/report.h"
#include "bench/run.h"
#include "bench/store_files.h"
#include "bench/turns.h"

static struct compare_options options;
static struct workload workload;
static struct report report;

/* An engine's part of a round. */
struct job {
    const struct bench_engine *engine;
    char directory[PATH_MAX];
};

static struct baton_worker workers[COMPARE_ENGINES_MAX];
static struct job jobs[COMPARE_ENGINES_MAX];

static void note(const char *who, uint64_t round, const char *what)
{
    if (!options.is_quiet)
        fprintf(stderr, "%s, round %llu of %llu: %s\n", who, (unsigned long long)round + 1,
                (unsigned long long)options.rounds, what);
}

/* In the worker. */
static void run_job(void *context, int baton)
{
    const struct job *job = context;
    struct run_options run_options = {
        .settings = {.directory = job->directory,
                     .cache_bytes = options.cache_bytes,
                     .write_buffer_bytes = options.write_buffer_bytes,
                     .thread_count = options.mixed.thread_count,
                     .data_bytes = options.workload.key_count *
                                   (options.workload.key_size + options.workload.value_size)},
        .slice_count = options.slice_count,
        .baton = baton,
        .is_cold = options.is_cold,
    };
    struct run_result result;
    if (options.mixed.mix == NULL) {
        run_engine(job->engine, &run_options, &workload, &result);
    } else {
        struct ledger ledger;
        mixed_run_ledger(&options.mixed, &workload, &ledger);
        mixed_run_engine(job->engine, &run_options, &options.mixed, &ledger, &result);
        ledger_deinit(&ledger);
    }
    baton_finish(baton, &result, sizeof(result));
}

static void hire(const char *root, size_t index)
{
    struct job *job = &jobs[index];
    job->engine = options.engines[index];
    if (snprintf(job->directory, sizeof(job->directory), "%s/%s", root, job->engine->name) >=
        (int)sizeof(job->directory))
        bench_die("the path of the folder is too long");
    store_files_make_directory(job->directory);
    baton_hire(workers, options.engine_count, index, run_job, job);
}

static bool is_working(size_t index)
{
    return workers[index].process != 0;
}

static void give_turn(size_t index, uint64_t round)
{
    struct run_result *result = &report.results[index][round];
    enum baton_state state = baton_give(&workers[index], result, sizeof(*result));
    if (state == BATON_LOST) {
        report.is_failed[index] = true;
        fprintf(stderr, "%s failed\n", options.engines[index]->name);
    }
    if (state != BATON_BACK)
        store_files_remove(jobs[index].directory);
}

/* Gives how many engines still have something to do. */
static size_t take_turn(uint64_t round, size_t turn)
{
    size_t count = 0;
    for (size_t place = 0; place < options.engine_count; place++) {
        size_t index = turns_side(options.engine_count, round + turn, place);
        if (!is_working(index))
            continue;
        if (turn == 0)
            note(options.engines[index]->name, round, "loading");
        give_turn(index, round);
        count += is_working(index);
    }
    return count;
}

static void run_round(const char *root, uint64_t round)
{
    for (size_t i = 0; i < options.engine_count; i++) {
        if (!report.is_failed[i])
            hire(root, i);
    }
    size_t working = take_turn(round, 0);
    note("all", round, "reading and compacting, alternating");
    for (size_t turn = 1; working > 0; turn++)
        working = take_turn(round, turn);
}

static void run_all(void)
{
    char root[PATH_MAX];
    if (snprintf(root, sizeof(root), "%s/bloomblock-compare.XXXXXX", options.directory) >=
        (int)sizeof(root))
        bench_die("the path of the folder is too long");
    if (mkdtemp(root) == NULL)
        bench_die("cannot make a folder in %s: %s", options.directory, strerror(errno));
    for (uint64_t round = 0; round < options.rounds; round++)
        run_round(root, round);
    store_files_remove(root);
}

static void write_json(void)
{
    bool is_stdout = strcmp(options.json_path, "-") == 0;
    FILE *file = is_stdout ? stdout : fopen(options.json_path, "we");
    if (file == NULL)
        bench_die("cannot write %s: %s", options.json_path, strerror(errno));
    report_write_json(&report, file);
    if (fflush(file) != 0 || (!is_stdout && fclose(file) != 0))
        bench_die("cannot write %s: %s", options.json_path, strerror(errno));
}

int main(int argc, char **argv)
{
    int code = 0;
    compare_options_parse(argc, argv, &options);
    for (size_t i = 0; bench_engines_absent[i] != NULL; i++)
        fprintf(stderr, "%s is not in this build and is skipped\n", bench_engines_absent[i]);
    report.options = &options;
    machine_describe(options.directory, &report.machine);
    if (options.json_path != NULL && strcmp(options.json_path, "-") != 0 &&
        access(options.json_path, W_OK) != 0 && errno != ENOENT)
        bench_die("cannot write %s: %s", options.json_path, strerror(errno));
    workload_init(&workload, &options.workload);
    run_all();
    workload_deinit(&workload);
    report_finish(&report);
    if (options.json_path == NULL || strcmp(options.json_path, "-") != 0)
        report_write_text(&report, stdout);
    if (options.json_path != NULL)
        write_json();
    for (size_t i = 0; i < options.engine_count; i++)
        code |= report.is_failed[i];
    return code;
}
