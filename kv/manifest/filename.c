/* See filename.h. */
#include "kv/manifest/filename.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/path.h"

#define DIGITS_MIN 6
#define DIGITS_MAX 19 /* of BB_FILE_NUMBER_MAX */

_Static_assert(BB_FILE_NUMBER_MAX < UINT64_C(10000000000000000000), "19 digits are enough");

/* A name is prefix, number, suffix, or one fixed word. */
struct form {
    const char *prefix;
    const char *suffix;
    bool has_number;
};

/* By kind. FOREIGN has no form. */
static const struct form forms[] = {
    [BB_FILE_CURRENT] = {"CURRENT", "", false},   [BB_FILE_LOCK] = {"LOCK", "", false},
    [BB_FILE_MANIFEST] = {"MANIFEST-", "", true}, [BB_FILE_LOG] = {"", ".wal", true},
    [BB_FILE_WINDOW] = {"", ".window", true},     [BB_FILE_TABLE] = {"", ".bbt", true},
    [BB_FILE_NEW_TABLE] = {"", ".bbt.new", true}, [BB_FILE_INDEX] = {"", ".bbi", true},
    [BB_FILE_TEMPORARY] = {"", ".tmp", true},
};

/* 0 unless the digits are the canonical form of a number in range. */
static uint64_t decode_number(struct bb_bytes digits)
{
    uint64_t number = 0;
    if (digits.size < DIGITS_MIN || digits.size > DIGITS_MAX)
        return 0;
    if (digits.size > DIGITS_MIN && digits.data[0] == '0')
        return 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return number <= BB_FILE_NUMBER_MAX ? number : 0;
}

/* False when the name does not have that form. */
static bool decode_form(const struct form *form, struct bb_bytes name, uint64_t *ret_number)
{
    struct bb_bytes prefix = bb_bytes_of_text(form->prefix);
    struct bb_bytes suffix = bb_bytes_of_text(form->suffix);
    if (name.size < prefix.size + suffix.size)
        return false;
    struct bb_bytes middle =
        bb_bytes_of(name.data + prefix.size, name.size - prefix.size - suffix.size);
    if (!bb_bytes_equal(bb_bytes_of(name.data, prefix.size), prefix) ||
        !bb_bytes_equal(bb_bytes_of(middle.data + middle.size, suffix.size), suffix))
        return false;
    *ret_number = form->has_number ? decode_number(middle) : 0;
    return form->has_number ? *ret_number != 0 : middle.size == 0;
}

struct bb_filename bb_filename_decode(struct bb_bytes name)
{
    struct bb_filename decoded = {.kind = BB_FILE_FOREIGN};
    if (name.size == 0 || name.size >= BB_FILENAME_SIZE_MAX)
        return decoded;
    for (enum bb_file_kind kind = BB_FILE_CURRENT; kind < BB_ARRAY_LENGTH(forms); kind++) {
        uint64_t number = 0;
        if (decode_form(&forms[kind], name, &number))
            return (struct bb_filename){.kind = kind, .number = number};
    }
    return decoded;
}

void bb_filename_encode(enum bb_file_kind kind, uint64_t number,
                        char ret_name[BB_FILENAME_SIZE_MAX])
{
    BB_ASSERT(kind != BB_FILE_FOREIGN && kind < BB_ARRAY_LENGTH(forms));
    const struct form *form = &forms[kind];
    if (!form->has_number) {
        snprintf(ret_name, BB_FILENAME_SIZE_MAX, "%s", form->prefix);
        return;
    }
    BB_ASSERT(number > 0 && number <= BB_FILE_NUMBER_MAX);
    snprintf(ret_name, BB_FILENAME_SIZE_MAX, "%s%06" PRIu64 "%s", form->prefix, number,
             form->suffix);
}

void bb_filename_path(const char *directory, enum bb_file_kind kind, uint64_t number,
                      char ret_path[BB_PATH_SIZE_MAX])
{
    char name[BB_FILENAME_SIZE_MAX];
    bb_filename_encode(kind, number, name);
    enum bb_status status = bb_path_join(directory, name, ret_path);
    BB_ASSERT(status == BB_OK);
}

void bb_filename_remove(struct bb_file_system *fs, const char *directory, enum bb_file_kind kind,
                        uint64_t number)
{
    char path[BB_PATH_SIZE_MAX];
    if (number == 0 && forms[kind].has_number)
        return;
    struct bb_error before = *bb_error_last();
    bb_filename_path(directory, kind, number, path);
    if (fs->ops->remove(fs, path) != BB_OK)
        (void)bb_error_restore(&before);
}

void bb_filename_lost(const char *path, int attempt, char ret_path[BB_FILENAME_LOST_SIZE_MAX])
{
    char suffix[16] = "";
    if (attempt > 1)
        snprintf(suffix, sizeof(suffix), "%d", attempt);
    snprintf(ret_path, BB_FILENAME_LOST_SIZE_MAX, "%s.lost%s", path, suffix);
}

/* A rename replaces an existing file. */
enum bb_status bb_filename_rename_lost(struct bb_file_system *fs, const char *path,
                                       char ret_path[BB_FILENAME_LOST_SIZE_MAX])
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = BB_OK;
    for (int i = 1; i <= BB_FILENAME_LOST_MAX && status == BB_OK; i++) {
        bb_filename_lost(path, i, ret_path);
        status = fs->ops->status(fs, ret_path, &is_directory, &size);
    }
    if (status == BB_OK)
        return bb_fail(BB_EXISTS, "%s: there are %d copies of it already", path,
                       BB_FILENAME_LOST_MAX);
    return status == BB_NOT_FOUND ? fs->ops->rename(fs, path, ret_path) : status;
}
