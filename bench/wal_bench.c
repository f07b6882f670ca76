/* The cost of the log: nanoseconds of processor time, system calls included, per put of a 16-byte
 * key with a 100-byte value, without syncs.
 *
 *     wal_bench DIRECTORY [puts, default 500000]
 *
 * Prints a line of JSON for each way to write: one write(2) for each put, one for a group of 16 or
 * 100, and with a buffer of 64 KiB; then one for reading the log back. The log is removed.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/process_clock.h"
#include "kv/batch.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_writer.h"

#define GROUP_MAX 100

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "bench";

static void print(const char *what, double nanoseconds, uint64_t puts, uint64_t bytes)
{
    printf("{\"bench\":\"wal\",\"way\":\"%s\",\"puts\":%" PRIu64
           ",\"ns_per_put\":%.0f,\"bytes_per_put\":%.1f}\n",
           what, puts, nanoseconds / (double)puts, (double)bytes / (double)puts);
    fflush(stdout);
}

static void fill(struct bb_batch *batch, uint64_t number)
{
    char key[17];
    static uint8_t value[100];
    snprintf(key, sizeof(key), "%016llx", (unsigned long long)bb_hash_mix(number));
    bb_batch_reset(batch);
    bench_must(bb_batch_put(batch, bb_bytes_of(key, 16), bb_bytes_of(value, sizeof(value))));
}

/* Leaves the log in place. */
static void measure_write(struct bb_file_system *fs, const char *path, const char *what,
                          size_t group, size_t buffer_bytes, uint64_t puts)
{
    struct bb_wal_writer *writer = NULL;
    struct bb_batch batches[GROUP_MAX];
    struct bb_bytes payloads[GROUP_MAX];
    for (size_t i = 0; i < group; i++) {
        batches[i] = (struct bb_batch){0};
        fill(&batches[i], i);
    }
    bench_must(bb_wal_writer_create(fs, path, 1, store_id, buffer_bytes, &writer));
    uint64_t begin = process_clock_now();
    for (uint64_t put = 0; put < puts; put += group) {
        for (size_t i = 0; i < group; i++)
            payloads[i] = bb_batch_stamp(&batches[i], put + i);
        bench_must(bb_wal_writer_append(writer, payloads, group));
    }
    bench_must(bb_wal_writer_flush(writer));
    double nanoseconds = process_clock_since(begin);
    print(what, nanoseconds, puts, bb_wal_writer_size(writer));
    bench_must(bb_wal_writer_close(writer));
    for (size_t i = 0; i < group; i++)
        bb_batch_deinit(&batches[i]);
}

static void measure_read(struct bb_file_system *fs, const char *path)
{
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    uint64_t bytes = 0;
    uint64_t begin = process_clock_now();
    bench_must(bb_wal_reader_open(fs, path, 1, store_id, false, &reader));
    while (bb_wal_reader_next(reader, &payload) == BB_OK)
        bytes += payload.size;
    print("read", process_clock_since(begin), bb_wal_reader_report(reader)->record_count, bytes);
    bb_wal_reader_close(reader);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        size_t group;
        size_t buffer_bytes;
    } ways[] = {{"write_per_put", 1, 0},
                {"write_per_16", 16, 0},
                {"write_per_100", 100, 0},
                {"buffer_64k", 1, 65536}};
    uint64_t puts = argc > 2 ? strtoull(argv[2], NULL, 10) : 500000;
    if (argc < 2 || puts < GROUP_MAX) {
        fprintf(stderr, "usage: wal_bench DIRECTORY [puts, at least %d]\n", GROUP_MAX);
        return 2;
    }
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/bench.wal", argv[1]);
    struct bb_file_system *fs = NULL;
    bench_must(bb_file_system_posix_create(&fs));
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        measure_write(fs, path, ways[i].what, ways[i].group, ways[i].buffer_bytes,
                      puts / ways[i].group * ways[i].group);
        measure_read(fs, path);
        bench_must(fs->ops->remove(fs, path));
    }
    bb_file_system_posix_destroy(fs);
    return 0;
}
