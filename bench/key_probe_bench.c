/* Probes starting from the key, hash included, compared with RocksDB's filter readers: nanoseconds
 * per key of 16 bytes, absent and present, bits per key and measured rate, and the ratio of the
 * times.
 *
 *     key_probe_bench [turns]
 *
 * Filters of 1000, 35,000 and a million keys, as many as make about 400 KiB, probed at random. All
 * are made for 1 %: RocksDB's Bloom with 10 bits per key, its Ribbon for the same rate. Before the
 * time, every filter is probed for all its members, and the rate is measured. RocksDB probes with
 * the instruction set of its library's build, which is the architecture's base in a distribution's
 * package; compare that with the portable rows.
 *
 * Times are thread CPU time. Every filter is probed in every turn (turns.h): medians, minima, for
 * the processor's best case, and the median of the ratios within a turn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/probe.h"
#include "bench/rocksdb_filter.h"
#include "bloomblock/table/block_filter.h"
#include "standalone/kind/kind.h"

#define QUESTIONS    (1 << 13)
#define RATE_BATCHES 32
#define RATE         0.01
#define BLOOM_BITS   10
#define TURNS        300

/* --- Keys and questions --- */

struct set {
    struct bb_hash_secret secret;
    size_t key_count; /* of each filter */
    size_t filter_count;
    struct key_question absent[RATE_BATCHES][QUESTIONS]; /* the first is timed */
    struct key_question present[QUESTIONS];
};

/* Different for every number: the second half is the number itself. */
static void make_key(uint64_t number, uint8_t key[KEY_QUESTION_SIZE])
{
    bb_store64(key, bb_hash_mix(number));
    bb_store64(key + 8, number);
}

static void make_member(const struct set *set, size_t filter, size_t i,
                        uint8_t key[KEY_QUESTION_SIZE])
{
    make_key((uint64_t)filter * set->key_count + i, key);
}

static void draw(struct set *set, uint64_t number, struct key_question *absent,
                 struct key_question *present)
{
    uint64_t random = bb_hash_mix(~number);
    absent->filter = bb_hash_range(random, (uint32_t)set->filter_count);
    make_key(number + (UINT64_C(1) << 40), absent->key);
    if (present == NULL)
        return;
    present->filter = absent->filter;
    make_member(set, present->filter, (random & 0xffffffff) % set->key_count, present->key);
}

static struct set *set_create(size_t key_count, size_t filter_count)
{
    struct set *set = bench_allocate(sizeof(*set));
    set->key_count = key_count;
    set->filter_count = filter_count;
    bb_hash_secret_from_seed(1, &set->secret);
    for (uint64_t batch = 0; batch < RATE_BATCHES; batch++)
        for (uint64_t i = 0; i < QUESTIONS; i++)
            draw(set, batch * QUESTIONS + i, &set->absent[batch][i],
                 batch == 0 ? &set->present[i] : NULL);
    return set;
}

static inline uint64_t hash_of(const struct set *set, const uint8_t *key)
{
    return bb_hash_key(&set->secret, (struct bb_bytes){key, KEY_QUESTION_SIZE});
}

/* --- Standalone filters --- */

/* Filters of one kind over all members of a set. */
struct filters {
    const struct set *set;
    uint64_t bytes; /* of all of them together */
    struct bb_buf *alone;
    struct bb_filter_view *views;
    struct bb_block_filter_format format;
    struct bb_buf descriptors, payload;
    size_t *starts; /* of a filter in payload */
    struct rocksdb_filter **rocksdb;
};

static void add_members(struct bb_filter_builder *builder, const struct set *set, size_t filter)
{
    uint8_t key[KEY_QUESTION_SIZE];
    for (size_t i = 0; i < set->key_count; i++) {
        make_member(set, filter, i, key);
        bench_must(bb_filter_builder_add(builder, hash_of(set, key)));
    }
}

static void build_alone(struct filters *filters, enum bb_filter_kind kind)
{
    filters->alone = bench_allocate(filters->set->filter_count * sizeof(filters->alone[0]));
    filters->views = bench_allocate(filters->set->filter_count * sizeof(filters->views[0]));
    for (size_t i = 0; i < filters->set->filter_count; i++) {
        struct bb_filter_options options = {.kind = kind, .target_rate = RATE, .salt = i};
        struct bb_filter_builder *builder = NULL;
        struct bb_buf *bytes = &filters->alone[i];
        bench_must(bb_filter_builder_create(&options, &builder));
        add_members(builder, filters->set, i);
        bench_must(bb_filter_builder_finish(builder, bytes));
        bb_filter_builder_destroy(builder);
        bench_must(
            bb_filter_view_init(&filters->views[i], (struct bb_bytes){bytes->data, bytes->size}));
        filters->bytes += bytes->size;
    }
}

