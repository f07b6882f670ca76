/* Probes: nanoseconds per probe of every layout, in every instruction set of the processor.
 *
 *     probe_bench [turns]
 *
 * 1. Filters of one table, about 400 KiB, which stay in the second-level cache; random filters are
 *    probed. "absent" are absent keys, "member" present ones, "chain" the latency: the next probe
 *    depends on the result. The hash is given. Rows of kind `none` are the cost of the
 *    measurement.
 * 2. One hash probed in six filters.
 * 3. Standalone filters, probed one by one and in batches, in the cache and out of it.
 *
 * key_probe_bench measures from the key on, in comparison with RocksDB.
 *
 * Times are thread CPU time. All probes of a section run in every turn (turns.h): medians, minima,
 * for the processor's best case, and medians of the ratios to the first figure of the row in the
 * same turn.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/probe_grid.h"
#include "bench/thread_clock.h"
#include "bloomblock/table/block_filter.h"
#include "standalone/kind/kind.h"

#define QUESTIONS   (1 << 15)
#define TABLE_BYTES (400 << 10)
#define TURNS       100

/* Three dependent cycles a multiplication. */
static double clock_gigahertz(void)
{
    double least = INFINITY;
    for (int i = 0; i < 20; i++) {
        double start = thread_clock_now();
        uint64_t product = 3;
        for (int j = 0; j < 100000; j++) {
            product *= product;
            __asm__ volatile("" : "+r"(product));
        }
        least = fmin(least, (thread_clock_now() - start) / 100000);
    }
    return 3 / least;
}

static uint64_t member(uint64_t set, uint64_t i)
{
    return bb_hash_mix((set << 32) + i + 1);
}

static uint64_t absent(uint64_t i)
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
    struct question questions[2][QUESTIONS]; /* absent, member */
};

static void table_build(struct table *table, size_t key_count)
{
    struct bb_block_filter_builder *builder = NULL;
    struct bb_buf descriptors = {0};
    uint32_t shards = 0;
    uint8_t *lead = NULL, *pad = NULL;
    bench_must(bb_block_filter_builder_create(&table->format, &builder));
    bench_must(bb_buf_extend(&table->payload, BB_FILTER_LEAD_BYTES, &lead));
    for (size_t filter = 0; filter < table->filter_count; filter++) {
        table->key_counts[filter] =
            key_count - key_count / 10 + absent(filter) % (key_count / 5 + 1);
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
        uint64_t random = absent(i + (UINT64_C(1) << 40));
        uint32_t filter = bb_hash_range(random, (uint32_t)table->filter_count);
        uint64_t present = member(filter, (random & 0xffffff) % table->key_counts[filter]);
        table->questions[0][i] =
            (struct question){filter, bb_block_filter_key(&table->format, absent(i))};
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

static void use_table(void *subject, enum bb_cpu cpu)
{
    struct table *table = subject;
    bb_block_filter_format_use(&table->format, cpu);
}

/* Returns the number of positives. */
static uint64_t ask_questions(const struct table *table, const struct question *questions)
{
    uint64_t yes = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        yes += table_ask(table, questions[i]);
    return yes;
}

static void ask_absent(const void *subject)
{
    const struct table *table = subject;
    probe_keep(ask_questions(table, table->questions[0]));
}

static void ask_member(const void *subject)
{
    const struct table *table = subject;
    if (ask_questions(table, table->questions[1]) != QUESTIONS)
        bench_die("a filter denies a member");
}

static void ask_chain(const void *subject)
{
    const struct table *table = subject;
    uint32_t depends = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        depends = table_ask(table, table->questions[0][i ^ depends]);
        __asm__ volatile("" : "+r"(depends));
        depends >>= 1;
    }
}

static const struct table_kind table_kinds[] = {
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

#define TABLE_KINDS BB_ARRAY_LENGTH(table_kinds)

static void add_table(struct probe_grid *grid, size_t row, struct table *table)
{
    struct probe probe = {.subject = table, .use = use_table, .question_count = QUESTIONS};
    snprintf(grid->labels[row], PROBE_LABEL_SIZE, "%-22s %6zu keys", table_kinds[row].name,
             table_kinds[row].key_count);
    probe.ask = ask_absent;
    probe_grid_add(grid, row, 0, probe);
    probe.ask = ask_member;
    probe_grid_add(grid, row, 1, probe);
    probe.ask = ask_chain;
    probe_grid_add(grid, row, 2, probe);
}

static void bench_tables(size_t turn_count)
{
    struct table *tables[TABLE_KINDS];
    struct probe_grid grid;
    probe_grid_init(&grid, TABLE_KINDS, 3);
    for (size_t i = 0; i < TABLE_KINDS; i++) {
        tables[i] = table_create(&table_kinds[i], TABLE_BYTES, 1);
        add_table(&grid, i, tables[i]);
    }
    probe_grid_take(&grid, turn_count);
    printf("\nFilters of a table in the second-level cache, ns without the hash: absent, member, "
           "chain\n");
    probe_grid_print(&grid);
    probe_grid_deinit(&grid);
    for (size_t i = 0; i < TABLE_KINDS; i++)
        table_destroy(tables[i]);
}

/* --- Standalone filters --- */

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

/* The sorts of sections 2 and 3; NULL if there is no probe. */
static void add_row(struct probe_grid *grid, size_t row, const char *label, struct probe probe,
                    void (*one_by_one)(const void *subject), void (*together)(const void *subject))
{
    snprintf(grid->labels[row], PROBE_LABEL_SIZE, "%s", label);
    probe.question_count = QUESTIONS;
    probe.ask = one_by_one;
    probe_grid_add(grid, row, 0, probe);
    probe.ask = together;
    probe_grid_add(grid, row, 1, probe);
}

/* --- 2. Six filters --- */

#define SIX 6

struct six {
    struct alone filters[SIX];
    struct bb_filter_view views[SIX];
};

static struct six *six_create(uint64_t key_count, double rate)
{
    struct six *six = bench_allocate(sizeof(*six));
    for (uint64_t i = 0; i < SIX; i++) {
        alone_init(&six->filters[i], BB_FILTER_RIBBON, rate, i, key_count);
        six->views[i] = six->filters[i].view;
    }
    return six;
}

static void six_destroy(struct six *six)
{
    for (int i = 0; i < SIX; i++)
        bb_buf_deinit(&six->filters[i].bytes);
    free(six);
}

static void six_use(void *subject, enum bb_cpu cpu)
{
    struct six *six = subject;
    for (int i = 0; i < SIX; i++)
        bb_kind_view_use(&six->views[i], cpu);
}

static void six_ask_at_once(const void *subject)
{
    const struct six *six = subject;
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t bits;
        bb_filter_may_contain_each(six->views, SIX, absent(i), &bits);
        probe_keep(bits);
    }
}

static void six_ask_one_by_one(const void *subject)
{
    const struct six *six = subject;
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t bits = 0, hash = absent(i);
        for (int j = 0; j < SIX; j++)
            bits = bits << 1 | bb_filter_may_contain(&six->views[j], hash);
        probe_keep(bits);
    }
}

