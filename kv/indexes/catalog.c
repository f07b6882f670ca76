/* See catalog.h. */
#include "kv/indexes/catalog.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "skip/member/spec.h"

/* ---- construction ---- */

enum bb_status bb_catalog_create_empty(struct bb_catalog **ret_catalog)
{
    struct bb_catalog *catalog = bb_alloc_zeroed(1, sizeof(*catalog));
    if (catalog == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a catalog of indexes");
    atomic_init(&catalog->references, 1);
    catalog->granule_bytes = BB_GRANULE_BYTES_DEFAULT;
    enum bb_status status = bb_schema_create(&catalog->schema);
    if (status == BB_OK)
        *ret_catalog = catalog;
    else
        bb_free(catalog);
    return status;
}

void bb_catalog_unref(struct bb_catalog *catalog)
{
    if (catalog == NULL ||
        atomic_fetch_sub_explicit(&catalog->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < catalog->index_count; i++)
        bb_free(catalog->names[i]);
    bb_free(catalog->names);
    bb_free(catalog->specs);
    bb_schema_destroy(catalog->schema);
    bb_free(catalog);
}

static enum bb_status grow(struct bb_catalog *catalog)
{
    size_t wanted = catalog->index_count + 1;
    char **names = bb_realloc(catalog->names, wanted * sizeof(*catalog->names));
    if (names != NULL)
        catalog->names = names;
    struct bb_skip_spec *specs = bb_realloc(catalog->specs, wanted * sizeof(*catalog->specs));
    if (specs != NULL)
        catalog->specs = specs;
    return names != NULL && specs != NULL ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for an index");
}

static bool has_index(const struct bb_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->index_count; i++) {
        if (strcmp(catalog->names[i], name) == 0)
            return true;
    }
    return false;
}

static enum bb_status check_name(const struct bb_catalog *catalog, const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > BB_INDEX_NAME_MAX)
        return bb_fail(BB_INVALID, "the name of an index has %zu bytes, allowed are 1 to %d", size,
                       BB_INDEX_NAME_MAX);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return bb_fail(BB_INVALID, "the name of an index has a control character at byte %zu",
                           i);
    }
    if (has_index(catalog, name))
        return bb_fail(BB_EXISTS, "there is an index \"%s\" already", name);
    return BB_OK;
}

/* Appends an index over an attribute of the schema. */
static enum bb_status add_index(struct bb_catalog *catalog, const char *name, const char *spec_text)
{
    struct bb_skip_spec spec = {0};
    enum bb_status status = check_name(catalog, name);
    if (status == BB_OK)
        status = bb_skip_spec_parse(spec_text, catalog->schema, &spec);
    if (status == BB_OK)
        status = grow(catalog);
    if (status != BB_OK)
        return status;
    char *copy = bb_strdup(name);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index");
    catalog->names[catalog->index_count] = copy;
    catalog->specs[catalog->index_count++] = spec;
    return BB_OK;
}

/* ---- changing ---- */

static enum bb_status check_drops(const struct bb_catalog *catalog,
                                  const struct bb_catalog_change *change)
{
    size_t attribute = 0;
    if (change->drop_index != NULL && !has_index(catalog, change->drop_index))
        return bb_fail(BB_NOT_FOUND, "there is no index \"%s\"", change->drop_index);
    if (change->drop_attribute == NULL)
        return BB_OK;
    if (bb_schema_find(catalog->schema, bb_bytes_of_text(change->drop_attribute), &attribute) !=
        BB_OK)
        return bb_fail(BB_NOT_FOUND, "there is no attribute \"%s\"", change->drop_attribute);
    for (size_t i = 0; i < catalog->index_count; i++) {
        if (catalog->specs[i].attribute == attribute)
            return bb_fail(BB_INVALID, "the attribute \"%s\" has an index, \"%s\": drop that first",
                           change->drop_attribute, catalog->names[i]);
    }
    return BB_OK;
}

