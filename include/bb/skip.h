/* Skip indexes: summaries of attributes that show which granules of a file can hold a record that
 * satisfies a condition. Any engine can use them: attributes go in, verdicts come out.
 *
 * A granule is the unit that an index can exclude: consecutive records that the caller keeps
 * together, such as some blocks of a table or a range of a file. It has a number, counted from 0,
 * and a place that the caller chooses. An index never changes a result. A granule that it excludes
 * holds no match; the caller reads any other granule and checks each record.
 *
 * An index file has, for each index, a head and segments. A segment summarises up to 1,024
 * consecutive granules; the head lists the segments. A member is an indexed part of an attribute:
 * a value, a token, a word or an n-gram.
 *
 * Write: bb_skip_builder_create, for each granule bb_skip_builder_add for its records and
 *        bb_skip_builder_end_granule, then bb_skip_builder_finish.
 * Read:  bb_skip_file_open, bb_skip_file_evaluate; for many files, bb_skip_evaluator_ask.
 *
 * docs/format-skip.md describes the format. Version 3 is current; versions 1 and 2 can be read.
 *
 * Threads: a builder is for one thread at a time; any number of threads may query an open file.
 */
#ifndef BB_PUBLIC_SKIP_H
#define BB_PUBLIC_SKIP_H

#include "bb/condition.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Approximate bytes of records in a granule. Smaller granules make selective conditions faster, and
 * indexes larger. */
#define BB_GRANULE_BYTES_MIN     (8 * 1024)
#define BB_GRANULE_BYTES_MAX     (1024 * 1024)
#define BB_GRANULE_BYTES_DEFAULT (64 * 1024)

/* ON DISK: the values never change. */
enum bb_skip_kind {
    BB_SKIP_MIN_MAX = 1, /* min_max(a): bounds of each granule. Ranges, =, IN, prefixes */
    BB_SKIP_SET = 2,     /* set(a, values=100): every distinct value. All comparisons, exactly */
    BB_SKIP_VALUES = 3,  /* values(a, rate=0.001): =, IN of bytes and numbers */
    BB_SKIP_TOKENS = 4,  /* tokens(a, rate=0.0001, fold=none): words of text */
    BB_SKIP_NGRAMS = 5,  /* ngrams(a, n=3, rate=0.1, fold=none): substrings of n bytes or more */
    BB_SKIP_COLUMN = 6,  /* column(a): the values themselves. Any condition, record by record */
    BB_SKIP_TEXT = 7,    /* text(a, counts=no): words as strings. Words and their parts, exactly */
};

/* Stable lower-case name: "min_max", "set", ... NULL for an unknown value. */
BB_API const char *bb_skip_kind_name(enum bb_skip_kind kind);

/* How tokens and text find words. */
enum bb_tokenizer {
    /* Runs of ASCII letters, ASCII digits and bytes of 0x80 and above, as in has_token. */
    BB_TOKENIZER_ASCII = 0,
    /* Words of Unicode (bb/condition.h), as in has_word. Words differ between versions of Unicode.
     * So an index stores the version of the library that found its words, and programs with another
     * version do not use it. */
    BB_TOKENIZER_UNICODE = 1,
};

#define BB_SKIP_RATE_MIN       1e-7
#define BB_SKIP_RATE_MAX       0.5
#define BB_SKIP_SET_VALUES_MAX 65536u
#define BB_SKIP_NGRAM_MIN      2u
#define BB_SKIP_NGRAM_MAX      8u

/* What to index, and how. */
struct bb_skip_spec {
    enum bb_skip_kind kind;
    uint32_t attribute; /* number in the schema; in struct bb_skip_index_info: in the file */
    double rate; /* values, tokens, ngrams: share of granules not excluded for an absent member */
    uint32_t set_values_max; /* set: a segment with more values is not indexed */
    uint32_t ngram_size;     /* ngrams: bytes */
    /* tokens, ngrams: ASCII letters in lower case; words of Unicode: folded case */
    bool folds_case;
    bool counts_records;         /* text: keeps how many records of a granule hold a word */
    enum bb_tokenizer tokenizer; /* tokens, text */
};

