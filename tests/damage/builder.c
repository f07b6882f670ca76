/* See builder.h. */
#include "tests/damage/builder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTEMPTS_MAX 500 /* to kill a process in the middle of a compaction */

static void must(bool is_done, const char *what)
{
    if (is_done)
        return;
    perror(what);
    exit(2);
}

void *builder_write_all(const struct builder *builder, const char *directory, bool sync)
{
    void *store = builder->open(directory);
    uint32_t number = 1;
    for (; number <= WRITES_COMPACTED; number++)
        builder->write(store, number, sync);
    builder->compact(store);
    for (; number <= WRITES_REOPENED; number++)
        builder->write(store, number, sync);
    builder->close(store);
    store = builder->open(directory);
    for (; number <= WRITES_MAX; number++)
        builder->write(store, number, sync);
    return store;
}

/* Does not return. */
static void run_child(const struct builder *builder, enum store_end end, const char *directory,
                      int report)
{
    void *store = builder_write_all(builder, directory, end != STORE_KILLED_UNSYNCED);
    if (end == STORE_KILLED_SYNCED || end == STORE_KILLED_UNSYNCED)
        (void)kill(getpid(), SIGKILL);
    if (end == STORE_HALF_COMPACTED) {
        must(write(report, "c", 1) == 1, "builder: telling the parent");
        builder->compact(store);
    }
    builder->close(store);
    _exit(0);
}

/* Tables with bytes that are not in `before`. */
static size_t count_new_tables(const struct store_image *before, const struct store_image *now)
{
    size_t count = 0;
    for (size_t i = 0; i < now->count; i++) {
        const struct image_file *file = &now->files[i];
        count += file->kind == IMAGE_TABLE && file->size > 0 &&
                 store_image_find(before, file->name) == NULL;
    }
    return count;
}

static bool has_all_tables(const struct store_image *before, const struct store_image *now)
{
    for (size_t i = 0; i < before->count; i++) {
        if (before->files[i].kind == IMAGE_TABLE &&
            store_image_find(now, before->files[i].name) == NULL)
            return false;
    }
    return true;
}

/* Kills the child when its compaction writes: the first new table is the flushed memory, the second
 * one an output. False if the compaction was over before. */
static bool kill_in_compaction(pid_t child, const char *directory)
{
    struct store_image before;
    struct store_image now = {0};
    int status = 0;
    store_image_read(&before, directory);
    bool is_running = true;
    while (is_running && count_new_tables(&before, &now) < 2) {
        store_image_deinit(&now);
        store_image_read(&now, directory);
        is_running = waitpid(child, &status, WNOHANG) == 0;
    }
    if (is_running) {
        (void)kill(child, SIGKILL);
        must(waitpid(child, &status, 0) == child, "builder: waiting");
    }
    store_image_deinit(&now);
    store_image_read(&now, directory);
    bool is_half = is_running && has_all_tables(&before, &now);
    store_image_deinit(&now);
    store_image_deinit(&before);
    return is_half;
}

static bool run_once(const struct builder *builder, enum store_end end, const char *directory)
{
    static const struct store_image empty = {0};
    int report[2];
    char byte = 0;
    int status = 0;
    store_image_write(&empty, directory);
    must(pipe(report) == 0, "builder: pipe");
    pid_t child = fork();
    must(child >= 0, "builder: fork");
    if (child == 0)
        run_child(builder, end, directory, report[1]);
    close(report[1]);
    bool is_told = read(report[0], &byte, 1) == 1;
    close(report[0]);
    if (is_told)
        return kill_in_compaction(child, directory);
    must(waitpid(child, &status, 0) == child, "builder: waiting");
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    must(end == STORE_CLOSED ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : is_killed,
         "builder: the child failed");
    return true;
}

void builder_run_process(const struct builder *builder, enum store_end end, const char *directory)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (run_once(builder, end, directory))
            return;
    }
    fprintf(stderr, "builder: every compaction was over before the kill\n");
    exit(2);
}
