/* Names of the calls of the file seam. */
#include "tests/support/file_call.h"

static const char *const names[] = {
    [BB_FILE_CALL_OPEN] = "open",
    [BB_FILE_CALL_CREATE] = "create",
    [BB_FILE_CALL_READ_AT] = "read_at",
    [BB_FILE_CALL_MAP] = "map",
    [BB_FILE_CALL_APPEND] = "append",
    [BB_FILE_CALL_SYNC] = "sync",
    [BB_FILE_CALL_SIZE] = "size",
    [BB_FILE_CALL_CLOSE] = "close",
    [BB_FILE_CALL_RENAME] = "rename",
    [BB_FILE_CALL_LINK] = "link",
    [BB_FILE_CALL_REMOVE] = "remove",
    [BB_FILE_CALL_LIST] = "list",
    [BB_FILE_CALL_MAKE_DIRECTORY] = "make_directory",
    [BB_FILE_CALL_REMOVE_DIRECTORY] = "remove_directory",
    [BB_FILE_CALL_SYNC_DIRECTORY] = "sync_directory",
    [BB_FILE_CALL_STATUS] = "status",
    [BB_FILE_CALL_LOCK] = "lock",
    [BB_FILE_CALL_LOCK_SHARED] = "lock_shared",
    [BB_FILE_CALL_UNLOCK] = "unlock",
    [BB_FILE_CALL_FREE_SPACE] = "free_space",
    [BB_FILE_CALL_RANDOM] = "random",
    [BB_FILE_CALL_ANY] = "any",
};

const char *bb_file_call_name(enum bb_file_call call)
{
    return names[call];
}
