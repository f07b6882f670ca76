/* The slot of a key: Redis Cluster spreads keys over 16384 slots, and slots over nodes. */
#ifndef BB_TOOLS_CLUSTER_KEY_SLOT_H
#define BB_TOOLS_CLUSTER_KEY_SLOT_H

#include "bb/base.h"

#define SLOT_COUNT 16384

/* The slot: the CRC16 of the key, or of its part between the first "{" and the next "}" unless that
 * is empty, modulo SLOT_COUNT. */
uint16_t key_slot(struct bb_bytes key);

#endif
