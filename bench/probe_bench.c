/* Probes: nanoseconds per question of every layout, in every instruction set that the processor
 * has.
 *
 *     probe_bench [rounds]
 *
 * 1. Filters of one table, about 400 KiB of them, which stay in the second-level cache; questions
 * go to filters at random. "foreign" are absent keys, "member" present ones, "chain" the latency:
 *    which question comes next depends on the answer. The hash is there already. The rows of kind
 *    none are what the measurement costs.
 * 2. One hash asked of six filters.
 * 3. Filters that stand alone, asked one by one and in batches, in the cache and out of it.
 *
 * From the key on, and beside RocksDB: key_probe_bench.
 *
 * Times are thread CPU time, the least of the rounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/probe_timer.h"
#include "bloomblock/block_filter.h"
#include "bloomblock/standalone/kind.h"

#define QUESTIONS   (1 << 15)
#define TABLE_BYTES (400 << 10)

static int rounds = 25;

/* Three dependent cycles a multiplication. */
static double clock_gigahertz(void)
{
    double least = INFINITY;
    for (int i = 0; i < 20; i++) {
        double start = probe_timer_now();
        uint64_t product = 3;
        for (int j = 0; j < 100000; j++) {
            product *= product;
            __asm__ volatile("" : "+r"(product));
        }
        probe_timer_note(start, 100000, &least);
    }
    return 3 / least;
}

static uint64_t member(uint64_t set, uint64_t i)
{
    return bb_hash_mix((set << 32) + i + 1);
}

static uint64_t foreign(uint64_t i)
{
    return bb_hash_mix(~i);
}

/* --- 1. Filters of a table --- */

struct table_kind {
    const char *name;
    enum bb_filter_kind kind;
    double target_rate;
    size_t key_count; /* per filter, a tenth more or less */
};

struct question {
    uint32_t filter;
    struct bb_block_filter_key key;
};

struct table {
    struct bb_block_filter_format format;
    size_t filter_count;
    uint16_t *descriptors;
    size_t *offsets;
    size_t *key_counts;
    struct bb_buf payload;
    struct question questions[2][QUESTIONS]; /* foreign, member */
};

static void table_build(struct table *table, size_t key_count)
{
    struct bb_block_filter_builder *builder = NULL;
    struct bb_buf descriptors = {0};
    uint32_t shards = 0;
    uint8_t *pad = NULL;
    bench_must(bb_block_filter_builder_create(&table->format, &builder));
    for (size_t filter = 0; filter < table->filter_count; filter++) {
        table->key_counts[filter] =
            key_count - key_count / 10 + foreign(filter) % (key_count / 5 + 1);
        table->offsets[filter] = table->payload.size;
        for (size_t i = 0; i < table->key_counts[filter]; i++)
            bench_must(bb_block_filter_builder_add(builder, member(filter, i)));
        bench_must(bb_block_filter_builder_finish(builder, &descriptors, &table->payload, &shards));
        table->descriptors[filter] = bb_load16(descriptors.data + filter * 2);
    }
    bench_must(bb_buf_extend(&table->payload, BB_FILTER_PAD_BYTES, &pad));
    bb_buf_deinit(&descriptors);
    bb_block_filter_builder_destroy(builder);
}

static void table_draw(struct table *table)
{
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t random = foreign(i + (UINT64_C(1) << 40));
        uint32_t filter = bb_hash_range(random, (uint32_t)table->filter_count);
        uint64_t present = member(filter, (random & 0xffffff) % table->key_counts[filter]);
        table->questions[0][i] =
            (struct question){filter, bb_block_filter_key(&table->format, foreign(i))};
        table->questions[1][i] =
            (struct question){filter, bb_block_filter_key(&table->format, present)};
    }
}

static struct table *table_create(const struct table_kind *kind, size_t size, uint64_t salt)
{
    struct table *table = bench_allocate(sizeof(*table));
    bench_must(bb_block_filter_format_init(&table->format, kind->kind, kind->target_rate, salt));
    double bits = kind->kind == BB_FILTER_NONE ? 8 : -1.1 * log2(kind->target_rate);
    table->filter_count = (size_t)((double)size * 8 / bits / (double)kind->key_count);
    table->descriptors = bench_allocate(table->filter_count * sizeof(table->descriptors[0]));
    table->offsets = bench_allocate(table->filter_count * sizeof(table->offsets[0]));
    table->key_counts = bench_allocate(table->filter_count * sizeof(table->key_counts[0]));
    table_build(table, kind->key_count);
    table_draw(table);
    return table;
}

