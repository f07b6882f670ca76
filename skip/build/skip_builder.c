/* Builds an index file, record by record. See bb/skip.h; the format is in docs/format-skip.md.
 *
 * Sticky: after the first failure every call returns it. Threads: one.
 */
#include "skip/build/skip_builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "skip/member/spec.h"

/* Memory for the pairs of all indexes with members, and for sorting the pairs of one of them. A
 * pair takes eight bytes, and half as much again while a list grows. */
#define PAIRS_MEMORY       ((size_t)28 * 1024 * 1024)
#define PAIR_MEMORY        ((size_t)12)
#define PAIRS_OF_INDEX_MIN ((size_t)1 << 16)

static enum bb_status keep_failure(struct bb_skip_builder *builder, enum bb_status status)
{
    if (status != BB_OK && builder->failure.status == BB_OK)
        builder->failure = *bb_error_last();
    return status;
}

static enum bb_status refuse_more(const struct bb_skip_builder *builder)
{
    if (builder->failure.status != BB_OK)
        return bb_error_restore(&builder->failure);
    return builder->is_finished ? bb_fail(BB_INVALID, "the index file is finished") : BB_OK;
}

static size_t count_with_members(const struct bb_skip_spec *specs, size_t count)
{
    size_t with_members = 0;
    for (size_t i = 0; i < count; i++)
        with_members += bb_spec_has_members(specs[i].kind);
    return with_members;
}

static size_t pairs_of_index(size_t with_members)
{
    size_t pairs = PAIRS_MEMORY / PAIR_MEMORY / (with_members + 1);
    return pairs < PAIRS_OF_INDEX_MIN ? PAIRS_OF_INDEX_MIN : pairs;
}

static enum bb_status check_specs(const struct bb_schema *schema, const struct bb_skip_spec *specs,
                                  size_t count)
{
    if (count > BB_SKIP_INDEXES_MAX)
        return bb_fail(BB_TOO_LARGE, "an index file has at most %u indexes", BB_SKIP_INDEXES_MAX);
    for (size_t i = 0; i < count; i++)
        if (specs[i].attribute >= bb_schema_count(schema) ||
            !bb_spec_is_valid(&specs[i], bb_schema_type(schema, specs[i].attribute)))
            return bb_fail(BB_INVALID,
                           "index %zu: the kind, a parameter or the attribute is invalid", i);
    return BB_OK;
}

/* The file's number of an attribute of the schema, or how many the file has. */
static size_t file_number(const struct bb_skip_builder *builder, uint32_t number)
{
    size_t i = 0;
    while (i < builder->directory.attribute_count && builder->numbers[i] != number)
        i++;
    return i;
}

static enum bb_status init_indexes(struct bb_skip_builder *builder,
                                   const struct bb_skip_spec *specs, size_t count)
{
    builder->indexes = bb_alloc_zeroed(count + 1, sizeof(builder->indexes[0]));
    if (builder->indexes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for building %zu indexes", count);
    size_t pairs_max = pairs_of_index(count_with_members(specs, count));
    for (size_t i = 0; i < count; i++) {
        struct bb_skip_spec spec = specs[i];
        spec.attribute = (uint32_t)file_number(builder, specs[i].attribute);
        enum bb_status status = bb_index_builder_init(
            &builder->indexes[i], &spec, bb_schema_type(builder->schema, specs[i].attribute),
            &builder->directory.secret, pairs_max, &builder->writer);
        if (status != BB_OK)
            return status;
        builder->index_count++;
    }
    return BB_OK;
}

void bb_skip_builder_leave_space(struct bb_skip_builder *builder, size_t others)
{
    size_t with_members = others;
    for (size_t i = 0; i < builder->index_count; i++)
        with_members += bb_spec_has_members(builder->indexes[i].spec.kind);
    for (size_t i = 0; i < builder->index_count; i++)
        bb_index_builder_set_pairs_max(&builder->indexes[i], pairs_of_index(with_members));
}

static enum bb_status init_secret(struct bb_skip_builder *builder,
                                  const struct bb_skip_options *options)
{
    if (options->secret == NULL)
        return bb_hash_secret_random(&builder->directory.secret);
    builder->directory.secret = *options->secret;
    return BB_OK;
}

static enum bb_status open_file(struct bb_skip_builder *builder, const char *path,
                                const struct bb_skip_options *options)
{
    struct bb_file_system *fs = NULL;
    enum bb_status status = bb_path_check_file(path, "the index file");
    if (status == BB_OK)
        status = bb_file_system_posix_default(options->file_system, &builder->own_fs, &fs);
    return status == BB_OK ? bb_unit_writer_open(&builder->writer, fs, path, options->id) : status;
}

/* The attributes that indexes are of, each one once, and which they are of the schema. */
static size_t list_attributes(struct bb_skip_builder *builder, const struct bb_skip_spec *specs,
                              size_t count, bool *wanted)
{
    size_t attributes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!wanted[specs[i].attribute])
            builder->numbers[attributes++] = specs[i].attribute;
        wanted[specs[i].attribute] = true;
    }
    return attributes;
}