static void use_alone(struct filters *filters, enum bb_cpu cpu)
{
    for (size_t i = 0; i < filters->set->filter_count; i++)
        bb_kind_view_use(&filters->views[i], cpu);
}

static uint64_t ask_alone(const struct filters *filters, const struct key_question *questions)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < QUESTIONS; i++)
        yes += bb_filter_may_contain(&filters->views[questions[i].filter],
                                     hash_of(filters->set, questions[i].key));
    return yes;
}

static void build_ribbons(struct filters *filters)
{
    build_alone(filters, BB_FILTER_RIBBON);
}

static void build_blocked_blooms(struct filters *filters)
{
    build_alone(filters, BB_FILTER_BLOCKED_BLOOM);
}

/* --- Filters of a table --- */

static void build_table(struct filters *filters)
{
    const struct set *set = filters->set;
    struct bb_block_filter_builder *builder = NULL;
    uint8_t key[KEY_QUESTION_SIZE], *lead = NULL, *pad = NULL;
    uint32_t shard_count = 0;
    filters->starts = bench_allocate(set->filter_count * sizeof(filters->starts[0]));
    bench_must(bb_block_filter_format_init(&filters->format, BB_FILTER_RIBBON, RATE, 1));
    bench_must(bb_block_filter_builder_create(&filters->format, &builder));
    bench_must(bb_buf_extend(&filters->payload, BB_FILTER_LEAD_BYTES, &lead));
    for (size_t filter = 0; filter < set->filter_count; filter++) {
        filters->starts[filter] = filters->payload.size;
        for (size_t i = 0; i < set->key_count; i++) {
            make_member(set, filter, i, key);
            bench_must(bb_block_filter_builder_add(builder, hash_of(set, key)));
        }
        bench_must(bb_block_filter_builder_finish(builder, &filters->descriptors, &filters->payload,
                                                  &shard_count));
    }
    bb_block_filter_builder_destroy(builder);
    filters->bytes = filters->descriptors.size + filters->payload.size - BB_FILTER_LEAD_BYTES;
    bench_must(bb_buf_extend(&filters->payload, BB_FILTER_PAD_BYTES, &pad));
}

static void use_table(struct filters *filters, enum bb_cpu cpu)
{
    bb_block_filter_format_use(&filters->format, cpu);
}

static uint64_t ask_table(const struct filters *filters, const struct key_question *questions)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < QUESTIONS; i++) {
        size_t filter = questions[i].filter;
        uint64_t hash = hash_of(filters->set, questions[i].key);
        yes += bb_block_filter_may_contain(&filters->format,
                                           bb_load16(filters->descriptors.data + filter * 2),
                                           filters->payload.data + filters->starts[filter],
                                           bb_block_filter_key(&filters->format, hash));
    }
    return yes;
}

/* --- RocksDB's --- */

#ifdef BENCH_WITH_ROCKSDB_FILTERS

static const char *rocksdb_obstacle(void)
{
    return rocksdb_filter_obstacle();
}

static void build_rocksdb(struct filters *filters, bool is_ribbon)
{
    const struct set *set = filters->set;
    uint8_t *keys = bench_allocate(set->key_count * KEY_QUESTION_SIZE);
    filters->rocksdb = bench_allocate(set->filter_count * sizeof(struct rocksdb_filter *));
    for (size_t filter = 0; filter < set->filter_count; filter++) {
        for (size_t i = 0; i < set->key_count; i++)
            make_member(set, filter, i, keys + i * KEY_QUESTION_SIZE);
        filters->rocksdb[filter] =
            rocksdb_filter_create(is_ribbon, BLOOM_BITS, keys, set->key_count);
        if (filters->rocksdb[filter] == NULL)
            exit(1);
        filters->bytes += rocksdb_filter_size(filters->rocksdb[filter]);
    }
    free(keys);
}

static void build_rocksdb_blooms(struct filters *filters)
{
    build_rocksdb(filters, false);
}

static void build_rocksdb_ribbons(struct filters *filters)
{
    build_rocksdb(filters, true);
}

static uint64_t ask_rocksdb(const struct filters *filters, const struct key_question *questions)
{
    return rocksdb_filter_ask(filters->rocksdb, questions, QUESTIONS);
}

static void free_rocksdb(struct filters *filters)
{
    for (size_t i = 0; filters->rocksdb != NULL && i < filters->set->filter_count; i++)
        rocksdb_filter_destroy(filters->rocksdb[i]);
    free(filters->rocksdb);
}

