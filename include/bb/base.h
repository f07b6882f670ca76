/* Definitions shared by all public headers: results, bytes, the key hash, comparators.
 *
 * Conventions of the library
 *
 * - A function that can fail returns enum bb_status only. Output parameters are named ret_..., are
 *   the last parameters, and are unchanged on failure.
 * - After a failure, bb_error_last() describes the error: the cause, the file and the offset.
 * - Pointer arguments are borrowed for the call unless a declaration specifies otherwise. "Owned":
 *   the receiver releases the object. "Pinned": valid until the matching release. "Copied": the
 *   callee keeps a copy.
 * - A pointer argument must not be NULL unless its declaration or one of these rules allows it.
 *   NULL options mean the defaults, in every function. destroy, close, release and deinit ignore
 *   NULL. A report (..._report) may be NULL if the caller does not need it. Bytes of size 0 and
 *   arrays of 0 elements may have a NULL address. A path that is NULL, empty or longer than 4,032
 *   bytes (3,968 for a directory) fails with BB_INVALID.
 * - Zero in an options field means the default.
 *
 * Versions. Until version 1.0 the structs may change with every minor version. A program must be
 * compiled with the headers of the library that it runs with. The name of the shared library
 * contains the minor version (libbloomblock.so.0.2), so a program never loads a library of another
 * minor version (docs/decisions/0019-struct-versions.md). A program that loads the library at run
 * time compares bb_version() with BB_VERSION.
 *
 * Bytes in files are little-endian on every machine. */
#ifndef BB_PUBLIC_BASE_H
#define BB_PUBLIC_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BB_API        __attribute__((visibility("default")))
#define BB_MUST_CHECK __attribute__((warn_unused_result))

/* The version of these headers. It is defined only here: the build, the packages and the Python
 * module read it from this file. */
#define BB_VERSION_MAJOR 0
#define BB_VERSION_MINOR 2
#define BB_VERSION_PATCH 0

#define BB_VERSION_QUOTE(major, minor, patch)  #major "." #minor "." #patch
#define BB_VERSION_EXPAND(major, minor, patch) BB_VERSION_QUOTE(major, minor, patch)
/* As text: "0.2.0". */
#define BB_VERSION BB_VERSION_EXPAND(BB_VERSION_MAJOR, BB_VERSION_MINOR, BB_VERSION_PATCH)

/* The version of the running library, in the form of BB_VERSION. The text is static. Any thread. */
BB_API const char *bb_version(void);

/* The outcome of a call. The values are part of the ABI. A call that fails with BB_NO_MEMORY or
 * BB_INVALID has changed nothing, with two exceptions: a builder or writer keeps its first failure,
 * and some calls keep their completed steps, as their declarations specify. */
enum bb_status {
    BB_OK = 0,
    /* The key, file or object does not exist. Not an error. */
    BB_NOT_FOUND = 1,
    /* The bytes of a file are not valid. The message names the file and the offset. */
    BB_CORRUPT = 2,
    /* The operating system reported an error. The message quotes it. */
    BB_IO = 3,
    /* The disk or a quota is full. */
    BB_NO_SPACE = 4,
    /* An allocation failed. */
    BB_NO_MEMORY = 5,
    /* The caller's arguments are wrong. */
    BB_INVALID = 6,
    /* A documented limit is exceeded. The message names it. */
    BB_TOO_LARGE = 7,
    /* Another user holds the resource. The message names the holder if it is known. */
    BB_BUSY = 8,
    /* Valid, but not supported by this version: a newer format or an unknown mandatory section. */
    BB_UNSUPPORTED = 9,
    /* The object already exists. */
    BB_EXISTS = 10,
    /* Writing is not possible: opened read-only, or writes stopped after an I/O failure. */
    BB_READ_ONLY = 11,
    /* The call must not wait, but would have to. Not an error. */
    BB_WOULD_WAIT = 12,
};

/* A stable lower-case name such as "corrupt". Never NULL; "unknown" for other values. */
BB_API const char *bb_status_name(enum bb_status status);

/* Details of the most recent failure of a thread. */
struct bb_error {
    enum bb_status status;
    /* A complete sentence: the cause, the file, the offset, the value found, the value expected. */
    char message[1024];
};

