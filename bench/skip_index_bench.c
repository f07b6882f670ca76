/* Building and querying skip indexes over generated logs: size, bits per pair, rate, nanoseconds.
 *
 *     skip_index_bench [MEBIBYTES [KIB_PER_GRANULE]]        default 256, 64
 *
 * The lines are in memory. Building measures only the builder: lines are added as one attribute
 * each, so that no field is parsed. Querying: tokens without matches, and the tokens of the first
 * line; words of Unicode are only built. Thread processor time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bb/skip.h"
#include "bench/die.h"
#include "bench/log_lines.h"
#include "bench/thread_clock.h"
#include "skip/condition/words.h"
#include "skip/file/skip_file.h"
#include "skip/query/index_question.h"

#define PATH      "skip_index_bench.bbi"
#define QUESTIONS 2000
#define PART_RUNS 10

static struct bb_schema *make_schema(void)
{
    struct bb_schema *schema = NULL;
    bench_must(bb_schema_create(&schema));
    bench_must(bb_schema_add(schema, "line bytes = value"));
    return schema;
}

static double build(const struct log_lines *lines, const struct bb_schema *schema, const char *text,
                    size_t granule_size)
{
    struct bb_skip_spec spec;
    struct bb_hash_secret secret;
    struct bb_skip_builder *builder = NULL;
    bb_hash_secret_from_seed(1, &secret);
    struct bb_skip_options options = {.secret = &secret};
    bench_must(bb_skip_spec_parse(text, schema, &spec));
    (void)remove(PATH);
    double start = thread_clock_now();
    bench_must(bb_skip_builder_create(PATH, &options, schema, &spec, 1, &builder));
    struct bb_attribute line = {.type = BB_ATTRIBUTE_BYTES};
    size_t begin = 0;
    size_t granule = 0;
    for (size_t i = 0; i < lines->count; i++) {
        line.as.bytes =
            (struct bb_bytes){(const uint8_t *)lines->bytes + begin, lines->ends[i] - begin};
        bench_must(bb_skip_builder_add(builder, &line));
        begin = lines->ends[i];
        if (begin - granule >= granule_size || i + 1 == lines->count) {
            bench_must(bb_skip_builder_end_granule(builder, granule));
            granule = begin;
        }
    }
    bench_must(bb_skip_builder_finish(builder));
    double nanoseconds = thread_clock_now() - start;
    bb_skip_builder_destroy(builder);
    return nanoseconds;
}

/* Gives the granules that may be true. */
static size_t ask_piece(struct bb_skip_file *file, const struct bb_piece *piece,
                        struct bb_skip_account *account)
{
    struct bb_question_memory memory = {0};
    size_t granules = bb_skip_file_granule_count(file);
    uint64_t *words = calloc(3 * bb_truth_words(granules), sizeof(words[0]));
    if (words == NULL)
        exit(1);
    struct bb_piece_group group = {.pieces = piece, .piece_count = 1};
    struct bb_leaf leaf = {
        .kind = BB_LEAF_TEXT, .type = BB_ATTRIBUTE_BYTES, .groups = &group, .group_count = 1};
    struct bb_skip_verdicts verdicts = {0};
    bb_truth_bits_place(&verdicts, words, granules);
    bb_truth_bits_fill(&verdicts);
    bench_must(bb_index_question_ask(file, 0, &leaf, NULL, &memory, account, &verdicts));
    size_t count = 0;
    for (size_t i = 0; i < verdicts.word_count; i++)
        count += (size_t)__builtin_popcountll(verdicts.may_be_true[i]);
    bb_index_question_memory_deinit(&memory);
    free(words);
    return count;
}

static size_t ask(struct bb_skip_file *file, struct bb_bytes token, struct bb_skip_account *account)
{
    struct bb_piece piece = {.bytes = token, .is_token = true};
    return ask_piece(file, &piece, account);
}

