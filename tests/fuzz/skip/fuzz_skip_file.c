/* Arbitrary index files. The input is a file; magic, version and all checksums are repaired, within
 * its recorded sizes, so that the code after them is reached.
 *
 * A file that opens is described, queried, decided by its columns, and verified. No byte outside
 * the file may be read, and no bit may be set for a missing granule.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/condition/words.h"
#include "skip/file/skip_file.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH          "/index"
#define QUESTIONS_MAX 8
/* Of a file, for each question. */
#define GRANULES_MAX 8

static const char *const definitions[] = {
    "line bytes = split(' ', 1)", "number i64 = split(' ', 2)", "ratio f64 = split(' ', 3)"};
static const char *const texts[] = {
    "number = 5 OR ratio < 0.25 AND line LIKE 'GET /page%'",
    "NOT (has_token(line, 'item7') OR number IN (1, 2, 3)) AND line IS NOT NULL",
    "line LIKE '%page-3%' AND ratio >= 0",
    "line ILIKE '%AGE%' OR contains(line, 'em1') OR has_token(line, 'GET')",
    "NOT has_token(line, 'by') OR line IS NULL",
};
/* Only in a build with words. */
static const char *const texts_of_words[] = {
    "has_word(line, '3.14') AND NOT ihas_word(line, 'STRASSE')",
    "has_any_word(line, 'User1 User2') OR line ILIKE '% user3, %'",
};

/* --- Repair --- */

static void seal(uint8_t *data, size_t size, enum bb_skip_unit type, uint64_t offset,
                 uint64_t unit_size)
{
    if (unit_size < BB_SKIP_CHECKSUM_SIZE || offset > size || unit_size > size - offset)
        return;
    const uint8_t *id = data + size - BB_SKIP_FOOTER_SIZE + 20;
    size_t bytes = (size_t)unit_size - BB_SKIP_CHECKSUM_SIZE;
    bb_store64(data + offset + bytes,
               bb_skip_checksum(id, type, offset, bb_bytes_of(data + offset, bytes)));
}

static void repair_footer(uint8_t *data, size_t size)
{
    uint8_t *footer = data + size - BB_SKIP_FOOTER_SIZE;
    bb_store32(footer + 16, BB_SKIP_VERSION);
    memcpy(footer + BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE, BB_SKIP_MAGIC, BB_SKIP_MAGIC_SIZE);
    seal(data, size, BB_SKIP_UNIT_FOOTER, size - BB_SKIP_FOOTER_SIZE,
         BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE);
    seal(data, size, BB_SKIP_UNIT_DIRECTORY, bb_load64(footer), bb_load64(footer + 8));
}

static void repair_segment(uint8_t *data, size_t size, const struct bb_head_segment *segment)
{
    if (segment->form == BB_SKIP_FORM_BOUNDS || segment->form == BB_SKIP_FORM_VALUES)
        seal(data, size, BB_SKIP_UNIT_DATA, segment->data.offset, segment->data.size);
    for (uint32_t i = 0; segment->form == BB_SKIP_FORM_COLUMN && i < segment->chunk_count; i++)
        seal(data, size, BB_SKIP_UNIT_DATA, segment->chunks[i].data.offset,
             segment->chunks[i].data.size);
    for (uint32_t i = 0; segment->form == BB_SKIP_FORM_DICTIONARY && i < segment->block_count; i++)
        seal(data, size, BB_SKIP_UNIT_DATA, segment->blocks[i].data.offset,
             segment->blocks[i].data.size);
    if (!bb_skip_form_is_inverted(segment->form))
        return;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < bb_segment_chunk_count(&segment->inverted); i++) {
        uint64_t end = bb_load32(segment->inverted.ends + (size_t)i * sizeof(uint32_t));
        seal(data, size, BB_SKIP_UNIT_DATA, segment->data.offset + begin, end - begin);
        begin = end;
    }
}

/* The parts named by the directory and the heads. These are unchanged, and may name each other's
 * bytes; such damage stays. */
static void repair_indexes(uint8_t *data, size_t size, const struct bb_index_directory *directory)
{
    for (size_t i = 0; i < directory->index_count; i++) {
        const struct bb_directory_entry *entry = &directory->indexes[i];
        struct bb_index_head head;
        struct bb_buf bytes = {0};
        if (!bb_directory_entry_is_read(entry))
            continue;
        seal(data, size, BB_SKIP_UNIT_HEAD, entry->head.offset, entry->head.size);
        struct bb_bytes unit = bb_bytes_of(data + entry->head.offset,
                                           (size_t)entry->head.size - BB_SKIP_CHECKSUM_SIZE);
        BB_ASSERT(bb_buf_assign(&bytes, unit) == BB_OK);
        if (bb_index_head_decode(&bytes, directory, entry, size, (struct bb_place){0}, &head) !=
            BB_OK)
            continue;
        for (size_t segment = 0; segment < head.segment_count; segment++)
            repair_segment(data, size, &head.segments[segment]);
        bb_index_head_deinit(&head);
    }
    seal(data, size, BB_SKIP_UNIT_GRANULES, directory->granules.offset, directory->granules.size);
}