/* The most recent failure of the calling thread. Never NULL. Before the first failure the status is
 * BB_OK and the message is empty. The thread's next failure overwrites it; successful calls do not
 * change it. */
BB_API const struct bb_error *bb_error_last(void);

/* Sets the most recent failure of the calling thread, and returns the status. It is for code of the
 * program that the library calls, such as a file system (bb/file.h). The message is copied, and cut
 * to the size of struct bb_error. status must not be BB_OK. */
BB_API enum bb_status bb_error_set(enum bb_status status, const char *message);

/* Borrowed bytes: a pointer and a length, no terminator, any content. data may be NULL if size is
 * 0. */
struct bb_bytes {
    const uint8_t *data;
    size_t size;
};

/* The bytes of a terminated text, without the terminator; borrowed from it. */
static inline struct bb_bytes bb_text(const char *text)
{
    struct bb_bytes bytes = {(const uint8_t *)text, __builtin_strlen(text)};
    return bytes;
}

/* Owned, growable bytes. A zeroed struct is a valid empty buffer; the owner calls bb_buf_deinit. */
struct bb_buf {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Appends bytes, which must not be in the buffer itself. BB_NO_MEMORY: the buffer is unchanged. The
 * library allocates the memory of a buffer. So a program may read data and size, but changes a
 * buffer only through calls such as this. */
BB_API BB_MUST_CHECK enum bb_status bb_buf_append(struct bb_buf *buf, const void *data,
                                                  size_t size);
/* The same, but replaces the contents. */
BB_API BB_MUST_CHECK enum bb_status bb_buf_assign(struct bb_buf *buf, struct bb_bytes bytes);

/* Releases the memory and leaves a valid empty buffer. NULL is allowed. */
BB_API void bb_buf_deinit(struct bb_buf *buf);

/* Pinned bytes: readable and unchanged until bb_pinned_release. They are not copied if the library
 * already has them in memory. A zeroed struct is valid and empty. A program may copy the struct,
 * but must then use and release only one of the copies. Any thread may release it. */
struct bb_pinned {
    struct bb_bytes bytes;
    /* Internal. */
    void *holder;
    void (*unref)(void *holder);
    void *count;
};

/* Releases the bytes and leaves a valid empty struct, so releasing twice is harmless. NULL is
 * allowed. */
BB_API void bb_pinned_release(struct bb_pinned *pinned);

/* The secret of the keyed hash. Hashes of two filters or tables are comparable only if both have
 * the same secret. */
#define BB_HASH_SECRET_SIZE 192
struct bb_hash_secret {
    uint8_t bytes[BB_HASH_SECRET_SIZE];
};

/* XXH3-64 of a key under a secret (xxHash specification, XXH3_64bits_withSecret). Thread-safe. */
BB_API uint64_t bb_hash_key(const struct bb_hash_secret *secret, struct bb_bytes key);

/* XXH64 with seed 0 (xxHash specification): the hash in the filters of Parquet and other formats.
 * It has no secret, so anybody can choose colliding values. Thread-safe. */
BB_API uint64_t bb_hash_xxh64(struct bb_bytes bytes);

/* A random secret from the operating system. BB_IO if the system provides no randomness. */
BB_API BB_MUST_CHECK enum bb_status bb_hash_secret_random(struct bb_hash_secret *ret_secret);

/* A secret that depends only on the seed: for tests and reproducible files. It gives no protection
 * against attackers. */
BB_API void bb_hash_secret_from_seed(uint64_t seed, struct bb_hash_secret *ret_secret);

/* An order of keys. NULL in an options struct means bytewise order, which is fastest. Files record
 * the name. Opening a store or table with a comparator of another name fails with BB_INVALID. */
struct bb_comparator {
    const char *name; /* terminated; borrowed like the struct */
    /* Returns < 0, 0 or > 0 if a is before, equal to or after b. Must be a strict weak order and
     * thread-safe, and must give the same order as long as the files exist. */
    int (*compare)(void *context, struct bb_bytes a, struct bb_bytes b);
    void *context;
    /* True if compare() may return 0 for keys with different bytes. Filters are then not used. */
    bool equates_different_bytes;
};

#ifdef __cplusplus
}
#endif
#endif
