/* A key typed on the command line. */
#ifndef BB_TOOLS_KEYS_KEY_ARGUMENT_H
#define BB_TOOLS_KEYS_KEY_ARGUMENT_H

#include "bb/base.h"

/* The bytes of text, or of its hexadecimal digits, into key (replaced). BB_INVALID names the
 * argument. */
BB_MUST_CHECK enum bb_status key_argument_decode(const char *text, bool is_hex, struct bb_buf *key);

#endif