/* Parses a spec: "tokens(agent, rate=0.001, fold=lower)". BB_INVALID: the message describes the
 * error and gives its offset. A build without libunistring parses the spec of an index of words
 * too, but bb_skip_builder_create and bb_db_index_create then return BB_UNSUPPORTED with a message
 * that names the package. */
BB_API BB_MUST_CHECK enum bb_status
bb_skip_spec_parse(const char *text, const struct bb_schema *schema, struct bb_skip_spec *ret_spec);
/* The canonical text of a spec: appended, with no terminator. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_spec_print(const struct bb_skip_spec *spec,
                                                       const struct bb_schema *schema,
                                                       struct bb_buf *buf);

/* --- Writing --- */

#define BB_SKIP_ID_SIZE 16

struct bb_file_system; /* bb/file.h; NULL in options means the operating system's files */

struct bb_skip_options {
    struct bb_file_system *file_system; /* borrowed until the builder is destroyed */
    /* The id of the indexed file, for example of a table. Every checksum is bound to it. */
    uint8_t id[BB_SKIP_ID_SIZE];
    /* Secret of the hash of members, written into the file. NULL: random. Borrowed for the call. */
    const struct bb_hash_secret *secret;
};

struct bb_skip_builder;

/* Creates the file. The schema is borrowed until the builder is destroyed; specs are copied. An
 * index is identified by the canonical definition of its attribute, so an attribute with the same
 * name and another extractor does not use it. BB_EXISTS if the file exists; BB_INVALID for invalid
 * specs; BB_TOO_LARGE for more than 1,024 indexes. Memory: about 32 MiB, plus 0.8 MB for each index
 * of members beyond 36, plus the dictionaries of set indexes. After the first failure every call on
 * the builder returns it. */
BB_API BB_MUST_CHECK enum bb_status
bb_skip_builder_create(const char *path, const struct bb_skip_options *options,
                       const struct bb_schema *schema, const struct bb_skip_spec *specs,
                       size_t spec_count, struct bb_skip_builder **ret_builder);
/* An unfinished file stays in its directory, and no reader accepts it. NULL is allowed. */
BB_API void bb_skip_builder_destroy(struct bb_skip_builder *builder);
/* Adds a record to the current granule. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_add_record(struct bb_skip_builder *builder,
                                                               struct bb_bytes key,
                                                               struct bb_bytes value);
/* The same for attributes that the caller has extracted: bb_schema_count of them. Attributes
 * without an index are ignored. BB_INVALID: an attribute does not have the schema's type. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_add(struct bb_skip_builder *builder,
                                                        const struct bb_attribute *attributes);
/* Ends a part of the current granule, for instance a data block. A part may have no record.
 * Columns store the number of records of each part, so that a reader knows the part of each
 * record that matches. The records after the last call are a part too. Granules without a call
 * store no parts. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_end_part(struct bb_skip_builder *builder);
/* Ends the current granule. place: where the granule begins; BB_INVALID if it is below the previous
 * granule's. A granule without records is not created, and its parts are dropped. BB_TOO_LARGE
 * above 2^28 granules. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_end_granule(struct bb_skip_builder *builder,
                                                                uint64_t place);
/* Stores bytes with which the caller recognises the indexed file. The library checksums these bytes
 * and does not interpret them. Copied; the last call counts. BB_TOO_LARGE above BB_SKIP_SOURCE_MAX
 * bytes. */
#define BB_SKIP_SOURCE_MAX (16u * 1024 * 1024)
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_set_source(struct bb_skip_builder *builder,
                                                               struct bb_bytes source);
/* Writes the rest, syncs and closes the file. The caller syncs the directory. BB_INVALID if the
 * last granule was not ended. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_finish(struct bb_skip_builder *builder);

/* --- Reading --- */

struct bb_skip_file_options {
    struct bb_file_system *file_system; /* borrowed until the file is closed */
    /* The file must have this id. NULL: any id. */
    const uint8_t *id;
    /* Read the whole file into memory. Default: the head of an index stays in memory after its
     * first use, and each query reads some kilobytes per segment. */
    bool is_resident;
};

