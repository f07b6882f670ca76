/* See cluster_options.h. */
#include "tools/cluster/cluster_options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"

#define TIMEOUT_SECONDS_DEFAULT 30
#define TIMEOUT_SECONDS_MAX     86400

struct option_group cluster_options_group(struct cluster_options *options)
{
    *options = (struct cluster_options){.partition_count = COLLECTION_PARTITIONS_DEFAULT,
                                        .timeout_seconds = TIMEOUT_SECONDS_DEFAULT};
    const struct option table[] = {
        {"seed", "HOST:PORT", OPTION_TEXTS, &options->seeds,
         "a node; may be given again, for when one is down"},
        {"partitions", "N", OPTION_COUNT, &options->partition_count,
         "partitions of the collection (256)"},
        {"timeout", "SECONDS", OPTION_REAL, &options->timeout_seconds,
         "how long a command without a result is repeated (30)"},
        {"user", "NAME", OPTION_TEXT, &options->user,
         "log in as this user; the password is in REDISCLI_AUTH"},
    };
    static_assert(BB_ARRAY_LENGTH(table) == CLUSTER_OPTION_COUNT, "space for all options");
    memcpy(options->table, table, sizeof(table));
    return (struct option_group){.title = "Options of the cluster",
                                 .options = options->table,
                                 .count = CLUSTER_OPTION_COUNT};
}

static enum bb_status check_options(const struct cluster_options *options)
{
    if (options->seeds.count == 0)
        return bb_fail(BB_INVALID, "option --seed is missing: HOST:PORT of a node of the cluster");
    if (options->timeout_seconds > TIMEOUT_SECONDS_MAX)
        return bb_fail(BB_INVALID, "option --timeout: at most %d seconds are possible",
                       TIMEOUT_SECONDS_MAX);
    if (options->user != NULL && getenv("REDISCLI_AUTH") == NULL)
        return bb_fail(BB_INVALID, "option --user needs a password, in the environment variable "
                                   "REDISCLI_AUTH");
    return BB_OK;
}

enum bb_status cluster_options_open(const struct cluster_options *options, const char *name,
                                    struct cluster *cluster, struct collection *collection)
{
    enum bb_status status = check_options(options);
    if (status != BB_OK)
        return status;
    cluster->credentials =
        (struct credentials){.user = options->user, .password = getenv("REDISCLI_AUTH")};
    cluster->timeout_ns = (uint64_t)(options->timeout_seconds * 1e9);
    /* First, because a name can be wrong without any node. */
    status = collection_init(collection, cluster, name, options->partition_count);
    return status == BB_OK ? cluster_open(cluster, options->seeds.values, options->seeds.count)
                           : status;
}
