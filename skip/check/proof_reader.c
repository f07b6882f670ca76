/* See proof_reader.h. */
#include "skip/check/proof_reader.h"

#include <string.h>

#include "base/alloc.h"

void bb_proof_reader_deinit(struct bb_proof_reader *reader)
{
    bb_free(reader->numbers);
    bb_free(reader->attributes);
    bb_record_reader_destroy(reader->reader);
    bb_schema_destroy(reader->own_schema);
    *reader = (struct bb_proof_reader){0};
}

static enum bb_status make_schema(struct bb_proof_reader *reader,
                                  const struct bb_index_directory *directory)
{
    enum bb_status status = bb_schema_create(&reader->own_schema);
    for (size_t i = 0; i < directory->attribute_count && status == BB_OK; i++)
        status = bb_schema_add(reader->own_schema, directory->attributes[i].definition);
    reader->schema = reader->own_schema;
    return status;
}

static enum bb_status find_attribute(struct bb_proof_reader *reader,
                                     const struct bb_skip_file *file, size_t attribute)
{
    const struct bb_stored_attribute *stored = &file->directory.attributes[attribute];
    for (size_t i = 0; i < bb_schema_count(reader->schema); i++) {
        if (bb_schema_type(reader->schema, i) == stored->type &&
            strcmp(bb_schema_definition(reader->schema, i), stored->definition) == 0) {
            reader->numbers[attribute] = i;
            return BB_OK;
        }
    }
    return bb_fail(BB_INVALID, "%s: the schema does not have its attribute \"%s\"",
                   file->file->path, stored->definition);
}

static enum bb_status open_reader(struct bb_proof_reader *reader, const struct bb_skip_file *file,
                                  bool *wanted)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < file->directory.attribute_count && status == BB_OK; i++) {
        status = find_attribute(reader, file, i);
        if (status == BB_OK)
            wanted[reader->numbers[i]] = true;
    }
    return status == BB_OK ? bb_record_reader_create(reader->schema, wanted, &reader->reader)
                           : status;
}

enum bb_status bb_proof_reader_init(struct bb_proof_reader *reader, const struct bb_skip_file *file,
                                    const struct bb_schema *schema)
{
    *reader = (struct bb_proof_reader){.schema = schema};
    enum bb_status status = schema == NULL ? make_schema(reader, &file->directory) : BB_OK;
    if (status != BB_OK)
        return status;
    size_t count = bb_schema_count(reader->schema) + 1;
    bool *wanted = bb_alloc_zeroed(count, sizeof(wanted[0]));
    reader->attributes = bb_alloc_zeroed(count, sizeof(reader->attributes[0]));
    reader->numbers =
        bb_alloc_zeroed(file->directory.attribute_count + 1, sizeof(reader->numbers[0]));
    status = wanted != NULL && reader->attributes != NULL && reader->numbers != NULL
                 ? open_reader(reader, file, wanted)
                 : bb_fail(BB_NO_MEMORY, "no memory for proving %zu attributes", count);
    bb_free(wanted);
    return status;
}

enum bb_status bb_proof_reader_read(struct bb_proof_reader *reader, struct bb_bytes key,
                                    struct bb_bytes value)
{
    return bb_record_read(reader->reader, key, value, reader->attributes);
}
