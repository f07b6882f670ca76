/* From a view of a standalone ribbon to the shard of a key. The view's parameters are the
 * fields of struct bb_filter_shards; its payload begins with the places.
 *
 * Pure functions; any thread. The view and its payload were checked.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_VIEW_H
#define BB_STANDALONE_KIND_KIND_RIBBON_VIEW_H

#include "bloomblock/ribbon/ribbon_window.h"
#include "bloomblock/table/shard_directory.h"
#include "standalone/kind/kind.h"

static inline uint64_t bb_kind_ribbon_view_hash(const struct bb_filter_view *view,
                                                uint64_t key_hash)
{
    return bb_domain_ribbon_hash(view->parameters[BB_VIEW_DOMAIN], key_hash);
}

/* The payload of the first shard. The checksum follows the last one; probes may read it. */
static inline const uint8_t *bb_kind_ribbon_view_payloads(const struct bb_filter_view *view)
{
    return (const uint8_t *)(uintptr_t)view->parameters[BB_VIEW_OWN];
}

/* hash: in the view's domain. */
static inline bb_filter_place bb_kind_ribbon_view_place(const struct bb_filter_view *view,
                                                        uint64_t hash)
{
    return bb_shard_directory_place(view->payload.data,
                                    bb_shard_hash_shard(hash, view->parameters[BB_VIEW_SIZE]));
}

/* REQUIRES: all shards have windows. */
static inline struct bb_ribbon_window bb_kind_ribbon_view_window(const struct bb_filter_view *view,
                                                                 uint64_t key_hash)
{
    uint64_t hash = bb_kind_ribbon_view_hash(view, key_hash);
    return bb_ribbon_window_at(bb_kind_ribbon_view_payloads(view),
                               bb_kind_ribbon_view_place(view, hash),
                               view->parameters[BB_VIEW_PROBES], hash);
}

#endif
