/* Compares skip indexes with their bars: sizes relative to tokenbf_v1, and granules to read.
 *
 *     skip_bars_bench [MEBIBYTES [KIB_PER_GRANULE]]        default 64, 64
 *
 * It indexes logs of skip_log.h without a store, and prints each bar, the measured value, and
 * "met" or "MISSED".
 *
 * Sizes are relative to ClickHouse's tokenbf_v1 (for values: bloom_filter) with the same granules
 * and rate. Such a filter has one size for all granules. This program uses its lower bound:
 * ln(1 / rate) / ln(2)^2 bits for each distinct member of a granule, as a mean over granules,
 * without rounding.
 *
 * The program tests every record to find the matches of a condition. If h granules have a match, an
 * index may keep 1.03 h + rate * (granules - h). For an AND the bar is 1.1 times the granules that
 * have a match of each operand. Granules with matching records only should be counted unread.
 *
 * All figures follow from the seed. The exit code is 1 if a bar is missed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/skip.h"
#include "bench/die.h"
#include "bench/log_lines.h"

#define PATH           "skip_bars_bench.bbi"
#define ATTRIBUTES_MAX 8
#define SPECS_MAX      8
#define QUESTIONS_MAX  40
#define TEXT_SIZE      256
#define CANDIDATES     4000
#define READ_FACTOR    1.03
#define AND_FACTOR     1.1
#define UNREAD_SHARE   0.95

/* ---- conditions ---- */

struct sized_spec {
    const char *text;
    const char *what; /* of the bar; NULL: no bar */
    double bar;       /* by the Bloom filter */
};

enum pick { PICK_VALUE, PICK_WORD, PICK_RANGE };

/* A condition that holds for this share of the records, about. */
struct part {
    const char *format; /* of one text, or two numbers */
    uint32_t attribute;
    enum pick pick;
    double share;
};

struct question {
    double rate; /* of its index */
    struct part parts[2];
};

struct log_plan {
    const char *name;
    enum skip_log_kind kind;
    const char *definitions[ATTRIBUTES_MAX];
    struct sized_spec specs[SPECS_MAX];
    struct question questions[QUESTIONS_MAX];
};

#define EACH_SHARE(rate, format, attribute, pick)                                                  \
    {rate, {{format, attribute, pick, 0}}}, {rate, {{format, attribute, pick, 1e-6}}},             \
        {rate, {{format, attribute, pick, 1e-5}}}, {rate, {{format, attribute, pick, 1e-4}}},      \
        {rate, {{format, attribute, pick, 1e-3}}}, {rate, {{format, attribute, pick, 1e-2}}},      \
    {                                                                                              \
        rate,                                                                                      \
        {                                                                                          \
            {                                                                                      \
                format, attribute, pick, 1e-1                                                      \
            }                                                                                      \
        }                                                                                          \
    }

