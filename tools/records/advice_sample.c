/* Reading the sample. See advice_sample.h. */
#include "tools/records/advice_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "bb/table.h"

/* Every n-th record is picked. */
#define PICK_STRIDE 64

/* ---- members ---- */

static enum bb_status append_hash(struct sample_members *members, uint64_t hash)
{
    return bb_buf_append(&members->hashes, &hash, sizeof(hash));
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t last_end(const struct sample_members *members)
{
    uint64_t end = 0;
    if (members->ends.size > 0)
        memcpy(&end, members->ends.data + members->ends.size - sizeof(end), sizeof(end));
    return end;
}

/* Sorts the hashes of the granule and removes duplicates. */
static enum bb_status end_members(struct sample_members *members)
{
    uint64_t begin = last_end(members);
    uint64_t count = members->hashes.size / sizeof(uint64_t) - begin;
    uint64_t *hashes = count == 0 ? NULL : (uint64_t *)(void *)members->hashes.data + begin;
    uint64_t kept = 0;
    if (count > 0)
        qsort(hashes, count, sizeof(*hashes), compare_hashes);
    for (uint64_t i = 0; i < count; i++) {
        if (kept == 0 || hashes[i] != hashes[kept - 1])
            hashes[kept++] = hashes[i];
    }
    members->hashes.size = (begin + kept) * sizeof(uint64_t);
    uint64_t end = begin + kept;
    return bb_buf_append(&members->ends, &end, sizeof(end));
}

/* ---- a record ---- */

/* Up to eight bytes as a number that keeps their order. */
static double number_of_bytes(struct bb_bytes bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof(number); i++)
        number = number << 8 | (i < bytes.size ? bytes.data[i] : 0);
    return (double)number;
}

static double number_of(const struct bb_attribute *attribute)
{
    switch (attribute->type) {
    case BB_ATTRIBUTE_BYTES:
        return number_of_bytes(attribute->as.bytes);
    case BB_ATTRIBUTE_U64:
        return (double)attribute->as.u64;
    case BB_ATTRIBUTE_F64:
        return attribute->as.f64;
    default:
        return (double)attribute->as.i64;
    }
}

static uint64_t hash_of(const struct bb_attribute *attribute)
{
    uint64_t bits = attribute->as.u64;
    return attribute->type == BB_ATTRIBUTE_BYTES ? bb_hash_xxh64(attribute->as.bytes)
                                                 : bb_hash_xxh64(bb_bytes_of(&bits, sizeof(bits)));
}

