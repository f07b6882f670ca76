/* See limits_sides.h. */
#include "bench/limits_sides.h"

#include "base/hash.h"
#include "bb/db_stats.h"
#include "bench/die.h"
#include "bench/probe.h"
#include "bench/thread_clock.h"

#define SEEK_LENGTH  10
#define READ_ON_SIZE (32 << 10)
#define TURNS        30

/* ---- steps of the ideal stores ---- */

static struct bb_bytes next_key(struct limits_sides *sides, enum limits_side side,
                                const uint64_t *numbers, uint8_t key[16])
{
    uint64_t i = sides->position[side]++ % sides->workload.options.lookup_count;
    workload_key(&sides->workload, numbers[i], key);
    return (struct bb_bytes){.data = key, .size = 16};
}

static uint64_t next_hash(struct limits_sides *sides, enum limits_side side,
                          const uint64_t *numbers)
{
    uint8_t key[16];
    struct bb_bytes bytes = next_key(sides, side, numbers, key);
    return bb_hash_bytes(bytes.data, bytes.size);
}

/* A stored key is as likely in each block. */
static uint64_t next_block(struct limits_sides *sides, enum limits_side side)
{
    uint64_t random = next_hash(sides, side, sides->workload.present);
    return random % ideal_store_block_count(sides->ideal);
}

static void do_key(struct limits_sides *sides)
{
    uint8_t key[16];
    (void)next_key(sides, SIDE_KEY, sides->workload.absent, key);
    probe_keep(key[0]);
}

static void do_probe(struct limits_sides *sides)
{
    uint64_t hash = next_hash(sides, SIDE_PROBE, sides->workload.absent);
    probe_keep(ideal_store_probe(sides->ideal, hash));
}

static void do_probe_runs(struct limits_sides *sides)
{
    uint64_t hash = next_hash(sides, SIDE_PROBE_RUNS, sides->workload.absent);
    probe_keep(ideal_store_probe_runs(sides->ideal, hash));
}

static void do_pread(struct limits_sides *sides)
{
    probe_keep(ideal_store_read(sides->ideal, next_block(sides, SIDE_PREAD)).size);
}

static void do_copy(struct limits_sides *sides)
{
    probe_keep(ideal_store_copy(sides->ideal, next_block(sides, SIDE_COPY)).data[0]);
}

static struct bb_bytes read_verified(struct limits_sides *sides, enum limits_side side)
{
    struct bb_bytes stored = ideal_store_copy(sides->ideal, next_block(sides, side));
    probe_keep(bb_hash_bytes(stored.data, stored.size));
    return stored;
}

static void do_checksum(struct limits_sides *sides)
{
    (void)read_verified(sides, SIDE_CHECKSUM);
}

static void do_lz4(struct limits_sides *sides)
{
    struct bb_bytes stored = read_verified(sides, SIDE_LZ4);
    probe_keep(ideal_store_decode(sides->ideal, stored).data[0]);
}

/* One operation is a block; a call reads many of them. */
static void read_in_order(struct limits_sides *sides, uint64_t count)
{
    uint64_t *position = &sides->position[SIDE_IN_ORDER];
    for (uint64_t done = 0; done < count;) {
        *position %= ideal_store_block_count(sides->ideal);
        uint64_t got = ideal_store_read_on(sides->ideal, *position, READ_ON_SIZE);
        for (uint64_t i = 0; i < got; i++) {
            struct bb_bytes stored = ideal_store_stored(sides->ideal, *position + i);
            probe_keep(bb_hash_bytes(stored.data, stored.size));
            probe_keep(ideal_store_decode(sides->ideal, stored).data[0]);
        }
        *position += got;
        done += got;
        sides->operations[SIDE_IN_ORDER] += got;
    }
}

static void do_bucket(struct limits_sides *sides)
{
    uint64_t hash = next_hash(sides, SIDE_BUCKET, sides->workload.present);
    probe_keep(ideal_store_probe(sides->ideal, hash));
    probe_keep(ideal_cache_bucket(sides->ideal_cache, hash));
}

static void do_entry(struct limits_sides *sides)
{
    uint64_t hash = next_hash(sides, SIDE_ENTRY, sides->workload.present);
    probe_keep(ideal_store_probe(sides->ideal, hash));
    probe_keep(ideal_cache_get(sides->ideal_cache, hash, sides->value_copy));
}

/* ---- reads of the store ---- */

static void do_absent(struct limits_sides *sides)
{
    uint8_t key[16];
    struct bb_bytes absent = next_key(sides, SIDE_ABSENT, sides->workload.absent, key);
    if (bb_db_get(sides->db, NULL, absent, &sides->value) != BB_NOT_FOUND)
        bench_die("an absent key is found");
}

static void get_present(struct limits_sides *sides, enum limits_side side)
{
    uint8_t key[16];
    struct bb_bytes present = next_key(sides, side, sides->workload.present, key);
    bench_must(bb_db_get(sides->db, NULL, present, &sides->value));
}

static void do_present(struct limits_sides *sides)
{
    get_present(sides, SIDE_PRESENT);
}

static void do_cached(struct limits_sides *sides)
{
    get_present(sides, SIDE_CACHED);
}

