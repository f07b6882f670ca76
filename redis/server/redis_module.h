/* The module interface of Redis 7.0 and Valkey 7.2, as far as the module uses it.
 *
 * Declared here from the interface's documentation, so that no header of the server is needed to
 * build. The server passes the address of its look-up function at the start of every context; each
 * function below is a pointer that bb_redis_module_resolve fills by name. A server that lacks one
 * of them refuses the module, with the name in its log.
 *
 * To use another function of the interface, add its line to BB_REDIS_MODULE_FUNCTIONS.
 *
 * Threads: the pointers are written once, while the module is loaded. Calls with a context are made
 * on the server's thread, or under RedisModule_ThreadSafeContextLock. */
#ifndef BB_REDIS_SERVER_REDIS_MODULE_H
#define BB_REDIS_SERVER_REDIS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct RedisModuleCtx;
struct RedisModuleKey;
struct RedisModuleString;
struct RedisModuleCommand;
struct RedisModuleCallReply;
struct RedisModuleIO;
struct RedisModuleType;
struct RedisModuleDigest;
struct RedisModuleBlockedClient;
struct RedisModuleInfoCtx;
struct RedisModuleKeyOptCtx;
struct RedisModuleDefragCtx;
struct RedisModuleScanCursor;
struct RedisModuleServerInfoData;

/* Results of most functions. */
#define REDISMODULE_OK  0
#define REDISMODULE_ERR 1

#define REDISMODULE_APIVER_1 1

/* Modes of RedisModule_OpenKey. */
#define REDISMODULE_READ             (1 << 0)
#define REDISMODULE_WRITE            (1 << 1)
#define REDISMODULE_OPEN_KEY_NOTOUCH (1 << 16)

/* Results of RedisModule_KeyType. */
#define REDISMODULE_KEYTYPE_EMPTY  0
#define REDISMODULE_KEYTYPE_STRING 1
#define REDISMODULE_KEYTYPE_LIST   2
#define REDISMODULE_KEYTYPE_HASH   3
#define REDISMODULE_KEYTYPE_SET    4
#define REDISMODULE_KEYTYPE_ZSET   5
#define REDISMODULE_KEYTYPE_MODULE 6
#define REDISMODULE_KEYTYPE_STREAM 7

/* A length that is set after the elements. */
#define REDISMODULE_POSTPONED_LEN (-1)

#define REDISMODULE_ERRORMSG_WRONGTYPE                                                             \
    "WRONGTYPE Operation against a key holding the wrong kind of value"

/* Kinds of events for RedisModule_NotifyKeyspaceEvent. */
#define REDISMODULE_NOTIFY_GENERIC (1 << 2)
#define REDISMODULE_NOTIFY_MODULE  (1 << 13)

/* Bits of RedisModule_GetContextFlags. */
#define REDISMODULE_CTX_FLAGS_LUA           (1 << 0)
#define REDISMODULE_CTX_FLAGS_MULTI         (1 << 1)
#define REDISMODULE_CTX_FLAGS_MASTER        (1 << 2)
#define REDISMODULE_CTX_FLAGS_SLAVE         (1 << 3)
#define REDISMODULE_CTX_FLAGS_READONLY      (1 << 4)
#define REDISMODULE_CTX_FLAGS_CLUSTER       (1 << 5)
#define REDISMODULE_CTX_FLAGS_AOF           (1 << 6)
#define REDISMODULE_CTX_FLAGS_RDB           (1 << 7)
#define REDISMODULE_CTX_FLAGS_OOM           (1 << 10)
#define REDISMODULE_CTX_FLAGS_REPLICATED    (1 << 12)
#define REDISMODULE_CTX_FLAGS_LOADING       (1 << 13)
#define REDISMODULE_CTX_FLAGS_ACTIVE_CHILD  (1 << 18)
#define REDISMODULE_CTX_FLAGS_IS_CHILD      (1 << 20)
#define REDISMODULE_CTX_FLAGS_DENY_BLOCKING (1 << 21)
#define REDISMODULE_CTX_FLAGS_RESP3         (1 << 22)
#define REDISMODULE_CTX_FLAGS_ASYNC_LOADING (1 << 23)

