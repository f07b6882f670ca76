/* Verifies the table filter. See table_filter_verifier.h. One thread. */
#include "sstable/table/table_filter_verifier.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "bloomblock/table/rate_mean.h"
#include "sstable/filter/table_filter_builder.h"

struct bb_table_filter_verifier {
    struct bb_table *table;                  /* borrowed */
    struct bb_table_filter *table_filter;    /* owned; all chunks pinned, none of them damaged */
    struct bb_table_filter_builder *rebuilt; /* NULL: no comparison */
    uint32_t part;                           /* of the last key */
    uint64_t part_keys;                      /* keys of that part so far */
};

static enum bb_status load_chunks(struct bb_table_filter_verifier *v)
{
    struct bb_table_filter *table_filter = v->table_filter;
    struct bb_read_stats stats = {0};
    struct bb_buf stored = {0};
    enum bb_status status = bb_table_filter_pin(table_filter, NULL);
    for (uint32_t i = 0; i < table_filter->chunk_count && status == BB_OK; i++) {
        status = bb_table_load_filter_chunk(v->table, table_filter, i, &stats, &stored);
        if (status != BB_OK)
            break;
        memcpy(table_filter->chunks + bb_table_filter_chunk_offset(table_filter, i), stored.data,
               stored.size);
        bb_table_filter_pin_chunk(table_filter, i);
    }
    bb_buf_deinit(&stored);
    return status;
}

static enum bb_status create_rebuilt(struct bb_table_filter_verifier *v)
{
    const struct bb_table *table = v->table;
    const struct bb_properties *p = &table->properties;
    struct bb_block_filter_format format = {0};
    enum bb_status status =
        bb_sharded_filter_format_init(&format, p->table_filter_rate, p->filter_salt);
    if (status != BB_OK)
        return status;
    if (format.bits_per_probe != p->table_filter_fingerprint_bits)
        return bb_corrupt(table->table_filter_reading.place, 0,
                          "a table filter of rate %g has %" PRIu64 " fingerprint bits, expected %u",
                          p->table_filter_rate, p->table_filter_fingerprint_bits,
                          format.bits_per_probe);
    status = bb_table_filter_builder_create(&format, table->comparator, &v->rebuilt);
    if (status == BB_OK)
        bb_table_filter_builder_set_excess(v->rebuilt, p->table_filter_excess);
    return status;
}

