/* See compare_options.h. */
#include "bench/compare_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"

static const char usage[] =
    "usage: bloomblock-compare [OPTION...]\n"
    "\n"
    "Runs one workload through bloomblock and through LevelDB, RocksDB, LMDB, SQLite and\n"
    "WiredTiger where this build found them, checks every answer, and prints time, reads, writes "
    "and\n"
    "sizes side by side.\n"
    "\n"
    "  --workload NAME    standard (default): load, lookups, range queries and a scan, as loaded "
    "and\n"
    "                     compacted; load-random, load-in-order, load-reverse, overwrite, "
    "delete-heavy,\n"
    "                     get, multi-get, bounded, ycsb-a to ycsb-f, mixgraph\n"
    "  --operations N     of each phase of a workload other than standard (1000000)\n"
    "  --threads N        that call the engine, in a workload other than standard (1)\n"
    "  --keys N           keys to load, in random order (5000000)\n"
    "  --lookups N        lookups of stored keys, and of absent ones, per phase (1000000, at most "
    "--keys)\n"
    "  --seeks N          range queries of 10 entries per phase (100000, at most --keys)\n"
    "  --key-size N       bytes: 16 or more hexadecimal digits, or 8 in binary (16)\n"
    "  --value-size N     bytes, at least 8: half of them compressible (100)\n"
    "  --cache SIZE       block or page cache of each engine (64M)\n"
    "  --write-buffer SIZE  memtable of each engine; for SQLite the log between checkpoints (64M)\n"
    "  --engines A,B,...  bloomblock, leveldb, rocksdb, lmdb, sqlite, wiredtiger (all of "
    "these);\n"
    "                     rocksdb-guide, wiredtiger-btree;\n"
    "                     bloomblock-default (a target of 0.01), -leveled, -tiered, -lazy "
    "(styles);\n"
    "                     bloomblock-mapped, -calls (read_mode), -plain (no compression)\n"
    "  --dir FOLDER       where the stores are made and removed again ($TMPDIR, or /tmp)\n"
    "  --seed N           of keys, values and questions (1)\n"
    "  --rounds N         whole repetitions; medians are reported (1)\n"
    "  --slices N         of each phase of reading, engines alternate (5); one should take "
    "tens of milliseconds\n"
    "  --cold             before each phase of reading: store closed, page cache dropped, store "
    "opened\n"
    "  --json FILE        all figures of all rounds as JSON too; - prints only that\n"
    "  --quiet            no word of progress\n"
    "\n"
    "SIZE may end in K, M or G. Exit status: 0, 1 when an engine failed or gave a wrong answer, 2 "
    "usage.\n";

static _Noreturn void refuse(const char *what, const char *text)
{
    fprintf(stderr, "bloomblock-compare: %s: \"%s\" (--help explains)\n", what, text);
    exit(2);
}

static uint64_t parse_number(const char *name, const char *text, uint64_t minimum, uint64_t maximum)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (*end != '\0' && end[1] == '\0')
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    bool is_whole = *end == '\0' || shift != 0;
    if (text[0] < '0' || text[0] > '9' || errno != 0 || !is_whole || number > maximum >> shift ||
        number << shift < minimum)
        refuse(name, text);
    return (uint64_t)number << shift;
}

static const struct bench_engine *find_engine(const char *name)
{
    for (size_t i = 0; i < bench_engine_count; i++) {
        if (strcmp(bench_engines[i]->name, name) == 0)
            return bench_engines[i];
    }
    for (size_t i = 0; bench_engines_absent[i] != NULL; i++) {
        if (strncmp(name, bench_engines_absent[i], strlen(bench_engines_absent[i])) == 0)
            return NULL;
    }
    refuse("no such engine", name);
}

/* Skips names that this build does not have; main lists them. */
static void parse_engines(struct compare_options *options, const char *text)
{
    char *names = strdup(text);
    char *rest = names;
    options->engine_count = 0;
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        const struct bench_engine *engine = find_engine(name);
        if (engine == NULL)
            continue;
        if (options->engine_count == COMPARE_ENGINES_MAX)
            refuse("too many engines", text);
        options->engines[options->engine_count++] = engine;
    }
    free(names);
    if (options->engine_count == 0)
        refuse("none of these engines is in this build", text);
}

static void parse_workload(struct compare_options *options, const char *text)
{
    options->mixed.mix = mix_find(text);
    if (options->mixed.mix == NULL && strcmp(text, "standard") != 0)
        refuse("no such workload", text);
}

enum choice {
    CHOICE_KEYS = 256,
    CHOICE_LOOKUPS,
    CHOICE_SEEKS,
    CHOICE_KEY_SIZE,
    CHOICE_VALUE_SIZE,
    CHOICE_CACHE,
    CHOICE_WRITE_BUFFER,
    CHOICE_ENGINES,
    CHOICE_DIR,
    CHOICE_SEED,
    CHOICE_ROUNDS,
    CHOICE_SLICES,
    CHOICE_COLD,
    CHOICE_JSON,
    CHOICE_QUIET,
    CHOICE_WORKLOAD,
    CHOICE_OPERATIONS,
    CHOICE_THREADS,
    CHOICE_HELP,
};

