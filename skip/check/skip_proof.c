/* Compares an index file with the records that it indexes. See bb/skip.h.
 *
 * Bounds and columns are compared with each value. Values and members are collected for a segment
 * as a builder does, and at its end each of them is searched in the stored segment. So each
 * distinct member of a segment takes one query.
 *
 * Threads: one.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/member/canonical.h"
#include "skip/kind/column.h"
#include "skip/kind/member_index.h"
#include "skip/check/proof_reader.h"
#include "skip/file/skip_file.h"
#include "skip/check/text_proof.h"
#include "skip/kind/value_set.h"
#include "skip/record/attribute.h"

/* The progress of one index through the granules. */
struct proof_index {
    size_t number; /* in the file */
    const struct bb_directory_entry *entry;
    const struct bb_loaded_head *head;
    enum bb_attribute_type type;
    size_t segment;
    uint32_t granule;   /* of the segment */
    struct bb_buf unit; /* owned: the bounds of the segment, or a chunk of the column; padded */
    struct bb_cursor cursor;
    struct bb_read_bounds bounds; /* of the current granule */
    uint32_t chunk;               /* of the column */
    bool is_stored;               /* the column has this granule */
    struct bb_column_granule column;
    size_t part;                  /* of the column's granule, with the current record */
    uint64_t part_end;            /* records up to its end */
    struct bb_bit_reader numbers; /* of the column's remaining records */
    struct bb_value_set_builder set;
    struct bb_member_index_builder members;
    struct bb_text_index_builder text;
};

struct bb_skip_proof {
    struct bb_skip_file *file; /* borrowed */
    struct bb_proof_reader reader;
    uint64_t (*counts)[4];       /* owned: of the current granule, by attribute and state */
    struct proof_index *indexes; /* owned */
    size_t index_count;
    size_t granule; /* current */
    size_t part;    /* current, of that granule */
    bool is_begun;  /* the current granule was begun in all indexes */
    uint64_t record_count;
    struct bb_buf scratch; /* owned: units, and space for sorting */
};

/* --- Errors --- */

static enum bb_status refuse(const struct bb_skip_proof *proof, const struct proof_index *index,
                             size_t granule, const char *what)
{
    const struct bb_index_directory *directory = &proof->file->directory;
    struct bb_place place = {.file = proof->file->file->path, .offset = index->entry->head.offset};
    return bb_corrupt(place, 0,
                      "index %zu, %s of \"%s\", %s granule %zu: it would lose records; build the "
                      "index file again",
                      index->number, bb_skip_kind_name(index->entry->spec.kind),
                      directory->attributes[index->entry->spec.attribute].name, what, granule);
}

static enum bb_status refuse_count(const struct bb_skip_proof *proof, size_t granule,
                                   const char *what, uint64_t found, uint64_t told)
{
    struct bb_place place = {.file = proof->file->file->path,
                             .offset = proof->file->directory.granules.offset};
    return bb_corrupt(place, 0,
                      "granule %zu has %" PRIu64 " %s, the index file has %" PRIu64
                      ": build the index file again",
                      granule, found, what, told);
}

/* --- One index --- */

static const struct bb_head_segment *segment_of(const struct proof_index *index)
{
    return &index->head->head.segments[index->segment];
}

/* The number in the file of a granule of the segment. */
static size_t granule_at(const struct proof_index *index, uint32_t granule)
{
    return (size_t)segment_of(index)->first_granule + granule;
}

static enum bb_status read_unit(struct bb_skip_proof *proof, struct bb_skip_section section,
                                struct bb_bytes *ret_unit)
{
    return bb_skip_file_read(proof->file, BB_SKIP_UNIT_DATA, section, &proof->scratch, NULL,
                             ret_unit);
}

/* Reads a unit and keeps it in the index, followed by its pad. */
static enum bb_status keep_unit(struct bb_skip_proof *proof, struct proof_index *index,
                                struct bb_skip_section section)
{
    static const uint8_t pad[BB_BIT_READER_PAD];
    struct bb_bytes unit = {0};
    enum bb_status status = read_unit(proof, section, &unit);
    if (status == BB_OK)
        status = bb_buf_assign(&index->unit, unit);
    return status == BB_OK ? bb_buf_append(&index->unit, pad, sizeof(pad)) : status;
}

static struct bb_bytes kept_unit(const struct proof_index *index)
{
    return bb_bytes_of(index->unit.data, index->unit.size - BB_BIT_READER_PAD);
}