static void table_destroy(struct table *table)
{
    free(table->descriptors);
    free(table->offsets);
    free(table->key_counts);
    bb_buf_deinit(&table->payload);
    free(table);
}

static inline bool table_ask(const struct table *table, struct question question)
{
    return bb_block_filter_may_contain(&table->format, table->descriptors[question.filter],
                                       table->payload.data + table->offsets[question.filter],
                                       question.key);
}

/* Gives how many said yes. */
static uint64_t table_round(const struct table *table, bool members, double *least)
{
    const struct question *questions = table->questions[members];
    uint64_t yes = 0;
    double start = probe_timer_now();
    for (uint32_t i = 0; i < QUESTIONS; i++)
        yes += table_ask(table, questions[i]);
    probe_timer_note(start, QUESTIONS, least);
    return yes;
}

static void table_round_chain(const struct table *table, double *least)
{
    uint32_t depends = 0;
    double start = probe_timer_now();
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        depends = table_ask(table, table->questions[0][i ^ depends]);
        __asm__ volatile("" : "+r"(depends));
        depends >>= 1;
    }
    probe_timer_note(start, QUESTIONS, least);
}

struct times {
    double foreign, member, chain;
};

static void table_measure(struct table *table, struct times *ret_times)
{
    for (int cpu = 0; cpu < BB_CPU_COUNT; cpu++)
        ret_times[cpu] = (struct times){INFINITY, INFINITY, INFINITY};
    for (int round = 0; round < rounds; round++)
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
            if (!bb_cpu_has(cpu))
                continue;
            bb_block_filter_format_use(&table->format, cpu);
            table_round(table, false, &ret_times[cpu].foreign);
            if (table_round(table, true, &ret_times[cpu].member) != QUESTIONS)
                exit(1);
            table_round_chain(table, &ret_times[cpu].chain);
        }
}

static void bench_table(const struct table_kind *kind)
{
    struct times times[BB_CPU_COUNT];
    struct table *table = table_create(kind, TABLE_BYTES, 1);
    table_measure(table, times);
    printf("%-22s %6zu", kind->name, kind->key_count);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu))
            printf(" | %6.1f %6.1f %6.1f", times[cpu].foreign, times[cpu].member, times[cpu].chain);
        else
            printf(" | %20s", "not measured");
    printf("\n");
    fflush(stdout);
    table_destroy(table);
}

