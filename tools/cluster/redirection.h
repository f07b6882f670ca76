/* The errors by which a node of a cluster sends its client elsewhere, or makes it wait. */
#ifndef BB_TOOLS_CLUSTER_REDIRECTION_H
#define BB_TOOLS_CLUSTER_REDIRECTION_H

#include <hiredis/hiredis.h>

#include "tools/cluster/address.h"

enum redirection_kind {
    REDIRECTION_NONE,  /* a result */
    REDIRECTION_MOVED, /* another node owns the slot */
    REDIRECTION_ASK,   /* this command only: the slot is on its way to another node */
    REDIRECTION_LATER, /* send the same command again after a while */
    REDIRECTION_ERROR, /* the command failed */
};

struct redirection {
    enum redirection_kind kind;
    uint16_t slot;          /* MOVED and ASK */
    struct address address; /* MOVED and ASK */
};

/* asked: the node that replied; a redirection without a host is to another port of it. A MOVED or
 * ASK that is not well-formed is an error like others. */
struct redirection redirection_of(const struct redisReply *reply, const struct address *asked);

#endif