struct six_tables {
    struct table *tables[SIX];
};

static void six_tables_init(struct six_tables *six)
{
    static const struct table_kind kind = {"", BB_FILTER_RIBBON, 1.0 / 128, 1000};
    for (uint64_t i = 0; i < SIX; i++)
        six->tables[i] = table_create(&kind, TABLE_BYTES / SIX, i);
}

static void six_tables_deinit(struct six_tables *six)
{
    for (int i = 0; i < SIX; i++)
        table_destroy(six->tables[i]);
}

static void six_tables_use(void *subject, enum bb_cpu cpu)
{
    struct six_tables *six = subject;
    for (int i = 0; i < SIX; i++)
        bb_block_filter_format_use(&six->tables[i]->format, cpu);
}

/* Like a lookup that probes the block filters of six tables: each has a salt, and therefore another
 * hash. */
static void six_tables_ask(const void *subject)
{
    const struct six_tables *six = subject;
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t bits = 0, hash = absent(i);
        for (int j = 0; j < SIX; j++) {
            const struct table *table = six->tables[j];
            uint32_t filter = table->questions[0][i].filter;
            struct bb_block_filter_key key = bb_block_filter_key(&table->format, hash);
            bits = bits << 1 | table_ask(table, (struct question){filter, key});
        }
        probe_keep(bits);
    }
}

/* Measures the part of the other rows that computes hashes. */
static void ask_nobody(const void *subject)
{
    (void)subject;
    for (uint64_t i = 0; i < QUESTIONS; i++)
        probe_keep(absent(i));
}

struct six_kind {
    const char *name;
    uint64_t key_count; /* of each */
    double rate;
};

static const struct six_kind six_kinds[] = {
    {"60,000 keys each, r = 7", 60000, 1.0 / 128},
    {"60,000 keys each, 1 %", 60000, 0.01},
    {"50 keys each, 1 %", 50, 0.01},
    {"4,000,000 keys each, r = 7", 4000000, 1.0 / 128},
};

#define SIX_KINDS BB_ARRAY_LENGTH(six_kinds)

