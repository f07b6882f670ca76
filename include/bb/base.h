/* What every public header of bloomblock shares: results, bytes, the key hash, comparators.
 *
 * Conventions of the whole library
 *   - A function that can fail returns enum bb_status and nothing else. Results leave through
 * parameters named ret_..., which come last and are untouched on failure.
 *   - After a failure bb_error_last() tells the calling thread what was wrong, in which file and at
 * which offset.
 *   - Pointer arguments are borrowed for the call unless a declaration says otherwise. "Owned"
 * means the receiver releases it, "pinned" means valid until the matching release, "copied" means
 * the callee keeps its own copy.
 *   - No pointer argument may be NULL, unless its declaration says what that means or a rule does:
 * options that are NULL are defaults, in every function; destroy, close, release and deinit do
 * nothing with NULL; reports (..._report) that nobody wants are NULL; bytes of size 0 and arrays of
 * 0 elements need no address. A path that is NULL or empty is BB_INVALID.
 *   - Zero in an options field means the default.
 *
 * Versions. A program and a library built against different versions of these headers understand each
 * other, as far as both know the same:
 *   - Options begin with struct_size, sizeof of the struct. What a shorter one, of an earlier version,
 * lacks is default; what a longer one has more must be 0. 0 means the first version's size: who sets a
 * field that came later sets struct_size too. One that no version has (below the first one's, above
 * 4096, no multiple of sizeof(size_t)) is BB_INVALID.
 *   - What the library fills in, and two structs that are given to it, end in room: fields named
 * reserved. Later fields take their place from there, so that neither the size of a struct nor the
 * place of another field ever changes. The library fills them with 0 (of counts that are added to, it
 * leaves them), which is also what a program sees of a field that its library does not know. Given
 * to it (struct bb_comparator, struct bb_filter_file) they must be 0, else BB_INVALID.
 *   - Structs with neither never change, but that those which the library hands to a callback or
 * by a pointer of its own may become longer.
 *   - Arrays that an enum counts are as long as its name that ends in ROOM, with 0 behind its COUNT.
 *
 * Bytes.
 *   - Bytes in files are little-endian on every machine.
 */
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

/* The outcome of a call. The values are part of the ABI. */
enum bb_status {
    BB_OK = 0,
    BB_NOT_FOUND = 1, /* The key, file or object is not there; no error. */
    BB_CORRUPT =
        2,     /* Bytes of a file are not what they must be; the message names file and offset. */
    BB_IO = 3, /* The operating system refused or failed; the message has its words. */
    BB_NO_SPACE = 4,  /* The disk or a quota is full. */
    BB_NO_MEMORY = 5, /* An allocation failed; nothing was changed. */
    BB_INVALID = 6,   /* The caller's arguments are wrong; nothing was changed. */
    BB_TOO_LARGE = 7, /* A documented limit is exceeded; the message names it. */
    BB_BUSY =
        8, /* Somebody else holds the resource; the message names the holder where it is known. */
    BB_UNSUPPORTED =
        9,          /* Valid, but not by this version: newer format, unknown mandatory section. */
    BB_EXISTS = 10, /* It must not exist, but does. */
    BB_READ_ONLY = 11, /* Writing is not possible here: opened read-only, or writes stopped after an
                          I/O failure. */
};

/* A stable lower-case name such as "corrupt". Never NULL; "unknown" for other values. */
BB_API const char *bb_status_name(enum bb_status status);

/* Details of a thread's most recent failure. */
struct bb_error {
    enum bb_status status;
    char message[1024]; /* Complete sentence for a person: what was wrong, file, offset, found,
                           expected. */
};

/* The calling thread's latest failure; valid until its next call into the library. Never NULL;
 * status BB_OK and an empty message before the first failure. Successful calls leave it as it is.
 */
BB_API const struct bb_error *bb_error_last(void);

/* Borrowed bytes: a pointer and a length, no terminator, any content. data may be NULL when size is
 * 0. */
struct bb_bytes {
    const uint8_t *data;
    size_t size;
};

/* Owned, growable bytes. A zeroed struct is a valid empty buffer; the owner calls bb_buf_deinit. */
struct bb_buf {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Releases the memory and leaves a valid empty buffer. NULL is allowed. */
BB_API void bb_buf_deinit(struct bb_buf *buf);

/* Pinned bytes: in place where the library has them, readable and unchanged until bb_pinned_release.
 * A zeroed struct is a valid empty one. It may be moved (copied, and one of the two forgotten) and
 * released by another thread than the one that got it, but not by two. */
struct bb_pinned {
    struct bb_bytes bytes;
    /* The library's own. */
    void *holder;
    void (*unref)(void *holder);
    void *count;
};

/* Gives the bytes back and leaves a valid empty struct: releasing twice is harmless. NULL is
 * allowed. */
BB_API void bb_pinned_release(struct bb_pinned *pinned);

/* Secret of the keyed hash. Two filters or tables understand each other's hashes only under the
 * same secret. */
#define BB_HASH_SECRET_SIZE 192
struct bb_hash_secret {
    uint8_t bytes[BB_HASH_SECRET_SIZE];
};

/* XXH3-64 of a key under a secret (xxHash specification, XXH3_64bits_withSecret). Thread-safe. */
BB_API uint64_t bb_hash_key(const struct bb_hash_secret *secret, struct bb_bytes key);

/* XXH64 with seed 0 (xxHash specification): the hash of Parquet's and other formats' filters. It
 * has no secret: anybody can choose values that collide. Thread-safe. */
BB_API uint64_t bb_hash_xxh64(struct bb_bytes bytes);

/* A secret drawn from the operating system. BB_IO if it has no randomness to give. */
BB_API BB_MUST_CHECK enum bb_status bb_hash_secret_random(struct bb_hash_secret *ret_secret);

/* A secret that depends on the seed alone: for tests and reproducible files, no protection against
 * anybody. */
BB_API void bb_hash_secret_from_seed(uint64_t seed, struct bb_hash_secret *ret_secret);

/* A total order of keys. NULL in an options struct means the bytewise order, which is the fast path
 * everywhere. The name is kept in files; a store or table opened with another name is refused with
 * BB_INVALID. */
struct bb_comparator {
    const char *name;
    /* < 0, 0 or > 0. Must be a strict weak order, thread-safe, and the same for as long as the
     * files live. */
    int (*compare)(void *context, struct bb_bytes a, struct bb_bytes b);
    void *context;
    /* True when compare() may return 0 for keys with different bytes: filters are then not used. */
    bool equates_different_bytes;
    uint64_t reserved[2]; /* 0 */
};

#ifdef __cplusplus
}
#endif
#endif