static const struct log_plan plans[] = {
    {"Apache",
     SKIP_LOG_APACHE,
     {"line bytes = value", "host bytes = clf(host)", "path bytes = clf(path)",
      "status u64 = clf(status)", "bytes u64 = clf(bytes)"},
     {{"tokens(line, rate=0.01)", "tokens", 0.5},
      {"values(host, rate=0.01)", "repeated values", 0.6},
      {"ngrams(path, n=4, rate=0.01)", NULL, 0},
      {"set(status)", NULL, 0},
      {"min_max(bytes)", NULL, 0},
      {"column(bytes)", NULL, 0}},
     {EACH_SHARE(0.01, "has_token(line, '%s')", 0, PICK_WORD),
      EACH_SHARE(0.01, "host = '%s'", 1, PICK_VALUE),
      EACH_SHARE(0.01, "contains(path, '%s')", 2, PICK_VALUE),
      EACH_SHARE(0, "bytes >= %.0f AND bytes <= %.0f", 4, PICK_RANGE),
      {0.01, {{"has_token(line, '%s')", 0, PICK_WORD, 1e-2}, {"host = '%s'", 1, PICK_VALUE, 1e-2}}},
      {0.01, {{"has_token(line, '%s')", 0, PICK_WORD, 1e-3}, {"host = '%s'", 1, PICK_VALUE, 1e-2}}},
      {0.01,
       {{"contains(path, '%s')", 2, PICK_VALUE, 1e-2}, {"host = '%s'", 1, PICK_VALUE, 1e-2}}}}},
    {"Zeek",
     SKIP_LOG_ZEEK,
     {"line bytes = value", "uid bytes = zeek(2)", "client bytes = zeek(3)", "ts f64 = zeek(1)",
      "query bytes = zeek(10)", "server bytes = zeek(5)"},
     {{"tokens(line, rate=0.01)", "near-unique tokens", 0.75},
      {"values(uid, rate=0.01)", "near-unique values", 0.75},
      {"values(client, rate=0.01)", "repeated values", 0.6},
      {"min_max(ts)", NULL, 0},
      {"values(query, rate=0.01)", NULL, 0},
      {"set(server)", NULL, 0}},
     {EACH_SHARE(0.01, "has_token(line, '%s')", 0, PICK_WORD),
      EACH_SHARE(0.01, "client = '%s'", 2, PICK_VALUE),
      EACH_SHARE(0, "ts >= %.6f AND ts <= %.6f", 3, PICK_RANGE),
      EACH_SHARE(0.01, "query = '%s'", 4, PICK_VALUE),
      {0.01, {{"uid = '%s'", 1, PICK_VALUE, 0}}},
      {0.01, {{"uid = '%s'", 1, PICK_VALUE, 1e-6}}},
      {0, {{"server = '%s'", 5, PICK_VALUE, 1e-1}}},
      {0.01, {{"query = '%s'", 4, PICK_VALUE, 1e-2}, {"client = '%s'", 2, PICK_VALUE, 1e-2}}},
      {0.01,
       {{"query = '%s'", 4, PICK_VALUE, 1e-3},
        {"ts >= %.6f AND ts <= %.6f", 3, PICK_RANGE, 1e-1}}}}},
    {"JSON",
     SKIP_LOG_JSON,
     {"line bytes = value", "id bytes = json($.id)", "ip bytes = json($.remote_ip)",
      "time u64 = json($.time)", "response u64 = json($.response)"},
     {{"tokens(line, rate=0.01)", "tokens", 0.5},
      {"values(id, rate=0.01)", "near-unique values", 0.75},
      {"values(ip, rate=0.01)", "repeated values", 0.6},
      {"min_max(time)", NULL, 0},
      {"column(response)", NULL, 0}},
     {EACH_SHARE(0.01, "has_token(line, '%s')", 0, PICK_WORD),
      EACH_SHARE(0.01, "ip = '%s'", 2, PICK_VALUE),
      EACH_SHARE(0, "time >= %.0f AND time <= %.0f", 3, PICK_RANGE),
      {0, {{"response = 404", 4, PICK_RANGE, 0}}},
      {0, {{"response = 208", 4, PICK_RANGE, 0}}},
      {0, {{"NOT response IN (200, 304)", 4, PICK_RANGE, 0}}},
      {0.01, {{"id = '%s'", 1, PICK_VALUE, 0}}},
      {0.01, {{"id = '%s'", 1, PICK_VALUE, 1e-6}}},
      {0.01,
       {{"ip = '%s'", 2, PICK_VALUE, 1e-2},
        {"time >= %.0f AND time <= %.0f", 3, PICK_RANGE, 1e-1}}},
      {0.01, {{"has_token(line, '%s')", 0, PICK_WORD, 1e-3}, {"ip = '%s'", 2, PICK_VALUE, 1e-2}}}}},
    {"system",
     SKIP_LOG_SYSTEM,
     {"line bytes = value"},
     {{"tokens(line, rate=0.01)", "mixed tokens", 0.7}},
     {EACH_SHARE(0.01, "has_token(line, '%s')", 0, PICK_WORD)}},
};

struct bench {
    const struct log_plan *plan;
    struct log_lines lines;
    size_t granule_size;
    size_t *granule_ends; /* in lines; owned */
    size_t granules;
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_skip_file *file;
    /* Sums over the conditions. */
    double read, allowed; /* of single ones */
    double false_read, false_allowed;
    double and_read, and_allowed;
    size_t whole, whole_unread;
    size_t singles, singles_met;
};

