/* The plain main() of a fuzz target: runs it once over every file of its corpus, as an ordinary
 * test.
 *
 * Arguments are files and folders, including subfolders. Names are sorted, so that the first
 * failure is always the same. Each input is in a block of exactly its size, so that a sanitizer
 * finds the first byte read past it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void give_up(const char *path, const char *operation)
{
    fprintf(stderr, "%s: %s: %s\n", path, operation, strerror(errno));
    exit(1);
}

static uint8_t *read_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size == 0 ? 1 : size);
    FILE *file = fopen(path, "rb");
    if (data == NULL || file == NULL || fread(data, 1, size, file) != size)
        give_up(path, "read");
    fclose(file);
    return data;
}

static size_t replay_file(const char *path, size_t size)
{
    uint8_t *data = read_file(path, size);
    printf("%s (%zu bytes)\n", path, size);
    fflush(stdout); /* the last line names the input that ended the process */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static size_t replay(const char *path);

static size_t replay_folder(const char *path)
{
    size_t count = 0;
    struct dirent **entries = NULL;
    int entry_count = scandir(path, &entries, NULL, alphasort);
    if (entry_count < 0)
        give_up(path, "scandir");
    for (int i = 0; i < entry_count; i++) {
        char *child = NULL;
        if (entries[i]->d_name[0] != '.') {
            if (asprintf(&child, "%s/%s", path, entries[i]->d_name) < 0)
                give_up(path, "asprintf");
            count += replay(child);
        }
        free(child);
        free(entries[i]);
    }
    free(entries);
    return count;
}

static size_t replay(const char *path)
{
    struct stat information;
    if (stat(path, &information) != 0) {
        if (errno != ENOENT)
            give_up(path, "stat");
        printf("%s: no such folder, nothing to replay\n", path);
        return 0;
    }
    if (S_ISDIR(information.st_mode))
        return replay_folder(path);
    return replay_file(path, (size_t)information.st_size);
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%zu inputs replayed\n", count);
    return 0;
}