/* As has_token has them. */
static bool is_word_byte(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return byte >= 0x80 || (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

static enum bb_status add_words(struct attribute_sample *sample, struct bb_bytes text,
                                struct sample_pick *pick)
{
    size_t longest = 0;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < text.size && status == BB_OK; i++) {
        size_t begin = i;
        while (i < text.size && is_word_byte(text.data[i]))
            i++;
        if (i == begin)
            continue;
        uint64_t hash = bb_hash_xxh64(bb_bytes_of(text.data + begin, i - begin));
        status = append_hash(&sample->words, hash);
        sample->word_sum++;
        if (i - begin > longest) {
            longest = i - begin;
            pick->word_hash = hash;
            pick->has_word = true;
        }
    }
    return status;
}

static enum bb_status add_value(struct attribute_sample *sample,
                                const struct bb_attribute *attribute, bool is_picked)
{
    struct sample_pick pick = {.value_hash = hash_of(attribute), .number = number_of(attribute)};
    enum bb_status status = append_hash(&sample->values, pick.value_hash);
    sample->low = fmin(sample->low, pick.number);
    sample->high = fmax(sample->high, pick.number);
    if (attribute->type == BB_ATTRIBUTE_BYTES) {
        sample->length_sum += attribute->as.bytes.size;
        if (status == BB_OK)
            status = add_words(sample, attribute->as.bytes, &pick);
    }
    if (status == BB_OK && is_picked)
        status = bb_buf_append(&sample->picks, &pick, sizeof(pick));
    return status;
}

/* ---- granules ---- */

struct reading {
    struct advice_sample *sample;
    struct bb_record_reader *reader;
    struct bb_attribute *attributes;
    size_t attribute_count;
    uint64_t granule_size;   /* bytes of values so far */
    uint64_t granule;        /* of the table */
    uint64_t granule_stride; /* every n-th granule of the table is taken */
    uint64_t granule_records;
};

static enum bb_status add_record(struct reading *reading, const struct bb_entry *entry)
{
    struct advice_sample *sample = reading->sample;
    bool is_picked = reading->granule_records++ % PICK_STRIDE == 0;
    enum bb_status status =
        bb_record_read(reading->reader, entry->key, entry->value, reading->attributes);
    for (size_t i = 0; i < reading->attribute_count && status == BB_OK; i++) {
        sample->attributes[i].states[reading->attributes[i].state]++;
        if (reading->attributes[i].state == BB_ATTRIBUTE_PRESENT)
            status = add_value(&sample->attributes[i], &reading->attributes[i], is_picked);
    }
    sample->records++;
    sample->value_bytes += entry->value.size;
    return status;
}

static enum bb_status end_granule(struct reading *reading)
{
    struct advice_sample *sample = reading->sample;
    enum bb_status status = BB_OK;
    bool has_records = reading->granule_records > 0;
    reading->granule_size = 0;
    reading->granule_records = 0;
    reading->granule++;
    if (!has_records)
        return BB_OK;
    sample->granules++;
    for (size_t i = 0; i < reading->attribute_count && status == BB_OK; i++) {
        struct attribute_sample *attribute = &sample->attributes[i];
        double bounds[2] = {attribute->low, attribute->high};
        status = end_members(&attribute->values);
        if (status == BB_OK)
            status = end_members(&attribute->words);
        if (status == BB_OK)
            status = bb_buf_append(&attribute->bounds, bounds, sizeof(bounds));
        attribute->low = attribute->high = NAN;
    }
    return status;
}

static enum bb_status add_entry(struct reading *reading, const struct bb_entry *entry)
{
    enum bb_status status = BB_OK;
    if (entry->kind != BB_ENTRY_PUT)
        return BB_OK;
    if (reading->granule % reading->granule_stride == 0)
        status = add_record(reading, entry);
    reading->granule_size += entry->value.size + 1;
    if (status == BB_OK && reading->granule_size >= reading->sample->granule_bytes)
        status = end_granule(reading);
    return status;
}

static enum bb_status read_entries(struct reading *reading, struct bb_iter *iter)
{
    enum bb_status status = BB_OK;
    bb_iter_seek_first(iter);
    while (iter->is_valid && status == BB_OK) {
        status = add_entry(reading, &iter->entry);
        if (status == BB_OK)
            bb_iter_next(iter);
    }
    if (status == BB_OK)
        status = iter->status;
    return status == BB_OK ? end_granule(reading) : status;
}

static enum bb_status read_table(struct reading *reading, const char *path)
{
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct advice_sample *sample = reading->sample;
    enum bb_status status = bb_table_open(path, NULL, &table);
    if (status != BB_OK)
        return status;
    uint64_t granules = bb_table_meta(table)->raw_bytes / sample->granule_bytes + 1;
    uint64_t wanted = sample->granules_max / sample->tables_sampled + 1;
    reading->granule = 0;
    reading->granule_stride = (granules + wanted - 1) / wanted;
    status = bb_table_iter_create(table, NULL, NULL, &iter);
    if (status == BB_OK) {
        status = read_entries(reading, iter);
        bb_iter_destroy(iter);
    }
    bb_table_close(table);
    return status;
}

static enum bb_status read_tables(struct reading *reading, const struct bb_db_table_list *list)
{
    struct advice_sample *sample = reading->sample;
    enum bb_status status = BB_OK;
    sample->tables = list->count;
    sample->tables_sampled = list->count < SAMPLE_TABLES_MAX ? list->count : SAMPLE_TABLES_MAX;
    if (list->count == 0)
        return bb_fail(BB_NOT_FOUND, "the store has no tables to take a sample of: load or compact "
                                     "it first");
    for (size_t i = 0; i < sample->tables_sampled && status == BB_OK; i++)
        status = read_table(reading, list->tables[i * list->count / sample->tables_sampled].path);
    return status;
}

static enum bb_status prepare(struct reading *reading)
{
    struct advice_sample *sample = reading->sample;
    size_t count = bb_schema_count(sample->schema);
    if (count == 0)
        return bb_fail(BB_INVALID, "the store has no attributes: create some first, with "
                                   "`bloomblock attribute create`");
    reading->attribute_count = count;
    sample->attributes = bb_alloc_zeroed(count, sizeof(*sample->attributes));
    reading->attributes = bb_alloc_zeroed(count, sizeof(*reading->attributes));
    if (sample->attributes == NULL || reading->attributes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a sample of %zu attributes", count);
    for (size_t i = 0; i < count; i++)
        sample->attributes[i].low = sample->attributes[i].high = NAN;
    return bb_record_reader_create(sample->schema, NULL, &reading->reader);
}

enum bb_status advice_sample_read(struct advice_sample *sample, struct bb_db *db)
{
    struct reading reading = {.sample = sample};
    struct bb_db_table_list list = {0};
    enum bb_status status = bb_db_schema(db, &sample->schema);
    if (status == BB_OK)
        status = prepare(&reading);
    if (status == BB_OK)
        status = bb_db_tables(db, &list);
    if (status == BB_OK)
        status = read_tables(&reading, &list);
    bb_db_table_list_deinit(&list);
    bb_record_reader_destroy(reading.reader);
    bb_free(reading.attributes);
    return status;
}

void advice_sample_deinit(struct advice_sample *sample)
{
    size_t count = sample->attributes == NULL ? 0 : bb_schema_count(sample->schema);
    for (size_t i = 0; i < count; i++) {
        struct attribute_sample *attribute = &sample->attributes[i];
        bb_buf_deinit(&attribute->values.hashes);
        bb_buf_deinit(&attribute->values.ends);
        bb_buf_deinit(&attribute->words.hashes);
        bb_buf_deinit(&attribute->words.ends);
        bb_buf_deinit(&attribute->bounds);
        bb_buf_deinit(&attribute->picks);
    }
    bb_free(sample->attributes);
    bb_schema_destroy(sample->schema);
}
