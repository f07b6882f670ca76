/* See write_batch.h. */
#include "leveldb/write_batch.h"

#include "leveldb/memory.h"
#include "leveldb/text.h"

/* Keeps the first failure. */
static void note(leveldb_writebatch_t *batch, enum bb_status status)
{
    if (status != BB_OK && batch->failure.status == BB_OK)
        batch->failure = *bb_error_last();
}

leveldb_writebatch_t *leveldb_writebatch_create(void)
{
    leveldb_writebatch_t *batch = bb_leveldb_alloc(sizeof(*batch));
    if (batch != NULL)
        note(batch, bb_batch_create(&batch->batch));
    return batch;
}

void leveldb_writebatch_destroy(leveldb_writebatch_t *batch)
{
    if (batch == NULL)
        return;
    bb_batch_destroy(batch->batch);
    bb_leveldb_release(batch);
}

void leveldb_writebatch_clear(leveldb_writebatch_t *batch)
{
    batch->failure.status = BB_OK;
    if (batch->batch != NULL)
        bb_batch_reset(batch->batch);
    else
        note(batch, bb_batch_create(&batch->batch));
}

static void add(leveldb_writebatch_t *batch, enum bb_entry_kind kind, struct bb_bytes key,
                struct bb_bytes value)
{
    if (batch->failure.status != BB_OK)
        return;
    note(batch, kind == BB_ENTRY_PUT ? bb_batch_put(batch->batch, key, value)
                                     : bb_batch_delete(batch->batch, key));
}

void leveldb_writebatch_put(leveldb_writebatch_t *batch, const char *key, size_t klen,
                            const char *val, size_t vlen)
{
    add(batch, BB_ENTRY_PUT, (struct bb_bytes){(const uint8_t *)key, klen},
        (struct bb_bytes){(const uint8_t *)val, vlen});
}

void leveldb_writebatch_delete(leveldb_writebatch_t *batch, const char *key, size_t klen)
{
    add(batch, BB_ENTRY_DELETE, (struct bb_bytes){(const uint8_t *)key, klen},
        (struct bb_bytes){0});
}

/* The program's two functions and their argument. */
struct visitor {
    void *state;
    void (*put)(void *, const char *k, size_t klen, const char *v, size_t vlen);
    void (*deleted)(void *, const char *k, size_t klen);
};

static enum bb_status visit(void *context, enum bb_entry_kind kind, struct bb_bytes key,
                            struct bb_bytes value)
{
    const struct visitor *visitor = context;
    if (kind == BB_ENTRY_PUT)
        visitor->put(visitor->state, bb_leveldb_text_of(key), key.size, bb_leveldb_text_of(value),
                     value.size);
    else
        visitor->deleted(visitor->state, bb_leveldb_text_of(key), key.size);
    return BB_OK;
}

void leveldb_writebatch_iterate(const leveldb_writebatch_t *batch, void *state,
                                void (*put)(void *, const char *k, size_t klen, const char *v,
                                            size_t vlen),
                                void (*deleted)(void *, const char *k, size_t klen))
{
    struct visitor visitor = {state, put, deleted};
    /* visit never fails. */
    if (batch->batch != NULL)
        (void)!bb_batch_iterate(batch->batch, visit, &visitor);
}

static enum bb_status append_operation(void *context, enum bb_entry_kind kind, struct bb_bytes key,
                                       struct bb_bytes value)
{
    leveldb_writebatch_t *destination = context;
    add(destination, kind, key, value);
    return destination->failure.status;
}

/* REQUIRES: not the same batch, whose bytes would move while they are read. */
static void append(leveldb_writebatch_t *destination, const leveldb_writebatch_t *source)
{
    if (source->batch != NULL)
        (void)!bb_batch_iterate(source->batch, append_operation, destination);
    if (destination->failure.status == BB_OK)
        destination->failure = source->failure;
}

/* Twice the batch. */
static void append_to_itself(leveldb_writebatch_t *batch)
{
    leveldb_writebatch_t copy = {0};
    note(&copy, bb_batch_create(&copy.batch));
    append(&copy, batch);
    append(batch, &copy);
    bb_batch_destroy(copy.batch);
}

void leveldb_writebatch_append(leveldb_writebatch_t *destination,
                               const leveldb_writebatch_t *source)
{
    if (destination == source)
        append_to_itself(destination);
    else
        append(destination, source);
}
