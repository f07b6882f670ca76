/* Goal: of unsynced bytes a crash leaves the same as a disk may leave, in every way that occurs on
 * disks; and it never damages synced bytes. Method: one file with a durable prefix and later
 * appends, crashed in each mode under many random seeds; possible outcomes are counted, impossible
 * ones end the test. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

static struct bb_file_system *fs_of(struct bb_file_memory *memory)
{
    return bb_file_memory_system(memory);
}

#define DURABLE_SIZE 700
#define APPENDS      5
#define APPEND_SIZE  400
#define WHOLE_SIZE   (DURABLE_SIZE + APPENDS * APPEND_SIZE)

/* A file of letters with a durable prefix and later appends. */
static struct bb_file_memory *create_with_tail(uint8_t whole[WHOLE_SIZE])
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file *file = NULL;
    for (size_t i = 0; i < WHOLE_SIZE; i++)
        whole[i] = (uint8_t)('a' + i % 23);
    assert_ok(bb_file_create(fs_of(memory), "/f", &file));
    assert_ok(bb_file_append(file, bb_bytes_of(whole, DURABLE_SIZE)));
    assert_ok(bb_file_sync(file));
    assert_ok(fs_of(memory)->ops->sync_directory(fs_of(memory), "/"));
    for (size_t i = 0; i < APPENDS; i++)
        assert_ok(
            bb_file_append(file, bb_bytes_of(whole + DURABLE_SIZE + i * APPEND_SIZE, APPEND_SIZE)));
    assert_ok(bb_file_close(file));
    return memory;
}

/* The rest of the file after a crash. */
struct remains {
    size_t size;
    size_t intact; /* up to here the bytes are the written ones */
    size_t zeros;  /* wrong bytes that are 0 */
    size_t wrong;
};

static struct remains crash_bytes(struct bb_file_memory *memory, const uint8_t whole[WHOLE_SIZE],
                                  enum bb_crash_bytes mode, uint64_t seed)
{
    struct bb_crash crash = {.bytes = mode, .seed = seed};
    struct bb_file_memory *image = bb_file_memory_crash(memory, &crash);
    struct remains remains = {0};
    const uint8_t *bytes = bb_file_memory_bytes(image, "/f", &remains.size);
    assert_non_null(bytes);
    assert_in_range(remains.size, DURABLE_SIZE, WHOLE_SIZE);
    while (remains.intact < remains.size && bytes[remains.intact] == whole[remains.intact])
        remains.intact++;
    assert_true(remains.intact >= DURABLE_SIZE); /* synced bytes are never damaged */
    for (size_t i = remains.intact; i < remains.size; i++) {
        remains.wrong += bytes[i] != whole[i];
        remains.zeros += bytes[i] == 0;
    }
    bb_file_memory_destroy(image);
    return remains;
}

static void file_memory_bytes__bytes_are_lost_whole_or_torn(void **state)
{
    struct bb_rng *rng = *state;
    uint8_t whole[WHOLE_SIZE];
    struct bb_file_memory *memory = create_with_tail(whole);
    assert_int_equal(crash_bytes(memory, whole, BB_CRASH_BYTES_NONE, 0).size, DURABLE_SIZE);
    assert_int_equal(crash_bytes(memory, whole, BB_CRASH_BYTES_ALL, 0).intact, WHOLE_SIZE);

    unsigned prefixes[APPENDS + 1] = {0};
    unsigned inside_append = 0;
    for (int i = 0; i < 300; i++) {
        struct remains prefix = crash_bytes(memory, whole, BB_CRASH_BYTES_PREFIX, bb_rng_next(rng));
        assert_int_equal(prefix.intact, prefix.size);
        assert_int_equal((prefix.size - DURABLE_SIZE) % APPEND_SIZE, 0);
        prefixes[(prefix.size - DURABLE_SIZE) / APPEND_SIZE]++;

        struct remains sector =
            crash_bytes(memory, whole, BB_CRASH_BYTES_TORN_SECTOR, bb_rng_next(rng));
        assert_int_equal(sector.intact, sector.size);
        assert_true(sector.size % 512 == 0 || sector.size == DURABLE_SIZE);

        struct remains byte =
            crash_bytes(memory, whole, BB_CRASH_BYTES_TORN_BYTE, bb_rng_next(rng));
        assert_int_equal(byte.intact, byte.size);
        inside_append += (byte.size - DURABLE_SIZE) % APPEND_SIZE != 0;
    }
    for (size_t i = 0; i <= APPENDS; i++)
        assert_true(prefixes[i] > 0);
    assert_true(inside_append > 250);
    bb_file_memory_destroy(memory);
}

static void file_memory_bytes__bytes_may_be_replaced(void **state)
{
    struct bb_rng *rng = *state;
    uint8_t whole[WHOLE_SIZE];
    struct bb_file_memory *memory = create_with_tail(whole);
    unsigned inner_holes = 0;
    for (int i = 0; i < 300; i++) {
        struct remains zeroed = crash_bytes(memory, whole, BB_CRASH_BYTES_ZEROED, bb_rng_next(rng));
        assert_true(zeroed.wrong > 0);
        assert_int_equal(zeroed.wrong, zeroed.size - zeroed.intact); /* zeros up to the end */
        assert_int_equal(zeroed.wrong, zeroed.zeros);

        struct remains garbage =
            crash_bytes(memory, whole, BB_CRASH_BYTES_GARBAGE, bb_rng_next(rng));
        size_t replaced = garbage.size - garbage.intact; /* one in 256 happens to be right */
        assert_true(replaced < 20 || garbage.wrong > replaced / 2);

        struct remains holes = crash_bytes(memory, whole, BB_CRASH_BYTES_HOLES, bb_rng_next(rng));
        assert_int_equal(holes.size, WHOLE_SIZE);
        assert_int_equal(holes.wrong, holes.zeros);
        assert_true(holes.wrong == 0 || holes.intact == DURABLE_SIZE || holes.intact % 512 == 0);
        inner_holes += holes.wrong > 0 &&
                       holes.wrong < WHOLE_SIZE - holes.intact; /* good bytes after bad ones */
    }
    assert_true(inner_holes > 100);
    bb_file_memory_destroy(memory);
}

static void file_memory_bytes__crash_depends_on_its_seed_alone(void **state)
{
    struct bb_rng *rng = *state;
    uint8_t whole[WHOLE_SIZE];
    struct bb_file_memory *memory = create_with_tail(whole);
    size_t sizes_seen[64];
    unsigned different = 0;
    for (size_t i = 0; i < 64; i++) {
        uint64_t seed = bb_rng_next(rng);
        struct remains once = crash_bytes(memory, whole, BB_CRASH_BYTES_ANY, seed);
        struct remains again = crash_bytes(memory, whole, BB_CRASH_BYTES_ANY, seed);
        assert_memory_equal(&once, &again, sizeof(once));
        sizes_seen[i] = once.size;
        different += once.size != sizes_seen[0];
    }
    assert_true(different > 10);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("file_memory_bytes_test", 6));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(file_memory_bytes__bytes_are_lost_whole_or_torn, &rng),
        cmocka_unit_test_prestate(file_memory_bytes__bytes_may_be_replaced, &rng),
        cmocka_unit_test_prestate(file_memory_bytes__crash_depends_on_its_seed_alone, &rng),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
