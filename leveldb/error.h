/* Failures as texts of LevelDB's C interface: LevelDB's word for the kind, then the library's
 * sentence.
 *
 *     *errptr == NULL             set to a text that the program releases
 *     *errptr an earlier text     released, and replaced
 *     no failure                  unchanged
 *
 * errptr itself may be NULL, which LevelDB forbids: the failure is then not reported. Any
 * thread. */
#ifndef BB_LEVELDB_ERROR_H
#define BB_LEVELDB_ERROR_H

#include "bb/base.h"

/* Hands a failure to the program. */
void bb_leveldb_error_set(char **errptr, const struct bb_error *error);

/* For the status that a call into the library has just returned. True: it failed, and the failure
 * was reported. */
bool bb_leveldb_error_save(char **errptr, enum bb_status status);

/* For BB_BUSY of opening, repairing or destroying a directory, just returned: in LevelDB's words,
 * by which programs tell it from other failures. */
struct bb_error bb_leveldb_error_held(const char *directory);

/* A failure that is born in this layer. */
struct bb_error bb_leveldb_error_make(enum bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