enum bb_status bb_table_filter_verifier_create(struct bb_table *table, bool rebuild,
                                               struct bb_table_filter_verifier **ret_verifier)
{
    BB_DEBUG_ASSERT(table->has_table_filter);
    struct bb_read_stats stats = {0};
    struct bb_table_filter_verifier *v = bb_alloc_zeroed(1, sizeof(*v));
    if (v == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to verify a table filter");
    v->table = table;
    enum bb_status status = bb_table_load_filter(table, &stats, &v->table_filter);
    if (status == BB_OK)
        status = load_chunks(v);
    if (status == BB_OK && rebuild)
        status = create_rebuilt(v);
    if (status == BB_OK)
        *ret_verifier = v;
    else
        bb_table_filter_verifier_destroy(v);
    return status;
}

void bb_table_filter_verifier_destroy(struct bb_table_filter_verifier *verifier)
{
    if (verifier == NULL)
        return;
    bb_table_filter_destroy(verifier->table_filter);
    bb_table_filter_builder_destroy(verifier->rebuilt);
    bb_free(verifier);
}

/* Call after the last key of the current part. */
static enum bb_status check_part(const struct bb_table_filter_verifier *v)
{
    uint64_t said = v->table_filter->parts[v->part].key_count;
    if (v->part_keys == said)
        return BB_OK;
    return bb_corrupt(v->table->table_filter_reading.place, 0,
                      "part %u of the table filter has %" PRIu64 " keys, counted %" PRIu64, v->part,
                      said, v->part_keys);
}

static enum bb_status begin_part(struct bb_table_filter_verifier *v, struct bb_bytes last_key,
                                 uint64_t last_sequence, struct bb_bytes key)
{
    enum bb_status status = check_part(v);
    if (status == BB_OK && v->rebuilt != NULL) {
        struct bb_fence fence =
            bb_fence_between(v->table->comparator, last_key, last_sequence, key);
        status = bb_table_filter_builder_cut(v->rebuilt, &fence);
    }
    v->part++;
    v->part_keys = 0;
    return status;
}

static enum bb_status ask(const struct bb_table_filter_verifier *v, struct bb_place place,
                          struct bb_bytes key, uint64_t hash)
{
    const struct bb_block_filter_format *format = &v->table->table_filter_format;
    struct bb_block_filter_key filter_key = bb_block_filter_key(format, hash);
    uint64_t where =
        bb_table_filter_place(v->table_filter, &v->table_filter->parts[v->part], filter_key);
    if (bb_table_filter_may_contain(v->table_filter, format, where, filter_key))
        return BB_OK;
    char text[64];
    return bb_corrupt(place, 0, "the table filter denies the key %s",
                      bb_bytes_escape(key, text, sizeof(text)));
}

enum bb_status bb_table_filter_verifier_add(struct bb_table_filter_verifier *v,
                                            struct bb_place place, struct bb_bytes last_key,
                                            uint64_t last_sequence, struct bb_bytes key)
{
    uint64_t hash = bb_hash_key(&v->table->secret, key);
    enum bb_status status = BB_OK;
    uint32_t part = bb_table_filter_part(v->table_filter, v->table->comparator, key);
    while (status == BB_OK && v->part < part)
        status = begin_part(v, last_key, last_sequence, key);
    v->part_keys++;
    if (status == BB_OK)
        status = ask(v, place, key, hash);
    if (status == BB_OK && v->rebuilt != NULL)
        status = bb_table_filter_builder_add(v->rebuilt, hash);
    return status;
}

double bb_table_filter_verifier_rate(const struct bb_table_filter_verifier *v)
{
    struct bb_rate_mean mean = {0};
    const struct bb_table_filter *filter = v->table_filter;
    for (uint32_t i = 0; i < filter->part_count; i++) {
        const struct bb_table_filter_part *part = &filter->parts[i];
        double weight = (double)part->key_count / part->shard_count;
        for (uint32_t shard = 0; shard < part->shard_count; shard++) {
            bb_filter_place place = filter->places[part->first_shard + shard];
            bb_rate_mean_add(&mean, weight,
                             bb_block_filter_rate(&v->table->table_filter_format, (uint16_t)place,
                                                  filter->chunks + (place >> 16)));
        }
    }
    return bb_rate_mean(&mean);
}

/* The section's checksum includes the list too; opening left it to verification. */
static bool is_as_rebuilt(const struct bb_table_filter_verifier *v, struct bb_bytes section)
{
    const struct bb_table *table = v->table;
    const struct bb_section *said =
        bb_table_directory_find(&table->directory, BB_SECTION_TABLE_FILTER);
    return section.size == said->size &&
           bb_checksum(table->id, BB_STORED_SECTION, said->offset, section.data, section.size) ==
               said->checksum &&
           memcmp(section.data, v->table_filter->chunks,
                  (size_t)v->table_filter->chunk_ends[v->table_filter->chunk_count - 1]) == 0;
}

static enum bb_status compare(struct bb_table_filter_verifier *v,
                              struct bb_table_verify_report *report)
{
    struct bb_place place = v->table->table_filter_reading.place;
    struct bb_bytes section = {0};
    enum bb_status status =
        bb_table_filter_builder_finish(v->rebuilt, v->table->id, place.offset, &section);
    if (status != BB_OK)
        return status;
    if (!is_as_rebuilt(v, section))
        return bb_corrupt(place, 0,
                          "the table filter differs from the one rebuilt from the table's keys");
    report->table_filter_chunks_compared = v->table_filter->chunk_count;
    return BB_OK;
}

enum bb_status bb_table_filter_verifier_finish(struct bb_table_filter_verifier *v,
                                               struct bb_table_verify_report *report)
{
    enum bb_status status = check_part(v);
    if (status == BB_OK && v->part + 1 != v->table_filter->part_count)
        status = bb_corrupt(v->table->table_filter_reading.place, 0,
                            "a table filter of %u parts, keys in %u of them",
                            v->table_filter->part_count, v->part + 1);
    if (status == BB_OK && v->rebuilt != NULL)
        status = compare(v, report);
    report->table_filter_chunks = v->table_filter->chunk_count;
    return status;
}