static void do_seek(struct limits_sides *sides)
{
    uint8_t key[16];
    struct bb_db_iter *iter = NULL;
    bench_must(bb_db_iter_create(sides->db, NULL, &iter));
    bb_db_iter_seek(iter, next_key(sides, SIDE_SEEK, sides->workload.present, key));
    for (int i = 0; i < SEEK_LENGTH && bb_db_iter_valid(iter); i++) {
        probe_keep(bb_db_iter_value(iter).data[0]);
        bb_db_iter_next(iter);
    }
    bench_must(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void do_scan(struct limits_sides *sides)
{
    if (!bb_db_iter_valid(sides->scan)) {
        bench_must(bb_db_iter_status(sides->scan));
        bb_db_iter_seek_first(sides->scan);
    }
    probe_keep(bb_db_iter_value(sides->scan).data[0]);
    bb_db_iter_next(sides->scan);
}

/* ---- turns ---- */

static const struct {
    void (*run)(struct limits_sides *sides); /* NULL: read_in_order */
    uint64_t slice;                          /* operations, with values of 100 bytes */
    int phases;
} kinds[SIDE_COUNT] = {
    [SIDE_KEY] = {do_key, 200000, PHASE_READS | PHASE_IDEAL_CACHE},
    [SIDE_PROBE] = {do_probe, 200000, PHASE_READS | PHASE_IDEAL_CACHE},
    [SIDE_PROBE_RUNS] = {do_probe_runs, 200000, PHASE_READS},
    [SIDE_PREAD] = {do_pread, 20000, PHASE_READS},
    [SIDE_COPY] = {do_copy, 20000, PHASE_READS},
    [SIDE_CHECKSUM] = {do_checksum, 20000, PHASE_READS},
    [SIDE_LZ4] = {do_lz4, 10000, PHASE_READS},
    [SIDE_IN_ORDER] = {NULL, 10000, PHASE_READS},
    [SIDE_ABSENT] = {do_absent, 100000, PHASE_READS},
    [SIDE_PRESENT] = {do_present, 10000, PHASE_READS},
    [SIDE_SEEK] = {do_seek, 4000, PHASE_READS},
    [SIDE_SCAN] = {do_scan, 200000, PHASE_READS},
    [SIDE_BUCKET] = {do_bucket, 200000, PHASE_IDEAL_CACHE},
    [SIDE_ENTRY] = {do_entry, 100000, PHASE_IDEAL_CACHE},
    [SIDE_CACHED] = {do_cached, 50000, PHASE_CACHED},
};

static bool reads_values(enum limits_side side)
{
    return side != SIDE_KEY && side != SIDE_PROBE && side != SIDE_PROBE_RUNS &&
           side != SIDE_ABSENT && side != SIDE_BUCKET;
}

/* Slices of blocks are shorter if an entry takes more than a block. */
static uint64_t slice_length(const struct limits_sides *sides, enum limits_side side)
{
    size_t entry = sides->workload.options.value_size + 16;
    uint64_t shorter = side == SIDE_SCAN ? entry / 100 : entry / LIMITS_BLOCK_SIZE;
    return reads_values(side) && shorter > 1 ? kinds[side].slice / shorter + 1 : kinds[side].slice;
}

static uint64_t reads_so_far(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    uint64_t reads = stats.system_reads + stats.scan_reads.blocks_mapped;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        reads += stats.level_reads[level].blocks_mapped;
    return reads;
}

static void run_side(struct limits_sides *sides, enum limits_side side, uint64_t length)
{
    if (kinds[side].run == NULL)
        read_in_order(sides, length);
    for (uint64_t i = 0; i < length && kinds[side].run != NULL; i++) {
        kinds[side].run(sides);
        sides->operations[side]++;
    }
}

/* The first operations are not timed: they fill the processor's caches, which have the data of the
 * side before. 0 if the side is not of the phase. */
static double take_slice(void *context, size_t index, size_t turn)
{
    struct limits_sides *sides = context;
    enum limits_side side = (enum limits_side)index;
    if (!(kinds[side].phases & (int)sides->phase))
        return 0;
    uint64_t length = slice_length(sides, side);
    run_side(sides, side, length / 2 + 1);
    uint64_t reads = reads_so_far(sides->db);
    uint64_t operations = sides->operations[side];
    (void)turn;
    double begin = thread_clock_now();
    run_side(sides, side, length);
    double time = thread_clock_now() - begin;
    sides->reads[side] += reads_so_far(sides->db) - reads;
    sides->timed[side] += sides->operations[side] - operations;
    return time / (double)(sides->operations[side] - operations);
}

double limits_sides_reads(const struct limits_sides *sides, enum limits_side side)
{
    return (double)sides->reads[side] / (double)sides->timed[side];
}

void limits_sides_take(struct limits_sides *sides, enum limits_phase phase, struct turns *turns)
{
    sides->phase = phase;
    for (int side = 0; side < SIDE_COUNT; side++)
        sides->operations[side] = sides->timed[side] = sides->reads[side] = 0;
    turns_init(turns, SIDE_COUNT, TURNS);
    for (int side = 0; side < SIDE_COUNT; side++) /* fills the caches */
        (void)take_slice(sides, (size_t)side, 0);
    turns_take(turns, take_slice, sides);
}

/* The slices would not get all keys. */
void limits_sides_fill_cache(struct limits_sides *sides)
{
    sides->position[SIDE_CACHED] = 0;
    for (uint64_t i = 0; i < sides->workload.options.lookup_count; i++)
        do_cached(sides);
}