static bool is_missed; /* a bar was */

static void say(const char *log, const char *bar, double most, double seen)
{
    printf("  %-8s %-52s <= %6.3f   seen %6.3f   %s\n", log, bar, most, seen,
           seen <= most ? "met" : "MISSED");
    is_missed |= seen > most;
}

/* ---- building ---- */

static void make_schema(struct bench *bench)
{
    bench_must(bb_schema_create(&bench->schema));
    for (size_t i = 0; i < ATTRIBUTES_MAX && bench->plan->definitions[i] != NULL; i++)
        bench_must(bb_schema_add(bench->schema, bench->plan->definitions[i]));
    bench_must(bb_record_reader_create(bench->schema, NULL, &bench->reader));
}

static void build(struct bench *bench)
{
    struct bb_skip_spec specs[SPECS_MAX];
    struct bb_skip_builder *builder = NULL;
    struct bb_hash_secret secret;
    size_t count = 0;
    bb_hash_secret_from_seed(1, &secret);
    struct bb_skip_options options = {.secret = &secret};
    for (; count < SPECS_MAX && bench->plan->specs[count].text != NULL; count++)
        bench_must(
            bb_skip_spec_parse(bench->plan->specs[count].text, bench->schema, &specs[count]));
    (void)remove(PATH);
    bench_must(bb_skip_builder_create(PATH, &options, bench->schema, specs, count, &builder));
    bench->granule_ends =
        bench_allocate((bench->lines.size / bench->granule_size + 2) * sizeof(size_t));
    size_t size = 0;
    for (size_t i = 0; i < bench->lines.count; i++) {
        struct bb_bytes line = log_lines_at(&bench->lines, i);
        bench_must(bb_skip_builder_add_record(builder, (struct bb_bytes){0}, line));
        size += line.size;
        if (size < bench->granule_size && i + 1 < bench->lines.count)
            continue;
        bench_must(bb_skip_builder_end_granule(builder, i));
        bench->granule_ends[bench->granules++] = i + 1;
        size = 0;
    }
    bench_must(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    bench_must(bb_skip_file_open(PATH, NULL, &bench->file));
}

static void report_sizes(const struct bench *bench)
{
    for (size_t i = 0; i < bb_skip_file_index_count(bench->file); i++) {
        const struct sized_spec *spec = &bench->plan->specs[i];
        struct bb_skip_index_info info;
        bb_skip_file_index(bench->file, i, &info);
        double percent = 100.0 * (double)info.size_bytes / (double)bench->lines.size;
        double bits = 8 * (double)info.size_bytes / (double)info.pair_count;
        if (info.spec.rate == 0) {
            printf("  %-8s %-30s %6.3f %% of raw\n", bench->plan->name, spec->text, percent);
            continue;
        }
        double bloom = log(1 / info.spec.rate) / (log(2) * log(2));
        printf("  %-8s %-30s %6.3f %% of raw, %5.2f bits a pair, %.0f members a granule; "
               "Bloom %.2f, the limit of a filter %.2f bits, rate predicted %.5f\n",
               bench->plan->name, spec->text, percent, bits,
               (double)info.pair_count / (double)bench->granules, bloom, log2(1 / info.spec.rate),
               info.predicted_rate);
        char bar[TEXT_SIZE];
        snprintf(bar, sizeof(bar), "size by tokenbf_v1, %s", spec->what == NULL ? "" : spec->what);
        if (spec->what != NULL)
            say(bench->plan->name, bar, spec->bar, bits / bloom);
    }
}

/* ---- choosing constants ---- */

struct hashes {
    uint64_t *list;
    size_t count;
    size_t capacity;
};

static void add_hash(struct hashes *hashes, struct bb_bytes bytes)
{
    if (hashes->count == hashes->capacity) {
        hashes->capacity = hashes->capacity == 0 ? 1 << 20 : 2 * hashes->capacity;
        hashes->list = realloc(hashes->list, hashes->capacity * sizeof(uint64_t));
        if (hashes->list == NULL)
            bench_die("no memory");
    }
    hashes->list[hashes->count++] = bb_hash_xxh64(bytes);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many there are below a hash. */
static size_t rank_of(const struct hashes *hashes, uint64_t hash)
{
    size_t low = 0;
    for (size_t high = hashes->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (hashes->list[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t count_of(const struct hashes *hashes, struct bb_bytes bytes)
{
    uint64_t hash = bb_hash_xxh64(bytes);
    return rank_of(hashes, hash + 1) - rank_of(hashes, hash);
}

static bool is_word_byte(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return byte >= 0x80 || (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

/* The next word from *at on; false at the end. */
static bool next_word(struct bb_bytes text, size_t *at, struct bb_bytes *ret_word)
{
    while (*at < text.size && !is_word_byte(text.data[*at]))
        (*at)++;
    size_t begin = *at;
    while (*at < text.size && is_word_byte(text.data[*at]))
        (*at)++;
    *ret_word = bb_bytes_of(text.data + begin, *at - begin);
    return *at > begin;
}

static void read_record(const struct bench *bench, size_t record, struct bb_attribute *attributes)
{
    bench_must(bb_record_read(bench->reader, (struct bb_bytes){0},
                              log_lines_at(&bench->lines, record), attributes));
}

static void collect(const struct bench *bench, const struct part *part, struct hashes *hashes)
{
    struct bb_attribute attributes[ATTRIBUTES_MAX];
    for (size_t i = 0; i < bench->lines.count; i++) {
        read_record(bench, i, attributes);
        struct bb_bytes text = attributes[part->attribute].as.bytes;
        struct bb_bytes word;
        size_t at = 0;
        if (attributes[part->attribute].state != BB_ATTRIBUTE_PRESENT)
            continue;
        if (part->pick == PICK_VALUE)
            add_hash(hashes, text);
        while (part->pick == PICK_WORD && next_word(text, &at, &word))
            add_hash(hashes, word);
    }
    qsort(hashes->list, hashes->count, sizeof(uint64_t), compare_numbers);
}

/* Keeps the text if its frequency is nearer to the share. */
static void consider(const struct bench *bench, const struct hashes *hashes, double share,
                     struct bb_bytes text, double *best, struct bb_bytes *ret_text)
{
    double seen = (double)count_of(hashes, text) / (double)bench->lines.count;
    double off = fabs(log(seen / share));
    bool is_plain = text.size > 3 && memchr(text.data, '\'', text.size) == NULL;
    if (!is_plain || text.size >= TEXT_SIZE / 2 || off >= *best)
        return;
    *best = off;
    *ret_text = text;
}

static struct bb_bytes find_text(const struct bench *bench, const struct part *part)
{
    struct bb_attribute attributes[ATTRIBUTES_MAX];
    struct hashes hashes = {0};
    struct bb_bytes found = bb_bytes_of("qzabsent", 8);
    double best = INFINITY;
    if (part->share == 0)
        return found;
    collect(bench, part, &hashes);
    for (size_t i = 0; i < CANDIDATES; i++) {
        read_record(bench, i * bench->lines.count / CANDIDATES, attributes);
        struct bb_bytes text = attributes[part->attribute].as.bytes;
        struct bb_bytes word;
        size_t at = 0;
        if (attributes[part->attribute].state != BB_ATTRIBUTE_PRESENT)
            continue;
        if (part->pick == PICK_VALUE)
            consider(bench, &hashes, part->share, text, &best, &found);
        while (part->pick == PICK_WORD && next_word(text, &at, &word))
            consider(bench, &hashes, part->share, word, &best, &found);
    }
    free(hashes.list);
    return found;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Two values that enclose this share of the records. */
static void find_range(const struct bench *bench, const struct part *part, double bounds[2])
{
    struct bb_attribute attributes[ATTRIBUTES_MAX];
    double *numbers = bench_allocate(bench->lines.count * sizeof(double));
    size_t count = 0;
    for (size_t i = 0; i < bench->lines.count; i++) {
        read_record(bench, i, attributes);
        const struct bb_attribute *attribute = &attributes[part->attribute];
        if (attribute->state == BB_ATTRIBUTE_PRESENT)
            numbers[count++] =
                attribute->type == BB_ATTRIBUTE_F64 ? attribute->as.f64 : (double)attribute->as.u64;
    }
    qsort(numbers, count, sizeof(numbers[0]), compare_doubles);
    size_t first = (size_t)((double)count * 0.4);
    bounds[0] = numbers[first];
    bounds[1] = numbers[first + (size_t)((double)count * part->share)];
    free(numbers);
}

static void print_part(const struct bench *bench, const struct part *part, char text[TEXT_SIZE])
{
    char found[TEXT_SIZE];
    double bounds[2];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (part->pick == PICK_RANGE) {
        find_range(bench, part, bounds);
        snprintf(text, TEXT_SIZE, part->format, bounds[0], bounds[1]);
        return;
    }
    struct bb_bytes bytes = find_text(bench, part);
    snprintf(found, sizeof(found), "%.*s", (int)bytes.size, (const char *)bytes.data);
    snprintf(text, TEXT_SIZE, part->format, found);
#pragma GCC diagnostic pop
}

/* ---- matches, and the answers of indexes ---- */

struct truth {
    uint64_t *matches; /* records of each granule; owned */
    uint64_t records;
};

static struct truth find_truth(const struct bench *bench, const struct bb_condition *condition)
{
    struct bb_attribute attributes[ATTRIBUTES_MAX];
    struct truth truth = {.matches = bench_allocate((bench->granules + 1) * sizeof(uint64_t))};
    struct bb_condition_run *run = NULL;
    size_t granule = 0;
    bench_must(bb_condition_run_create(condition, &run));
    for (size_t i = 0; i < bench->lines.count; i++) {
        enum bb_truth is_true = BB_TRUTH_FALSE;
        granule += i == bench->granule_ends[granule];
        read_record(bench, i, attributes);
        bench_must(bb_condition_test(run, attributes, &is_true));
        truth.matches[granule] += is_true == BB_TRUTH_TRUE;
        truth.records += is_true == BB_TRUTH_TRUE;
    }
    bb_condition_run_destroy(run);
    return truth;
}

static bool has_bit(const uint64_t *bits, size_t granule)
{
    return (bits[granule / 64] >> (granule % 64) & 1) != 0;
}

static uint64_t records_of(const struct bench *bench, size_t granule)
{
    return bench->granule_ends[granule] - (granule == 0 ? 0 : bench->granule_ends[granule - 1]);
}

/* The number of granules to read. Counts granules with matching records only in bench. */
static size_t ask(struct bench *bench, const struct bb_condition *condition,
                  const struct truth *truth)
{
    struct bb_skip_verdicts verdicts;
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    size_t left = 0;
    bench_must(bb_skip_file_evaluate(bench->file, condition, bench->schema, NULL, &verdicts));
    if (bb_skip_rows_create(bench->file, condition, bench->schema, &rows) != BB_OK)
        rows = NULL;
    for (size_t i = 0; i < bench->granules; i++) {
        bool is_whole = truth->matches[i] == records_of(bench, i);
        bool may_be = has_bit(verdicts.may_be_true, i);
        bool is_known = !has_bit(verdicts.may_be_false, i) && !has_bit(verdicts.may_be_null, i);
        if (may_be && rows != NULL && bb_skip_rows_read(rows, i, NULL, &bits) == BB_OK) {
            may_be = bb_skip_row_bits_judge(&bits) != BB_SKIP_EXCLUDED;
            is_known = bb_skip_row_bits_judge(&bits) != BB_SKIP_READ;
        }
        if (truth->matches[i] > 0 && !may_be)
            bench_die("an index lost a granule");
        left += may_be;
        bench->whole += is_whole;
        bench->whole_unread += is_whole && is_known;
    }
    bb_skip_rows_destroy(rows);
    bb_skip_verdicts_deinit(&verdicts);
    return left;
}

static struct bb_condition *parse(const struct bench *bench, const char *text)
{
    struct bb_condition *condition = NULL;
    bench_must(bb_condition_parse(bench->schema, bb_bytes_of_text(text), &condition));
    return condition;
}

static double sum_single(struct bench *bench, const struct question *question, size_t holding,
                         size_t left)
{
    double allowed =
        READ_FACTOR * (double)holding + question->rate * (double)(bench->granules - holding);
    bench->read += (double)left;
    bench->allowed += allowed;
    if (question->rate > 0) {
        bench->false_read += (double)(left - holding);
        bench->false_allowed += question->rate * (double)(bench->granules - holding);
    }
    bench->singles++;
    bench->singles_met += (double)left <= ceil(allowed);
    return allowed;
}

/* Granules that hold a match of each part. */
static double sum_and(struct bench *bench, char texts[2][TEXT_SIZE], size_t left)
{
    struct bb_condition *conditions[2] = {parse(bench, texts[0]), parse(bench, texts[1])};
    struct truth truths[2] = {find_truth(bench, conditions[0]), find_truth(bench, conditions[1])};
    size_t both = 0;
    for (size_t i = 0; i < bench->granules; i++)
        both += truths[0].matches[i] > 0 && truths[1].matches[i] > 0;
    for (size_t i = 0; i < 2; i++) {
        free(truths[i].matches);
        bb_condition_destroy(conditions[i]);
    }
    bench->and_read += (double)left;
    bench->and_allowed += AND_FACTOR * (double)both;
    return AND_FACTOR * (double)both;
}

static void run_question(struct bench *bench, const struct question *question)
{
    char texts[2][TEXT_SIZE];
    char text[2 * TEXT_SIZE + 8];
    bool is_and = question->parts[1].format != NULL;
    print_part(bench, &question->parts[0], texts[0]);
    if (is_and)
        print_part(bench, &question->parts[1], texts[1]);
    snprintf(text, sizeof(text), "%s%s%s", texts[0], is_and ? " AND " : "", is_and ? texts[1] : "");
    struct bb_condition *condition = parse(bench, text);
    struct truth truth = find_truth(bench, condition);
    size_t left = ask(bench, condition, &truth);
    size_t holding = 0;
    for (size_t i = 0; i < bench->granules; i++)
        holding += truth.matches[i] > 0;
    double allowed =
        is_and ? sum_and(bench, texts, left) : sum_single(bench, question, holding, left);
    printf("  %-8s %9.2e of the records, in %5zu granules; %5zu left, bar %7.1f   %.70s\n",
           bench->plan->name, (double)truth.records / (double)bench->lines.count, holding, left,
           allowed, text);
    fflush(stdout);
    free(truth.matches);
    bb_condition_destroy(condition);
}

static void run_log(const struct log_plan *plan, size_t size, size_t granule_size)
{
    struct bench bench = {.plan = plan, .granule_size = granule_size};
    log_lines_make(&bench.lines, plan->kind, size);
    make_schema(&bench);
    build(&bench);
    printf("\n%s: %zu lines, %.1f MB, %zu granules of %zu KiB\n", plan->name, bench.lines.count,
           (double)bench.lines.size / 1e6, bench.granules, granule_size >> 10);
    report_sizes(&bench);
    for (size_t i = 0; i < QUESTIONS_MAX && plan->questions[i].parts[0].format != NULL; i++)
        run_question(&bench, &plan->questions[i]);
    say(plan->name, "granules left by single conditions, by the bar, sum", 1,
        bench.read / bench.allowed);
    say(plan->name, "granules left without a match, by the rates, sum", 1,
        bench.false_read / bench.false_allowed);
    printf(
        "  %-8s %zu of %zu single conditions are within 1.03 h + rate * rest: a rate is a mean\n",
        plan->name, bench.singles_met, bench.singles);
    if (bench.and_allowed > 0)
        say(plan->name, "granules left by AND, by the bar, sum", 1,
            bench.and_read / bench.and_allowed);
    if (bench.whole > 0)
        say(plan->name, "granules with matches only that are read, share", 1 - UNREAD_SHARE,
            1 - (double)bench.whole_unread / (double)bench.whole);
    bb_skip_file_close(bench.file);
    bb_record_reader_destroy(bench.reader);
    bb_schema_destroy(bench.schema);
    log_lines_deinit(&bench.lines);
    free(bench.granule_ends);
    (void)remove(PATH);
}

int main(int argc, char **argv)
{
    size_t size = (argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 64) << 20;
    size_t granule_size = (argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 64) << 10;
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
        run_log(&plans[i], size, granule_size);
    return is_missed ? EXIT_FAILURE : EXIT_SUCCESS;
}
