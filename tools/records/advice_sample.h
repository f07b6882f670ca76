/* A sample of a store's records, and the facts of one attribute in it: `index advise`.
 *
 * The sample is made of granules from up to eight tables, spread evenly over the store and over
 * each table: records in key order, with a given number of value bytes per granule, as in an index.
 * Old versions in tables count like others. For each granule the members are kept as hashes,
 * sorted, each once: values, and the words of text.
 */
#ifndef BB_TOOLS_RECORDS_ADVICE_SAMPLE_H
#define BB_TOOLS_RECORDS_ADVICE_SAMPLE_H

#include "bb/select.h"

#define SAMPLE_TABLES_MAX       8
#define SAMPLE_GRANULES_DEFAULT 256
#define SAMPLE_STATE_COUNT      4

/* Members of granules: hashes of granule g from ends[g - 1] on. */
struct sample_members {
    struct bb_buf hashes; /* uint64_t */
    struct bb_buf ends;   /* uint64_t, of hashes */
};

/* A record that stands for its like. */
struct sample_pick {
    uint64_t value_hash;
    uint64_t word_hash; /* of the longest word */
    bool has_word;
    double number; /* in the order of the values; of bytes their first eight */
};

struct attribute_sample {
    uint64_t states[SAMPLE_STATE_COUNT];
    uint64_t length_sum; /* of bytes */
    uint64_t word_sum;
    struct sample_members values;
    struct sample_members words; /* only of type bytes */
    struct bb_buf bounds;        /* two doubles for each granule, NaN without values */
    struct bb_buf picks;         /* struct sample_pick, in key order */
    double low;                  /* of the current granule */
    double high;
};

struct advice_sample {
    uint64_t granule_bytes;
    uint64_t granules_max;
    /* Results. */
    struct bb_schema *schema;
    struct attribute_sample *attributes; /* as many as the schema has */
    uint64_t tables;
    uint64_t tables_sampled;
    uint64_t granules;
    uint64_t records;
    uint64_t value_bytes;
};

/* granule_bytes and granules_max are given. BB_NOT_FOUND: there are no tables. Owned:
 * advice_sample_deinit. */
BB_MUST_CHECK enum bb_status advice_sample_read(struct advice_sample *sample, struct bb_db *db);
void advice_sample_deinit(struct advice_sample *sample);

/* The facts of an attribute in the sample. Shares are of granules, 0 ... 1. */
struct attribute_facts {
    double null_share; /* null, missing and malformed records */
    double length;     /* mean, of bytes */
    double words;      /* mean, of bytes */
    double distinct_per_granule;
    uint64_t distinct;         /* in the sample */
    double order;              /* rank correlation with the key, -1 ... 1 */
    double value_skip;         /* granules without the value of a record, mean over records */
    double distinct_skip;      /* granules without a value, mean over distinct values */
    double bounds_skip;        /* granules whose bounds exclude the value of a record */
    double word_skip;          /* granules without the longest word of a record */
    double distinct_word_skip; /* granules without a word, mean over distinct words */
    uint64_t distinct_words;   /* in the sample */
    double word_repeats;       /* times that a distinct word is in the sample, mean */
};
BB_MUST_CHECK enum bb_status attribute_facts_compute(const struct advice_sample *sample,
                                                     size_t attribute,
                                                     struct attribute_facts *ret_facts);

#endif
