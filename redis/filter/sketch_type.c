/* See sketch_type.h.
 *
 *     RDB    columns | rows | total | strings of PIECE_CELLS cells, the last one shorter
 *     AOF    CMS.INITBYDIM, and BB.CMS.LOAD for the total and for each piece that has counts */
#include "redis/filter/sketch_type.h"

#define ENCODING_VERSION 1
#define PIECE_CELLS      65536

bool bb_redis_sketch_type_is_possible(uint64_t column_count, uint64_t row_count)
{
    return column_count > 0 && row_count > 0 &&
           column_count <= BB_REDIS_SKETCH_CELLS_MAX / row_count;
}

void bb_redis_sketch_type_store(const struct bb_redis_sketch *sketch, uint64_t cell, uint8_t *bytes,
                                size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(sketch->cells[cell + i / 4] >> (i % 4 * 8));
}

bool bb_redis_sketch_type_load(struct bb_redis_sketch *sketch, uint64_t cell, struct bb_bytes bytes)
{
    uint64_t cell_count = bb_redis_sketch_cell_count(sketch);
    if (bytes.size % 4 != 0 || cell > cell_count || bytes.size / 4 > cell_count - cell)
        return false;
    for (size_t i = 0; i < bytes.size; i += 4) {
        const uint8_t *at = bytes.data + i;
        sketch->cells[cell + i / 4] =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    }
    return true;
}

static size_t piece_size(const struct bb_redis_sketch *sketch, uint64_t cell)
{
    uint64_t left = bb_redis_sketch_cell_count(sketch) - cell;
    return 4 * (size_t)(left < PIECE_CELLS ? left : PIECE_CELLS);
}

/* Calls the function with each piece. */
static void for_pieces(const struct bb_redis_sketch *sketch, void *context,
                       void (*visit)(void *context, uint64_t cell, struct bb_bytes piece))
{
    uint64_t cell_count = bb_redis_sketch_cell_count(sketch);
    uint8_t *bytes = RedisModule_Alloc(4 * PIECE_CELLS);
    for (uint64_t cell = 0; cell < cell_count; cell += PIECE_CELLS) {
        struct bb_bytes piece = {bytes, piece_size(sketch, cell)};
        bb_redis_sketch_type_store(sketch, cell, bytes, piece.size);
        visit(context, cell, piece);
    }
    RedisModule_Free(bytes);
}

static void save_piece(void *context, uint64_t cell, struct bb_bytes piece)
{
    (void)cell;
    RedisModule_SaveStringBuffer(context, (const char *)piece.data, piece.size);
}

static void save(struct RedisModuleIO *rdb, void *value)
{
    const struct bb_redis_sketch *sketch = value;
    RedisModule_SaveUnsigned(rdb, sketch->column_count);
    RedisModule_SaveUnsigned(rdb, sketch->row_count);
    RedisModule_SaveUnsigned(rdb, sketch->total);
    for_pieces(sketch, rdb, save_piece);
}

static bool load_piece(struct RedisModuleIO *rdb, struct bb_redis_sketch *sketch, uint64_t cell)
{
    struct bb_bytes piece = {0};
    char *loaded = RedisModule_LoadStringBuffer(rdb, &piece.size);
    piece.data = (const uint8_t *)loaded;
    bool is_loaded = !RedisModule_IsIOError(rdb) && loaded != NULL &&
                     piece.size == piece_size(sketch, cell) &&
                     bb_redis_sketch_type_load(sketch, cell, piece);
    RedisModule_Free(loaded);
    return is_loaded;
}

static void *refuse(struct RedisModuleIO *rdb, struct bb_redis_sketch *sketch)
{
    RedisModule_LogIOError(rdb, "warning",
                           "bloomblock: a sketch cannot be loaded: its bytes are damaged, or "
                           "memory is short");
    bb_redis_sketch_destroy(sketch);
    return NULL;
}

static void *load(struct RedisModuleIO *rdb, int version)
{
    if (version != ENCODING_VERSION)
        return NULL;
    uint64_t columns = RedisModule_LoadUnsigned(rdb);
    uint64_t rows = RedisModule_LoadUnsigned(rdb);
    uint64_t total = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb) || !bb_redis_sketch_type_is_possible(columns, rows))
        return refuse(rdb, NULL);
    struct bb_redis_sketch *sketch = bb_redis_sketch_create(columns, rows);
    if (sketch == NULL)
        return refuse(rdb, NULL);
    bb_redis_sketch_set_total(sketch, total);
    for (uint64_t cell = 0; cell < columns * rows; cell += PIECE_CELLS) {
        if (!load_piece(rdb, sketch, cell))
            return refuse(rdb, sketch);
    }
    return sketch;
}

struct rewrite {
    struct RedisModuleIO *aof;
    struct RedisModuleString *key;
    const struct bb_redis_sketch *sketch;
};

static bool is_zero(struct bb_bytes piece)
{
    uint8_t any = 0;
    for (size_t i = 0; i < piece.size; i++)
        any |= piece.data[i];
    return any == 0;
}

static void emit(const struct rewrite *rewrite, uint64_t cell, struct bb_bytes piece)
{
    RedisModule_EmitAOF(rewrite->aof, "BB.CMS.LOAD", "sllb", rewrite->key,
                        (long long)rewrite->sketch->total, (long long)cell,
                        (const char *)piece.data, piece.size);
}

static void emit_piece(void *context, uint64_t cell, struct bb_bytes piece)
{
    if (!is_zero(piece))
        emit(context, cell, piece);
}

static void rewrite(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value)
{
    struct rewrite context = {aof, key, value};
    RedisModule_EmitAOF(aof, "CMS.INITBYDIM", "sll", key, (long long)context.sketch->column_count,
                        (long long)context.sketch->row_count);
    /* The differences of a merge may all be 0 where cells had overflowed, and the total is not. */
    if (context.sketch->total > 0)
        emit(&context, 0, (struct bb_bytes){(const uint8_t *)"", 0});
    for_pieces(value, &context, emit_piece);
}

static size_t memory_usage(const void *value)
{
    return bb_redis_sketch_memory(value);
}

static void add_to_digest(void *context, uint64_t cell, struct bb_bytes piece)
{
    (void)cell;
    RedisModule_DigestAddStringBuffer(context, (const char *)piece.data, piece.size);
}

static void digest(struct RedisModuleDigest *digest, void *value)
{
    const struct bb_redis_sketch *sketch = value;
    RedisModule_DigestAddLongLong(digest, (long long)sketch->column_count);
    RedisModule_DigestAddLongLong(digest, (long long)sketch->total);
    for_pieces(sketch, digest, add_to_digest);
    RedisModule_DigestEndSequence(digest);
}

static void release(void *value)
{
    bb_redis_sketch_destroy(value);
}

static void *copy(struct RedisModuleString *from, struct RedisModuleString *to, const void *value)
{
    (void)from;
    (void)to;
    return bb_redis_sketch_copy(value);
}

struct RedisModuleType *bb_redis_sketch_type_create(struct RedisModuleCtx *ctx)
{
    struct RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = load,
        .rdb_save = save,
        .aof_rewrite = rewrite,
        .mem_usage = memory_usage,
        .digest = digest,
        .free = release,
        .copy = copy,
    };
    return RedisModule_CreateDataType(ctx, "bb-sketch", ENCODING_VERSION, &methods);
}