static void bench_tables(void)
{
    static const struct table_kind kinds[] = {
        {"none", BB_FILTER_NONE, 1, 1000},
        {"byte-grouped, r = 4", BB_FILTER_RIBBON, 1.0 / (1 << 4), 1000},
        {"byte-grouped, r = 7", BB_FILTER_RIBBON, 1.0 / (1 << 7), 1000},
        {"byte-grouped, 1 %", BB_FILTER_RIBBON, 0.01, 1000},
        {"byte-grouped, r = 10", BB_FILTER_RIBBON, 1.0 / (1 << 10), 1000},
        {"byte-grouped, r = 14", BB_FILTER_RIBBON, 1.0 / (1 << 14), 1000},
        {"byte-grouped, r = 20", BB_FILTER_RIBBON, 1.0 / (1 << 20), 1000},
        {"bit-exact, r = 4", BB_FILTER_RIBBON, 1.0 / (1 << 4), 35},
        {"bit-exact, r = 7", BB_FILTER_RIBBON, 1.0 / (1 << 7), 35},
        {"bit-exact, 1 %", BB_FILTER_RIBBON, 0.01, 35},
        {"bit-exact, r = 7", BB_FILTER_RIBBON, 1.0 / (1 << 7), 100},
        {"bit-exact, r = 10", BB_FILTER_RIBBON, 1.0 / (1 << 10), 35},
        {"bit-exact, r = 14", BB_FILTER_RIBBON, 1.0 / (1 << 14), 35},
        {"both layouts, r = 7", BB_FILTER_RIBBON, 1.0 / (1 << 7), 200},
        {"blocked Bloom, 1 %", BB_FILTER_BLOCKED_BLOOM, 0.01, 1000},
        {"blocked Bloom, 0.1 %", BB_FILTER_BLOCKED_BLOOM, 0.001, 1000},
        {"Bloom, 1 %", BB_FILTER_BLOOM, 0.01, 1000},
    };
    printf("\nFilters of a table in the second-level cache, ns without the hash: foreign, member, "
           "chain\n%-22s %6s",
           "", "keys");
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        printf(" | %-20s", bb_cpu_name(cpu));
    printf("\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++)
        bench_table(&kinds[i]);
}

/* --- Filters that stand alone --- */

struct alone {
    struct bb_buf bytes;
    struct bb_filter_view view;
};

static void alone_init(struct alone *alone, enum bb_filter_kind kind, double rate, uint64_t set,
                       uint64_t key_count)
{
    struct bb_filter_options options = {
        .kind = kind, .target_rate = rate, .salt = kind == BB_FILTER_SPLIT_BLOCK ? 0 : set};
    struct bb_filter_builder *builder = NULL;
    *alone = (struct alone){0};
    bench_must(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < key_count; i++)
        bench_must(bb_filter_builder_add(builder, member(set, i)));
    bench_must(bb_filter_builder_finish(builder, &alone->bytes));
    bb_filter_builder_destroy(builder);
    bench_must(
        bb_filter_view_init(&alone->view, (struct bb_bytes){alone->bytes.data, alone->bytes.size}));
}

/* Keeps the optimiser from leaving an answer out. */
static void use(uint64_t value)
{
    __asm__ volatile("" : : "r"(value));
}

/* --- 2. Six filters --- */

#define SIX 6

static double time_each(const struct bb_filter_view *views)
{
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double start = probe_timer_now();
        for (uint64_t i = 0; i < QUESTIONS; i++) {
            uint64_t bits;
            bb_filter_may_contain_each(views, SIX, foreign(i), &bits);
            use(bits);
        }
        probe_timer_note(start, QUESTIONS, &least);
    }
    return least;
}

static double time_one_by_one(const struct bb_filter_view *views)
{
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double start = probe_timer_now();
        for (uint64_t i = 0; i < QUESTIONS; i++) {
            uint64_t bits = 0, hash = foreign(i);
            for (int j = 0; j < SIX; j++)
                bits = bits << 1 | bb_filter_may_contain(&views[j], hash);
            use(bits);
        }
        probe_timer_note(start, QUESTIONS, &least);
    }
    return least;
}

/* As a look-up asks the filters of blocks in six tables: each has a salt, and thus a hash, of its
 * own. */
static double time_tables(struct table *const *tables)
{
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double start = probe_timer_now();
        for (uint64_t i = 0; i < QUESTIONS; i++) {
            uint64_t bits = 0, hash = foreign(i);
            for (int j = 0; j < SIX; j++) {
                const struct table *table = tables[j];
                uint32_t filter = table->questions[0][i].filter;
                struct bb_block_filter_key key = bb_block_filter_key(&table->format, hash);
                bits = bits << 1 | table_ask(table, (struct question){filter, key});
            }
            use(bits);
        }
        probe_timer_note(start, QUESTIONS, &least);
    }
    return least;
}

static void bench_six_tables(void)
{
    static const struct table_kind kind = {"", BB_FILTER_RIBBON, 1.0 / 128, 1000};
    struct table *tables[SIX];
    for (uint64_t i = 0; i < SIX; i++)
        tables[i] = table_create(&kind, TABLE_BYTES / SIX, i);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu)) {
            printf("%-32s %-10s not measured\n", "blocks of six tables, r = 7", bb_cpu_name(cpu));
            continue;
        }
        for (int i = 0; i < SIX; i++)
            bb_block_filter_format_use(&tables[i]->format, cpu);
        printf("%-32s %-10s %12.1f\n", "blocks of six tables, r = 7", bb_cpu_name(cpu),
               time_tables(tables));
    }
    for (int i = 0; i < SIX; i++)
        table_destroy(tables[i]);
}

