/* LevelDB's lock: nobody has the store open, and nobody opens it while we read. */
#ifndef BB_TOOLS_LEVELDB_LOCK_H
#define BB_TOOLS_LEVELDB_LOCK_H

#include "bb/base.h"

/* Nothing in the directory is changed. A store without the file LOCK (a copy) is nobody's: *ret_fd
 * is -1 then. BB_BUSY: a process has it open. Released by lock_release. */
BB_MUST_CHECK enum bb_status lock_take(const char *directory, int *ret_fd);
void lock_release(int fd);

#endif
