/* Goal: a map of a file has its bytes, outlives the file, and survives its truncation: the lost
 * pages have zeros, and the map is unsound. Method: files on disk; truncations before, between and
 * during reads of many threads; a SIGBUS handler of the program that was installed before. */
#include "tests/support/assert_status.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file_pool.h"
#include "base/sync.h"
#include "tests/support/must_alloc.h"
#include "tests/support/temp_dir.h"

#define PAGES   16
#define THREADS 4

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t file_size(void)
{
    return PAGES * page_size() - 100;
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(1 + i % 251);
}

/* ---- handlers ---- */

static sigjmp_buf before_fault;
static volatile sig_atomic_t own_faults;

static void on_own_fault(int number)
{
    (void)number;
    own_faults++;
    siglongjmp(before_fault, 1);
}

/* The program's handler is there before the first map. cmocka puts its own above both at the begin
 * of each test, and removes it at the end: the handler of maps is put back. */
static void use_handlers(struct bb_file *file)
{
    static struct sigaction of_maps;
    struct sigaction own = {.sa_handler = on_own_fault};
    struct bb_file_map *map = NULL;
    if (of_maps.sa_sigaction == NULL) {
        assert_int_equal(sigaction(SIGBUS, &own, NULL), 0);
        assert_ok(bb_file_map_create(file, 1, &map));
        bb_file_map_destroy(map);
        assert_int_equal(sigaction(SIGBUS, NULL, &of_maps), 0);
        assert_true((of_maps.sa_flags & SA_SIGINFO) != 0);
    }
    assert_int_equal(sigaction(SIGBUS, &of_maps, NULL), 0);
}

/* ---- files ---- */

struct world {
    struct bb_temp_dir directory;
    char path[PATH_MAX];
    struct bb_file_system *fs;
    struct bb_file *file;
};

static void world_init(struct world *world)
{
    struct bb_file *file = NULL;
    uint8_t *bytes = bb_must_alloc_zeroed(file_size());
    for (size_t i = 0; i < file_size(); i++)
        bytes[i] = byte_at(i);
    bb_temp_dir_init(&world->directory, "file_map");
    bb_temp_dir_path(&world->directory, "file", world->path);
    assert_ok(bb_file_system_posix_create(&world->fs));
    assert_ok(bb_file_create(world->fs, world->path, &file));
    assert_ok(bb_file_append(file, bb_bytes_of(bytes, file_size())));
    assert_ok(bb_file_close(file));
    assert_ok(bb_file_open(world->fs, world->path, &world->file));
    free(bytes);
    use_handlers(world->file);
}

static void world_deinit(struct world *world)
{
    assert_ok(bb_file_close(world->file));
    bb_file_system_posix_destroy(world->fs);
    bb_temp_dir_deinit(&world->directory);
}

static void assert_bytes(const struct bb_file_map *map, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (map->bytes[i] != byte_at(i))
            fail_msg("byte %zu is %u", i, map->bytes[i]);
}

/* ---- tests ---- */

static size_t resident_pages(const struct bb_file_map *map)
{
    static unsigned char pages[4096];
    size_t count = ((size_t)map->size + 4095) / 4096;
    size_t resident = 0;
    assert_true(count <= sizeof(pages));
    assert_int_equal(mincore((void *)(uintptr_t)map->bytes, (size_t)map->size, pages), 0);
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    return resident;
}

/* The system keeps pages to which a map refers. Where it keeps others too, as in a file system in
 * memory, there is nothing to test. */
static void map__lets_the_system_drop_forgotten_pages(void **state)
{
    (void)state;
    struct world world;
    struct bb_file_map *map = NULL;
    world_init(&world);
    int fd = open(world.path, O_RDONLY);
    assert_true(fd >= 0 && fsync(fd) == 0 && close(fd) == 0);
    assert_ok(bb_file_map_create(world.file, file_size(), &map));
    bb_file_forget(world.file);
    if (resident_pages(map) == 0) {
        assert_bytes(map, 0, file_size());
        bb_file_forget(world.file);
        assert_true(resident_pages(map) > 0);
        bb_file_map_forget(map);
        bb_file_forget(world.file);
        assert_int_equal(resident_pages(map), 0);
    }
    assert_bytes(map, 0, file_size());
    assert_true(bb_file_map_is_sound(map));
    bb_file_map_destroy(map);
    world_deinit(&world);
}