static enum bb_status begin_bounds(struct bb_skip_proof *proof, struct proof_index *index)
{
    enum bb_status status = BB_OK;
    if (index->granule == 0)
        status = keep_unit(proof, index, segment_of(index)->data);
    if (status != BB_OK)
        return status;
    if (index->granule == 0)
        index->cursor = bb_cursor_of(kept_unit(index));
    return bb_min_max_bounds_decode(&index->cursor, index->type, &index->bounds)
               ? BB_OK
               : refuse(proof, index, proof->granule, "has no bounds of");
}

/* The chunk of the current granule. */
static const struct bb_head_chunk *go_to_chunk(struct proof_index *index)
{
    const struct bb_head_segment *segment = segment_of(index);
    if (index->granule == 0)
        index->chunk = 0;
    while (index->chunk + 1 < segment->chunk_count &&
           segment->chunks[index->chunk + 1].first_granule <= index->granule)
        index->chunk++;
    return &segment->chunks[index->chunk];
}

static enum bb_status begin_column(struct bb_skip_proof *proof, struct proof_index *index)
{
    const struct bb_head_chunk *chunk = go_to_chunk(index);
    enum bb_status status = BB_OK;
    if (index->granule == chunk->first_granule)
        status = keep_unit(proof, index, chunk->data);
    if (status != BB_OK)
        return status;
    status = bb_column_granule_read(&index->column, index->type, kept_unit(index),
                                    chunk->granule_count, index->granule - chunk->first_granule);
    index->is_stored = status == BB_OK;
    index->part = 0;
    index->part_end = index->column.part_count > 0 ? index->column.part_records[0] : 0;
    if (status == BB_CORRUPT)
        return refuse(proof, index, proof->granule, "has a malformed column of");
    if (index->is_stored)
        index->numbers = bb_bit_reader_of(index->column.numbers);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status begin_granule(struct bb_skip_proof *proof, struct proof_index *index)
{
    if (index->segment == index->head->head.segment_count)
        return refuse(proof, index, proof->granule, "ends before");
    if (segment_of(index)->form == BB_SKIP_FORM_COLUMN)
        return begin_column(proof, index);
    return segment_of(index)->form == BB_SKIP_FORM_BOUNDS ? begin_bounds(proof, index) : BB_OK;
}

/* Whether the column has the current record in the current part. */
static bool is_in_its_part(const struct bb_skip_proof *proof, struct proof_index *index)
{
    const struct bb_column_granule *column = &index->column;
    if (column->part_count == 0)
        return true;
    while (proof->record_count >= index->part_end && index->part + 1 < column->part_count)
        index->part_end += column->part_records[++index->part];
    return index->part == proof->part;
}

/* Whether the column has this value for the record. */
static bool is_in_column(struct bb_skip_proof *proof, struct proof_index *index,
                         const struct bb_attribute *value)
{
    const struct bb_column_granule *column = &index->column;
    if (proof->record_count >= column->record_count || !is_in_its_part(proof, index))
        return false;
    uint64_t number = bb_bit_reader_take(&index->numbers, column->number_bits);
    if (bb_column_state(column, (uint32_t)proof->record_count) != value->state)
        return false;
    return value->state != BB_ATTRIBUTE_PRESENT ||
           (number < column->value_count && bb_canonical_is_same(&column->values[number], value));
}

static bool is_within(const struct bb_read_bounds *bounds, const struct bb_attribute *value)
{
    if (bb_attribute_is_nan(value))
        return bounds->has_nan;
    return bounds->has_values && bb_attribute_compare(&bounds->values.low, value) <= 0 &&
           (bounds->values.high_is_open || bb_attribute_compare(value, &bounds->values.high) <= 0);
}

static enum bb_status add_value(struct bb_skip_proof *proof, struct proof_index *index,
                                const struct bb_attribute *value)
{
    const struct bb_head_segment *segment = segment_of(index);
    if (segment->form == BB_SKIP_FORM_BOUNDS &&
        !(is_within(&index->bounds, value) && is_within(&segment->bounds, value)))
        return refuse(proof, index, proof->granule, "has bounds that exclude a value of");
    if (segment->form == BB_SKIP_FORM_VALUES)
        bb_value_set_builder_add(&index->set, value);
    if (bb_skip_form_is_inverted(segment->form))
        bb_member_index_builder_add(&index->members, value);
    if (segment->form == BB_SKIP_FORM_DICTIONARY)
        bb_text_index_builder_add(&index->text, value);
    return BB_OK;
}

/* For every record, in any state of its attribute. */
static enum bb_status add_attribute(struct bb_skip_proof *proof, struct proof_index *index,
                                    const struct bb_attribute *value)
{
    if (segment_of(index)->form != BB_SKIP_FORM_COLUMN)
        return value->state == BB_ATTRIBUTE_PRESENT ? add_value(proof, index, value) : BB_OK;
    return !index->is_stored || is_in_column(proof, index, value)
               ? BB_OK
               : refuse(proof, index, proof->granule, "has another value of a record of");
}

/* --- Values of a segment --- */

/* Removes the granules that the file stores for the value from the granules that the records
 * have. */
static void settle_value(void *context, const struct bb_attribute *value,
                         const struct bb_granule_bits *granules)
{
    struct proof_index *index = context;
    struct bb_set_value *found = bb_value_set_builder_find(&index->set, value);
    for (uint32_t word = 0; found != NULL && word < BB_SEGMENT_WORDS; word++)
        found->granules.words[word] &= ~granules->words[word];
}

static enum bb_status check_values(struct bb_skip_proof *proof, struct proof_index *index)
{
    const struct bb_head_segment *segment = segment_of(index);
    struct bb_bytes unit = {0};
    if (index->set.is_full)
        return refuse(proof, index, granule_at(index, 0), "lacks the last values from");
    enum bb_status status = read_unit(proof, segment->data, &unit);
    if (status != BB_OK)
        return status;
    if (!bb_value_set_visit(unit, index->type, segment->granule_count, settle_value, index))
        return refuse(proof, index, granule_at(index, 0), "has malformed values from");
    for (size_t i = 0; i < index->set.value_count; i++) {
        uint16_t granules[BB_SEGMENT_GRANULES_MAX];
        if (bb_granule_bits_list(&index->set.values[i].granules, granules) > 0)
            return refuse(proof, index, granule_at(index, granules[0]), "lacks a value of");
    }
    return BB_OK;
}

/* --- Members of a segment --- */

/* The granules that the file stores for one member. *last, *chunk: the chunk read before. */
static enum bb_status ask_member(struct bb_skip_proof *proof, const struct proof_index *index,
                                 uint64_t hash, struct bb_skip_section *last,
                                 struct bb_bytes *chunk, struct bb_granule_bits *bits)
{
    const struct bb_head_segment *segment = segment_of(index);
    uint64_t offset = 0;
    uint32_t size = 0;
    bb_segment_chunk(&segment->inverted, hash, &offset, &size);
    struct bb_skip_section section = {.offset = segment->data.offset + offset, .size = size};
    if (last->size != size || last->offset != section.offset) {
        enum bb_status status = read_unit(proof, section, chunk);
        if (status != BB_OK)
            return status;
        *last = section;
        chunk->size = size;
    }
    return bb_segment_ask(&segment->inverted, *chunk, hash, bits)
               ? BB_OK
               : refuse(proof, index, granule_at(index, 0), "is malformed from");
}

/* Pairs of one member follow each other. */
static enum bb_status check_pairs(struct bb_skip_proof *proof, const struct proof_index *index)
{
    const struct bb_distinct_set *members = &index->members.members;
    struct bb_skip_section last = {0};
    struct bb_bytes chunk = {0};
    struct bb_granule_bits bits = {{0}};
    for (size_t i = 0; i < members->pair_count; i++) {
        uint64_t hash = bb_member_pair_hash(members->pairs[i]);
        uint32_t granule = bb_member_pair_granule(members->pairs[i]);
        enum bb_status status = BB_OK;
        if (i == 0 || hash != bb_member_pair_hash(members->pairs[i - 1])) {
            bits = (struct bb_granule_bits){{0}};
            status =
                ask_member(proof, index, hash << (64 - BB_MEMBER_HASH_BITS), &last, &chunk, &bits);
        }
        if (status != BB_OK)
            return status;
        if (!bb_granule_bits_has(&bits, granule) &&
            bb_head_segment_indexes(segment_of(index), granule))
            return refuse(proof, index, granule_at(index, granule), "rules out a record in");
    }
    return BB_OK;
}

static enum bb_status check_members(struct bb_skip_proof *proof, struct proof_index *index)
{
    const struct bb_head_segment *segment = segment_of(index);
    struct bb_distinct_set *members = &index->members.members;
    struct bb_buf spare = {0};
    for (uint32_t granule = 0; granule < segment->granule_count; granule++) {
        if (bb_granule_bits_has(&index->members.unindexed, granule) &&
            bb_head_segment_indexes(segment, granule))
            return refuse(proof, index, granule_at(index, granule), "has too few members of");
    }
    enum bb_status status = bb_buf_reserve(&spare, members->pair_count * sizeof(uint64_t));
    if (status == BB_OK) {
        bb_member_pairs_sort(members->pairs, (uint64_t *)(void *)spare.data, members->pair_count,
                             segment->inverted.factor);
        status = check_pairs(proof, index);
    }
    bb_buf_deinit(&spare);
    bb_distinct_set_reset(members);
    index->members.unindexed = (struct bb_granule_bits){{0}};
    return status;
}

/* --- Granules --- */

static enum bb_status check_segment(struct bb_skip_proof *proof, struct proof_index *index)
{
    enum bb_skip_form form = segment_of(index)->form;
    enum bb_status status = BB_OK;
    if (form == BB_SKIP_FORM_VALUES) {
        status = check_values(proof, index);
        bb_value_set_builder_reset(&index->set);
    }
    if (bb_skip_form_is_inverted(form))
        status = check_members(proof, index);
    if (form == BB_SKIP_FORM_DICTIONARY)
        status = bb_text_proof_check(&index->text, proof->file, segment_of(index), &proof->scratch);
    index->segment++;
    index->granule = 0;
    return status;
}

static enum bb_status end_granule(struct bb_skip_proof *proof, struct proof_index *index)
{
    enum bb_skip_form form = segment_of(index)->form;
    enum bb_status status = BB_OK;
    bool is_full = false;
    if (form == BB_SKIP_FORM_COLUMN && index->is_stored &&
        index->column.record_count != proof->record_count)
        return refuse(proof, index, proof->granule, "has another number of records in");
    if (form == BB_SKIP_FORM_VALUES)
        status = bb_value_set_builder_end_granule(&index->set);
    if (bb_skip_form_is_inverted(form))
        status = bb_member_index_builder_end_granule(&index->members, &is_full);
    if (form == BB_SKIP_FORM_DICTIONARY)
        status = bb_text_index_builder_end_granule(&index->text, &is_full);
    index->granule++;
    if (status == BB_OK && index->granule == segment_of(index)->granule_count)
        status = check_segment(proof, index);
    return status;
}

static enum bb_status check_counts(const struct bb_skip_proof *proof)
{
    const struct bb_skip_file *file = proof->file;
    size_t granule = proof->granule;
    if (proof->record_count != file->granules.records[granule])
        return refuse_count(proof, granule, "records", proof->record_count,
                            file->granules.records[granule]);
    for (size_t i = 0; i < file->directory.attribute_count; i++) {
        uint64_t told[4];
        bb_skip_file_states(file, granule, i, told);
        for (uint32_t state = BB_ATTRIBUTE_NULL; state <= BB_ATTRIBUTE_MALFORMED; state++)
            if (proof->counts[i][state] != told[state])
                return refuse_count(proof, granule, "records without an attribute",
                                    proof->counts[i][state], told[state]);
    }
    return BB_OK;
}

static enum bb_status begin_all(struct bb_skip_proof *proof)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < proof->index_count && status == BB_OK; i++)
        status = begin_granule(proof, &proof->indexes[i]);
    memset(proof->counts, 0, proof->file->directory.attribute_count * sizeof(proof->counts[0]));
    proof->record_count = 0;
    proof->is_begun = true;
    return status;
}

