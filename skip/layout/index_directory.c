/* See index_directory.h. */
#include "skip/layout/index_directory.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/member/spec.h"

/* ON DISK: flags of an index. */
#define FLAG_FOLDS  1
#define FLAG_COUNTS 2
/* ON DISK: numbers of kinds, in addition to enum bb_skip_kind. WHY separate numbers: programs that
 * know no words skip them. */
#define KIND_WORDS     8 /* tokens(a, tokenizer=unicode) */
#define KIND_WORD_TEXT 9 /* text(a, tokenizer=unicode) */

void bb_index_directory_deinit(struct bb_index_directory *directory)
{
    bb_free(directory->attributes);
    bb_free(directory->indexes);
    bb_free(directory->text);
    bb_buf_deinit(&directory->source);
    *directory = (struct bb_index_directory){0};
}

/* Space for strings of this many bytes in all, and for their ends. */
static enum bb_status allocate_attributes(struct bb_index_directory *directory, size_t count,
                                          size_t bytes)
{
    directory->attributes = bb_alloc_zeroed(count + 1, sizeof(directory->attributes[0]));
    directory->text = bb_alloc(bytes + 2 * count + 1);
    if (directory->attributes == NULL || directory->text == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu attributes of an index", count);
    return BB_OK;
}

static const char *copy_text(char **end, struct bb_bytes bytes)
{
    char *text = *end;
    if (bytes.size > 0)
        memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    *end = text + bytes.size + 1;
    return text;
}

/* The definition without the name, which it begins with. */
static const char *after_name(const char *definition, const char *name)
{
    size_t size = strlen(name);
    return strncmp(definition, name, size) == 0 ? definition + size : definition;
}

static struct bb_stored_attribute store_attribute(char **text, struct bb_bytes name,
                                                  struct bb_bytes definition,
                                                  enum bb_attribute_type type)
{
    struct bb_stored_attribute attribute = {
        .name = copy_text(text, name), .definition = copy_text(text, definition), .type = type};
    attribute.extractor = after_name(attribute.definition, attribute.name);
    return attribute;
}

size_t bb_index_directory_find(const struct bb_index_directory *directory,
                               const struct bb_schema *schema, size_t attribute)
{
    size_t i = 0;
    if (attribute >= bb_schema_count(schema))
        return directory->attribute_count;
    const char *extractor =
        after_name(bb_schema_definition(schema, attribute), bb_schema_name(schema, attribute));
    while (i < directory->attribute_count &&
           (directory->attributes[i].type != bb_schema_type(schema, attribute) ||
            strcmp(directory->attributes[i].extractor, extractor) != 0))
        i++;
    return i;
}

enum bb_status bb_index_directory_set_attributes(struct bb_index_directory *directory,
                                                 const struct bb_schema *schema,
                                                 const uint32_t *numbers, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(bb_schema_name(schema, numbers[i])) +
                 strlen(bb_schema_definition(schema, numbers[i]));
    enum bb_status status = allocate_attributes(directory, count, bytes);
    if (status != BB_OK)
        return status;
    char *end = directory->text;
    for (size_t i = 0; i < count; i++) {
        struct bb_bytes name = bb_bytes_of_text(bb_schema_name(schema, numbers[i]));
        struct bb_bytes definition = bb_bytes_of_text(bb_schema_definition(schema, numbers[i]));
        directory->attributes[i] =
            store_attribute(&end, name, definition, bb_schema_type(schema, numbers[i]));
    }
    directory->attribute_count = count;
    return BB_OK;
}

/* --- Writing --- */

static enum bb_status append_varints(struct bb_buf *buf, const uint64_t *values, size_t count)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = bb_append_varint(buf, values[i]);
    return status;
}

static uint8_t kind_number(const struct bb_skip_spec *spec)
{
    if (spec->tokenizer == BB_TOKENIZER_ASCII)
        return (uint8_t)spec->kind;
    return spec->kind == BB_SKIP_TEXT ? KIND_WORD_TEXT : KIND_WORDS;
}