struct bb_skip_file;

/* BB_NOT_FOUND, BB_CORRUPT, BB_UNSUPPORTED (a newer version): there is then no index, and every
 * granule has to be read. A damaged or unknown index in an intact file is not a failure: it
 * excludes no granule. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_open(const char *path,
                                                      const struct bb_skip_file_options *options,
                                                      struct bb_skip_file **ret_file);
/* NULL is allowed. */
BB_API void bb_skip_file_close(struct bb_skip_file *file);

/* One index of a file. Strings are borrowed from the file. */
struct bb_skip_index_info {
    struct bb_skip_spec spec;
    const char *attribute_name;
    const char *attribute_definition;
    /* False: the index is not used. Either its kind is of a newer version, and all other fields but
     * spec are 0 or NULL; or another version of libunistring, which words_made_with names, found
     * its words. */
    bool is_known;
    const char *words_made_with; /* tokenizer=unicode: "libunistring 1.0.0"; else NULL */
    uint64_t segment_count;
    uint64_t unindexed_granules;
    /* Pairs of a member and a granule that has it. SET: values; MIN_MAX: granules with bounds;
     * COLUMN: records. */
    uint64_t pair_count;
    uint64_t size_bytes;   /* in the file, checksums included */
    uint64_t pinned_bytes; /* of those, the bytes kept in memory after the first use */
    double predicted_rate; /* from the real pairs; 0 for kinds that are exact */
};

/* One granule. */
struct bb_skip_granule_info {
    uint64_t place;
    uint64_t record_count;
};

/* Indexes and granules of a file are numbered from 0. */
BB_API size_t bb_skip_file_index_count(const struct bb_skip_file *file);
BB_API void bb_skip_file_index(const struct bb_skip_file *file, size_t index,
                               struct bb_skip_index_info *ret_info);
BB_API size_t bb_skip_file_granule_count(const struct bb_skip_file *file);
BB_API void bb_skip_file_granule(const struct bb_skip_file *file, size_t granule,
                                 struct bb_skip_granule_info *ret_info);
/* The number of records of a granule for each state of an attribute: ret_counts[state], by enum
 * bb_attribute_state. attribute: number in the file. */
BB_API void bb_skip_file_states(const struct bb_skip_file *file, size_t granule, size_t attribute,
                                uint64_t ret_counts[4]);
/* The values that an index of kind MIN_MAX, SET or COLUMN has for a granule, for display. Strings
 * are borrowed from the contents. */
#define BB_SKIP_CONTENTS_VALUES 8
struct bb_skip_contents {
    bool is_indexed; /* false: the granule is not in the index, and all fields are 0 */
    /* MIN_MAX: every value but NaN is at least low and at most high. Strings are cut to 16 bytes,
     * and high is rounded up. */
    bool has_low;  /* false: there is no value but NaN */
    bool has_high; /* false with has_low: there is no upper bound */
    bool has_nan;
    struct bb_attribute low;
    struct bb_attribute high;
    /* SET, COLUMN: the distinct values. */
    uint64_t value_count;
    struct bb_attribute
        values[BB_SKIP_CONTENTS_VALUES]; /* the first ones, ascending; NaN is last */
};
/* BB_INVALID for indexes of other kinds; BB_CORRUPT, BB_IO, BB_NO_MEMORY. Owned:
 * bb_skip_contents_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_contents(struct bb_skip_file *file, size_t index,
                                                          size_t granule,
                                                          struct bb_skip_contents **ret_contents);
/* NULL is allowed. */
BB_API void bb_skip_contents_destroy(struct bb_skip_contents *contents);

BB_API uint64_t bb_skip_file_size(const struct bb_skip_file *file);
/* The bytes of bb_skip_builder_set_source, or no bytes. Borrowed from the file. */
BB_API struct bb_bytes bb_skip_file_source(const struct bb_skip_file *file);