static enum bb_status end_all(struct bb_skip_proof *proof)
{
    enum bb_status status = proof->is_begun ? BB_OK : begin_all(proof);
    if (status == BB_OK)
        status = check_counts(proof);
    for (size_t i = 0; i < proof->index_count && status == BB_OK; i++)
        status = end_granule(proof, &proof->indexes[i]);
    proof->is_begun = false;
    proof->granule++;
    return status;
}

static enum bb_status go_to(struct bb_skip_proof *proof, size_t granule)
{
    enum bb_status status = BB_OK;
    if (granule < proof->granule || granule >= proof->file->granules.granule_count)
        return bb_fail(BB_INVALID, "%s: granule %zu after %zu, of %zu", proof->file->file->path,
                       granule, proof->granule, proof->file->granules.granule_count);
    while (proof->granule < granule && status == BB_OK)
        status = end_all(proof);
    return status == BB_OK && !proof->is_begun ? begin_all(proof) : status;
}

/* --- Records --- */

static enum bb_status add_attributes(struct bb_skip_proof *proof)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < proof->file->directory.attribute_count; i++)
        proof->counts[i][bb_proof_reader_get(&proof->reader, i)->state]++;
    for (size_t i = 0; i < proof->index_count && status == BB_OK; i++) {
        struct proof_index *index = &proof->indexes[i];
        status = add_attribute(proof, index,
                               bb_proof_reader_get(&proof->reader, index->entry->spec.attribute));
    }
    proof->record_count++;
    return status;
}

