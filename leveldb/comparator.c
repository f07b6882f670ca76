/* See comparator.h. */
#include "leveldb/comparator.h"

#include <string.h>

#include "leveldb/memory.h"
#include "leveldb/text.h"

struct leveldb_comparator_t {
    void *state;
    void (*destructor)(void *);
    int (*compare)(void *, const char *a, size_t alen, const char *b, size_t blen);
    const char *(*name)(void *);
};

/* The name of the bytewise order in LevelDB and here. They are exchanged, so that a program's
 * comparator with either name means the same as in LevelDB. */
#define NAME_THERE "leveldb.BytewiseComparator"
#define NAME_HERE  "bytewise"

leveldb_comparator_t *leveldb_comparator_create(void *state, void (*destructor)(void *),
                                                int (*compare)(void *, const char *a, size_t alen,
                                                               const char *b, size_t blen),
                                                const char *(*name)(void *))
{
    leveldb_comparator_t *comparator = bb_leveldb_alloc(sizeof(*comparator));
    if (comparator == NULL)
        return NULL;
    comparator->state = state;
    comparator->destructor = destructor;
    comparator->compare = compare;
    comparator->name = name;
    return comparator;
}

void leveldb_comparator_destroy(leveldb_comparator_t *comparator)
{
    if (comparator == NULL)
        return;
    if (comparator->destructor != NULL)
        comparator->destructor(comparator->state);
    bb_leveldb_release(comparator);
}

static int compare(void *context, struct bb_bytes a, struct bb_bytes b)
{
    const leveldb_comparator_t *comparator = context;
    return comparator->compare(comparator->state, bb_leveldb_text_of(a), a.size,
                               bb_leveldb_text_of(b), b.size);
}

static const char *name_of(const leveldb_comparator_t *comparator)
{
    const char *name = comparator->name(comparator->state);
    if (strcmp(name, NAME_THERE) == 0)
        return NAME_HERE;
    return strcmp(name, NAME_HERE) == 0 ? NAME_THERE : name;
}

struct bb_comparator bb_leveldb_comparator_order(leveldb_comparator_t *comparator, bool has_bloom)
{
    return (struct bb_comparator){
        .name = name_of(comparator),
        .compare = compare,
        .context = comparator,
        .equates_different_bytes = !has_bloom,
    };
}
