/* See address.h. */
#include "tools/cluster/address.h"

#include <string.h>

#include "base/bytes.h"

static bool is_host(struct bb_bytes host)
{
    if (host.size == 0 || host.size > ADDRESS_HOST_MAX)
        return false;
    for (size_t i = 0; i < host.size; i++)
        if (host.data[i] <= ' ' || host.data[i] >= 0x7f)
            return false;
    return true;
}

bool address_set(struct bb_bytes host, int64_t port, struct address *ret_address)
{
    if (!is_host(host) || port < 1 || port > UINT16_MAX)
        return false;
    memcpy(ret_address->host, host.data, host.size);
    ret_address->host[host.size] = '\0';
    ret_address->port = (uint16_t)port;
    return true;
}

/* Digits up to the end or an @; -1: something else. */
static int64_t port_of(struct bb_bytes text)
{
    int64_t port = 0;
    size_t i = 0;
    for (; i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && port <= UINT16_MAX; i++)
        port = port * 10 + (text.data[i] - '0');
    return i > 0 && (i == text.size || text.data[i] == '@') ? port : -1;
}

static struct bb_bytes without_brackets(struct bb_bytes host)
{
    if (host.size < 2 || host.data[0] != '[' || host.data[host.size - 1] != ']')
        return host;
    return bb_bytes_of(host.data + 1, host.size - 2);
}

bool address_decode(struct bb_bytes text, const char *default_host, struct address *ret_address)
{
    const uint8_t *colon = text.size == 0 ? NULL : memrchr(text.data, ':', text.size);
    if (colon == NULL)
        return false;
    size_t host_size = (size_t)(colon - text.data);
    struct bb_bytes host = bb_bytes_of(text.data, host_size);
    if (host_size == 0 && default_host != NULL)
        host = bb_bytes_of_text(default_host);
    return address_set(without_brackets(host),
                       port_of(bb_bytes_of(colon + 1, text.size - host_size - 1)), ret_address);
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}