enum bb_status bb_skip_proof_add(struct bb_skip_proof *proof, size_t granule, struct bb_bytes key,
                                 struct bb_bytes value)
{
    enum bb_status status = go_to(proof, granule);
    if (status == BB_OK)
        status = bb_proof_reader_read(&proof->reader, key, value);
    return status == BB_OK ? add_attributes(proof) : status;
}

enum bb_status bb_skip_proof_finish(struct bb_skip_proof *proof)
{
    enum bb_status status = BB_OK;
    while (proof->granule < proof->file->granules.granule_count && status == BB_OK)
        status = end_all(proof);
    return status;
}

/* --- Making --- */

static enum bb_status init_index(struct bb_skip_proof *proof, struct proof_index *index,
                                 size_t number)
{
    const struct bb_index_directory *directory = &proof->file->directory;
    *index = (struct proof_index){.number = number, .entry = &directory->indexes[number]};
    const struct bb_skip_spec *spec = &index->entry->spec;
    enum bb_status status = bb_skip_file_head(proof->file, number, NULL, &index->head);
    if (status == BB_OK && index->head->is_damaged)
        status = refuse(proof, index, 0, "has a damaged head, from");
    if (status != BB_OK)
        return status;
    index->type = directory->attributes[spec->attribute].type;
    if (spec->kind == BB_SKIP_SET)
        bb_value_set_builder_init(&index->set, spec->set_values_max);
    else if (spec->kind == BB_SKIP_TEXT)
        status = bb_text_index_builder_init(&index->text, spec, &directory->secret, 0);
    else if (spec->kind != BB_SKIP_MIN_MAX && spec->kind != BB_SKIP_COLUMN)
        status = bb_member_index_builder_init(&index->members, spec, &directory->secret, 0);
    return status;
}