static const struct option long_options[] = {
    {"keys", required_argument, NULL, CHOICE_KEYS},
    {"lookups", required_argument, NULL, CHOICE_LOOKUPS},
    {"seeks", required_argument, NULL, CHOICE_SEEKS},
    {"key-size", required_argument, NULL, CHOICE_KEY_SIZE},
    {"value-size", required_argument, NULL, CHOICE_VALUE_SIZE},
    {"cache", required_argument, NULL, CHOICE_CACHE},
    {"write-buffer", required_argument, NULL, CHOICE_WRITE_BUFFER},
    {"engines", required_argument, NULL, CHOICE_ENGINES},
    {"dir", required_argument, NULL, CHOICE_DIR},
    {"seed", required_argument, NULL, CHOICE_SEED},
    {"rounds", required_argument, NULL, CHOICE_ROUNDS},
    {"slices", required_argument, NULL, CHOICE_SLICES},
    {"cold", no_argument, NULL, CHOICE_COLD},
    {"json", required_argument, NULL, CHOICE_JSON},
    {"quiet", no_argument, NULL, CHOICE_QUIET},
    {"workload", required_argument, NULL, CHOICE_WORKLOAD},
    {"operations", required_argument, NULL, CHOICE_OPERATIONS},
    {"threads", required_argument, NULL, CHOICE_THREADS},
    {"help", no_argument, NULL, CHOICE_HELP},
    {NULL, 0, NULL, 0},
};

static void apply_size(struct compare_options *options, enum choice choice, const char *text)
{
    struct workload_options *workload = &options->workload;
    switch (choice) {
    case CHOICE_KEYS:
        workload->key_count = parse_number("--keys", text, 2, UINT64_C(1) << 32);
        break;
    case CHOICE_LOOKUPS:
        workload->lookup_count = parse_number("--lookups", text, 1, UINT64_C(1) << 32);
        break;
    case CHOICE_SEEKS:
        workload->seek_count = parse_number("--seeks", text, 1, UINT64_C(1) << 32);
        break;
    case CHOICE_KEY_SIZE: /* the limit is LMDB's */
        workload->key_size = parse_number("--key-size", text, WORKLOAD_KEY_SIZE_BINARY, 511);
        if (workload->key_size != WORKLOAD_KEY_SIZE_BINARY &&
            workload->key_size < WORKLOAD_KEY_SIZE_MIN)
            refuse("--key-size", text);
        break;
    case CHOICE_VALUE_SIZE:
        workload->value_size =
            parse_number("--value-size", text, WORKLOAD_VALUE_SIZE_MIN, WORKLOAD_SIZE_MAX);
        break;
    case CHOICE_OPERATIONS:
        options->mixed.operation_count = parse_number("--operations", text, 1, UINT64_C(1) << 32);
        break;
    case CHOICE_THREADS:
        options->mixed.thread_count = parse_number("--threads", text, 1, MIXED_THREADS_MAX);
        break;
    case CHOICE_CACHE:
        options->cache_bytes = parse_number("--cache", text, 64 * 1024, UINT64_C(1) << 40);
        break;
    default:
        options->write_buffer_bytes =
            parse_number("--write-buffer", text, 64 * 1024, UINT64_C(1) << 34);
        break;
    }
}

static void apply(struct compare_options *options, int choice, const char *text)
{
    switch (choice) {
    case CHOICE_ENGINES:
        parse_engines(options, text);
        break;
    case CHOICE_WORKLOAD:
        parse_workload(options, text);
        break;
    case CHOICE_DIR:
        options->directory = text;
        break;
    case CHOICE_SEED:
        options->workload.seed = parse_number("--seed", text, 0, UINT64_MAX);
        break;
    case CHOICE_ROUNDS:
        options->rounds = parse_number("--rounds", text, 1, COMPARE_ROUNDS_MAX);
        break;
    case CHOICE_SLICES:
        options->slice_count = parse_number("--slices", text, 1, RUN_SLICES_MAX);
        break;
    case CHOICE_COLD:
        options->is_cold = true;
        break;
    case CHOICE_JSON:
        options->json_path = text;
        break;
    case CHOICE_QUIET:
        options->is_quiet = true;
        break;
    case CHOICE_HELP:
        fputs(usage, stdout);
        exit(0);
    case '?': /* getopt has printed the error */
        exit(2);
    default:
        apply_size(options, (enum choice)choice, text);
    }
}

static void set_defaults(struct compare_options *options)
{
    const char *directory = getenv("TMPDIR");
    *options = (struct compare_options){
        .workload =
            {.key_count = 5000000, .seek_length = 10, .key_size = 16, .value_size = 100, .seed = 1},
        .mixed = {.operation_count = 1000000, .thread_count = 1},
        .cache_bytes = UINT64_C(64) << 20,
        .write_buffer_bytes = UINT64_C(64) << 20,
        .rounds = 1,
        .slice_count = 5,
        .directory = directory == NULL || directory[0] == '\0' ? "/tmp" : directory,
    };
    for (size_t i = 0; i < bench_engine_count; i++) {
        if (strchr(bench_engines[i]->name, '-') == NULL)
            options->engines[options->engine_count++] = bench_engines[i];
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void compare_options_parse(int argc, char **argv, struct compare_options *ret_options)
{
    set_defaults(ret_options);
    for (int choice = 0; (choice = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        apply(ret_options, choice, optarg);
    if (optind != argc)
        refuse("not an option", argv[optind]);
    if (ret_options->mixed.mix == NULL && ret_options->mixed.thread_count > 1)
        refuse("the standard workload has one thread", "--threads");
    ret_options->workload.is_bare = ret_options->mixed.mix != NULL;
    struct workload_options *workload = &ret_options->workload;
    workload->lookup_count =
        least(workload->lookup_count == 0 ? 1000000 : workload->lookup_count, workload->key_count);
    workload->seek_count =
        least(workload->seek_count == 0 ? 100000 : workload->seek_count, workload->key_count);
}
