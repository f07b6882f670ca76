/* bloomblock cluster: collections that are spread over a Redis cluster. Finds the sub-command and
 * runs it. */
#include "tools/commands/cmd_cluster.h"

#include "base/assert.h"
#include "base/status.h"
#include "tools/command/command_group.h"

#ifdef HAS_HIREDIS
static const struct command *const commands[] = {
    &command_cluster_load,
    &command_cluster_get,
    &command_cluster_scan,
    &command_cluster_stat,
};

static enum exit_code run(const struct command *group, int argc, char **argv)
{
    return command_group_run(group, commands, BB_ARRAY_LENGTH(commands), argc, argv);
}
#else
static enum exit_code run(const struct command *group, int argc, char **argv)
{
    if (group->tables != NULL || (argc > 0 && argv[0][0] == '-'))
        return command_group_run(group, NULL, 0, argc, argv);
    return command_fail(group,
                        bb_fail(BB_UNSUPPORTED, "this command was built without hiredis, the "
                                                "client of Redis; install libhiredis-dev "
                                                "(scripts/setup redis) and build it again"));
}
#endif

const struct command command_cluster = {
    .name = "cluster",
    .summary = "stores spread over a Redis cluster: load, get, scan, stat",
    .arguments = "COMMAND [OPTION...] [ARGUMENT...]",
    .description =
        "A collection NAME is spread over the keys NAME:{0} ... NAME:{255} of a Redis or Valkey "
        "cluster whose nodes have loaded bloomblock_redis.so. The partition of a field is the "
        "XXH64 of its bytes modulo the number of partitions. The commands find the nodes "
        "themselves, follow slots that move, and wait for a fail-over.\n"
        "\n"
        "Getting started:\n"
        "  bloomblock cluster load --seed 127.0.0.1:7101 words /usr/share/dict/words\n"
        "  bloomblock cluster get --seed 127.0.0.1:7101 words zebra\n"
        "  bloomblock cluster scan --seed 127.0.0.1:7101 words --prefix zeb\n"
        "  bloomblock cluster stat --seed 127.0.0.1:7101 words\n",
    .run = run,
};