static double time_foreign(void)
{
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double start = probe_timer_now();
        for (uint64_t i = 0; i < QUESTIONS; i++)
            use(foreign(i));
        probe_timer_note(start, QUESTIONS, &least);
    }
    return least;
}

static void bench_six(const char *name, uint64_t key_count, double rate)
{
    struct alone filters[SIX];
    struct bb_filter_view views[SIX];
    for (uint64_t i = 0; i < SIX; i++)
        alone_init(&filters[i], BB_FILTER_RIBBON, rate, i, key_count);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu)) {
            printf("%-32s %-10s not measured\n", name, bb_cpu_name(cpu));
            continue;
        }
        for (int i = 0; i < SIX; i++) {
            views[i] = filters[i].view;
            bb_view_use(&views[i], cpu);
        }
        printf("%-32s %-10s %12.1f %12.1f\n", name, bb_cpu_name(cpu), time_one_by_one(views),
               time_each(views));
    }
    for (int i = 0; i < SIX; i++)
        bb_buf_deinit(&filters[i].bytes);
}

static void bench_sixes(void)
{
    printf("\nOne hash asked of six ribbons, ns for all six (of that %.1f to make up a hash):\n"
           "%-32s %-10s %12s %12s\n",
           time_foreign(), "", "", "one by one", "at once");
    bench_six_tables();
    bench_six("60,000 keys each, r = 7", 60000, 1.0 / 128);
    bench_six("60,000 keys each, 1 %", 60000, 0.01);
    bench_six("50 keys each, 1 %", 50, 0.01);
    bench_six("4,000,000 keys each, r = 7", 4000000, 1.0 / 128);
}

/* --- 3. Batches --- */

static double time_alone(const struct alone *alone, const uint64_t *hashes, bool batch)
{
    static uint64_t bits[QUESTIONS / 64];
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double start = probe_timer_now();
        if (batch)
            bb_filter_may_contain_many(&alone->view, hashes, QUESTIONS, bits);
        for (uint64_t i = 0; i < QUESTIONS && !batch; i++)
            use(bb_filter_may_contain(&alone->view, hashes[i]));
        probe_timer_note(start, QUESTIONS, &least);
    }
    use(bits[0]);
    return least;
}

static void bench_batch(enum bb_filter_kind kind, uint64_t key_count)
{
    static uint64_t hashes[QUESTIONS];
    struct alone alone;
    alone_init(&alone, kind, 0.01, 1, key_count);
    for (uint64_t i = 0; i < QUESTIONS; i++)
        hashes[i] = foreign(i);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu)) {
            printf("%-14s %10" PRIu64 " %-10s not measured\n", bb_filter_kind_name(kind), key_count,
                   bb_cpu_name(cpu));
            continue;
        }
        bb_view_use(&alone.view, cpu);
        double single = time_alone(&alone, hashes, false);
        printf("%-14s %10" PRIu64 " %-10s %12.1f %12.1f\n", bb_filter_kind_name(kind), key_count,
               bb_cpu_name(cpu), single, time_alone(&alone, hashes, true));
    }
    bb_buf_deinit(&alone.bytes);
}

static void bench_batches(void)
{
    printf("\nFilters that stand alone, 1 %%, absent keys, ns without the key's hash:\n"
           "%-14s %10s %-10s %12s %12s\n",
           "", "keys", "", "one by one", "in batches");
    bench_batch(BB_FILTER_RIBBON, 400000);
    bench_batch(BB_FILTER_BLOCKED_BLOOM, 300000);
    bench_batch(BB_FILTER_SPLIT_BLOCK, 300000);
    bench_batch(BB_FILTER_RIBBON, 10000000);
    bench_batch(BB_FILTER_BLOCKED_BLOOM, 10000000);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 1)
        return 1;
    printf("least of %d rounds, thread CPU time; the clock was at about %.1f GHz\n", rounds,
           clock_gigahertz());
    bench_tables();
    bench_sixes();
    bench_batches();
    printf("\nclock at the end: about %.1f GHz\n", clock_gigahertz());
    return 0;
}
