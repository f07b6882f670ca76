/* Goal: after a flipped bit, zeros or a cut in any file of a store, each wrong result comes with an
 * error or a report; and a comparison with other engines. Method: the same writes
 * (writes.h) make four stores: closed, killed with synced and unsynced writes, killed in a
 * compaction. Each damage is drawn from the seed and its number, applied to a copy of a store, and
 * the copy is opened, read completely and verified. Child processes do this, so that an engine
 * that crashes is counted too.
 *
 *     damage_run ENGINE     bloomblock, bloomblock-strict, and LevelDB and RocksDB if installed
 *
 * Prints a table of the outcomes. For bloomblock, the program fails after an outcome that the
 * recovery mode does not permit; for other engines it only counts.
 *
 * BB_TEST_DAMAGES sets the number of damages (default 1200), BB_TEST_DAMAGE runs only that one,
 * BB_TEST_SEED sets the seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/damage/tally.h"
#include "tests/support/temp_dir.h"

#define CHUNK          1000 /* damages for each child process */
#define SECONDS_MAX    60   /* for one damage */
#define COMPLAINTS_MAX 20

struct run {
    const struct engine *engine;
    uint64_t seed;
    uint64_t count;
    uint64_t only; /* 0: all */
    struct bb_temp_dir directory;
    char place[PATH_MAX];
    struct store_image images[STORE_ENDS];
    uint8_t *outcomes; /* by number of the damage; shared with the children */
    struct tally tally;
    uint64_t complaints;
};

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *given = getenv(variable);
    return given == NULL ? fallback : strtoull(given, NULL, 10);
}

static void run_one(struct run *run, uint64_t number)
{
    struct store_image image;
    struct damage damage = damage_draw(run->seed, number, run->images);
    store_image_copy(&run->images[damage.end], &image);
    damage_apply(&damage, &image);
    run->outcomes[number] = OUTCOME_DIED; /* until it is known */
    alarm(SECONDS_MAX);
    enum outcome outcome = verdict_reach(run->engine, damage.end, &image, run->place);
    alarm(0);
    run->outcomes[number] = (uint8_t)outcome;
    store_image_deinit(&image);
}

/* Runs damages from first on in a child, and returns the number after the last one. */
static uint64_t run_child(struct run *run, uint64_t first, uint64_t end)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        for (uint64_t number = first; number < end; number++)
            run_one(run, number);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("damage_run: child");
        exit(2);
    }
    while (first < end && run->outcomes[first] != OUTCOME_NONE)
        first++;
    return first;
}

static void complain(struct run *run, uint64_t number, const struct damage *damage)
{
    char text[256];
    if (++run->complaints > COMPLAINTS_MAX)
        return;
    damage_describe(damage, &run->images[damage->end], text, sizeof(text));
    fprintf(stderr, "damage_run: %s: %s: %s\n", run->engine->name, text,
            outcome_name((enum outcome)run->outcomes[number]));
    fprintf(stderr,
            "    replay: BB_TEST_SEED=%" PRIu64 " BB_TEST_DAMAGE=%" PRIu64 " damage_run %s\n",
            run->seed, number, run->engine->name);
}

static void count(struct run *run, uint64_t number)
{
    struct damage damage = damage_draw(run->seed, number, run->images);
    enum outcome outcome = (enum outcome)run->outcomes[number];
    tally_add(&run->tally, &damage, outcome);
    if (!tally_is_permitted(run->engine, &damage, outcome) || run->only != 0)
        complain(run, number, &damage);
}

/* In a child: see engine.h. */
static void check_image(struct run *run, enum store_end end)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit((int)verdict_reach(run->engine, end, &run->images[end], run->place));
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == OUTCOME_NO_EFFECT)
        return;
    fprintf(stderr, "damage_run: the undamaged store, %s: %s\n", store_end_name(end),
            outcome_name(WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : OUTCOME_DIED));
    exit(2);
}

static void build_images(struct run *run)
{
    for (int end = 0; end < STORE_ENDS; end++) {
        struct store_image *image = &run->images[end];
        run->engine->build((enum store_end)end, run->place, image);
        printf("%s: %zu files", store_end_name((enum store_end)end), image->count);
        for (int kind = 0; kind < IMAGE_KINDS; kind++)
            printf(", %s %" PRIu64 " bytes", image_kind_name((enum image_kind)kind),
                   store_image_size(image, (enum image_kind)kind));
        printf("\n");
    }
    for (int end = 0; end < STORE_ENDS; end++)
        check_image(run, (enum store_end)end);
}

static void run_all(struct run *run)
{
    uint64_t first = run->only != 0 ? run->only : 1;
    uint64_t end = run->only != 0 ? run->only + 1 : run->count + 1;
    run->outcomes = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run->outcomes == MAP_FAILED)
        abort();
    for (uint64_t number = first; number < end;) {
        uint64_t chunk_end = number + CHUNK < end ? number + CHUNK : end;
        number = run_child(run, number, chunk_end);
    }
    for (uint64_t number = first; number < end; number++)
        count(run, number);
}

int main(int argc, char **argv)
{
    static struct run run;
    run.engine = argc == 2 ? engine_find(argv[1]) : NULL;
    if (run.engine == NULL) {
        fprintf(stderr, "usage: damage_run ENGINE\nengines: %s\n", engine_names());
        return 2;
    }
    run.seed = bb_rng_seed("damage_run", 1);
    run.count = number_of("BB_TEST_DAMAGES", 1200);
    run.only = number_of("BB_TEST_DAMAGE", 0);
    bb_temp_dir_init(&run.directory, "damage");
    bb_temp_dir_path(&run.directory, "store", run.place);
    build_images(&run);
    run_all(&run);
    tally_print(&run.tally, run.engine->name);
    printf("count: %" PRIu64 " damages\n", run.only != 0 ? 1 : run.count);
    for (int end = 0; end < STORE_ENDS; end++)
        store_image_deinit(&run.images[end]);
    bb_temp_dir_deinit(&run.directory);
    return run.complaints > 0 && run.only == 0;
}
