/* See store_place.h. */
#include "tools/store/store_place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

/* The library decides about names that could be a store's. */
static bool is_foreign(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "LOCK") != 0 &&
           strncmp(name, "MANIFEST-", strlen("MANIFEST-")) != 0 && !isdigit((unsigned char)name[0]);
}

enum bb_status store_place_check(const char *directory)
{
    char found[256] = "";
    bool is_store = false;
    struct dirent *entry = NULL;
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return BB_OK; /* missing, or the opening tells why it cannot be used */
    while (!is_store && (entry = readdir(entries)) != NULL) {
        is_store = strcmp(entry->d_name, "CURRENT") == 0;
        if (is_foreign(entry->d_name) && found[0] == '\0')
            snprintf(found, sizeof(found), "%.255s", entry->d_name);
    }
    (void)closedir(entries);
    if (is_store || found[0] == '\0')
        return BB_OK;
    return bb_fail(BB_EXISTS, "%s: holds other files (%s) and no store; --force creates one there",
                   directory, found);
}

bool store_place_is_read_only(const char *directory)
{
    char lock[PATH_MAX];
    int length = snprintf(lock, sizeof(lock), "%s/LOCK", directory);
    if (length < 0 || (size_t)length >= sizeof(lock) || access(directory, R_OK | X_OK) != 0)
        return false;
    return access(directory, W_OK) != 0 || (access(lock, W_OK) != 0 && errno != ENOENT);
}

bool store_place_has_log(const char *directory)
{
    bool has_log = false;
    struct dirent *entry = NULL;
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return false;
    while (!has_log && (entry = readdir(entries)) != NULL)
        has_log = strcmp(entry->d_name, "LOG") == 0;
    (void)closedir(entries);
    return has_log;
}