static enum bb_status check_granule(uint64_t bytes)
{
    if (bytes >= BB_GRANULE_BYTES_MIN && bytes <= BB_GRANULE_BYTES_MAX)
        return BB_OK;
    return bb_fail(BB_INVALID, "granules of %llu bytes, allowed are %d to %d",
                   (unsigned long long)bytes, BB_GRANULE_BYTES_MIN, BB_GRANULE_BYTES_MAX);
}

static bool is_text(const char *text, const char *other)
{
    return other != NULL && strcmp(text, other) == 0;
}

static enum bb_status copy_attributes(const struct bb_catalog *from,
                                      const struct bb_catalog_change *change, struct bb_catalog *to)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < bb_schema_count(from->schema) && status == BB_OK; i++) {
        if (!is_text(bb_schema_name(from->schema, i), change->drop_attribute))
            status = bb_schema_add(to->schema, bb_schema_definition(from->schema, i));
    }
    if (status == BB_OK && change->add_attribute != NULL)
        status = bb_schema_add(to->schema, change->add_attribute);
    return status;
}

/* Copies it by its text, because the attributes may have other numbers. */
static enum bb_status copy_index(const struct bb_catalog *from, size_t index, struct bb_catalog *to)
{
    struct bb_buf text = {0};
    enum bb_status status = bb_skip_spec_print(&from->specs[index], from->schema, &text);
    if (status == BB_OK)
        status = bb_buf_append(&text, "", 1);
    if (status == BB_OK)
        status = add_index(to, from->names[index], (const char *)text.data);
    bb_buf_deinit(&text);
    return status;
}

static enum bb_status copy_indexes(const struct bb_catalog *from,
                                   const struct bb_catalog_change *change, struct bb_catalog *to)
{
    enum bb_status status = BB_OK;
    size_t count = change->drop_all_indexes ? 0 : from->index_count;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        if (!is_text(from->names[i], change->drop_index))
            status = copy_index(from, i, to);
    }
    if (status == BB_OK && change->add_index != NULL)
        status = add_index(to, change->add_index, change->add_spec);
    /* An index that is there already stays: others can build it. */
    if (status == BB_OK && change->add_index != NULL)
        status = bb_spec_check_build(&to->specs[to->index_count - 1]);
    return status;
}

enum bb_status bb_catalog_change(const struct bb_catalog *catalog,
                                 const struct bb_catalog_change *change,
                                 struct bb_catalog **ret_catalog)
{
    struct bb_catalog *made = NULL;
    enum bb_status status = check_drops(catalog, change);
    if (status == BB_OK && change->granule_bytes != 0)
        status = check_granule(change->granule_bytes);
    if (status == BB_OK)
        status = bb_catalog_create_empty(&made);
    if (status == BB_OK) {
        made->granule_bytes =
            change->granule_bytes != 0 ? change->granule_bytes : catalog->granule_bytes;
        made->creation_count = catalog->creation_count + (change->add_index != NULL);
        status = copy_attributes(catalog, change, made);
    }
    if (status == BB_OK)
        status = copy_indexes(catalog, change, made);
    if (status == BB_OK)
        *ret_catalog = made;
    else
        bb_catalog_unref(made);
    return status;
}

/* ---- encoding ---- */

static enum bb_status encode_index(const struct bb_catalog *catalog, size_t index,
                                   struct bb_buf *bytes)
{
    struct bb_buf text = {0};
    enum bb_status status = bb_skip_spec_print(&catalog->specs[index], catalog->schema, &text);
    if (status == BB_OK)
        status = bb_append_bytes(bytes, bb_bytes_of_text(catalog->names[index]));
    if (status == BB_OK)
        status = bb_append_bytes(bytes, bb_buf_bytes(&text));
    bb_buf_deinit(&text);
    return status;
}