static void map__has_the_bytes_and_outlives_the_file(void **state)
{
    (void)state;
    struct world world;
    struct bb_file_map *map = NULL;
    struct bb_file_pool *pool = NULL;
    struct bb_file *pooled = NULL;
    world_init(&world);
    assert_ok(bb_file_pool_create(world.fs, 1, &pool));
    assert_ok(bb_file_open(bb_file_pool_system(pool), world.path, &pooled));
    assert_ok(bb_file_map_create(pooled, file_size(), &map));
    assert_ok(bb_file_close(pooled));
    assert_int_equal(unlink(world.path), 0);
    assert_int_equal(map->size, file_size());
    assert_bytes(map, 0, file_size());
    assert_true(bb_file_map_is_sound(map));
    bb_file_map_destroy(map);
    bb_file_pool_destroy(pool);
    world_deinit(&world);
}

/* In a child, because the limit cannot be lifted again without a privilege. */
static int map_with_limited_address_space(const struct world *world)
{
    struct rlimit limit;
    struct bb_file_map *map = NULL;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    limit.rlim_cur = (rlim_t)1 << 45;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    return bb_file_map_create(world->file, file_size(), &map) == BB_UNSUPPORTED ? 0 : 3;
}

/* Runs it in a child, whose exit status is the result. 0: as expected. */
static void check_in_child(int (*run)(const struct world *world))
{
    struct world world;
    int status = 0;
    world_init(&world);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run(&world));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    world_deinit(&world);
}

/* Regression: maps took the address space, and then lookups found no memory. */
static void map__not_in_a_limited_address_space(void **state)
{
    (void)state;
    check_in_child(map_with_limited_address_space);
}

static long locked_kilobytes(void)
{
    char line[256];
    long locked = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && locked < 0 && fgets(line, sizeof(line), status) != NULL)
        (void)sscanf(line, "VmLck: %ld", &locked);
    if (status != NULL)
        (void)fclose(status);
    return locked;
}

/* Regression: each opened table was read whole and locked in memory. A child, because a sanitizer's
 * memory would be locked too. */
static int map_with_locked_memory(const struct world *world)
{
    struct bb_file_map *map = NULL;
    if (mlockall(MCL_FUTURE) != 0)
        return 0; /* not permitted here */
    long before = locked_kilobytes();
    if (bb_file_map_create(world->file, file_size(), &map) != BB_OK)
        return 0; /* the same */
    if (map->bytes[0] != byte_at(0))
        return 1;
    return locked_kilobytes() - before < (long)(file_size() / 1024) ? 0 : 2;
}

static void map__is_not_locked_in_memory(void **state)
{
    (void)state;
    check_in_child(map_with_locked_memory);
}

static void map__of_a_truncated_file_has_zeros(void **state)
{
    (void)state;
    struct world world;
    struct bb_file_map *map = NULL;
    struct bb_file_map *other = NULL;
    size_t kept = 5 * page_size();
    world_init(&world);
    assert_ok(bb_file_map_create(world.file, file_size(), &map));
    assert_ok(bb_file_map_create(world.file, page_size(), &other));
    assert_bytes(map, 0, file_size());
    assert_int_equal(truncate(world.path, (off_t)kept), 0);
    assert_true(bb_file_map_is_sound(map)); /* until a lost page is read */
    assert_bytes(map, 0, kept);
    assert_true(bb_file_map_is_sound(map));
    for (size_t i = kept; i < file_size(); i++)
        assert_int_equal(map->bytes[i], 0);
    assert_false(bb_file_map_is_sound(map));
    assert_bytes(map, 0, kept);
    assert_true(bb_file_map_is_sound(other));
    assert_bytes(other, 0, page_size());
    bb_file_map_destroy(map);
    bb_file_map_destroy(other);
    assert_int_equal(own_faults, 0);
    world_deinit(&world);
}