/* Indexes of unknown kinds are not queried. */
static enum bb_status init_indexes(struct bb_skip_proof *proof)
{
    const struct bb_index_directory *directory = &proof->file->directory;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < directory->index_count && status == BB_OK; i++) {
        if (!directory->indexes[i].is_known)
            continue;
        status = init_index(proof, &proof->indexes[proof->index_count], i);
        proof->index_count += status == BB_OK;
    }
    return status;
}

static enum bb_status init_proof(struct bb_skip_proof *proof, const struct bb_schema *schema)
{
    const struct bb_index_directory *directory = &proof->file->directory;
    enum bb_status status = bb_proof_reader_init(&proof->reader, proof->file, schema);
    if (status != BB_OK)
        return status;
    size_t count = directory->attribute_count + 1;
    proof->counts = bb_alloc_zeroed(count, sizeof(proof->counts[0]));
    proof->indexes = bb_alloc_zeroed(directory->index_count + 1, sizeof(proof->indexes[0]));
    if (proof->counts == NULL || proof->indexes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for proving %zu indexes", directory->index_count);
    return init_indexes(proof);
}

enum bb_status bb_skip_proof_create(struct bb_skip_file *file, const struct bb_schema *schema,
                                    struct bb_skip_proof **ret_proof)
{
    struct bb_skip_proof *proof = bb_alloc_zeroed(1, sizeof(*proof));
    if (proof == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for proving an index file");
    proof->file = file;
    enum bb_status status = init_proof(proof, schema);
    if (status == BB_OK)
        *ret_proof = proof;
    else
        bb_skip_proof_destroy(proof);
    return status;
}

void bb_skip_proof_set_part(struct bb_skip_proof *proof, size_t part)
{
    proof->part = part;
}

void bb_skip_proof_destroy(struct bb_skip_proof *proof)
{
    if (proof == NULL)
        return;
    for (size_t i = 0; i < proof->index_count; i++) {
        bb_buf_deinit(&proof->indexes[i].unit);
        bb_column_granule_deinit(&proof->indexes[i].column);
        bb_value_set_builder_deinit(&proof->indexes[i].set);
        bb_member_index_builder_deinit(&proof->indexes[i].members);
        bb_text_index_builder_deinit(&proof->indexes[i].text);
    }
    bb_free(proof->indexes);
    bb_free(proof->counts);
    bb_proof_reader_deinit(&proof->reader);
    bb_buf_deinit(&proof->scratch);
    bb_free(proof);
}