static enum bb_status init_attributes(struct bb_skip_builder *builder,
                                      const struct bb_skip_spec *specs, size_t count, bool *wanted)
{
    size_t attributes = list_attributes(builder, specs, count, wanted);
    enum bb_status status = bb_index_directory_set_attributes(&builder->directory, builder->schema,
                                                              builder->numbers, attributes);
    if (status == BB_OK)
        status = bb_granule_table_builder_init(&builder->granules, attributes);
    return status == BB_OK ? bb_record_reader_create(builder->schema, wanted, &builder->reader)
                           : status;
}

static enum bb_status init_builder(struct bb_skip_builder *builder, const struct bb_schema *schema,
                                   const struct bb_skip_spec *specs, size_t count)
{
    size_t all = bb_schema_count(schema) + 1;
    bool *wanted = bb_alloc_zeroed(all, sizeof(wanted[0]));
    builder->schema = schema;
    builder->numbers = bb_alloc_zeroed(count + 1, sizeof(builder->numbers[0]));
    builder->attributes = bb_alloc_zeroed(all, sizeof(builder->attributes[0]));
    builder->counts = bb_alloc_zeroed(count * BB_GRANULE_STATES + 1, sizeof(builder->counts[0]));
    enum bb_status status = BB_OK;
    if (wanted == NULL || builder->numbers == NULL || builder->attributes == NULL ||
        builder->counts == NULL)
        status = bb_fail(BB_NO_MEMORY, "no memory for the attributes of an index file");
    if (status == BB_OK)
        status = init_attributes(builder, specs, count, wanted);
    bb_free(wanted);
    return status;
}

enum bb_status bb_skip_builder_create(const char *path, const struct bb_skip_options *options,
                                      const struct bb_schema *schema,
                                      const struct bb_skip_spec *specs, size_t spec_count,
                                      struct bb_skip_builder **ret_builder)
{
    struct bb_skip_options own = options == NULL ? (struct bb_skip_options){0} : *options;
    enum bb_status status = check_specs(schema, specs, spec_count);
    if (status != BB_OK)
        return status;
    struct bb_skip_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for building an index file");
    status = init_secret(builder, &own);
    if (status == BB_OK)
        status = init_builder(builder, schema, specs, spec_count);
    if (status == BB_OK)
        status = init_indexes(builder, specs, spec_count);
    if (status == BB_OK)
        status = open_file(builder, path, &own);
    if (status == BB_OK)
        *ret_builder = builder;
    else
        bb_skip_builder_destroy(builder);
    return status;
}