/* RedisModule_SetModuleOptions: the module checks RedisModule_IsIOError after reading an RDB. */
#define REDISMODULE_OPTIONS_HANDLE_IO_ERRORS       (1 << 0)
#define REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD (1 << 2)
/* The same: a change of a key is signalled by RedisModule_SignalModifiedKey, and not whenever a key
 * that was opened for writing is closed. */
#define REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED (1 << 1)

/* Events of RedisModule_SubscribeToServerEvent, and their parts. */
#define REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED      0
#define REDISMODULE_EVENT_PERSISTENCE                   1
#define REDISMODULE_EVENT_FLUSHDB                       2
#define REDISMODULE_EVENT_LOADING                       3
#define REDISMODULE_EVENT_SHUTDOWN                      5
#define REDISMODULE_EVENT_CRON_LOOP                     8
#define REDISMODULE_EVENT_SWAPDB                        11
#define REDISMODULE_EVENT_FORK_CHILD                    13
#define REDISMODULE_EVENT_REPL_ASYNC_LOAD               14
#define REDISMODULE_SUBEVENT_PERSISTENCE_RDB_START      0
#define REDISMODULE_SUBEVENT_PERSISTENCE_AOF_START      1
#define REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START 2
#define REDISMODULE_SUBEVENT_PERSISTENCE_ENDED          3
#define REDISMODULE_SUBEVENT_PERSISTENCE_FAILED         4
#define REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_AOF_START 5
#define REDISMODULE_SUBEVENT_LOADING_RDB_START          0
#define REDISMODULE_SUBEVENT_LOADING_AOF_START          1
#define REDISMODULE_SUBEVENT_LOADING_REPL_START         2
#define REDISMODULE_SUBEVENT_LOADING_ENDED              3
#define REDISMODULE_SUBEVENT_LOADING_FAILED             4
#define REDISMODULE_SUBEVENT_FLUSHDB_START              0
#define REDISMODULE_SUBEVENT_FLUSHDB_END                1
#define REDISMODULE_SUBEVENT_FORK_CHILD_BORN            0
#define REDISMODULE_SUBEVENT_FORK_CHILD_DIED            1
#define REDISMODULE_SUBEVENT_REPL_ASYNC_LOAD_STARTED    0
#define REDISMODULE_SUBEVENT_REPL_ASYNC_LOAD_ABORTED    1
#define REDISMODULE_SUBEVENT_REPL_ASYNC_LOAD_COMPLETED  2

struct RedisModuleEvent {
    uint64_t id;
    uint64_t data_version;
};

typedef int (*RedisModuleCmdFunc)(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                  int argc);
typedef void (*RedisModuleEventCallback)(struct RedisModuleCtx *ctx, struct RedisModuleEvent event,
                                         uint64_t subevent, void *data);
typedef void (*RedisModuleScanKeyCB)(struct RedisModuleKey *key, struct RedisModuleString *field,
                                     struct RedisModuleString *value, void *data);
typedef void (*RedisModuleTimerProc)(struct RedisModuleCtx *ctx, void *data);
typedef void (*RedisModuleEventLoopOneShotFunc)(void *data);
typedef void (*RedisModuleInfoFunc)(struct RedisModuleInfoCtx *ctx, int for_crash_report);
typedef void (*RedisModuleDisconnectFunc)(struct RedisModuleCtx *ctx,
                                          struct RedisModuleBlockedClient *client);
typedef void (*RedisModuleFreePrivDataFunc)(struct RedisModuleCtx *ctx, void *data);

/* The methods of a data type; unused ones are NULL. The layout is version 4 of the interface
 * (Redis 7.0); later versions append to it. */