static void bench_sixes(size_t turn_count)
{
    struct six *sixes[SIX_KINDS];
    struct six_tables tables;
    struct probe_grid grid;
    probe_grid_init(&grid, SIX_KINDS + 2, 2);
    for (size_t i = 0; i < SIX_KINDS; i++) {
        sixes[i] = six_create(six_kinds[i].key_count, six_kinds[i].rate);
        add_row(&grid, i, six_kinds[i].name, (struct probe){.subject = sixes[i], .use = six_use},
                six_ask_one_by_one, six_ask_at_once);
    }
    six_tables_init(&tables);
    add_row(&grid, SIX_KINDS, "blocks of six tables, r = 7",
            (struct probe){.subject = &tables, .use = six_tables_use}, six_tables_ask, NULL);
    add_row(&grid, SIX_KINDS + 1, "none: making up the hash", (struct probe){0}, ask_nobody, NULL);
    probe_grid_take(&grid, turn_count);
    printf("\nOne hash probed in six ribbons, ns for all six: one by one, as a batch\n");
    probe_grid_print(&grid);
    probe_grid_deinit(&grid);
    six_tables_deinit(&tables);
    for (size_t i = 0; i < SIX_KINDS; i++)
        six_destroy(sixes[i]);
}

/* --- 3. Batches --- */

struct batch {
    struct alone alone;
    const uint64_t *hashes;
};

static void batch_use(void *subject, enum bb_cpu cpu)
{
    struct batch *batch = subject;
    bb_kind_view_use(&batch->alone.view, cpu);
}

static void batch_ask_one_by_one(const void *subject)
{
    const struct batch *batch = subject;
    for (uint64_t i = 0; i < QUESTIONS; i++)
        probe_keep(bb_filter_may_contain(&batch->alone.view, batch->hashes[i]));
}

static void batch_ask_many(const void *subject)
{
    static uint64_t bits[QUESTIONS / 64];
    const struct batch *batch = subject;
    bb_filter_may_contain_many(&batch->alone.view, batch->hashes, QUESTIONS, bits);
    probe_keep(bits[0]);
}

struct batch_kind {
    const char *name;
    enum bb_filter_kind kind;
    uint64_t key_count;
};

static const struct batch_kind batch_kinds[] = {
    {"ribbon, 400,000 keys", BB_FILTER_RIBBON, 400000},
    {"blocked Bloom, 300,000 keys", BB_FILTER_BLOCKED_BLOOM, 300000},
    {"split-block Bloom, 300,000 keys", BB_FILTER_SPLIT_BLOCK, 300000},
    {"ribbon, 10,000,000 keys", BB_FILTER_RIBBON, 10000000},
    {"blocked Bloom, 10,000,000 keys", BB_FILTER_BLOCKED_BLOOM, 10000000},
};

#define BATCH_KINDS BB_ARRAY_LENGTH(batch_kinds)

static void bench_batches(size_t turn_count)
{
    static uint64_t hashes[QUESTIONS];
    struct batch batches[BATCH_KINDS];
    struct probe_grid grid;
    for (uint64_t i = 0; i < QUESTIONS; i++)
        hashes[i] = absent(i);
    probe_grid_init(&grid, BATCH_KINDS, 2);
    for (size_t i = 0; i < BATCH_KINDS; i++) {
        const struct batch_kind *kind = &batch_kinds[i];
        batches[i].hashes = hashes;
        alone_init(&batches[i].alone, kind->kind, 0.01, 1, kind->key_count);
        add_row(&grid, i, kind->name, (struct probe){.subject = &batches[i], .use = batch_use},
                batch_ask_one_by_one, batch_ask_many);
    }
    probe_grid_take(&grid, turn_count);
    printf("\nStandalone filters, 1 %%, absent keys, ns without the key's hash: one by one, in "
           "batches\n");
    probe_grid_print(&grid);
    probe_grid_deinit(&grid);
    for (size_t i = 0; i < BATCH_KINDS; i++)
        bb_buf_deinit(&batches[i].alone.bytes);
}

int main(int argc, char **argv)
{
    size_t turn_count = argc > 1 ? strtoull(argv[1], NULL, 10) : TURNS;
    if (turn_count < 1)
        return 1;
    printf("median and least of %zu turns, thread CPU time; the clock was at about %.1f GHz\n",
           turn_count, clock_gigahertz());
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (!bb_cpu_has(cpu))
            printf("%s: not measured, the processor lacks it\n", bb_cpu_name(cpu));
    bench_tables(turn_count);
    bench_sixes(turn_count);
    bench_batches(turn_count);
    printf("\nclock at the end: about %.1f GHz\n", clock_gigahertz());
    return 0;
}