static void repair(uint8_t *data, size_t size)
{
    struct bb_index_directory directory;
    repair_footer(data, size);
    const uint8_t *footer = data + size - BB_SKIP_FOOTER_SIZE;
    uint64_t offset = bb_load64(footer);
    uint64_t bytes = bb_load64(footer + 8);
    if (bytes < BB_SKIP_CHECKSUM_SIZE || offset > size || bytes > size - offset)
        return;
    struct bb_bytes section = bb_bytes_of(data + offset, (size_t)bytes - BB_SKIP_CHECKSUM_SIZE);
    if (bb_index_directory_decode(section, (struct bb_place){0}, size, &directory) != BB_OK)
        return;
    repair_indexes(data, size, &directory);
    bb_index_directory_deinit(&directory);
    repair_footer(data, size);
}

/* --- Use --- */

static void check_rest(const uint64_t *words, size_t granule_count)
{
    if (granule_count % 64 != 0)
        BB_ASSERT(words[granule_count / 64] >> granule_count % 64 == 0);
}

static void count(struct bb_skip_file *file, const struct bb_condition *condition,
                  const struct bb_schema *schema)
{
    struct bb_skip_counts *counts = NULL;
    struct bb_skip_granule_info granule;
    uint64_t records = 0;
    if (bb_skip_counts_create(file, condition, schema, NULL, &counts) != BB_OK)
        return;
    for (size_t i = 0; i < bb_skip_file_granule_count(file) && i < GRANULES_MAX; i++) {
        bb_skip_file_granule(file, i, &granule);
        if (bb_skip_counts_read(counts, i, &records) == BB_OK)
            BB_ASSERT(records <= granule.record_count);
    }
    bb_skip_counts_destroy(counts);
}

static void evaluate(struct bb_skip_file *file, const struct bb_condition *condition,
                     const struct bb_schema *schema)
{
    struct bb_skip_verdicts verdicts = {0};
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    BB_ASSERT(bb_skip_file_evaluate(file, condition, schema, NULL, &verdicts) == BB_OK);
    check_rest(verdicts.may_be_true, verdicts.granule_count);
    check_rest(verdicts.may_be_false, verdicts.granule_count);
    check_rest(verdicts.may_be_null, verdicts.granule_count);
    bb_skip_verdicts_deinit(&verdicts);
    count(file, condition, schema);
    if (bb_skip_rows_create(file, condition, schema, &rows) != BB_OK)
        return;
    for (size_t i = 0; i < bb_skip_file_granule_count(file) && i < GRANULES_MAX; i++)
        if (bb_skip_rows_read(rows, i, NULL, &bits) == BB_OK)
            BB_ASSERT(bits.certain_count <= bits.record_count);
    bb_skip_rows_destroy(rows);
}

/* The schema and the conditions, the same for all inputs. WHY once: with a sanitizer, parsing them
 * took longer than most inputs. */
struct questions {
    struct bb_schema *schema;
    struct bb_condition *conditions[QUESTIONS_MAX];
    size_t count;
};

static void add_question(struct questions *questions, const char *text)
{
    BB_ASSERT(questions->count < QUESTIONS_MAX);
    BB_ASSERT(bb_condition_parse(questions->schema, bb_bytes_of_text(text),
                                 &questions->conditions[questions->count++]) == BB_OK);
}

static const struct questions *make_questions(void)
{
    static struct questions questions;
    if (questions.schema != NULL)
        return &questions;
    BB_ASSERT(bb_schema_create(&questions.schema) == BB_OK);
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        BB_ASSERT(bb_schema_add(questions.schema, definitions[i]) == BB_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        add_question(&questions, texts[i]);
    for (size_t i = 0; i < sizeof(texts_of_words) / sizeof(texts_of_words[0]); i++)
        if (bb_words_are_built())
            add_question(&questions, texts_of_words[i]);
    return &questions;
}

static void use(struct bb_skip_file *file)
{
    const struct questions *questions = make_questions();
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
    }
    for (size_t i = 0; i < questions->count; i++)
        evaluate(file, questions->conditions[i], questions->schema);
    (void)!bb_skip_file_verify(file);
}

/* Half of the inputs are read by pieces, the others are in memory as a whole. */
static void open_and_use(struct bb_file_memory *memory, bool is_resident)
{
    struct bb_skip_file *file = NULL;
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(memory),
                                           .is_resident = is_resident};
    if (bb_skip_file_open(PATH, &options, &file) != BB_OK)
        return;
    use(file);
    bb_skip_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < BB_SKIP_FOOTER_SIZE)
        return 0;
    uint8_t *copy = bb_must_realloc(NULL, size);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    memcpy(copy, data, size);
    repair(copy, size);
    bb_file_memory_put(memory, PATH, bb_bytes_of(copy, size));
    open_and_use(memory, (size & 1) != 0);
    bb_file_memory_destroy(memory);
    free(copy);
    return 0;
}
