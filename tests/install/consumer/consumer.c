/* The smallest user of the installed headers and library: a store in a directory given on the
 * command line. */
#include <bb/db.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct bb_db_options options = {.create_if_missing = true};
    struct bb_bytes key = {(const uint8_t *)"k", 1};
    struct bb_buf value = {0};
    struct bb_db *db = NULL;
    if (strcmp(bb_version(), BB_VERSION) != 0) {
        fprintf(stderr, "the library is %s, its headers are %s\n", bb_version(), BB_VERSION);
        return 1;
    }
    if (argc != 2 || bb_db_open(argv[1], &options, &db) != BB_OK ||
        bb_db_put(db, NULL, key, key) != BB_OK || bb_db_get(db, NULL, key, &value) != BB_OK ||
        value.size != 1 || bb_db_close(db) != BB_OK) {
        fprintf(stderr, "%s\n", bb_error_last()->message);
        return 1;
    }
    bb_buf_deinit(&value);
    return 0;
}