/* The work of an index for some queries. Calls add to it and never reset it. */
struct bb_skip_account {
    uint64_t leaves; /* leaves of conditions that were evaluated */
    uint64_t segments_searched;
    uint64_t granules_searched;
    uint64_t granules_excluded; /* no record satisfies the leaf */
    uint64_t granules_included; /* no record fails it */
    uint64_t reads;             /* of the file */
    uint64_t read_bytes;
    uint64_t damaged_segments; /* queried and unreadable: none of their granules was excluded */
};

/* The values that a condition may have for the records of each granule, one bit per granule: bit g
 * % 64 of word g / 64. A granule without may_be_true holds no match. In a granule with only
 * may_be_true every record matches. Owned: bb_skip_verdicts_deinit. */
struct bb_skip_verdicts {
    uint64_t *may_be_true;
    uint64_t *may_be_false;
    uint64_t *may_be_null;
    size_t granule_count;
    size_t word_count;
};

BB_API void bb_skip_verdicts_deinit(struct bb_skip_verdicts *verdicts);

/* Queries all indexes that can decide a part of the condition, and no others. schema: the schema of
 * the condition. An index is used if its attribute has the same definition in the file and in
 * schema, apart from the name. accounts: one for each index of the file, or NULL. Damage is not a
 * failure: it is counted, and excludes no granule. The only failure is BB_NO_MEMORY. Owned:
 * bb_skip_verdicts_deinit. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_evaluate(struct bb_skip_file *file,
                                                          const struct bb_condition *condition,
                                                          const struct bb_schema *schema,
                                                          struct bb_skip_account *accounts,
                                                          struct bb_skip_verdicts *ret_verdicts);

/* The same for many files: an evaluator keeps its memory and its prepared queries, so that a
 * query of a small file takes a microsecond. Threads: one; any number of evaluators may query
 * one file. */
struct bb_skip_evaluator;

/* condition and schema are borrowed until the evaluator is destroyed. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_skip_evaluator_create(const struct bb_condition *condition, const struct bb_schema *schema,
                         struct bb_skip_evaluator **ret_evaluator);
/* NULL is allowed. */
BB_API void bb_skip_evaluator_destroy(struct bb_skip_evaluator *evaluator);
/* As bb_skip_file_evaluate, but the verdicts are the evaluator's: borrowed until its next call. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_evaluator_ask(struct bb_skip_evaluator *evaluator,
                                                          struct bb_skip_file *file,
                                                          struct bb_skip_account *accounts,
                                                          struct bb_skip_verdicts *ret_verdicts);

/* --- Single records, by columns --- */

/* Decides a condition for the records of a granule without reading them. Columns decide record by
 * record; the indexes of attributes without a column decide for the whole granule. Threads: one at
 * a time; any number of these objects may use one file. */
struct bb_skip_rows;

/* The records of a granule that match, and the records that may match: bit i % 64 of word i / 64 is
 * the record that was added as number i. Borrowed until the next call.
 *
 * bb_skip_row_bits_judge derives the verdict of the granule. */
struct bb_skip_row_bits {
    const uint64_t *is_true;     /* certainly true */
    const uint64_t *is_null;     /* certainly unknown */
    const uint64_t *may_be_true; /* without this bit, the condition is not true */
    uint64_t record_count;
    uint64_t certain_count;  /* bits of is_true */
    uint64_t possible_count; /* bits of may_be_true */
    /* Records of each part of the granule (bb_skip_builder_end_part), in order; 0 parts if the
     * columns do not have them. */
    const uint32_t *part_records;
    size_t part_count;
};

enum bb_skip_judgement {
    BB_SKIP_EXCLUDED, /* no record matches */
    BB_SKIP_EXACT,    /* records with is_true match: the condition is decided for every record */
    BB_SKIP_READ,     /* records with may_be_true and without is_true have to be read */
};

static inline enum bb_skip_judgement bb_skip_row_bits_judge(const struct bb_skip_row_bits *bits)
{
    if (bits->possible_count == 0)
        return BB_SKIP_EXCLUDED;
    return bits->certain_count == bits->possible_count ? BB_SKIP_EXACT : BB_SKIP_READ;
}

