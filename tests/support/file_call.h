/* The calls of the file seam (base/file.h), as the file systems of the tests count and name them.
 */
#ifndef BB_TESTS_SUPPORT_FILE_CALL_H
#define BB_TESTS_SUPPORT_FILE_CALL_H

#include "base/file.h"

enum bb_file_call {
    BB_FILE_CALL_OPEN,
    BB_FILE_CALL_CREATE,
    BB_FILE_CALL_READ_AT,
    BB_FILE_CALL_MAP,
    BB_FILE_CALL_APPEND,
    BB_FILE_CALL_SYNC,
    BB_FILE_CALL_SIZE,
    BB_FILE_CALL_CLOSE,
    BB_FILE_CALL_RENAME,
    BB_FILE_CALL_LINK,
    BB_FILE_CALL_REMOVE,
    BB_FILE_CALL_LIST,
    BB_FILE_CALL_MAKE_DIRECTORY,
    BB_FILE_CALL_REMOVE_DIRECTORY,
    BB_FILE_CALL_SYNC_DIRECTORY,
    BB_FILE_CALL_STATUS,
    BB_FILE_CALL_LOCK,
    BB_FILE_CALL_LOCK_SHARED,
    BB_FILE_CALL_UNLOCK,
    BB_FILE_CALL_FREE_SPACE,
    BB_FILE_CALL_RANDOM,
    BB_FILE_CALL_ANY, /* as a question: all of them; as a length: how many there are */
};

/* The member of the table, such as "sync_directory"; "any" for BB_FILE_CALL_ANY. */
const char *bb_file_call_name(enum bb_file_call call);

#endif
