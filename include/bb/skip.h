/* Skip indexes: summaries of attributes that say which granules of a file can hold a record that
 * satisfies a condition. For any engine: attributes in, verdicts out.
 *
 * A granule is what an index can exclude: consecutive records that the caller keeps together, some
 * blocks of a table or a range of a file. To the index it is a number, counted from 0, with a place
 * that the caller chooses. An index never changes a result: a granule that it excludes holds no
 * match, any other is read and checked record by record.
 *
 * Write: bb_skip_builder_create, for each granule bb_skip_builder_add for its records and
 *        bb_skip_builder_end_granule, then bb_skip_builder_finish.
 * Read:  bb_skip_file_open, bb_skip_file_evaluate; of many files, bb_skip_evaluator_ask.
 *
 * The format is drawn in docs/format-skip.md. Version 1 is read by its own development only.
 *
 * Threads: a builder is for one thread at a time; an open file may be asked by any number of
 * threads.
 */
#ifndef BB_PUBLIC_SKIP_H
#define BB_PUBLIC_SKIP_H

#include "bb/condition.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of records in a granule, about. Smaller granules answer selective conditions quicker and
 * make larger indexes. */
#define BB_GRANULE_BYTES_MIN     (8 * 1024)
#define BB_GRANULE_BYTES_MAX     (1024 * 1024)
#define BB_GRANULE_BYTES_DEFAULT (64 * 1024)

/* ON DISK: the values never change. */
enum bb_skip_kind {
    BB_SKIP_MIN_MAX = 1, /* min_max(a): bounds of each granule. Ranges, =, IN, prefixes */
    BB_SKIP_SET = 2,     /* set(a, values=100): every distinct value. All comparisons, exactly */
    BB_SKIP_VALUES = 3,  /* values(a, rate=0.001): =, IN of bytes and numbers */
    BB_SKIP_TOKENS = 4,  /* tokens(a, rate=0.0001, fold=none): words of text */
    BB_SKIP_NGRAMS = 5,  /* ngrams(a, n=3, rate=0.1, fold=none): substrings from n bytes on */
    BB_SKIP_COLUMN = 6,  /* column(a): the values themselves. Any condition, record by record */
    BB_SKIP_TEXT = 7,    /* text(a, counts=no): words as strings. Words and their parts, exactly */
};

/* Stable lower-case name: "min_max", "set", ... NULL for an unknown value. */
BB_API const char *bb_skip_kind_name(enum bb_skip_kind kind);

#define BB_SKIP_RATE_MIN       1e-7
#define BB_SKIP_RATE_MAX       0.5
#define BB_SKIP_SET_VALUES_MAX 65536u
#define BB_SKIP_NGRAM_MIN      2u
#define BB_SKIP_NGRAM_MAX      8u

/* What to index, and how. */
struct bb_skip_spec {
    enum bb_skip_kind kind;
    uint32_t attribute; /* number in the schema; of an index in a file, number in the file */
    double rate;        /* values, tokens, ngrams: of granules that seem to hold what is nowhere */
    uint32_t set_values_max; /* set: values of a segment; with more it is not indexed */
    uint32_t ngram_size;     /* ngrams: bytes */
    bool folds_case;         /* tokens, ngrams: ASCII letters in lower case */
    bool counts_records;     /* text: of each granule how many records hold a word */
    uint64_t reserved[4];    /* 0 */
};

/* Reads a spec from text: "tokens(agent, rate=0.001, fold=lower)". BB_INVALID says what is wrong
 * with it, and at which byte. */
BB_API BB_MUST_CHECK enum bb_status
bb_skip_spec_parse(const char *text, const struct bb_schema *schema, struct bb_skip_spec *ret_spec);
/* The canonical text of a spec: appended, with no terminator. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_spec_print(const struct bb_skip_spec *spec,
                                                       const struct bb_schema *schema,
                                                       struct bb_buf *buf);

/* --- Writing --- */

#define BB_SKIP_ID_SIZE 16

struct bb_file_system; /* base/file.h; NULL in options means the operating system's files */

struct bb_skip_options {
    size_t struct_size; /* sizeof(struct bb_skip_options) */
    struct bb_file_system *file_system;
    /* What the index is of: a table's id. Every checksum is bound to it. */
    uint8_t id[BB_SKIP_ID_SIZE];
    /* Key of the members' hash, written into the file. NULL: drawn from the operating system.
     * Borrowed for the call. */
    const struct bb_hash_secret *secret;
};

struct bb_skip_builder;

/* Creates the file. The schema is borrowed until the builder is destroyed; specs are copied. An
 * index is known by the canonical definition of its attribute: a changed extractor under an old
 * name finds no index. BB_EXISTS when the path is taken; BB_INVALID for specs that make no sense.
 * Memory: at most 32 MiB, but for the dictionaries of set indexes. */
BB_API BB_MUST_CHECK enum bb_status
bb_skip_builder_create(const char *path, const struct bb_skip_options *options,
                       const struct bb_schema *schema, const struct bb_skip_spec *specs,
                       size_t spec_count, struct bb_skip_builder **ret_builder);