static enum bb_status append_words(const struct bb_directory_entry *index, struct bb_buf *buf)
{
    if (index->spec.tokenizer == BB_TOKENIZER_ASCII)
        return BB_OK;
    return bb_append_bytes(buf, bb_bytes_of_text(index->words_made_with));
}

static enum bb_status append_fields(const struct bb_directory_entry *index, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u8(buf, kind_number(&index->spec));
    if (status == BB_OK)
        status = bb_append_varint(buf, index->spec.attribute);
    if (status == BB_OK)
        status = bb_append_double(buf, index->spec.rate);
    if (status == BB_OK)
        status = bb_append_varint(buf, index->spec.set_values_max);
    if (status == BB_OK)
        status = bb_append_varint(buf, index->spec.ngram_size);
    if (status == BB_OK)
        status = bb_append_u8(buf, (uint8_t)((index->spec.folds_case ? FLAG_FOLDS : 0) |
                                             (index->spec.counts_records ? FLAG_COUNTS : 0)));
    const uint64_t numbers[] = {index->head.offset,        index->head.size,  index->segment_count,
                                index->unindexed_granules, index->pair_count, index->data_bytes};
    if (status == BB_OK)
        status = append_varints(buf, numbers, sizeof(numbers) / sizeof(numbers[0]));
    if (status == BB_OK)
        status = bb_append_double(buf, index->predicted_rate);
    return status == BB_OK ? append_words(index, buf) : status;
}

static enum bb_status append_index(const struct bb_directory_entry *index, struct bb_buf *buf)
{
    struct bb_buf fields = {0};
    enum bb_status status = append_fields(index, &fields);
    if (status == BB_OK)
        status = bb_append_bytes(buf, bb_buf_bytes(&fields));
    bb_buf_deinit(&fields);
    return status;
}

static enum bb_status append_attribute(const struct bb_stored_attribute *attribute,
                                       struct bb_buf *buf)
{
    enum bb_status status = bb_append_bytes(buf, bb_bytes_of_text(attribute->name));
    if (status == BB_OK)
        status = bb_append_bytes(buf, bb_bytes_of_text(attribute->definition));
    return status == BB_OK ? bb_append_u8(buf, (uint8_t)attribute->type) : status;
}

enum bb_status bb_index_directory_append(const struct bb_index_directory *directory,
                                         struct bb_buf *buf)
{
    const uint64_t counts[] = {directory->granule_count, directory->record_count};
    const uint64_t section[] = {directory->granules.offset, directory->granules.size};
    enum bb_status status = append_varints(buf, counts, 2);
    if (status == BB_OK)
        status = bb_buf_append(buf, directory->secret.bytes, BB_HASH_SECRET_SIZE);
    if (status == BB_OK)
        status = append_varints(buf, section, 2);
    if (status == BB_OK)
        status = bb_append_varint(buf, directory->attribute_count);
    for (size_t i = 0; i < directory->attribute_count && status == BB_OK; i++)
        status = append_attribute(&directory->attributes[i], buf);
    if (status == BB_OK)
        status = bb_append_varint(buf, directory->index_count);
    for (size_t i = 0; i < directory->index_count && status == BB_OK; i++)
        status = append_index(&directory->indexes[i], buf);
    if (status == BB_OK && directory->source.size > 0)
        status = bb_append_bytes(buf, bb_buf_bytes(&directory->source));
    return status;
}

/* --- Reading --- */

static bool decode_section(struct bb_cursor *cursor, uint64_t file_size,
                           struct bb_skip_section *ret_section)
{
    return bb_decode_varint64(cursor, &ret_section->offset) &&
           bb_decode_varint64(cursor, &ret_section->size) &&
           ret_section->size >= BB_SKIP_CHECKSUM_SIZE && ret_section->size <= BB_SKIP_SECTION_MAX &&
           ret_section->offset <= file_size && ret_section->size <= file_size - ret_section->offset;
}

