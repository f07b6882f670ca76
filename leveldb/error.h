/* Failures as the texts that LevelDB's C interface hands out: a word for the kind, as LevelDB's own
 * texts begin, then the library's sentence.
 *
 *     *errptr == NULL             set to a text that the program releases
 *     *errptr an earlier text     released, and replaced
 *     no failure                  left as it is
 *
 * errptr itself may be NULL, which LevelDB forbids: nobody wants to know. Any thread.
 */
#ifndef BB_LEVELDB_ERROR_H
#define BB_LEVELDB_ERROR_H

#include "bb/base.h"

/* Hands a failure to the program. */
void bb_leveldb_error_set(char **errptr, const struct bb_error *error);

/* For the status that a call into the library has just returned. True: it failed, and the program
 * was told. */
bool bb_leveldb_error_save(char **errptr, enum bb_status status);

/* For BB_BUSY of opening, repairing or destroying a directory, just returned: in LevelDB's words, by
 * which programs tell it from other failures. */
struct bb_error bb_leveldb_error_held(const char *directory);

/* A failure that is born in this layer. */
struct bb_error bb_leveldb_error_make(enum bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
