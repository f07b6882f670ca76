/* HOST:PORT of a node, as a user types it and as nodes print it. */
#ifndef BB_TOOLS_CLUSTER_ADDRESS_H
#define BB_TOOLS_CLUSTER_ADDRESS_H

#include "bb/base.h"

#define ADDRESS_HOST_MAX 255

struct address {
    char host[ADDRESS_HOST_MAX + 1]; /* terminated; printable ASCII */
    uint16_t port;
};

/* HOST:PORT, [HOST]:PORT, or :PORT, which is a port of default_host; NULL: a host is needed. The
 * last colon separates host and port, because hosts may be IPv6 addresses. Nodes print @ and the
 * port of their bus after the port; that is ignored. False: anything else. */
bool address_decode(struct bb_bytes text, const char *default_host, struct address *ret_address);
/* Sets a host and a port that a node sent separately. False: they are not acceptable. */
bool address_set(struct bb_bytes host, int64_t port, struct address *ret_address);
bool address_equal(const struct address *a, const struct address *b);

#endif