/* Slots are used again, and a new map is sound. */
static void map__of_many_files(void **state)
{
    (void)state;
    struct world world;
    static struct bb_file_map *maps[600];
    world_init(&world);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 600; i++)
            assert_ok(bb_file_map_create(world.file, file_size(), &maps[i]));
        assert_int_equal(truncate(world.path, 0), 0);
        for (size_t i = 0; i < 600; i += 7) {
            assert_int_equal(maps[i]->bytes[i], 0);
            assert_false(bb_file_map_is_sound(maps[i]));
            assert_true(bb_file_map_is_sound(maps[i + 1]));
        }
        assert_int_equal(truncate(world.path, (off_t)file_size()), 0);
        for (size_t i = 0; i < 600; i++)
            bb_file_map_destroy(maps[i]);
    }
    world_deinit(&world);
}

struct reader {
    struct bb_thread thread;
    struct bb_file_map *map;
    _Atomic bool *is_cut;
    uint64_t wrong;
    uint64_t lost;
};

/* A byte is the file's whenever the map is sound after its read. */
static void read_always(void *context)
{
    struct reader *reader = context;
    for (size_t i = 0; reader->lost < 1000 || !atomic_load(reader->is_cut); i += 97) {
        uint8_t byte = reader->map->bytes[i % reader->map->size];
        bool is_sound = bb_file_map_is_sound(reader->map);
        reader->lost += !is_sound;
        reader->wrong += is_sound && byte != byte_at(i % reader->map->size);
    }
}

static void map__truncated_during_reads(void **state)
{
    (void)state;
    struct world world;
    struct reader readers[THREADS] = {0};
    struct bb_file_map *map = NULL;
    _Atomic bool is_cut = false;
    world_init(&world);
    assert_ok(bb_file_map_create(world.file, file_size(), &map));
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.map = map, .is_cut = &is_cut};
        assert_ok(bb_thread_create(&readers[i].thread, read_always, &readers[i]));
    }
    for (size_t pages = PAGES - 1; pages > 0; pages--)
        assert_int_equal(truncate(world.path, (off_t)(pages * page_size())), 0);
    atomic_store(&is_cut, true);
    for (size_t i = 0; i < THREADS; i++) {
        bb_thread_join(&readers[i].thread);
        assert_int_equal(readers[i].wrong, 0);
    }
    bb_file_map_destroy(map);
    world_deinit(&world);
}

/* A fault of the program's own map, and a signal from a process, get to the program's handler. */
static void signals_of_others__reach_the_earlier_handler(void **state)
{
    (void)state;
    struct world world;
    struct bb_file_map *map = NULL;
    world_init(&world);
    assert_ok(bb_file_map_create(world.file, file_size(), &map));
    int fd = open(world.path, O_RDONLY | O_CLOEXEC);
    const volatile uint8_t *own = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(truncate(world.path, 0), 0);
    own_faults = 0;
    if (sigsetjmp(before_fault, 1) == 0)
        (void)own[10];
    assert_int_equal(own_faults, 1);
    if (sigsetjmp(before_fault, 1) == 0)
        assert_int_equal(raise(SIGBUS), 0);
    assert_int_equal(own_faults, 2);
    assert_true(bb_file_map_is_sound(map));
    assert_int_equal(munmap((void *)(uintptr_t)own, page_size()), 0);
    bb_file_map_destroy(map);
    world_deinit(&world);
}

static void map__of_a_system_without_maps(void **state)
{
    (void)state;
    struct bb_file_system *fs = NULL;
    struct bb_file *file = NULL;
    struct bb_file_map *map = NULL;
    assert_ok(bb_file_system_memory_create(&fs));
    assert_ok(bb_file_create(fs, "/file", &file));
    assert_status(bb_file_map_create(file, 1, &map), BB_UNSUPPORTED);
    assert_message("/file");
    assert_ok(bb_file_close(file));
    bb_file_system_memory_destroy(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map__has_the_bytes_and_outlives_the_file),
        cmocka_unit_test(map__lets_the_system_drop_forgotten_pages),
        cmocka_unit_test(map__not_in_a_limited_address_space),
        cmocka_unit_test(map__is_not_locked_in_memory),
        cmocka_unit_test(map__of_a_truncated_file_has_zeros),
        cmocka_unit_test(map__of_many_files),
        cmocka_unit_test(map__truncated_during_reads),
        cmocka_unit_test(signals_of_others__reach_the_earlier_handler),
        cmocka_unit_test(map__of_a_system_without_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
