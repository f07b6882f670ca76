/* See rocksdb_filter.h. The only file in C++: what it calls has no other interface. */
#include "bench/rocksdb_filter.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <memory>
#include <string>

#define ROCKSDB_VERSION_NUMBER (ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR)

#if ROCKSDB_VERSION_NUMBER < 700 || ROCKSDB_VERSION_NUMBER > 905

/* 6.x has other classes, 9.6 has one function more in the builder. */
const char *rocksdb_filter_obstacle(void)
{
    return "the classes of this version are not known (7.0 to 9.5 are)";
}

struct rocksdb_filter *rocksdb_filter_create(bool, double, const uint8_t *, size_t)
{
    return nullptr;
}

void rocksdb_filter_destroy(struct rocksdb_filter *)
{
}

size_t rocksdb_filter_size(const struct rocksdb_filter *)
{
    return 0;
}

uint64_t rocksdb_filter_ask(struct rocksdb_filter *const *, const struct key_question *, size_t)
{
    return 0;
}

#else

/* Functions are called by their place in the class, so that the order is what counts. Destructors
 * are not defined: RocksDB's are called, and no table of functions is made here that could take the
 * place of RocksDB's when the program is linked. */
namespace ROCKSDB_NAMESPACE
{

class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder();
    virtual void AddKey(const Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *ret_bytes) = 0;
    /* Others follow, which are not called. */
};

class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader();
    virtual bool MayMatch(const Slice &key) = 0;
};

} // namespace ROCKSDB_NAMESPACE

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Slice;

struct rocksdb_filter {
    std::unique_ptr<const FilterPolicy> policy;
    std::unique_ptr<const char[]> bytes;
    size_t size;
    std::unique_ptr<FilterBitsReader> reader;
};

/* The header that this was compiled with and the library that runs are of one version. */
const char *rocksdb_filter_obstacle(void)
{
    const std::string header = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
                               "." + std::to_string(ROCKSDB_PATCH);
    if (ROCKSDB_NAMESPACE::GetRocksVersionAsString(true) != header)
        return "the installed header and library are of different versions";
    return nullptr;
}

static Slice slice_of(const uint8_t *key)
{
    return Slice(reinterpret_cast<const char *>(key), KEY_QUESTION_SIZE);
}

static bool build(rocksdb_filter *filter, const uint8_t *keys, size_t count)
{
    BlockBasedTableOptions options;
    FilterBuildingContext context(options);
    std::unique_ptr<FilterBitsBuilder> builder(filter->policy->GetBuilderWithContext(context));
    if (!builder)
        return false;
    for (size_t i = 0; i < count; i++)
        builder->AddKey(slice_of(keys + i * KEY_QUESTION_SIZE));
    if (builder->EstimateEntriesAdded() != count)
        return false;
    Slice bytes = builder->Finish(&filter->bytes);
    filter->size = bytes.size();
    filter->reader.reset(filter->policy->GetFilterBitsReader(bytes));
    return filter->reader != nullptr;
}

static bool has_all(rocksdb_filter *filter, const uint8_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!filter->reader->MayMatch(slice_of(keys + i * KEY_QUESTION_SIZE)))
            return false;
    return true;
}

struct rocksdb_filter *rocksdb_filter_create(bool is_ribbon, double bits_per_key,
                                             const uint8_t *keys, size_t count)
{
    std::unique_ptr<rocksdb_filter> filter(new rocksdb_filter());
    filter->policy.reset(is_ribbon ? ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(bits_per_key, -1)
                                   : ROCKSDB_NAMESPACE::NewBloomFilterPolicy(bits_per_key));
    if (!build(filter.get(), keys, count))
        fprintf(stderr, "rocksdb_filter: RocksDB gives no filter of %zu keys\n", count);
    else if (!has_all(filter.get(), keys, count))
        fprintf(stderr, "rocksdb_filter: the filter of %zu keys denies a member\n", count);
    else
        return filter.release();
    return nullptr;
}

void rocksdb_filter_destroy(struct rocksdb_filter *filter)
{
    delete filter;
}

size_t rocksdb_filter_size(const struct rocksdb_filter *filter)
{
    return filter->size;
}

uint64_t rocksdb_filter_ask(struct rocksdb_filter *const *filters,
                            const struct key_question *questions, size_t count)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < count; i++)
        yes += filters[questions[i].filter]->reader->MayMatch(slice_of(questions[i].key));
    return yes;
}

#endif