void bb_skip_builder_destroy(struct bb_skip_builder *builder)
{
    if (builder == NULL)
        return;
    for (size_t i = 0; i < builder->index_count; i++)
        bb_index_builder_deinit(&builder->indexes[i]);
    bb_free(builder->indexes);
    bb_free(builder->counts);
    bb_free(builder->numbers);
    bb_free(builder->attributes);
    bb_record_reader_destroy(builder->reader);
    bb_granule_table_builder_deinit(&builder->granules);
    bb_index_directory_deinit(&builder->directory);
    bb_buf_deinit(&builder->parts);
    bb_buf_deinit(&builder->spare);
    bb_unit_writer_deinit(&builder->writer);
    bb_file_system_posix_destroy(builder->own_fs);
    bb_free(builder);
}

static enum bb_status check_record(const struct bb_skip_builder *builder,
                                   const struct bb_attribute *attributes)
{
    const struct bb_index_directory *directory = &builder->directory;
    for (size_t i = 0; i < directory->attribute_count; i++) {
        const struct bb_attribute *attribute = &attributes[builder->numbers[i]];
        if ((uint32_t)attribute->state > BB_ATTRIBUTE_MALFORMED ||
            (attribute->state == BB_ATTRIBUTE_PRESENT &&
             attribute->type != directory->attributes[i].type))
            return bb_fail(BB_INVALID, "attribute \"%s\" is not of type %s",
                           directory->attributes[i].name,
                           bb_attribute_type_name(directory->attributes[i].type));
    }
    return builder->record_count < UINT32_MAX
               ? BB_OK
               : bb_fail(BB_TOO_LARGE, "a granule has at most %u records", UINT32_MAX);
}

/* Does the index have the current granule from another file? */
static bool is_taken(const struct bb_skip_builder *builder, const struct bb_index_builder *index)
{
    return builder->directory.granule_count < index->taken_granules;
}

static enum bb_status add(struct bb_skip_builder *builder, const struct bb_attribute *attributes)
{
    enum bb_status status = check_record(builder, attributes);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < builder->directory.attribute_count; i++) {
        enum bb_attribute_state state = attributes[builder->numbers[i]].state;
        if (state != BB_ATTRIBUTE_PRESENT)
            builder->counts[i * BB_GRANULE_STATES + (size_t)state - 1]++;
    }
    for (size_t i = 0; i < builder->index_count; i++) {
        uint32_t number = builder->numbers[builder->indexes[i].spec.attribute];
        if (!is_taken(builder, &builder->indexes[i]))
            bb_index_builder_add(&builder->indexes[i], &attributes[number]);
    }
    builder->record_count++;
    return BB_OK;
}

enum bb_status bb_skip_builder_add(struct bb_skip_builder *builder,
                                   const struct bb_attribute *attributes)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK)
        status = add(builder, attributes);
    return keep_failure(builder, status);
}

enum bb_status bb_skip_builder_add_record(struct bb_skip_builder *builder, struct bb_bytes key,
                                          struct bb_bytes value)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK)
        status = bb_record_read(builder->reader, key, value, builder->attributes);
    if (status == BB_OK)
        status = add(builder, builder->attributes);
    return keep_failure(builder, status);
}

static enum bb_status end_part(struct bb_skip_builder *builder)
{
    uint32_t records = (uint32_t)(builder->record_count - builder->part_records);
    builder->part_records = builder->record_count;
    return bb_append_u32(&builder->parts, records);
}

enum bb_status bb_skip_builder_end_part(struct bb_skip_builder *builder)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK)
        status = end_part(builder);
    return keep_failure(builder, status);
}

/* A granule with parts ends its last one. */
static enum bb_status end_last_part(struct bb_skip_builder *builder)
{
    return builder->parts.size > 0 ? end_part(builder) : BB_OK;
}

