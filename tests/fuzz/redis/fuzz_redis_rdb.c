/* Values of filters as RESTORE and RDB files give them to the module: BF, CF, CMS and BB.FILTER.
 *
 *     | type : 1 | parts: size : 2, bytes ... |
 *
 * The next load of a number (8 bytes) or of a string gets the next part; after the last part
 * loads fail, as at the end of a payload. No input may make a loader read beyond its bytes or keep
 * memory. A value that is accepted is saved, and loads again to the same bytes. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/filter/bloom_type.h"
#include "redis/filter/cuckoo_type.h"
#include "redis/filter/ribbon_type.h"
#include "redis/filter/sketch_type.h"
#include "tests/redis/module_memory.h"

#define TYPES 4
/* A sketch of 512 MiB is right, and too slow here. */
#define CELLS_MAX (UINT64_C(1) << 20)

struct RedisModuleIO {
    const uint8_t *data;
    size_t size;
    bool is_failed;
    uint8_t *saved;
    size_t saved_size;
};

static struct RedisModuleTypeMethods methods[TYPES];
static int method_count;

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* ---- the server ---- */

static struct RedisModuleType *keep_methods(struct RedisModuleCtx *ctx, const char *name,
                                            int encver, const struct RedisModuleTypeMethods *given)
{
    (void)ctx;
    (void)name;
    (void)encver;
    methods[method_count++] = *given;
    return (struct RedisModuleType *)methods;
}

/* The next part, which stays in the input. */
static bool take_part(struct RedisModuleIO *io, const uint8_t **ret_bytes, size_t *ret_size)
{
    size_t size = io->size >= 2 ? (size_t)io->data[0] | (size_t)io->data[1] << 8 : 0;
    if (io->size < 2 || io->size - 2 < size) {
        io->is_failed = true;
        return false;
    }
    *ret_bytes = io->data + 2;
    *ret_size = size;
    io->data += 2 + size;
    io->size -= 2 + size;
    return true;
}

static uint64_t load_unsigned(struct RedisModuleIO *io)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t value = 0;
    if (take_part(io, &bytes, &size))
        memcpy(&value, bytes, size < sizeof(value) ? size : sizeof(value));
    return value;
}

static char *load_string(struct RedisModuleIO *io, size_t *ret_size)
{
    const uint8_t *bytes = NULL;
    if (!take_part(io, &bytes, ret_size))
        return NULL;
    char *copy = RedisModule_TryAlloc(*ret_size);
    require(copy != NULL, "no memory");
    memcpy(copy, bytes, *ret_size);
    return copy;
}

static int is_failed(struct RedisModuleIO *io)
{
    return io->is_failed;
}

static void log_error(struct RedisModuleIO *io, const char *level, const char *format, ...)
{
    (void)io;
    (void)level;
    (void)format;
}

static void save_string(struct RedisModuleIO *io, const char *data, size_t size)
{
    require(size <= UINT16_MAX, "a part of this size cannot be loaded here");
    io->saved = realloc(io->saved, io->saved_size + 2 + size);
    require(io->saved != NULL, "no memory");
    io->saved[io->saved_size++] = (uint8_t)size;
    io->saved[io->saved_size++] = (uint8_t)(size >> 8);
    memcpy(io->saved + io->saved_size, data, size);
    io->saved_size += size;
}

static void save_unsigned(struct RedisModuleIO *io, uint64_t value)
{
    save_string(io, (const char *)&value, sizeof(value));
}

static void set_server(void)
{
    module_memory_use();
    RedisModule_Alloc = RedisModule_TryAlloc;
    RedisModule_CreateDataType = keep_methods;
    RedisModule_LoadUnsigned = load_unsigned;
    RedisModule_LoadStringBuffer = load_string;
    RedisModule_IsIOError = is_failed;
    RedisModule_LogIOError = log_error;
    RedisModule_SaveUnsigned = save_unsigned;
    RedisModule_SaveStringBuffer = save_string;
    require(bb_redis_bloom_type_create(NULL) != NULL && bb_redis_cuckoo_type_create(NULL) != NULL &&
                bb_redis_sketch_type_create(NULL) != NULL &&
                bb_redis_ribbon_type_create(NULL) != NULL,
            "a type was not created");
}

/* ---- inputs ---- */

/* Whether the input has a sketch of too many cells for this test. */
static bool is_too_large(const struct RedisModuleTypeMethods *type, struct RedisModuleIO io)
{
    if (type != &methods[2])
        return false;
    uint64_t columns = load_unsigned(&io);
    uint64_t rows = load_unsigned(&io);
    return columns != 0 && rows > CELLS_MAX / columns;
}

static void check_saved(const struct RedisModuleTypeMethods *type, void *value)
{
    struct RedisModuleIO first = {.data = NULL};
    type->rdb_save(&first, value);
    struct RedisModuleIO again = {.data = first.saved, .size = first.saved_size};
    void *copy = type->rdb_load(&again, 1);
    require(copy != NULL, "a saved value is refused");
    require(again.size == 0, "a saved value has more parts than are loaded");
    type->rdb_save(&again, copy);
    require(again.saved_size == first.saved_size &&
                memcmp(again.saved, first.saved, first.saved_size) == 0,
            "a loaded value is saved differently");
    require(type->mem_usage(copy) > 0, "a value without memory");
    type->free(copy);
    free(again.saved);
    free(first.saved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (method_count == 0)
        set_server();
    if (size == 0)
        return 0;
    const struct RedisModuleTypeMethods *type = &methods[data[0] % TYPES];
    struct RedisModuleIO io = {.data = data + 1, .size = size - 1};
    long live = module_memory_live();
    void *value = is_too_large(type, io) ? NULL : type->rdb_load(&io, 1);
    if (value != NULL) {
        check_saved(type, value);
        type->free(value);
    }
    require(module_memory_live() == live, "memory was kept");
    return 0;
}
