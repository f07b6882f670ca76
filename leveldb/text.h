/* Bytes for a program of LevelDB's C interface. */
#ifndef BB_LEVELDB_TEXT_H
#define BB_LEVELDB_TEXT_H

#include "bb/base.h"

/* Never NULL: programs hand it to memcmp, and some bindings cannot make a slice of NULL. */
static inline const char *bb_leveldb_text_of(struct bb_bytes bytes)
{
    return bytes.data == NULL ? "" : (const char *)bytes.data;
}

#endif