static enum bb_status end_granule(struct bb_skip_builder *builder, uint64_t place)
{
    struct bb_index_directory *directory = &builder->directory;
    if (place < builder->granules.last_place)
        return bb_fail(BB_INVALID, "a granule of an index begins before the previous granule");
    if (directory->granule_count == BB_SKIP_GRANULES_MAX)
        return bb_fail(BB_TOO_LARGE, "an index file has at most %u granules", BB_SKIP_GRANULES_MAX);
    enum bb_status status = end_last_part(builder);
    for (size_t i = 0; i < builder->index_count && status == BB_OK; i++)
        if (!is_taken(builder, &builder->indexes[i]))
            status = bb_index_builder_end_granule(&builder->indexes[i],
                                                  bb_buf_bytes(&builder->parts), &builder->spare);
    if (status == BB_OK)
        status = bb_granule_table_builder_add(&builder->granules, place, builder->record_count,
                                              builder->counts);
    memset(builder->counts, 0,
           directory->attribute_count * BB_GRANULE_STATES * sizeof(builder->counts[0]));
    directory->granule_count++;
    directory->record_count += builder->record_count;
    builder->record_count = 0;
    builder->part_records = 0;
    return status;
}

enum bb_status bb_skip_builder_end_granule(struct bb_skip_builder *builder, uint64_t place)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK && builder->record_count > 0)
        status = end_granule(builder, place);
    bb_buf_reset(&builder->parts);
    return keep_failure(builder, status);
}

static enum bb_status write_granules(struct bb_skip_builder *builder)
{
    struct bb_index_directory *directory = &builder->directory;
    bb_buf_reset(&builder->spare);
    enum bb_status status = bb_granule_table_builder_append(&builder->granules, &builder->spare);
    directory->granules.size = builder->spare.size + BB_SKIP_CHECKSUM_SIZE;
    if (status == BB_OK && directory->granules.size > BB_SKIP_SECTION_MAX)
        return bb_fail(BB_TOO_LARGE, "the granule table of an index file has more than %u bytes",
                       BB_SKIP_SECTION_MAX);
    return status == BB_OK
               ? bb_unit_writer_append(&builder->writer, BB_SKIP_UNIT_GRANULES,
                                       bb_buf_bytes(&builder->spare), &directory->granules.offset)
               : status;
}

static enum bb_status write_directory(struct bb_skip_builder *builder)
{
    uint64_t offset = 0;
    bb_buf_reset(&builder->spare);
    enum bb_status status = bb_index_directory_append(&builder->directory, &builder->spare);
    if (status == BB_OK)
        status = bb_unit_writer_append(&builder->writer, BB_SKIP_UNIT_DIRECTORY,
                                       bb_buf_bytes(&builder->spare), &offset);
    uint32_t size = (uint32_t)(builder->spare.size + BB_SKIP_CHECKSUM_SIZE);
    return status == BB_OK ? bb_unit_writer_finish(&builder->writer, offset, size) : status;
}

static enum bb_status finish(struct bb_skip_builder *builder)
{
    struct bb_index_directory *directory = &builder->directory;
    if (builder->record_count > 0)
        return bb_fail(BB_INVALID, "the last granule of an index file has not ended");
    directory->indexes = bb_alloc_zeroed(builder->index_count + 1, sizeof(directory->indexes[0]));
    if (directory->indexes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for finishing an index file");
    directory->index_count = builder->index_count;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < builder->index_count && status == BB_OK; i++)
        status =
            bb_index_builder_finish(&builder->indexes[i], &builder->spare, &directory->indexes[i]);
    if (status == BB_OK)
        status = write_granules(builder);
    return status == BB_OK ? write_directory(builder) : status;
}

enum bb_status bb_skip_builder_set_source(struct bb_skip_builder *builder, struct bb_bytes source)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK && source.size > BB_SKIP_SOURCE_MAX)
        status = bb_fail(BB_TOO_LARGE,
                         "the identity of the indexed file has %zu bytes, at most %u are allowed",
                         source.size, BB_SKIP_SOURCE_MAX);
    if (status == BB_OK)
        status = bb_buf_assign(&builder->directory.source, source);
    return keep_failure(builder, status);
}

enum bb_status bb_skip_builder_finish(struct bb_skip_builder *builder)
{
    enum bb_status status = refuse_more(builder);
    if (status == BB_OK)
        status = finish(builder);
    builder->is_finished |= status == BB_OK;
    return keep_failure(builder, status);
}