enum bb_status bb_catalog_encode(const struct bb_catalog *catalog, struct bb_buf *bytes)
{
    struct bb_buf schema = {0};
    if (bb_schema_count(catalog->schema) == 0 && catalog->granule_bytes == BB_GRANULE_BYTES_DEFAULT)
        return BB_OK;
    enum bb_status status = bb_schema_encode(catalog->schema, &schema);
    if (status == BB_OK)
        status = bb_append_bytes(bytes, bb_buf_bytes(&schema));
    if (status == BB_OK)
        status = bb_append_varint(bytes, catalog->granule_bytes);
    if (status == BB_OK)
        status = bb_append_varint(bytes, catalog->index_count);
    for (size_t i = 0; i < catalog->index_count && status == BB_OK; i++)
        status = encode_index(catalog, i, bytes);
    bb_buf_deinit(&schema);
    return status;
}

/* Reads a string as a terminated copy; it must not contain a zero. */
static enum bb_status take_text(struct bb_cursor *cursor, struct bb_place place,
                                struct bb_buf *ret_text)
{
    struct bb_bytes bytes = {0};
    if (!bb_decode_bytes(cursor, &bytes) || memchr(bytes.data, 0, bytes.size) != NULL)
        return bb_corrupt(place, 0, "the catalog of indexes is cut off, or no text");
    enum bb_status status = bb_buf_assign(ret_text, bytes);
    return status == BB_OK ? bb_buf_append(ret_text, "", 1) : status;
}

static enum bb_status decode_index(struct bb_cursor *cursor, struct bb_place place,
                                   struct bb_catalog *catalog)
{
    struct bb_buf name = {0};
    struct bb_buf spec = {0};
    enum bb_status status = take_text(cursor, place, &name);
    if (status == BB_OK)
        status = take_text(cursor, place, &spec);
    if (status == BB_OK)
        status = add_index(catalog, (const char *)name.data, (const char *)spec.data);
    bb_buf_deinit(&name);
    bb_buf_deinit(&spec);
    return status;
}

static enum bb_status decode_parts(struct bb_cursor *cursor, struct bb_place place,
                                   struct bb_catalog *catalog)
{
    struct bb_bytes schema = {0};
    uint64_t count = 0;
    if (!bb_decode_bytes(cursor, &schema) || !bb_decode_varint64(cursor, &catalog->granule_bytes) ||
        !bb_decode_varint64(cursor, &count))
        return bb_corrupt(place, 0, "the catalog of indexes is cut off");
    enum bb_status status = check_granule(catalog->granule_bytes);
    if (status == BB_OK)
        status = bb_schema_decode(catalog->schema, schema);
    for (uint64_t i = 0; i < count && status == BB_OK; i++)
        status = decode_index(cursor, place, catalog);
    if (status == BB_OK && bb_cursor_left(cursor) > 0)
        status = bb_corrupt(place, 0, "the catalog of indexes has %zu bytes too many",
                            bb_cursor_left(cursor));
    return status;
}

/* Some version wrote this sound manifest, so unknown definitions come from a newer version. */
static enum bb_status explain(enum bb_status status, struct bb_place place)
{
    if (status != BB_INVALID && status != BB_EXISTS)
        return status;
    struct bb_error failure = *bb_error_last();
    return bb_fail(BB_UNSUPPORTED,
                   "%s: its catalog of indexes has a definition that this version does not know: "
                   "%.600s",
                   place.file == NULL ? "(memory)" : place.file, failure.message);
}

enum bb_status bb_catalog_decode(struct bb_bytes bytes, struct bb_place place,
                                 struct bb_catalog **ret_catalog)
{
    struct bb_catalog *catalog = NULL;
    struct bb_cursor cursor = bb_cursor_of(bytes);
    enum bb_status status = bb_catalog_create_empty(&catalog);
    if (status == BB_OK && bytes.size > 0)
        status = decode_parts(&cursor, place, catalog);
    if (status == BB_OK)
        *ret_catalog = catalog;
    else
        bb_catalog_unref(catalog);
    return explain(status, place);
}