/* A file that was not finished stays where it is, and is no index file. NULL is allowed. */
BB_API void bb_skip_builder_destroy(struct bb_skip_builder *builder);
/* Adds a record to the granule at hand. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_add_record(struct bb_skip_builder *builder,
                                                               struct bb_bytes key,
                                                               struct bb_bytes value);
/* The same for attributes that the caller has: bb_schema_count of them, of which those of no index
 * are not looked at. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_add(struct bb_skip_builder *builder,
                                                        const struct bb_attribute *attributes);
/* Ends a part of the granule at hand, a data block for instance, which may have no record. Columns keep
 * how many records each part has, so that the records that they find lead to parts. The records after
 * the last call are a part too. Nothing is kept of granules without a call. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_end_part(struct bb_skip_builder *builder);
/* Ends the granule. place: where it begins, not below that of the granule before. Does nothing when
 * the granule has no records. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_end_granule(struct bb_skip_builder *builder,
                                                                uint64_t place);
/* What the caller keeps in the file of what the indexes are of, to know it again; checked as the
 * rest of the file is, and not looked at. Copied; the last call counts. BB_TOO_LARGE above
 * BB_SKIP_SOURCE_MAX bytes. */
#define BB_SKIP_SOURCE_MAX (16u * 1024 * 1024)
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_set_source(struct bb_skip_builder *builder,
                                                               struct bb_bytes source);
/* Writes the rest, syncs and closes the file; its name is for the caller to sync. BB_INVALID when
 * the last granule was not ended. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_builder_finish(struct bb_skip_builder *builder);

/* --- Reading --- */

struct bb_skip_file_options {
    size_t struct_size; /* sizeof(struct bb_skip_file_options) */
    struct bb_file_system *file_system;
    /* The file must be of this id. NULL: of any. */
    const uint8_t *id;
    /* The whole file is read into memory. Default: heads stay in memory once they were needed, and
     * each question reads some kilobytes per segment. */
    bool is_resident;
};

struct bb_skip_file;

/* BB_NOT_FOUND, BB_CORRUPT, BB_UNSUPPORTED (a newer version): there is no index then, and every
 * granule has to be read. A damaged or unknown index in a good file is no failure: it rules
 * nothing out. */
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
    bool is_known;          /* false: a kind of a newer version; what follows is 0 */
    uint64_t segment_count; /* of up to 1,024 granules */
    uint64_t unindexed_granules;
    uint64_t pair_count;   /* members of granules, each granule's counted; of set values, of min_max
                            granules with bounds */
    uint64_t size_bytes;   /* in the file, checksums included */
    uint64_t pinned_bytes; /* of those, what is kept in memory once the index is used */
    double predicted_rate; /* from the real pairs; 0 for kinds that are exact */
};

/* One granule. */
struct bb_skip_granule_info {
    uint64_t place;
    uint64_t record_count;
};

BB_API size_t bb_skip_file_index_count(const struct bb_skip_file *file);
BB_API void bb_skip_file_index(const struct bb_skip_file *file, size_t index,
                               struct bb_skip_index_info *ret_info);
BB_API size_t bb_skip_file_granule_count(const struct bb_skip_file *file);
BB_API void bb_skip_file_granule(const struct bb_skip_file *file, size_t granule,
                                 struct bb_skip_granule_info *ret_info);
/* Records of a granule whose attribute is NULL, missing or malformed: counts[state], with that of
 * BB_ATTRIBUTE_PRESENT for the rest. attribute: number in the file. */
BB_API void bb_skip_file_states(const struct bb_skip_file *file, size_t granule, size_t attribute,
                                uint64_t ret_counts[4]);
BB_API uint64_t bb_skip_file_size(const struct bb_skip_file *file);
/* What was set when the file was built, or no bytes. Borrowed from the file. */
BB_API struct bb_bytes bb_skip_file_source(const struct bb_skip_file *file);

/* What an index did for some questions. Added to, never reset. */
struct bb_skip_account {
    uint64_t leaves; /* of conditions, that were asked */
    uint64_t segments_asked;
    uint64_t granules_asked;
    uint64_t granules_excluded; /* no record satisfies the leaf */
    uint64_t granules_included; /* no record fails it */
    uint64_t reads;             /* of the file */
    uint64_t read_bytes;
    uint64_t damaged_segments; /* asked, and unreadable: nothing was excluded */
    uint64_t reserved[4];
};

/* What a condition may be of the records of each granule, a bit for each: word g / 64, bit g % 64.
 * A granule without may_be_true holds no match; one with that alone holds matches only. Owned:
 * bb_skip_verdicts_deinit. */
struct bb_skip_verdicts {
    uint64_t *may_be_true;
    uint64_t *may_be_false;
    uint64_t *may_be_null;
    size_t granule_count;
    size_t word_count;
};

BB_API void bb_skip_verdicts_deinit(struct bb_skip_verdicts *verdicts);

