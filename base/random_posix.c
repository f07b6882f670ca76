/* getrandom(2): no descriptor that can run out, and no file that can be missing in a chroot. */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/status.h"

enum bb_status bb_random_fill(void *buffer, size_t size)
{
    uint8_t *position = buffer;
    while (size > 0) {
        ssize_t got = getrandom(position, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return bb_fail_errno(got < 0 ? errno : EIO, "getrandom", "random bytes");
        position += got;
        size -= (size_t)got;
    }
    return BB_OK;
}

enum bb_status bb_hash_secret_random(struct bb_hash_secret *ret_secret)
{
    struct bb_hash_secret secret;
    enum bb_status status = bb_random_fill(&secret, sizeof(secret));
    if (status == BB_OK)
        *ret_secret = secret;
    return status;
}
