/* The writes that every engine gets, and the states that they lead to.
 *
 *     1                        240 puts, then the whole store is compacted
 *     WRITES_COMPACTED + 1     overwrites and deletions, then the store is closed and opened: they
 *                              are in tables of level 0, on top of the others
 *     WRITES_REOPENED + 1      more of these: they stay in the log
 *     WRITES_MAX               the last write
 *
 * A value tells the number of the write that it belongs to, and is checked byte by byte.
 */
#ifndef BB_TESTS_DAMAGE_WRITES_H
#define BB_TESTS_DAMAGE_WRITES_H

#include "bb/base.h"

#define WRITES_KEYS      260 /* 20 of them are never put */
#define WRITES_COMPACTED 240
#define WRITES_REOPENED  340
#define WRITES_MAX       380
#define WRITES_KEY_MAX   16
#define WRITES_VALUE_MAX 900

/* The key of write number 1 ... WRITES_MAX, and whether it puts a value or deletes. */
uint32_t write_key(uint32_t number);
bool write_is_put(uint32_t number);
/* Bytes in the buffer, which has WRITES_KEY_MAX and WRITES_VALUE_MAX. */
struct bb_bytes write_key_text(uint32_t key, char *buffer);
struct bb_bytes write_value(uint32_t number, uint8_t *buffer);

/* The contents of a store under a key. */
#define WRITES_ABSENT  0
#define WRITES_FOREIGN UINT32_MAX       /* a value that was never written under that key */
#define WRITES_UNKNOWN (UINT32_MAX - 1) /* the read failed */

/* The number of the write that put this value under the key, or WRITES_FOREIGN. */
uint32_t write_number_of(uint32_t key, struct bb_bytes value);
/* The key of these bytes; WRITES_KEYS if no key has them. */
uint32_t write_key_of(struct bb_bytes key);
/* For each key the write that it shows after the first `count` writes. */
void writes_state(uint32_t count, uint32_t ret_shown[WRITES_KEYS]);

#endif
