/* bloomblock-compare: one workload through bloomblock and its peers.
 *
 * Each engine runs in a process of its own, so that none inherits another's heap or threads, and
 * the system's counts are its own; engines go by turns, beginning with another one in each round.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/compare_options.h"
#include "bench/die.h"
#include "bench/report.h"
#include "bench/run.h"
#include "bench/store_files.h"

static struct compare_options options;
static struct workload workload;
static struct report report;

static void note(const char *engine, uint64_t round, const char *what)
{
    if (!options.is_quiet)
        fprintf(stderr, "%s, round %llu of %llu: %s\n", engine, (unsigned long long)round + 1,
                (unsigned long long)options.rounds, what);
}

/* In the child: the result goes up the pipe, whole. */
static _Noreturn void run_child(const struct bench_engine *engine, const char *directory,
                                int pipe_fd)
{
    struct run_options run_options = {
        .settings = {.directory = directory,
                     .cache_bytes = options.cache_bytes,
                     .write_buffer_bytes = options.write_buffer_bytes,
                     .data_bytes = options.workload.key_count *
                                   (options.workload.key_size + options.workload.value_size)},
        .is_cold = options.is_cold,
    };
    struct run_result result;
    run_engine(engine, &run_options, &workload, &result);
    ssize_t written = write(pipe_fd, &result, sizeof(result));
    _Exit(written == (ssize_t)sizeof(result) ? 0 : 1);
}

_Static_assert(sizeof(struct run_result) <= PIPE_BUF, "a result fits into one write to a pipe");

static bool run_apart(const struct bench_engine *engine, const char *directory,
                      struct run_result *ret_result)
{
    int ends[2];
    int status = 0;
    if (pipe(ends) != 0)
        bench_die("pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        bench_die("fork: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        run_child(engine, directory, ends[1]);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], ret_result, sizeof(*ret_result));
    close(ends[0]);
    if (waitpid(child, &status, 0) != child)
        bench_die("waitpid: %s", strerror(errno));
    return length == (ssize_t)sizeof(*ret_result) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_one(const char *root, size_t index, uint64_t round)
{
    const struct bench_engine *engine = options.engines[index];
    char directory[PATH_MAX];
    if (report.is_failed[index])
        return;
    if (snprintf(directory, sizeof(directory), "%s/%s", root, engine->name) >=
        (int)sizeof(directory))
        bench_die("the path of the folder is too long");
    store_files_make_directory(directory);
    note(engine->name, round, "running");
    if (!run_apart(engine, directory, &report.results[index][round])) {
        report.is_failed[index] = true;
        fprintf(stderr, "%s failed\n", engine->name);
    }
    store_files_remove(directory);
}

static void run_all(void)
{
    char root[PATH_MAX];
    if (snprintf(root, sizeof(root), "%s/bloomblock-compare.XXXXXX", options.directory) >=
        (int)sizeof(root))
        bench_die("the path of the folder is too long");
    if (mkdtemp(root) == NULL)
        bench_die("cannot make a folder in %s: %s", options.directory, strerror(errno));
    for (uint64_t round = 0; round < options.rounds; round++) {
        for (size_t i = 0; i < options.engine_count; i++)
            run_one(root, (i + round) % options.engine_count, round);
    }
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
    if (options.json_path == NULL || strcmp(options.json_path, "-") != 0)
        report_write_text(&report, stdout);
    if (options.json_path != NULL)
        write_json();
    for (size_t i = 0; i < options.engine_count; i++)
        code |= report.is_failed[i];
    return code;
}
