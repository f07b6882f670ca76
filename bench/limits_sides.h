/* The sides of limits_bench: steps of ideal stores and reads of a store, which take turns.
 * limits_bench.c explains them. Threads: one. */
#ifndef BB_BENCH_LIMITS_SIDES_H
#define BB_BENCH_LIMITS_SIDES_H

#include "bb/db.h"
#include "bb/db_iter.h"
#include "bench/ideal_cache.h"
#include "bench/ideal_store.h"
#include "bench/turns.h"

#define LIMITS_BLOCK_SIZE 4096

enum limits_side {
    SIDE_KEY,
    SIDE_PROBE,
    SIDE_PROBE_RUNS,
    SIDE_PREAD,
    SIDE_COPY,
    SIDE_CHECKSUM,
    SIDE_LZ4,
    SIDE_IN_ORDER,
    SIDE_ABSENT,
    SIDE_PRESENT,
    SIDE_SEEK,
    SIDE_SCAN,
    SIDE_BUCKET,
    SIDE_ENTRY,
    SIDE_CACHED,
    SIDE_COUNT
};

/* The phases to which a side belongs: bits. */
enum limits_phase { PHASE_READS = 1, PHASE_IDEAL_CACHE = 2, PHASE_CACHED = 4 };

/* The owner of the store, and of all else here, fills it in. */
struct limits_sides {
    struct workload workload;
    struct ideal_store *ideal;
    struct ideal_cache *ideal_cache; /* NULL outside PHASE_IDEAL_CACHE */
    enum limits_phase phase;
    struct bb_db *db;
    struct bb_db_iter *scan; /* continues in the next slice */
    struct bb_buf value;
    uint8_t *value_copy;
    uint64_t position[SIDE_COUNT];   /* in the workload's numbers, or of blocks */
    uint64_t operations[SIDE_COUNT]; /* of all slices */
    uint64_t timed[SIDE_COUNT];      /* of these */
    uint64_t reads[SIDE_COUNT];      /* of the store, in timed operations */
};

/* Takes all turns of a phase. Owned: turns_deinit, with *turns. */
void limits_sides_take(struct limits_sides *sides, enum limits_phase phase, struct turns *turns);
/* Gets the key of each lookup once, so that the store's cache holds its block. */
void limits_sides_fill_cache(struct limits_sides *sides);
/* Blocks that the store reads or copies for one operation, over the turns that were taken last. A
 * pread of several blocks counts once. */
double limits_sides_reads(const struct limits_sides *sides, enum limits_side side);

#endif
