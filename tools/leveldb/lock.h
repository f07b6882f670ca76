/* LevelDB's lock. While it is held, no other process has the store open or opens it. */
#ifndef BB_TOOLS_LEVELDB_LOCK_H
#define BB_TOOLS_LEVELDB_LOCK_H

#include "bb/base.h"

/* Leaves the directory unchanged. A store without the file LOCK (a copy) needs no lock: *ret_fd is
 * -1 then. BB_BUSY: a process has it open. Released by lock_release. */
BB_MUST_CHECK enum bb_status lock_take(const char *directory, int *ret_fd);
void lock_release(int fd);

#endif
