/* Changes of a store's catalog. Each is durable in the manifest before it takes effect. See
 * bb/select.h. */
#include <string.h>

#include "base/buf.h"
#include "base/status.h"
#include "bb/select.h"
#include "kv/background/edit_install.h"
#include "kv/indexes/store_catalog.h"
#include "kv/store/call.h"
#include "kv/store/inherited.h"

/* ---- changes ---- */

/* A change while it is written to the manifest. */
struct change {
    struct bb_db *db;
    const struct bb_catalog_change *wanted;
    struct bb_catalog *made; /* one reference */
};

/* Runs under the lock on installing, so that each change is based on the previous one. */
static enum bb_status describe(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    struct change *change = context;
    struct bb_buf bytes = {0};
    (void)levels;
    struct bb_catalog *before = bb_store_catalog_ref(change->db);
    enum bb_status status = bb_catalog_change(before, change->wanted, &change->made);
    bb_catalog_unref(before);
    if (status == BB_OK)
        status = bb_catalog_encode(change->made, &bytes);
    if (status == BB_OK)
        status = bb_edit_set_catalog(edit, bb_buf_bytes(&bytes));
    bb_buf_deinit(&bytes);
    return status;
}

static void put_in_force(void *context)
{
    struct change *change = context;
    bb_store_catalog_set(change->db, change->made);
    change->made = NULL;
}

static enum bb_status install(struct change *change)
{
    struct bb_edit edit = {0};
    struct bb_placing placing = {.place = describe, .placed = put_in_force, .context = change};
    enum bb_status status = bb_edit_install_replace_manifest(change->db);
    if (status == BB_OK)
        status = bb_edit_install_placed(change->db, &edit, &placing);
    bb_edit_deinit(&edit);
    bb_catalog_unref(change->made);
    return status;
}

static enum bb_status apply(struct bb_db *db, const struct bb_catalog_change *wanted)
{
    struct change change = {.db = db, .wanted = wanted};
    if (db->options.comparator != NULL)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: the store has the comparator \"%s\"; attributes and indexes need the "
                       "bytewise order",
                       db->directory, db->options.comparator->name);
    enum bb_status status = bb_call_begin_change(db, "changing attributes and indexes");
    if (status != BB_OK)
        return status;
    status = install(&change);
    bb_call_end(db);
    return status;
}

/* Refuses callbacks: the next program that opens the store cannot call a function of this one. */
static enum bb_status check_definition(const char *definition)
{
    const char *extractor = strchr(definition, '=');
    while (extractor != NULL && (*extractor == '=' || *extractor == ' '))
        extractor++;
    if (extractor != NULL && strncmp(extractor, "callback", strlen("callback")) == 0)
        return bb_fail(BB_UNSUPPORTED,
                       "a store keeps no callbacks: give an extractor that any process can call, "
                       "or select with another schema");
    return BB_OK;
}

enum bb_status bb_db_attribute_create(struct bb_db *db, const char *definition)
{
    struct bb_catalog_change change = {.add_attribute = definition};
    enum bb_status status = check_definition(definition);
    return status == BB_OK ? apply(db, &change) : status;
}

enum bb_status bb_db_attribute_drop(struct bb_db *db, const char *name)
{
    struct bb_catalog_change change = {.drop_attribute = name};
    return apply(db, &change);
}

enum bb_status bb_db_index_create(struct bb_db *db, const char *name, const char *spec)
{
    struct bb_catalog_change change = {.add_index = name, .add_spec = spec};
    return apply(db, &change);
}

enum bb_status bb_db_index_drop(struct bb_db *db, const char *name)
{
    struct bb_catalog_change change = {.drop_index = name};
    return apply(db, &change);
}

enum bb_status bb_db_granule_set(struct bb_db *db, uint64_t granule_bytes)
{
    struct bb_catalog_change change = {.granule_bytes = granule_bytes};
    if (granule_bytes == 0)
        return bb_fail(BB_INVALID, "granules of 0 bytes");
    return apply(db, &change);
}

/* ---- reading ---- */

static enum bb_status copy_schema(const struct bb_catalog *catalog, struct bb_schema *schema)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < bb_schema_count(catalog->schema) && status == BB_OK; i++)
        status = bb_schema_add(schema, bb_schema_definition(catalog->schema, i));
    return status;
}

enum bb_status bb_db_schema(struct bb_db *db, struct bb_schema **ret_schema)
{
    struct bb_schema *schema = NULL;
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return status;
    struct bb_catalog *catalog = bb_store_catalog_ref(db);
    status = bb_schema_create(&schema);
    if (status == BB_OK)
        status = copy_schema(catalog, schema);
    bb_catalog_unref(catalog);
    if (status == BB_OK)
        *ret_schema = schema;
    else
        bb_schema_destroy(schema);
    return status;
}
