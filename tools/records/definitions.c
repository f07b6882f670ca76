/* See definitions.h. */
#include "tools/records/definitions.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "bb/skip.h"
#include "tools/records/caret.h"

/* The command line names something that does not exist, or that already exists: an error of usage,
 * not of the disk. */
static enum bb_status blame(enum bb_status status, const char *text)
{
    struct bb_error failure = *bb_error_last();
    if (status == BB_INVALID)
        caret_show(text);
    bool is_usage = status == BB_NOT_FOUND || status == BB_EXISTS;
    return is_usage ? bb_fail(BB_INVALID, "%s", failure.message) : bb_error_restore(&failure);
}

/* ---- attributes ---- */

/* Whether the attribute with the same name has the same definition. */
static enum bb_status compare_definition(struct bb_db *db, const char *definition)
{
    struct bb_schema *wanted = NULL;
    struct bb_schema *present = NULL;
    size_t number = 0;
    enum bb_status status = bb_schema_create(&wanted);
    if (status == BB_OK)
        status = bb_schema_add(wanted, definition);
    if (status == BB_OK)
        status = bb_db_schema(db, &present);
    if (status == BB_OK)
        status = bb_schema_find(present, bb_bytes_of_text(bb_schema_name(wanted, 0)), &number);
    if (status == BB_OK &&
        strcmp(bb_schema_definition(wanted, 0), bb_schema_definition(present, number)) != 0)
        status = bb_fail(BB_EXISTS,
                         "the store has another attribute of this name, \"%.300s\"; expected is "
                         "\"%.300s\": give one of them another name",
                         bb_schema_definition(present, number), bb_schema_definition(wanted, 0));
    bb_schema_destroy(wanted);
    bb_schema_destroy(present);
    return status;
}

enum bb_status definitions_add_attribute(struct bb_db *db, const char *definition, bool may_exist)
{
    enum bb_status status = bb_db_attribute_create(db, definition);
    if (status == BB_EXISTS && may_exist)
        status = compare_definition(db, definition);
    return status == BB_OK ? BB_OK : blame(status, definition);
}

enum bb_status definitions_drop_attribute(struct bb_db *db, const char *name)
{
    enum bb_status status = bb_db_attribute_drop(db, name);
    return status == BB_OK ? BB_OK : blame(status, name);
}

enum bb_status definitions_schema(struct bb_db *db, const struct option_texts *more,
                                  struct bb_schema **ret_schema)
{
    struct bb_schema *schema = NULL;
    enum bb_status status = bb_db_schema(db, &schema);
    for (size_t i = 0; i < more->count && status == BB_OK; i++) {
        status = bb_schema_add(schema, more->values[i]);
        if (status != BB_OK)
            status = blame(status, more->values[i]);
    }
    if (status == BB_OK)
        *ret_schema = schema;
    else
        bb_schema_destroy(schema);
    return status;
}

/* ---- indexes ---- */

/* The part after "NAME =", or all of it: an equals sign within parentheses is a parameter's. */
static const char *find_spec(const char *text, struct bb_bytes *ret_name)
{
    const char *mark = text + strcspn(text, "=(");
    *ret_name = bb_bytes_of(text, 0);
    if (*mark != '=')
        return text;
    size_t size = (size_t)(mark - text);
    while (size > 0 && text[size - 1] == ' ')
        size--;
    *ret_name = bb_bytes_of(text, size);
    mark++;
    return mark + strspn(mark, " ");
}

/* "agent_tokens" for tokens(agent). */
static enum bb_status derive_name(const struct bb_skip_spec *spec, const struct bb_schema *schema,
                                  struct bb_buf *name)
{
    return bb_buf_print(name, "%s_%s", bb_schema_name(schema, spec->attribute),
                        bb_skip_kind_name(spec->kind));
}

/* Is the index of this name the same? */
static enum bb_status compare_index(struct bb_db *db, const char *name, struct bb_bytes wanted)
{
    struct bb_db_index_list list = {0};
    enum bb_status status = bb_db_index_list(db, &list);
    for (size_t i = 0; i < list.count && status == BB_OK; i++) {
        if (strcmp(list.indexes[i].name, name) == 0 &&
            !bb_bytes_equal(bb_bytes_of_text(list.indexes[i].spec), wanted))
            status = bb_fail(BB_EXISTS,
                             "there is an index \"%s\" already, %.200s: give the new one a name, "
                             "\"NAME = KIND(ATTRIBUTE)\"",
                             name, list.indexes[i].spec);
    }
    bb_db_index_list_deinit(&list);
    return status;
}

static enum bb_status create_index(struct bb_db *db, const char *name, const char *spec_text,
                                   struct bb_bytes canonical, bool may_exist)
{
    enum bb_status status = bb_db_index_create(db, name, spec_text);
    return status == BB_EXISTS && may_exist ? compare_index(db, name, canonical) : status;
}

static enum bb_status add_index(struct bb_db *db, const struct bb_schema *schema, const char *text,
                                bool may_exist, struct bb_buf *name)
{
    struct bb_bytes given = {0};
    struct bb_buf canonical = {0};
    struct bb_skip_spec spec = {0};
    const char *spec_text = find_spec(text, &given);
    size_t begin = name->size;
    enum bb_status status = bb_skip_spec_parse(spec_text, schema, &spec);
    if (status == BB_OK)
        status = bb_skip_spec_print(&spec, schema, &canonical);
    if (status == BB_OK)
        status = given.size > 0 ? bb_buf_append(name, given.data, given.size)
                                : derive_name(&spec, schema, name);
    if (status == BB_OK)
        status = bb_buf_append(name, "", 1);
    if (status == BB_OK)
        status = create_index(db, (const char *)name->data + begin, spec_text,
                              bb_buf_bytes(&canonical), may_exist);
    bb_buf_deinit(&canonical);
    return status == BB_OK ? BB_OK : blame(status, spec_text);
}

enum bb_status definitions_add_index(struct bb_db *db, const char *text, bool may_exist,
                                     struct bb_buf *ret_name)
{
    struct bb_schema *schema = NULL;
    struct bb_buf unwanted = {0};
    enum bb_status status = bb_db_schema(db, &schema);
    if (status == BB_OK)
        status = add_index(db, schema, text, may_exist, ret_name != NULL ? ret_name : &unwanted);
    bb_schema_destroy(schema);
    bb_buf_deinit(&unwanted);
    return status;
}

enum bb_status definitions_drop_index(struct bb_db *db, const char *name)
{
    enum bb_status status = bb_db_index_drop(db, name);
    return status == BB_OK ? BB_OK : blame(status, name);
}