#else

static const char *rocksdb_obstacle(void)
{
    return "it, its headers or a C++ compiler is not installed (scripts/setup bench)";
}

#define build_rocksdb_blooms  NULL
#define build_rocksdb_ribbons NULL
#define ask_rocksdb           NULL

static void free_rocksdb(struct filters *filters)
{
    (void)filters;
}

#endif

/* --- Sides --- */

struct contender {
    const char *name;
    bool is_rocksdb;
    size_t key_count_max; /* of a filter */
    void (*build)(struct filters *filters);
    void (*use)(struct filters *filters, enum bb_cpu cpu); /* NULL: it has one form */
    uint64_t (*ask)(const struct filters *filters, const struct key_question *questions);
};

enum { ROCKSDB_BLOOM, ROCKSDB_RIBBON, RIBBON_OF_TABLE, RIBBON, BLOCKED_BLOOM, CONTENDERS };

static const struct contender contenders[CONTENDERS] = {
    [ROCKSDB_BLOOM] = {"rocksdb Bloom", true, SIZE_MAX, build_rocksdb_blooms, NULL, ask_rocksdb},
    [ROCKSDB_RIBBON] = {"rocksdb Ribbon", true, SIZE_MAX, build_rocksdb_ribbons, NULL, ask_rocksdb},
    [RIBBON_OF_TABLE] = {"ribbon of a table", false, BB_FILTER_GROUP_KEYS_MAX, build_table,
                         use_table, ask_table},
    [RIBBON] = {"ribbon alone", false, SIZE_MAX, build_ribbons, use_alone, ask_alone},
    [BLOCKED_BLOOM] = {"blocked Bloom alone", false, SIZE_MAX, build_blocked_blooms, use_alone,
                       ask_alone},
};

struct side {
    const struct contender *contender;
    bool is_there;
    struct filters filters;
    double rate;
};

static bool form_is_there(const struct side *side, enum bb_cpu cpu)
{
    return side->is_there &&
           (side->contender->use != NULL ? bb_cpu_has(cpu) : cpu == BB_CPU_PORTABLE);
}

static void measure_rate(struct side *side, const struct set *set)
{
    uint64_t yes = 0;
    for (int i = 0; i < RATE_BATCHES; i++)
        yes += side->contender->ask(&side->filters, set->absent[i]);
    side->rate = (double)yes / (RATE_BATCHES * (double)QUESTIONS);
    if (side->contender->ask(&side->filters, set->present) == QUESTIONS && side->rate > RATE / 2 &&
        side->rate < RATE * 1.5)
        return;
    bench_die("%s is no filter of this rate", side->contender->name);
}

static void side_init(struct side *side, const struct contender *contender, const struct set *set)
{
    *side = (struct side){.contender = contender, .filters.set = set};
    side->is_there = set->key_count <= contender->key_count_max &&
                     (!contender->is_rocksdb || rocksdb_obstacle() == NULL);
    if (!side->is_there)
        return;
    contender->build(&side->filters);
    measure_rate(side, set);
}

static void side_deinit(struct side *side)
{
    struct filters *filters = &side->filters;
    free_rocksdb(filters);
    for (size_t i = 0; filters->alone != NULL && i < filters->set->filter_count; i++)
        bb_buf_deinit(&filters->alone[i]);
    free(filters->alone);
    free(filters->views);
    free(filters->starts);
    bb_buf_deinit(&filters->descriptors);
    bb_buf_deinit(&filters->payload);
}

static void side_use(void *subject, enum bb_cpu cpu)
{
    struct side *side = subject;
    if (side->contender->use != NULL)
        side->contender->use(&side->filters, cpu);
}

static void side_ask_absent(const void *subject)
{
    const struct side *side = subject;
    probe_keep(side->contender->ask(&side->filters, side->filters.set->absent[0]));
}

static void side_ask_present(const void *subject)
{
    const struct side *side = subject;
    probe_keep(side->contender->ask(&side->filters, side->filters.set->present));
}

static void ask_hashes(const void *subject)
{
    const struct set *set = subject;
    for (size_t i = 0; i < QUESTIONS; i++)
        probe_keep(hash_of(set, set->absent[0][i].key));
}

/* --- Turns --- */

#define HASHES      (CONTENDERS * BB_CPU_COUNT * 2) /* after the probes of all sides */
#define PROBE_COUNT (HASHES + 1)

struct bench {
    struct set *set;
    struct side sides[CONTENDERS];
    struct probe probes[PROBE_COUNT];
    struct turns turns;
};

static size_t probe_of(size_t contender, enum bb_cpu cpu, bool is_present)
{
    return (contender * BB_CPU_COUNT + cpu) * 2 + is_present;
}