static bool decode_spec(struct bb_cursor *cursor, struct bb_skip_spec *spec)
{
    uint8_t flags = 0;
    bool is_read = bb_decode_varint32(cursor, &spec->attribute) &&
                   bb_decode_double(cursor, &spec->rate) &&
                   bb_decode_varint32(cursor, &spec->set_values_max) &&
                   bb_decode_varint32(cursor, &spec->ngram_size) && bb_decode_u8(cursor, &flags);
    spec->folds_case = (flags & FLAG_FOLDS) != 0;
    spec->counts_records = (flags & FLAG_COUNTS) != 0;
    return is_read && flags <= (FLAG_FOLDS | FLAG_COUNTS);
}

/* Which library found the words. */
static bool decode_words(struct bb_cursor *cursor, struct bb_directory_entry *index)
{
    struct bb_bytes made_with = {0};
    if (index->spec.tokenizer == BB_TOKENIZER_ASCII)
        return true;
    if (!bb_decode_bytes(cursor, &made_with) || made_with.size == 0 ||
        made_with.size >= sizeof(index->words_made_with))
        return false;
    for (size_t i = 0; i < made_with.size; i++)
        if (made_with.data[i] < 0x20 || made_with.data[i] >= 0x7f)
            return false;
    memcpy(index->words_made_with, made_with.data, made_with.size);
    return true;
}

static void decode_kind(uint8_t number, struct bb_skip_spec *spec)
{
    bool is_words = number == KIND_WORDS || number == KIND_WORD_TEXT;
    spec->tokenizer = is_words ? BB_TOKENIZER_UNICODE : BB_TOKENIZER_ASCII;
    spec->kind = number == KIND_WORDS       ? BB_SKIP_TOKENS
                 : number == KIND_WORD_TEXT ? BB_SKIP_TEXT
                                            : (enum bb_skip_kind)number;
}

/* Words of another version of the library are no words of this one. */
static bool has_own_words(const struct bb_directory_entry *index)
{
    char own[BB_WORDS_IDENTITY_SIZE];
    bb_words_identity(own);
    return index->spec.tokenizer == BB_TOKENIZER_ASCII || strcmp(index->words_made_with, own) == 0;
}

static bool decode_fields(struct bb_cursor *cursor, uint64_t file_size,
                          struct bb_directory_entry *index)
{
    return decode_spec(cursor, &index->spec) && decode_section(cursor, file_size, &index->head) &&
           bb_decode_varint64(cursor, &index->segment_count) &&
           bb_decode_varint64(cursor, &index->unindexed_granules) &&
           bb_decode_varint64(cursor, &index->pair_count) &&
           bb_decode_varint64(cursor, &index->data_bytes) &&
           bb_decode_double(cursor, &index->predicted_rate) && decode_words(cursor, index) &&
           bb_cursor_left(cursor) == 0;
}

static bool decode_index(struct bb_cursor *cursor, const struct bb_index_directory *directory,
                         uint64_t file_size, struct bb_directory_entry *ret_index)
{
    struct bb_bytes bytes = {0};
    uint8_t kind = 0;
    if (!bb_decode_bytes(cursor, &bytes))
        return false;
    struct bb_cursor fields = bb_cursor_of(bytes);
    if (!bb_decode_u8(&fields, &kind))
        return false;
    decode_kind(kind, &ret_index->spec);
    if (bb_skip_kind_name(ret_index->spec.kind) == NULL)
        return true;
    uint32_t attribute = 0;
    if (!decode_fields(&fields, file_size, ret_index))
        return false;
    attribute = ret_index->spec.attribute;
    ret_index->is_known = has_own_words(ret_index);
    return attribute < directory->attribute_count &&
           bb_spec_is_valid(&ret_index->spec, directory->attributes[attribute].type);
}