static int compare_counts(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static void report_questions(bool is_resident)
{
    struct bb_skip_file_options options = {.is_resident = is_resident};
    struct bb_skip_file *file = NULL;
    struct bb_skip_account account = {0};
    static size_t counts[QUESTIONS];
    bench_must(bb_skip_file_open(PATH, &options, &file));
    double sum = 0;
    (void)ask(file, (struct bb_bytes){(const uint8_t *)"warm", 4}, NULL);
    double start = thread_clock_now();
    for (size_t i = 0; i < QUESTIONS; i++) {
        char token[32];
        int size = snprintf(token, sizeof(token), "q%llxz", (unsigned long long)bb_hash_mix(i));
        counts[i] = ask(file, (struct bb_bytes){(const uint8_t *)token, (size_t)size}, &account);
        sum += (double)counts[i];
    }
    double nanoseconds = thread_clock_now() - start;
    qsort(counts, QUESTIONS, sizeof(counts[0]), compare_counts);
    double granules = (double)bb_skip_file_granule_count(file);
    printf("    %-8s non-member tokens: rate %.5f, p99.9 of the granules %.4f, %.0f ns a segment, "
           "%.1f reads of %.0f bytes\n",
           is_resident ? "memory" : "file", sum / QUESTIONS / granules,
           (double)counts[QUESTIONS * 999 / 1000] / granules,
           nanoseconds / (double)account.segments_searched,
           (double)account.reads / (double)account.segments_searched,
           account.reads == 0 ? 0 : (double)account.read_bytes / (double)account.reads);
    bb_skip_file_close(file);
}

/* Parts of words: rare, within many words, and nearly everywhere. */
static void report_parts(void)
{
    static const char *const parts[] = {"qzabsent", "ozill", "00", "ag", "e"};
    struct bb_skip_file_options options = {.is_resident = true};
    struct bb_skip_file *file = NULL;
    bench_must(bb_skip_file_open(PATH, &options, &file));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct bb_piece piece = {
            .bytes = {.data = (const uint8_t *)parts[i], .size = strlen(parts[i])}};
        struct bb_skip_account account = {0};
        size_t granules = ask_piece(file, &piece, NULL);
        double start = thread_clock_now();
        for (int run = 0; run < PART_RUNS; run++)
            (void)ask_piece(file, &piece, &account);
        double nanoseconds = thread_clock_now() - start;
        printf("    part %-9s %6zu of %zu granules, %7.1f us a segment\n", parts[i], granules,
               bb_skip_file_granule_count(file),
               account.segments_searched == 0
                   ? 0.0
                   : nanoseconds / 1e3 / (double)account.segments_searched);
    }
    bb_skip_file_close(file);
}

static void report(const struct log_lines *lines, const struct bb_schema *schema, const char *text,
                   size_t granule_size)
{
    double nanoseconds = build(lines, schema, text, granule_size);
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info;
    bench_must(bb_skip_file_open(PATH, NULL, &file));
    bb_skip_file_index(file, 0, &info);
    printf("  %-28s %6.3f %% of raw, %5.2f bits a pair, %.0f members a granule, head %.4f %%, "
           "predicted %.5f, built in %.2f ns/B\n",
           text, 100.0 * (double)bb_skip_file_size(file) / (double)lines->size,
           8 * (double)info.size_bytes / (double)info.pair_count,
           (double)info.pair_count / (double)bb_skip_file_granule_count(file),
           100.0 * (double)info.pinned_bytes / (double)lines->size, info.predicted_rate,
           nanoseconds / (double)lines->size);
    bb_skip_file_close(file);
    if (info.spec.tokenizer == BB_TOKENIZER_UNICODE) {
        (void)remove(PATH);
        return;
    }
    if (info.spec.kind == BB_SKIP_TOKENS || info.spec.kind == BB_SKIP_TEXT) {
        report_questions(true);
        report_questions(false);
    }
    if (info.spec.kind == BB_SKIP_TEXT || info.spec.kind == BB_SKIP_NGRAMS)
        report_parts();
    (void)remove(PATH);
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {"tokens(line, rate=0.01)",
                                        "tokens(line, rate=0.001)",
                                        "tokens(line, rate=0.0001)",
                                        "tokens(line, fold=lower)",
                                        "ngrams(line, n=3, rate=0.1)",
                                        "ngrams(line, n=4, rate=0.1)",
                                        "text(line)",
                                        "text(line, counts=yes)",
                                        "values(line, rate=0.01)"};
    /* Only in a build with words. */
    static const char *const texts_of_words[] = {"tokens(line, tokenizer=unicode)",
                                                 "tokens(line, tokenizer=unicode, fold=unicode)",
                                                 "text(line, tokenizer=unicode)"};
    static const char *const names[] = {"Apache", "Zeek", "JSON", "system"};
    size_t size = (argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 256) << 20;
    size_t granule_size = (argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 64) << 10;
    struct bb_schema *schema = make_schema();
    for (uint32_t kind = SKIP_LOG_APACHE; kind < SKIP_LOG_KINDS; kind++) {
        struct log_lines lines;
        log_lines_make(&lines, (enum skip_log_kind)kind, size);
        printf("%s: %zu lines, %.1f MB, granules of %zu KiB\n", names[kind], lines.count,
               (double)lines.size / 1e6, granule_size >> 10);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
            report(&lines, schema, texts[i], granule_size);
        for (size_t i = 0; i < sizeof(texts_of_words) / sizeof(texts_of_words[0]); i++)
            if (bb_words_are_built())
                report(&lines, schema, texts_of_words[i], granule_size);
        log_lines_deinit(&lines);
    }
    bb_schema_destroy(schema);
    return 0;
}