static void add_probes(struct bench *bench, size_t contender, enum bb_cpu cpu)
{
    struct side *side = &bench->sides[contender];
    struct probe probe = {
        .cpu = cpu, .subject = side, .use = side_use, .question_count = QUESTIONS};
    if (!form_is_there(side, cpu))
        return;
    probe.ask = side_ask_absent;
    bench->probes[probe_of(contender, cpu, false)] = probe;
    probe.ask = side_ask_present;
    bench->probes[probe_of(contender, cpu, true)] = probe;
}

static struct bench *bench_create(size_t key_count, size_t filter_count)
{
    struct bench *bench = bench_allocate(sizeof(*bench));
    bench->set = set_create(key_count, filter_count);
    for (size_t i = 0; i < CONTENDERS; i++) {
        side_init(&bench->sides[i], &contenders[i], bench->set);
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
            add_probes(bench, i, cpu);
    }
    bench->probes[HASHES] =
        (struct probe){.subject = bench->set, .ask = ask_hashes, .question_count = QUESTIONS};
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    for (size_t i = 0; i < CONTENDERS; i++)
        side_deinit(&bench->sides[i]);
    turns_deinit(&bench->turns);
    free(bench->set);
    free(bench);
}

/* --- Report --- */

static void print_ratios(const struct bench *bench, size_t absent, size_t present, size_t peer)
{
    size_t peer_absent = probe_of(peer, BB_CPU_PORTABLE, false);
    size_t peer_present = probe_of(peer, BB_CPU_PORTABLE, true);
    if (bench->sides[peer].is_there)
        printf(" | %6.3f %6.3f", turns_ratio(&bench->turns, absent, peer_absent),
               turns_ratio(&bench->turns, present, peer_present));
    else
        printf(" | %13s", "not measured");
}

static void print_form(const struct bench *bench, size_t contender, enum bb_cpu cpu)
{
    const struct side *side = &bench->sides[contender];
    const struct set *set = bench->set;
    size_t absent = probe_of(contender, cpu, false);
    size_t present = probe_of(contender, cpu, true);
    double keys = (double)set->key_count * (double)set->filter_count;
    printf("%-20s %-9s %6.2f %7.2f %% %7.1f %7.1f | %7.1f %7.1f", side->contender->name,
           side->contender->use == NULL ? "" : bb_cpu_name(cpu),
           (double)side->filters.bytes * 8 / keys, side->rate * 100,
           turns_median(&bench->turns, absent), turns_median(&bench->turns, present),
           turns_least(&bench->turns, absent), turns_least(&bench->turns, present));
    if (!side->contender->is_rocksdb) {
        print_ratios(bench, absent, present, ROCKSDB_RIBBON);
        print_ratios(bench, absent, present, ROCKSDB_BLOOM);
    }
    printf("\n");
}

static void bench_set(size_t key_count, size_t filter_count, size_t turn_count)
{
    struct bench *bench = bench_create(key_count, filter_count);
    turns_init(&bench->turns, PROBE_COUNT, turn_count);
    turns_take(&bench->turns, probe_slice, bench->probes);
    printf("\n%zu filters of %zu keys; our hash takes %.1f ns, at least %.1f\n", filter_count,
           key_count, turns_median(&bench->turns, HASHES), turns_least(&bench->turns, HASHES));
    printf("%-30s %6s %9s %7s %7s | %7s %7s | %13s | %13s\n", "", "bits", "rate", "absent",
           "present", "least:", "", "/ its Ribbon", "/ its Bloom");
    for (size_t i = 0; i < CONTENDERS; i++)
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
            if (form_is_there(&bench->sides[i], cpu))
                print_form(bench, i, cpu);
    fflush(stdout);
    bench_destroy(bench);
}

int main(int argc, char **argv)
{
    size_t turn_count = argc > 1 ? strtoull(argv[1], NULL, 10) : TURNS;
    if (turn_count < 1)
        return 1;
    printf("Keys of %d bytes, filters at 1 %%; ns with the hash, median and least of %zu turns, "
           "thread CPU time; ratios within a turn, absent and present\n",
           KEY_QUESTION_SIZE, turn_count);
    if (rocksdb_obstacle() != NULL)
        printf("rocksdb: not measured, %s\n", rocksdb_obstacle());
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (!bb_cpu_has(cpu))
            printf("%s: not measured, the processor lacks it\n", bb_cpu_name(cpu));
    bench_set(1000, 400, turn_count);
    bench_set(35000, 10, turn_count);
    bench_set(1000000, 1, turn_count);
    return 0;
}
