/* HOST:PORT of a node, as a user types it and as nodes print it. */
#ifndef BB_TOOLS_CLUSTER_ADDRESS_H
#define BB_TOOLS_CLUSTER_ADDRESS_H

#include "bb/base.h"

#define ADDRESS_HOST_MAX 255

struct address {
    char host[ADDRESS_HOST_MAX + 1]; /* terminated; printable ASCII */
    uint16_t port;
};

/* Decodes HOST:PORT, [HOST]:PORT, or :PORT, which is a port of default_host. default_host NULL: the
 * text must have a host. The last colon separates host and port, because a host may be an IPv6
 * address. Nodes print @ and the port of their bus after the port; this is ignored. False: the text
 * has another form. */
bool address_decode(struct bb_bytes text, const char *default_host, struct address *ret_address);
/* Makes an address of a host and a port that a node sent separately. False: the host or the port is
 * not valid. */
bool address_set(struct bb_bytes host, int64_t port, struct address *ret_address);
bool address_equal(const struct address *a, const struct address *b);

#endif
