/* See command_list.h. */
#include "tools/command/command_list.h"

#include <string.h>

const struct command *const command_list[] = {
    /* keys and values */
    &command_load,
    &command_get,
    &command_scan,
    &command_delete,
    /* records by their values */
    &command_select,
    &command_attribute,
    &command_index,
    /* the state of the internals */
    &command_stat,
    &command_explain,
    &command_measure,
    &command_filters,
    &command_dump,
    /* the store as a whole */
    &command_compact,
    &command_checkpoint,
    &command_verify,
    &command_repair,
    &command_destroy,
    /* to and from elsewhere */
    &command_import,
    &command_export,
    &command_ingest,
    /* on other machines */
    &command_cluster,
    /* without a store */
    &command_filter,
    NULL,
};

const char command_list_description[] =
    "bloomblock keeps keys and values in sorted tables on disk. Every block of a "
    "table has a small filter that is probed before the block is read, so that an "
    "absent key costs almost no reads.\n"
    "\n"
    "Getting started:\n"
    "  bloomblock load /tmp/words /usr/share/dict/words   # a key per line\n"
    "  bloomblock get /tmp/words zebra                    # 0: present; 1: absent\n"
    "  bloomblock scan /tmp/words --prefix zeb            # keys in order\n"
    "  bloomblock stat /tmp/words                         # levels, tables, filters\n"
    "  bloomblock measure /tmp/words --keys FILE          # counts the avoided reads\n"
    "  bloomblock verify /tmp/words                       # checks every byte\n"
    "\n"
    "Values can be searched by conditions; indexes avoid reading most blocks:\n"
    "  bloomblock load /tmp/access --lines access.log --format clf\n"
    "  bloomblock index create /tmp/access 'tokens(agent)'\n"
    "  bloomblock index materialize /tmp/access\n"
    "  bloomblock select /tmp/access --where \"has_token(agent, 'sqlmap')\"\n"
    "\n"
    "Filters work without a store, too: bloomblock help filter\n";

const char command_list_exit_codes[] =
    "  0  done; the key was found\n"
    "  1  get, explain, cluster get, filter check: a key is absent; select: no\n"
    "     record matches\n"
    "  2  usage: an option, argument, key or value is not acceptable\n"
    "  3  input or output: a system error, no such store, in use, disk full\n"
    "  4  corrupt: bytes of a file are not valid\n"
    "  5  unsupported: written by a newer version; import: an unsupported form\n"
    "  6  measure: the accounting of reads does not add up\n"
    "  7  filter create, add, union: done, but the rate is above the target\n"
    "  8  done, but opening the store dropped or repaired synced data;\n"
    "     repair: data is lost, or with --dry-run would be\n"
    "130  Ctrl-C; the result is correct but incomplete\n";

const struct command *command_list_find(const char *name)
{
    for (size_t i = 0; command_list[i] != NULL; i++)
        if (strcmp(command_list[i]->name, name) == 0)
            return command_list[i];
    return NULL;
}
