/* See filter_policy.h. */
#include "leveldb/filter_policy.h"

#include "leveldb/memory.h"

struct leveldb_filterpolicy_t {
    void *state;
    void (*destructor)(void *);
    bool is_bloom;
    int bits_per_key; /* of a Bloom filter; 0 or less: none */
};

/* The store's limit; filters of about 20 bits have a rate so low that more bits are not used. */
#define BITS_PER_KEY_MAX 100

leveldb_filterpolicy_t *leveldb_filterpolicy_create(
    void *state, void (*destructor)(void *),
    char *(*create_filter)(void *, const char *const *key_array, const size_t *key_length_array,
                           int num_keys, size_t *filter_length),
    uint8_t (*key_may_match)(void *, const char *key, size_t length, const char *filter,
                             size_t filter_length),
    const char *(*name)(void *))
{
    /* The store's own filters take the place of these. */
    (void)create_filter;
    (void)key_may_match;
    (void)name;
    leveldb_filterpolicy_t *policy = bb_leveldb_alloc(sizeof(*policy));
    if (policy == NULL)
        return NULL;
    policy->state = state;
    policy->destructor = destructor;
    return policy;
}

leveldb_filterpolicy_t *leveldb_filterpolicy_create_bloom(int bits_per_key)
{
    leveldb_filterpolicy_t *policy = bb_leveldb_alloc(sizeof(*policy));
    if (policy == NULL)
        return NULL;
    policy->is_bloom = true;
    policy->bits_per_key = bits_per_key;
    return policy;
}

void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t *policy)
{
    if (policy == NULL)
        return;
    if (policy->destructor != NULL)
        policy->destructor(policy->state);
    bb_leveldb_release(policy);
}

bool bb_leveldb_filter_policy_is_bloom(const leveldb_filterpolicy_t *policy)
{
    return policy != NULL && policy->is_bloom;
}

void bb_leveldb_filter_policy_apply(const leveldb_filterpolicy_t *policy,
                                    struct bb_db_options *options)
{
    if (!bb_leveldb_filter_policy_is_bloom(policy))
        return;
    int bits = policy->bits_per_key;
    if (bits <= 0)
        options->filter_kind = BB_FILTER_NONE;
    else
        options->filter_amount = (struct bb_filter_amount){
            BB_FILTER_BITS_PER_KEY, bits < BITS_PER_KEY_MAX ? bits : BITS_PER_KEY_MAX};
}
