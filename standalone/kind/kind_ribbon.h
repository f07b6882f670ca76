/* From a view of a stand-alone ribbon to the shard of a key.
 *
 * Pure functions; any thread. The view and its payload were checked.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_H
#define BB_STANDALONE_KIND_KIND_RIBBON_H

#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/shard_directory.h"
#include "bloomblock/shard_hash.h"
#include "standalone/kind/kind.h"

static inline uint64_t bb_kind_ribbon_hash(const struct bb_filter_view *view, uint64_t key_hash)
{
    return bb_domain_ribbon_hash(view->parameters[BB_VIEW_DOMAIN], key_hash);
}

/* The payload of the first shard. The checksum follows the last one; probes may read it. */
static inline const uint8_t *bb_kind_ribbon_shards(const struct bb_filter_view *view)
{
    return (const uint8_t *)(uintptr_t)view->parameters[BB_VIEW_OWN];
}

static inline struct bb_shard_entry bb_kind_ribbon_entry(const struct bb_filter_view *view,
                                                         uint64_t hash)
{
    uint32_t shard = bb_shard_of(hash, view->parameters[BB_VIEW_SIZE]);
    return bb_shard_directory_entry(view->payload.data, shard);
}

/* The probe of one key in a view. */
struct bb_kind_ribbon_place {
    uint64_t hash; /* in the view's domain */
    const uint8_t *payload;
    uint64_t descriptor;
};

static inline struct bb_kind_ribbon_place bb_kind_ribbon_find(const struct bb_filter_view *view,
                                                              uint64_t key_hash)
{
    uint64_t hash = bb_kind_ribbon_hash(view, key_hash);
    struct bb_shard_entry entry = bb_kind_ribbon_entry(view, hash);
    return (struct bb_kind_ribbon_place){.hash = hash,
                                         .payload = bb_kind_ribbon_shards(view) + entry.offset,
                                         .descriptor = entry.descriptor};
}

static inline bool bb_kind_ribbon_ask(const struct bb_filter_view *view,
                                      const struct bb_kind_ribbon_place *place)
{
    return bb_ribbon_ask(view->probe, place->payload, (uint16_t)place->descriptor,
                         (uint32_t)view->parameters[BB_VIEW_PROBES], place->hash);
}

/* Sets the form for an instruction set; see struct bb_kind_probe. */
void bb_kind_ribbon_use(struct bb_filter_view *view, enum bb_cpu cpu);

#endif