static bool decode_attribute(struct bb_cursor *cursor, char **text,
                             struct bb_stored_attribute *ret_attribute)
{
    struct bb_bytes name = {0};
    struct bb_bytes definition = {0};
    uint8_t type = 0;
    if (!bb_decode_bytes(cursor, &name) || !bb_decode_bytes(cursor, &definition) ||
        !bb_decode_u8(cursor, &type))
        return false;
    *ret_attribute = store_attribute(text, name, definition, (enum bb_attribute_type)type);
    return bb_attribute_type_name(ret_attribute->type) != NULL;
}

static bool decode_attributes(struct bb_cursor *cursor, struct bb_index_directory *directory,
                              size_t count)
{
    char *text = directory->text;
    for (size_t i = 0; i < count; i++)
        if (!decode_attribute(cursor, &text, &directory->attributes[i]))
            return false;
    directory->attribute_count = count;
    return true;
}

static bool decode_front(struct bb_cursor *cursor, uint64_t file_size,
                         struct bb_index_directory *directory)
{
    struct bb_bytes secret = {0};
    if (!bb_decode_varint64(cursor, &directory->granule_count) ||
        !bb_decode_varint64(cursor, &directory->record_count) ||
        !bb_decode_raw(cursor, BB_HASH_SECRET_SIZE, &secret) ||
        !decode_section(cursor, file_size, &directory->granules))
        return false;
    memcpy(directory->secret.bytes, secret.data, secret.size);
    return directory->granule_count <= BB_SKIP_GRANULES_MAX;
}

static bool decode_indexes(struct bb_cursor *cursor, uint64_t file_size,
                           struct bb_index_directory *directory, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!decode_index(cursor, directory, file_size, &directory->indexes[i]))
            return false;
    directory->index_count = count;
    return true;
}

static bool decode_source(struct bb_cursor *cursor, struct bb_bytes *ret_source)
{
    *ret_source = (struct bb_bytes){0};
    if (bb_cursor_left(cursor) == 0)
        return true;
    return bb_decode_bytes(cursor, ret_source) && ret_source->size > 0 &&
           ret_source->size <= BB_SKIP_SOURCE_MAX && bb_cursor_left(cursor) == 0;
}

static enum bb_status decode(struct bb_cursor *cursor, struct bb_place place, uint64_t file_size,
                             struct bb_index_directory *directory)
{
    const char *what = "the directory of the indexes is malformed";
    uint32_t attributes = 0;
    uint32_t indexes = 0;
    size_t size = bb_cursor_left(cursor);
    if (!decode_front(cursor, file_size, directory) || !bb_decode_varint32(cursor, &attributes) ||
        attributes > BB_SKIP_ATTRIBUTES_MAX)
        return bb_corrupt(place, 0, "%s", what);
    enum bb_status status = allocate_attributes(directory, attributes, size);
    if (status != BB_OK)
        return status;
    if (!decode_attributes(cursor, directory, attributes) ||
        !bb_decode_varint32(cursor, &indexes) || indexes > BB_SKIP_INDEXES_MAX)
        return bb_corrupt(place, 0, "%s", what);
    directory->indexes = bb_alloc_zeroed(indexes + 1, sizeof(directory->indexes[0]));
    if (directory->indexes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %u indexes", indexes);
    struct bb_bytes source = {0};
    if (!decode_indexes(cursor, file_size, directory, indexes) || !decode_source(cursor, &source))
        return bb_corrupt(place, 0, "%s", what);
    return bb_buf_assign(&directory->source, source);
}

enum bb_status bb_index_directory_decode(struct bb_bytes section, struct bb_place place,
                                         uint64_t file_size,
                                         struct bb_index_directory *ret_directory)
{
    struct bb_index_directory directory = {0};
    struct bb_cursor cursor = bb_cursor_of(section);
    enum bb_status status = decode(&cursor, place, file_size, &directory);
    if (status != BB_OK)
        bb_index_directory_deinit(&directory);
    else
        *ret_directory = directory;
    return status;
}