/* Asks all indexes that know something of the condition, and no others. schema: that the condition
 * was made for; an index is used where the definitions of its attribute are equal, but for its
 * name. accounts: one for each index of the file, or NULL. Damage is no failure: it is counted,
 * and rules nothing out. BB_NO_MEMORY alone. Owned: bb_skip_verdicts_deinit. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_evaluate(struct bb_skip_file *file,
                                                          const struct bb_condition *condition,
                                                          const struct bb_schema *schema,
                                                          struct bb_skip_account *accounts,
                                                          struct bb_skip_verdicts *ret_verdicts);

/* The same for many files: an evaluator keeps its memory and what it asks for, so that a small
 * file is asked in a microsecond. Threads: one; any number of evaluators may ask one file. */
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

/* Decides a condition for the records of a granule, and reads none of them: attributes with a column
 * record by record, the others by what their indexes say of the whole granule.
 * Threads: one; any number of these over one file. */
struct bb_skip_rows;

/* The records of a granule that match, and those that may: bit i % 64 of word i / 64 is the record
 * that was added as number i. Borrowed until the next call.
 *
 * If true_count equals possible_count, the condition is decided for every record. Otherwise records
 * with may_be_true and without is_true have to be read. */
struct bb_skip_row_bits {
    const uint64_t *is_true;     /* certainly true */
    const uint64_t *is_null;     /* certainly unknown */
    const uint64_t *may_be_true; /* without this bit, the condition is not true */
    uint64_t record_count;
    uint64_t true_count;     /* bits of is_true */
    uint64_t possible_count; /* bits of may_be_true */
    /* Records of each part of the granule (bb_skip_builder_end_part), in order; 0 parts if the
     * columns do not have them. */
    const uint32_t *part_records;
    size_t part_count;
};

/* BB_NOT_FOUND, without a message: no attribute of the condition has a column here. file,
 * condition and schema are borrowed until bb_skip_rows_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_rows_create(struct bb_skip_file *file,
                                                        const struct bb_condition *condition,
                                                        const struct bb_schema *schema,
                                                        struct bb_skip_rows **ret_rows);
BB_API void bb_skip_rows_destroy(struct bb_skip_rows *rows);
/* BB_NOT_FOUND, without a message: the granule is too large, its values are not stored.
 * BB_CORRUPT: they are damaged. BB_TOO_LARGE: a regular expression gives up. Then its records have
 * to be read. accounts: as for bb_skip_file_evaluate. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_rows_read(struct bb_skip_rows *rows, size_t granule,
                                                      struct bb_skip_account *accounts,
                                                      struct bb_skip_row_bits *ret_bits);

/* --- Counts, without columns --- */

/* How many records of a granule satisfy a condition, as far as it follows from how many hold a word
 * (text(a, counts=yes)), from how many have an attribute, and from what other indexes say of whole
 * granules: has_token(a, 'x'), NOT of it, a IS NULL, and any of these AND what is true of the whole
 * granule, or OR what is false of it. Exact, and no record is read.
 * Threads: one; any number of these over one file. */
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
/* Records of the granule of which the condition is true. BB_NOT_FOUND, without a message: it does
 * not follow, the records have to be read. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_counts_read(struct bb_skip_counts *counts,
                                                        size_t granule, uint64_t *ret_true_count);

/* Reads and checks every byte. BB_CORRUPT with the first damage. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_file_verify(struct bb_skip_file *file);

/* --- Proving --- */

/* Sound bytes may lie: an index of other records excludes granules that hold a match. A proof shows
 * every record to every index: each of its values and members must be told of its granule, and
 * counts must be right. Then no question loses a record. About the cost of building.
 *
 *     for each record, in order of granules: bb_skip_proof_add
 *     bb_skip_proof_finish
 */
struct bb_skip_proof;

/* The file is borrowed until the proof is destroyed. schema: has the file's attributes, and is
 * borrowed too; NULL: made from the definitions in the file, which cannot be callbacks then
 * (BB_INVALID). Indexes of unknown kinds are passed over. BB_CORRUPT, BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_create(struct bb_skip_file *file,
                                                         const struct bb_schema *schema,
                                                         struct bb_skip_proof **ret_proof);
/* The part of its granule (bb_skip_builder_end_part), counted from 0, of the records that are added
 * next. */
BB_API void bb_skip_proof_set_part(struct bb_skip_proof *proof, size_t part);
/* A record of a granule, which is not below that of the record before. BB_CORRUPT: the file lies,
 * as far as can be told by now. After a failure the proof is only destroyed. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_add(struct bb_skip_proof *proof, size_t granule,
                                                      struct bb_bytes key, struct bb_bytes value);
/* There are no more records. BB_CORRUPT: the file lies. */
BB_API BB_MUST_CHECK enum bb_status bb_skip_proof_finish(struct bb_skip_proof *proof);
/* NULL is allowed. */
BB_API void bb_skip_proof_destroy(struct bb_skip_proof *proof);

#ifdef __cplusplus
}
#endif
#endif