#define REDISMODULE_TYPE_METHOD_VERSION 4
struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(struct RedisModuleIO *rdb, int encver);
    void (*rdb_save)(struct RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(struct RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(struct RedisModuleIO *rdb, int encver, int when);
    void (*aux_save)(struct RedisModuleIO *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(struct RedisModuleString *key, const void *value);
    void (*unlink)(struct RedisModuleString *key, const void *value);
    void *(*copy)(struct RedisModuleString *from, struct RedisModuleString *to, const void *value);
    int (*defrag)(struct RedisModuleDefragCtx *ctx, struct RedisModuleString *key, void **value);
    size_t (*mem_usage2)(struct RedisModuleKeyOptCtx *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(struct RedisModuleKeyOptCtx *ctx, const void *value);
    void (*unlink2)(struct RedisModuleKeyOptCtx *ctx, const void *value);
    void *(*copy2)(struct RedisModuleKeyOptCtx *ctx, const void *value);
};

/* Descriptions of commands, for COMMAND DOCS and for cluster clients. The server steps through
 * arrays by the sizes in the version, so a field at the end of an element is harmless to a server
 * that does not know it. An array ends with an element of zeros. */
struct RedisModuleCommandHistoryEntry {
    const char *since;
    const char *changes;
};

enum RedisModuleKeySpecBeginSearchType {
    REDISMODULE_KSPEC_BS_INVALID = 0,
    REDISMODULE_KSPEC_BS_UNKNOWN,
    REDISMODULE_KSPEC_BS_INDEX,
    REDISMODULE_KSPEC_BS_KEYWORD,
};

enum RedisModuleKeySpecFindKeysType {
    REDISMODULE_KSPEC_FK_OMITTED = 0,
    REDISMODULE_KSPEC_FK_UNKNOWN,
    REDISMODULE_KSPEC_FK_RANGE,
    REDISMODULE_KSPEC_FK_KEYNUM,
};

#define REDISMODULE_CMD_KEY_RO     (UINT64_C(1) << 0)
#define REDISMODULE_CMD_KEY_RW     (UINT64_C(1) << 1)
#define REDISMODULE_CMD_KEY_OW     (UINT64_C(1) << 2)
#define REDISMODULE_CMD_KEY_RM     (UINT64_C(1) << 3)
#define REDISMODULE_CMD_KEY_ACCESS (UINT64_C(1) << 4)
#define REDISMODULE_CMD_KEY_UPDATE (UINT64_C(1) << 5)
#define REDISMODULE_CMD_KEY_INSERT (UINT64_C(1) << 6)
#define REDISMODULE_CMD_KEY_DELETE (UINT64_C(1) << 7)

struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    enum RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    enum RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
        struct {
            int keynumidx;
            int firstkey;
            int keystep;
        } keynum;
    } fk;
};

enum RedisModuleCommandArgType {
    REDISMODULE_ARG_TYPE_STRING,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY,
    REDISMODULE_ARG_TYPE_PATTERN,
    REDISMODULE_ARG_TYPE_UNIX_TIME,
    REDISMODULE_ARG_TYPE_PURE_TOKEN,
    REDISMODULE_ARG_TYPE_ONEOF,
    REDISMODULE_ARG_TYPE_BLOCK,
};

#define REDISMODULE_CMD_ARG_OPTIONAL (1 << 0)
#define REDISMODULE_CMD_ARG_MULTIPLE (1 << 1)

struct RedisModuleCommandArg {
    const char *name;
    enum RedisModuleCommandArgType type;
    int key_spec_index;
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text; /* since Redis 7.2 */
};

struct RedisModuleCommandInfoVersion {
    int version; /* 1 */
    size_t sizeof_historyentry;
    size_t sizeof_keyspec;
    size_t sizeof_arg;
};

struct RedisModuleCommandInfo {
    const struct RedisModuleCommandInfoVersion *version;
    const char *summary;
    const char *complexity;
    const char *since;
    struct RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    struct RedisModuleCommandKeySpec *key_specs;
    struct RedisModuleCommandArg *args;
};

/* X(result, name, parameters): every function that the module uses, without its prefix
 * RedisModule_. */
#define BB_REDIS_MODULE_FUNCTIONS(X)                                                               \
    /* memory */                                                                                   \
    X(void *, Alloc, (size_t size))                                                                \
    X(void *, TryAlloc, (size_t size))                                                             \
    X(void *, Realloc, (void *memory, size_t size))                                                \
    X(void, Free, (void *memory))                                                                  \
    X(size_t, MallocSize, (void *memory))                                                          \
    X(size_t, MallocUsableSize, (void *memory))                                                    \
    X(float, GetUsedMemoryRatio, (void))                                                           \
    /* the module and its commands */                                                              \
    X(int, IsModuleNameBusy, (const char *name))                                                   \
    X(void, SetModuleAttribs,                                                                      \
      (struct RedisModuleCtx * ctx, const char *name, int version, int api_version))               \
    X(void, _Assert, (const char *condition, const char *file, int line))                          \
    X(void, SetModuleOptions, (struct RedisModuleCtx * ctx, int options))                          \
    X(int, CreateCommand,                                                                          \
      (struct RedisModuleCtx * ctx, const char *name, RedisModuleCmdFunc function,                 \
       const char *flags, int first_key, int last_key, int key_step))                              \
    X(struct RedisModuleCommand *, GetCommand, (struct RedisModuleCtx * ctx, const char *name))    \
    X(int, SetCommandInfo,                                                                         \
      (struct RedisModuleCommand * command, const struct RedisModuleCommandInfo *info))            \
    X(int, IsKeysPositionRequest, (struct RedisModuleCtx * ctx))                                   \
    X(void, KeyAtPosWithFlags, (struct RedisModuleCtx * ctx, int position, int flags))             \
    X(void, Log, (struct RedisModuleCtx * ctx, const char *level, const char *format, ...))        \
    X(int, GetContextFlags, (struct RedisModuleCtx * ctx))                                         \
    X(int, SubscribeToServerEvent,                                                                 \
      (struct RedisModuleCtx * ctx, struct RedisModuleEvent event,                                 \
       RedisModuleEventCallback callback))                                                         \
    X(int, RegisterInfoFunc, (struct RedisModuleCtx * ctx, RedisModuleInfoFunc callback))          \
    /* strings */                                                                                  \
    X(const char *, StringPtrLen, (const struct RedisModuleString *text, size_t *size))            \
    X(int, StringToLongLong, (const struct RedisModuleString *text, long long *value))             \
    X(int, StringToDouble, (const struct RedisModuleString *text, double *value))                  \
    X(struct RedisModuleString *, CreateString,                                                    \
      (struct RedisModuleCtx * ctx, const char *text, size_t size))                                \
    X(void, FreeString, (struct RedisModuleCtx * ctx, struct RedisModuleString * text))            \
    X(void, RetainString, (struct RedisModuleCtx * ctx, struct RedisModuleString * text))          \
    /* replies */                                                                                  \
    X(int, WrongArity, (struct RedisModuleCtx * ctx))                                              \
    X(int, ReplyWithError, (struct RedisModuleCtx * ctx, const char *error))                       \
    X(int, ReplyWithSimpleString, (struct RedisModuleCtx * ctx, const char *text))                 \
    X(int, ReplyWithStringBuffer, (struct RedisModuleCtx * ctx, const char *text, size_t size))    \
    X(int, ReplyWithString, (struct RedisModuleCtx * ctx, struct RedisModuleString * text))        \
    X(int, ReplyWithLongLong, (struct RedisModuleCtx * ctx, long long value))                      \
    X(int, ReplyWithDouble, (struct RedisModuleCtx * ctx, double value))                           \
    X(int, ReplyWithBool, (struct RedisModuleCtx * ctx, int value))                                \
    X(int, ReplyWithNull, (struct RedisModuleCtx * ctx))                                           \
    X(int, ReplyWithArray, (struct RedisModuleCtx * ctx, long length))                             \
    X(int, ReplyWithMap, (struct RedisModuleCtx * ctx, long length))                               \
    X(void, ReplySetArrayLength, (struct RedisModuleCtx * ctx, long length))                       \
    X(void, ReplySetMapLength, (struct RedisModuleCtx * ctx, long length))                         \
    /* keys */                                                                                     \
    X(struct RedisModuleKey *, OpenKey,                                                            \
      (struct RedisModuleCtx * ctx, struct RedisModuleString * name, int mode))                    \
    X(void, CloseKey, (struct RedisModuleKey * key))                                               \
    X(int, KeyType, (struct RedisModuleKey * key))                                                 \
    X(int, DeleteKey, (struct RedisModuleKey * key))                                               \
    X(int, GetSelectedDb, (struct RedisModuleCtx * ctx))                                           \
    X(int, ModuleTypeSetValue,                                                                     \
      (struct RedisModuleKey * key, struct RedisModuleType * type, void *value))                   \
    X(struct RedisModuleType *, ModuleTypeGetType, (struct RedisModuleKey * key))                  \
    X(void *, ModuleTypeGetValue, (struct RedisModuleKey * key))                                   \
    X(int, SignalModifiedKey, (struct RedisModuleCtx * ctx, struct RedisModuleString * name))      \
    X(int, NotifyKeyspaceEvent,                                                                    \
      (struct RedisModuleCtx * ctx, int type, const char *event, struct RedisModuleString *key))   \
    X(int, ReplicateVerbatim, (struct RedisModuleCtx * ctx))                                       \
    X(int, Replicate, (struct RedisModuleCtx * ctx, const char *command, const char *format, ...)) \
    X(struct RedisModuleScanCursor *, ScanCursorCreate, (void))                                    \
    X(void, ScanCursorDestroy, (struct RedisModuleScanCursor * cursor))                            \
    X(int, ScanKey,                                                                                \
      (struct RedisModuleKey * key, struct RedisModuleScanCursor * cursor,                         \
       RedisModuleScanKeyCB callback, void *data))                                                 \
    /* data types */                                                                               \
    X(struct RedisModuleType *, CreateDataType,                                                    \
      (struct RedisModuleCtx * ctx, const char *name, int encver,                                  \
       const struct RedisModuleTypeMethods *methods))                                              \
    X(void, SaveUnsigned, (struct RedisModuleIO * rdb, uint64_t value))                            \
    X(uint64_t, LoadUnsigned, (struct RedisModuleIO * rdb))                                        \
    X(void, SaveStringBuffer, (struct RedisModuleIO * rdb, const char *data, size_t size))         \
    X(char *, LoadStringBuffer, (struct RedisModuleIO * rdb, size_t * size))                       \
    X(int, IsIOError, (struct RedisModuleIO * rdb))                                                \
    X(void, LogIOError, (struct RedisModuleIO * rdb, const char *level, const char *format, ...))  \
    X(const struct RedisModuleString *, GetKeyNameFromIO, (struct RedisModuleIO * rdb))            \
    X(int, GetDbIdFromIO, (struct RedisModuleIO * rdb))                                            \
    X(struct RedisModuleCtx *, GetContextFromIO, (struct RedisModuleIO * rdb))                     \
    X(void, EmitAOF, (struct RedisModuleIO * aof, const char *command, const char *format, ...))   \
    X(void, DigestAddStringBuffer,                                                                 \
      (struct RedisModuleDigest * digest, const char *data, size_t size))                          \
    X(void, DigestAddLongLong, (struct RedisModuleDigest * digest, long long value))               \
    X(void, DigestEndSequence, (struct RedisModuleDigest * digest))                                \
    /* blocked clients, threads, timers */                                                         \
    X(struct RedisModuleBlockedClient *, BlockClient,                                              \
      (struct RedisModuleCtx * ctx, RedisModuleCmdFunc reply, RedisModuleCmdFunc timed_out,        \
       RedisModuleFreePrivDataFunc free_data, long long timeout_ms))                               \
    X(int, UnblockClient, (struct RedisModuleBlockedClient * client, void *data))                  \
    X(int, AbortBlock, (struct RedisModuleBlockedClient * client))                                 \
    X(void *, GetBlockedClientPrivateData, (struct RedisModuleCtx * ctx))                          \
    X(void, SetDisconnectCallback,                                                                 \
      (struct RedisModuleBlockedClient * client, RedisModuleDisconnectFunc callback))              \
    X(struct RedisModuleCtx *, GetThreadSafeContext, (struct RedisModuleBlockedClient * client))   \
    X(struct RedisModuleCtx *, GetDetachedThreadSafeContext, (struct RedisModuleCtx * ctx))        \
    X(void, FreeThreadSafeContext, (struct RedisModuleCtx * ctx))                                  \
    X(void, ThreadSafeContextLock, (struct RedisModuleCtx * ctx))                                  \
    X(void, ThreadSafeContextUnlock, (struct RedisModuleCtx * ctx))                                \
    X(uint64_t, CreateTimer,                                                                       \
      (struct RedisModuleCtx * ctx, long long period_ms, RedisModuleTimerProc callback,            \
       void *data))                                                                                \
    X(int, StopTimer, (struct RedisModuleCtx * ctx, uint64_t timer, void **data))                  \
    X(int, EventLoopAddOneShot, (RedisModuleEventLoopOneShotFunc callback, void *data))            \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(unsigned long long, GetClientId, (struct RedisModuleCtx * ctx))                              \
    /* calls of commands */                                                                        \
    X(struct RedisModuleCallReply *, Call,                                                         \
      (struct RedisModuleCtx * ctx, const char *command, const char *format, ...))                 \
    X(void, FreeCallReply, (struct RedisModuleCallReply * reply))                                  \
    X(int, CallReplyType, (struct RedisModuleCallReply * reply))                                   \
    X(size_t, CallReplyLength, (struct RedisModuleCallReply * reply))                              \
    X(const char *, CallReplyStringPtr, (struct RedisModuleCallReply * reply, size_t * size))      \
    X(struct RedisModuleCallReply *, CallReplyArrayElement,                                        \
      (struct RedisModuleCallReply * reply, size_t at))                                            \
    /* INFO */                                                                                     \
    X(struct RedisModuleServerInfoData *, GetServerInfo,                                           \
      (struct RedisModuleCtx * ctx, const char *section))                                          \
    X(void, FreeServerInfo,                                                                        \
      (struct RedisModuleCtx * ctx, struct RedisModuleServerInfoData * info))                      \
    X(unsigned long long, ServerInfoGetFieldUnsigned,                                              \
      (struct RedisModuleServerInfoData * info, const char *field, int *failed))                   \
    X(int, InfoAddSection, (struct RedisModuleInfoCtx * ctx, const char *name))                    \
    X(int, InfoAddFieldULongLong,                                                                  \
      (struct RedisModuleInfoCtx * ctx, const char *field, unsigned long long value))

/* Functions that Redis 7.0 does not have: NULL there. Redis 7.2 and Valkey 7.2 have them. */
#define BB_REDIS_MODULE_NEWER_FUNCTIONS(X)                                                         \
    X(int, SetCommandACLCategories, (struct RedisModuleCommand * command, const char *categories))

#define BB_REDIS_MODULE_DECLARE(result, name, parameters)                                          \
    extern result(*RedisModule_##name) parameters;
BB_REDIS_MODULE_FUNCTIONS(BB_REDIS_MODULE_DECLARE)
BB_REDIS_MODULE_NEWER_FUNCTIONS(BB_REDIS_MODULE_DECLARE)
#undef BB_REDIS_MODULE_DECLARE

/* Finds every function above in the server that passed the context. False if one of Redis 7.0 is
 * missing: the server's log then names it. */
bool bb_redis_module_resolve(struct RedisModuleCtx *ctx);

#endif