/* BB_NOT_FOUND, without a message: no attribute of the condition has a column here. file,
 * condition and schema are borrowed until bb_skip_rows_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_rows_create(struct bb_skip_file *file,
                                                        const struct bb_condition *condition,
                                                        const struct bb_schema *schema,
                                                        struct bb_skip_rows **ret_rows);
BB_API void bb_skip_rows_destroy(struct bb_skip_rows *rows);
/* Decides one granule. A column cannot decide it if the granule's values are damaged or were too
 * large to be stored, or if a regular expression exceeds its step limit. The call then uses the
 * other indexes of the attribute. BB_NOT_FOUND, without a message: no column decides anything, and
 * the caller has to read the records. BB_NO_MEMORY, BB_IO. accounts: as for bb_skip_file_evaluate;
 * damage is counted there. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_rows_read(struct bb_skip_rows *rows, size_t granule,
                                                      struct bb_skip_account *accounts,
                                                      struct bb_skip_row_bits *ret_bits);

/* --- Counts, without columns --- */

/* Counts the records of a granule that satisfy a condition, without reading them. The counts are
 * exact. They come from the number of records with a word (text(a, counts=yes)), the number with an
 * attribute, and the verdicts of other indexes on whole granules. Conditions that can be counted:
 * has_token(a, 'x'), its NOT, a IS NULL, and each of these AND a condition that is true for the
 * whole granule, or OR a condition that is false for it.
 * Threads: one at a time; any number of these objects may use one file. */
struct bb_skip_counts;

/* BB_NOT_FOUND, without a message: no part of the condition is counted. file, condition, schema and
 * accounts (as for bb_skip_file_evaluate) are borrowed until bb_skip_counts_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_counts_create(struct bb_skip_file *file,
                                                          const struct bb_condition *condition,
                                                          const struct bb_schema *schema,
                                                          struct bb_skip_account *accounts,
                                                          struct bb_skip_counts **ret_counts);
/* NULL is allowed. */
BB_API void bb_skip_counts_destroy(struct bb_skip_counts *counts);
/* The number of records of the granule for which the condition is true. BB_NOT_FOUND, without a
 * message: the indexes do not determine it, and the caller has to read the records.
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_counts_read(struct bb_skip_counts *counts,
                                                        size_t granule, uint64_t *ret_true_count);

/* Reads and checks every byte. BB_CORRUPT with the first damage. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_verify(struct bb_skip_file *file);

/* --- Proving --- */

/* A file with correct checksums can still be wrong: an index of other records excludes granules
 * that hold a match. A proof compares every record with every index: each value and member of the
 * record must be in the index, in the right granule, and counts must be right. Then no query loses
 * a record. A proof costs about as much as building.
 *
 *     for each record, in order of granules: bb_skip_proof_add
 *     bb_skip_proof_finish
 */
struct bb_skip_proof;

/* The file is borrowed until the proof is destroyed. schema: has the file's attributes; borrowed
 * too. NULL: made from the definitions in the file; BB_INVALID if one of them is a callback.
 * Indexes of unknown kinds are skipped. BB_CORRUPT, BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_create(struct bb_skip_file *file,
                                                         const struct bb_schema *schema,
                                                         struct bb_skip_proof **ret_proof);
/* Sets the part (bb_skip_builder_end_part) of the records added after this call, counted from 0
 * within their granule. */
BB_API void bb_skip_proof_set_part(struct bb_skip_proof *proof, size_t part);
/* Compares a record of a granule with the file. The number of the granule must not decrease from
 * record to record. BB_CORRUPT: this record shows that the file is wrong. After a failure the proof
 * may only be destroyed. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_add(struct bb_skip_proof *proof, size_t granule,
                                                      struct bb_bytes key, struct bb_bytes value);
/* Call it after the last record. BB_CORRUPT: the file is wrong. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_finish(struct bb_skip_proof *proof);
/* NULL is allowed. */
BB_API void bb_skip_proof_destroy(struct bb_skip_proof *proof);

#ifdef __cplusplus
}
#endif
#endif
