/* See key_argument.h. */
#include "tools/keys/key_argument.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/output/escape.h"

enum bb_status key_argument_decode(const char *text, bool is_hex, struct bb_buf *key)
{
    if (!is_hex)
        return bb_buf_assign(key, bb_bytes_of_text(text));
    bb_buf_reset(key);
    enum bb_status status = hex_decode(bb_bytes_of_text(text), key);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "key \"%.100s\"", text);
}
