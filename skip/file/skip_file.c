/* Opening an index file, and its units. See skip_file.h. */
#include "skip/file/skip_file.h"

#include "base/alloc.h"
#include "base/path.h"

#define RESIDENT_SIZE_MAX (UINT64_C(1) << 36)

/* --- Units --- */

static enum bb_status read_by_call(struct bb_skip_file *file, struct bb_skip_section section,
                                   void *bytes, struct bb_skip_account *account)
{
    if (account != NULL) {
        account->reads++;
        account->read_bytes += section.size;
    }
    enum bb_status status =
        bb_file_read_exactly(file->file, section.offset, bytes, (size_t)section.size);
    if (status == BB_OK)
        bb_page_map_note(&file->map, section.offset, (size_t)section.size);
    return status;
}

static enum bb_status read_bytes(struct bb_skip_file *file, struct bb_skip_section section,
                                 struct bb_buf *scratch, struct bb_skip_account *account,
                                 const uint8_t **ret_bytes)
{
    if (section.offset > file->size || section.size > file->size - section.offset)
        return bb_fail(BB_CORRUPT, "%s: an index has data after the file's end", file->file->path);
    if (file->resident.size > 0) {
        *ret_bytes = file->resident.data + section.offset;
        return BB_OK;
    }
    bb_buf_reset(scratch);
    enum bb_status status = bb_buf_reserve(scratch, (size_t)section.size);
    if (status != BB_OK)
        return status;
    *ret_bytes = scratch->data;
    return bb_page_map_copy(&file->map, section.offset, scratch->data, (size_t)section.size)
               ? BB_OK
               : read_by_call(file, section, scratch->data, account);
}

enum bb_status bb_skip_file_read(struct bb_skip_file *file, enum bb_skip_unit type,
                                 struct bb_skip_section section, struct bb_buf *scratch,
                                 struct bb_skip_account *account, struct bb_bytes *ret_unit)
{
    const uint8_t *bytes = NULL;
    enum bb_status status = read_bytes(file, section, scratch, account, &bytes);
    if (status != BB_OK)
        return status;
    struct bb_bytes unit = {.data = bytes, .size = (size_t)section.size};
    if (!bb_skip_unit_is_whole(file->id, type, section.offset, unit))
        return bb_corrupt((struct bb_place){.file = file->file->path, .offset = section.offset}, 0,
                          "the checksum of %zu bytes of an index does not match", unit.size);
    *ret_unit = (struct bb_bytes){.data = bytes, .size = unit.size - BB_SKIP_CHECKSUM_SIZE};
    return BB_OK;
}

/* --- Heads --- */

static enum bb_status load_head(struct bb_skip_file *file, size_t index,
                                struct bb_skip_account *account, struct bb_loaded_head *loaded)
{
    const struct bb_directory_entry *entry = &file->directory.indexes[index];
    struct bb_buf scratch = {0};
    struct bb_buf bytes = {0};
    struct bb_bytes unit = {0};
    struct bb_place place = {.file = file->file->path, .offset = entry->head.offset};
    enum bb_status status =
        bb_skip_file_read(file, BB_SKIP_UNIT_HEAD, entry->head, &scratch, account, &unit);
    if (status == BB_OK)
        status = bb_buf_assign(&bytes, unit);
    if (status == BB_OK)
        status =
            bb_index_head_decode(&bytes, &file->directory, entry, file->size, place, &loaded->head);
    bb_buf_deinit(&scratch);
    loaded->is_damaged = status != BB_OK;
    return status;
}

static void destroy_head(struct bb_loaded_head *loaded)
{
    if (loaded == NULL)
        return;
    bb_index_head_deinit(&loaded->head);
    bb_free(loaded);
}

/* For now: the next question tries again. */
static const struct bb_loaded_head unreadable = {.is_damaged = true};

enum bb_status bb_skip_file_head(struct bb_skip_file *file, size_t index,
                                 struct bb_skip_account *account,
                                 const struct bb_loaded_head **ret_head)
{
    struct bb_loaded_head *found = atomic_load_explicit(&file->heads[index], memory_order_acquire);
    if (found != NULL) {
        *ret_head = found;
        return BB_OK;
    }
    struct bb_loaded_head *loaded = bb_alloc_zeroed(1, sizeof(*loaded));
    if (loaded == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the head of an index");
    enum bb_status status = load_head(file, index, account, loaded);
    if (status != BB_OK && status != BB_CORRUPT) {
        destroy_head(loaded);
        *ret_head = &unreadable;
        return status == BB_NO_MEMORY ? status : BB_OK;
    }
    if (atomic_compare_exchange_strong(&file->heads[index], &found, loaded)) {
        *ret_head = loaded;
    } else {
        destroy_head(loaded);
        *ret_head = found;
    }
    return BB_OK;
}

/* --- Opening --- */

static enum bb_status check_footer(struct bb_skip_file *file,
                                   const struct bb_skip_file_options *options,
                                   const uint8_t footer[BB_SKIP_FOOTER_SIZE],
                                   struct bb_skip_section *ret_directory)
{
    struct bb_place place = {.file = file->file->path, .offset = file->size - BB_SKIP_FOOTER_SIZE};
    size_t magic_at = BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE;
    if (memcmp(footer + magic_at, BB_SKIP_MAGIC, BB_SKIP_MAGIC_SIZE) != 0)
        return bb_corrupt(place, magic_at,
                          "not an index file: the magic number at its end is wrong");
    uint32_t version = bb_load32(footer + 16);
    if (version < BB_SKIP_VERSION_MIN || version > BB_SKIP_VERSION)
        return bb_fail(BB_UNSUPPORTED, "%s: index file of version %u, this library knows %u to %u",
                       place.file, version, BB_SKIP_VERSION_MIN, BB_SKIP_VERSION);
    memcpy(file->id, footer + 20, BB_SKIP_ID_SIZE);
    struct bb_bytes unit = {.data = footer, .size = magic_at};
    if (!bb_skip_unit_is_whole(file->id, BB_SKIP_UNIT_FOOTER, place.offset, unit))
        return bb_corrupt(place, 0, "the checksum of the index file's footer does not match");
    if (options->id != NULL && memcmp(file->id, options->id, BB_SKIP_ID_SIZE) != 0)
        return bb_corrupt(place, 20, "the index file belongs to another table or file");
    *ret_directory =
        (struct bb_skip_section){.offset = bb_load64(footer), .size = bb_load64(footer + 8)};
    return BB_OK;
}

static enum bb_status read_footer(struct bb_skip_file *file,
                                  const struct bb_skip_file_options *options,
                                  struct bb_skip_section *ret_directory)
{
    uint8_t footer[BB_SKIP_FOOTER_SIZE];
    struct bb_place place = {.file = file->file->path};
    if (file->size < BB_SKIP_FOOTER_SIZE)
        return bb_corrupt(place, 0, "the file of %llu bytes is too short for an index file",
                          (unsigned long long)file->size);
    enum bb_status status =
        bb_file_read_exactly(file->file, file->size - sizeof(footer), footer, sizeof(footer));
    if (status == BB_OK)
        status = check_footer(file, options, footer, ret_directory);
    if (status == BB_OK &&
        (ret_directory->size < BB_SKIP_CHECKSUM_SIZE || ret_directory->size > BB_SKIP_SECTION_MAX))
        status = bb_corrupt(place, 0, "the directory of an index file has an impossible size");
    return status;
}

static enum bb_status read_directory(struct bb_skip_file *file, struct bb_skip_section section)
{
    struct bb_buf scratch = {0};
    struct bb_bytes unit = {0};
    struct bb_place place = {.file = file->file->path, .offset = section.offset};
    enum bb_status status =
        bb_skip_file_read(file, BB_SKIP_UNIT_DIRECTORY, section, &scratch, NULL, &unit);
    if (status == BB_OK)
        status = bb_index_directory_decode(unit, place, file->size, &file->directory);
    bb_buf_deinit(&scratch);
    return status;
}

static enum bb_status read_granules(struct bb_skip_file *file)
{
    struct bb_buf scratch = {0};
    struct bb_bytes unit = {0};
    struct bb_skip_section section = file->directory.granules;
    struct bb_place place = {.file = file->file->path, .offset = section.offset};
    enum bb_status status =
        bb_skip_file_read(file, BB_SKIP_UNIT_GRANULES, section, &scratch, NULL, &unit);
    if (status == BB_OK)
        status = bb_granule_table_decode(unit, place, (size_t)file->directory.granule_count,
                                         file->directory.attribute_count, &file->granules);
    bb_buf_deinit(&scratch);
    return status;
}

static enum bb_status load_resident(struct bb_skip_file *file)
{
    uint8_t *bytes = NULL;
    if (file->size > RESIDENT_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: too large to be kept in memory", file->file->path);
    enum bb_status status = bb_buf_extend(&file->resident, (size_t)file->size, &bytes);
    if (status == BB_OK)
        status = bb_file_read_exactly(file->file, 0, bytes, (size_t)file->size);
    return status;
}

static enum bb_status open_file(struct bb_skip_file *file, const char *path,
                                const struct bb_skip_file_options *options)
{
    struct bb_skip_section directory = {0};
    struct bb_file_system *fs = NULL;
    enum bb_status status = bb_path_check_file(path, "the index file");
    if (status == BB_OK)
        status = bb_file_system_posix_default(options->file_system, &file->own_fs, &fs);
    if (status == BB_OK)
        status = bb_file_open(fs, path, &file->file);
    if (status == BB_OK)
        status = bb_file_size(file->file, &file->size);
    if (status == BB_OK)
        status = read_footer(file, options, &directory);
    if (status == BB_OK && options->is_resident)
        status = load_resident(file);
    if (status == BB_OK)
        status = read_directory(file, directory);
    return status == BB_OK ? read_granules(file) : status;
}

enum bb_status bb_skip_file_open(const char *path, const struct bb_skip_file_options *options,
                                 struct bb_skip_file **ret_file)
{
    struct bb_skip_file_options own = options == NULL ? (struct bb_skip_file_options){0} : *options;
    struct bb_skip_file *file = bb_alloc_zeroed(1, sizeof(*file));
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index file");
    enum bb_status status = open_file(file, path, &own);
    if (status == BB_OK) {
        file->heads = bb_alloc_zeroed(file->directory.index_count + 1, sizeof(file->heads[0]));
        if (file->heads == NULL)
            status = bb_fail(BB_NO_MEMORY, "no memory for the indexes of a file");
    }
    if (status == BB_OK)
        *ret_file = file;
    else
        bb_skip_file_close(file);
    return status;
}

void bb_skip_file_map(struct bb_skip_file *file, struct bb_file_system *files)
{
    if (file->resident.size == 0)
        bb_page_map_init(&file->map, files, file->file, file->size);
}

void bb_skip_file_forget_pages(struct bb_skip_file *file)
{
    bb_page_map_forget(&file->map);
}

void bb_skip_file_close(struct bb_skip_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; file->heads != NULL && i < file->directory.index_count; i++)
        destroy_head(atomic_load(&file->heads[i]));
    bb_free(file->heads);
    bb_granule_table_deinit(&file->granules);
    bb_index_directory_deinit(&file->directory);
    bb_buf_deinit(&file->resident);
    bb_page_map_deinit(&file->map);
    (void)!bb_file_close(file->file);
    bb_file_system_posix_destroy(file->own_fs);
    bb_free(file);
}

/* --- Contents --- */

size_t bb_skip_file_index_count(const struct bb_skip_file *file)
{
    return file->directory.index_count;
}

void bb_skip_file_index(const struct bb_skip_file *file, size_t index,
                        struct bb_skip_index_info *ret_info)
{
    const struct bb_directory_entry *entry = &file->directory.indexes[index];
    *ret_info = (struct bb_skip_index_info){.spec = entry->spec, .is_known = entry->is_known};
    if (!bb_directory_entry_is_read(entry))
        return;
    if (entry->words_made_with[0] != '\0')
        ret_info->words_made_with = entry->words_made_with;
    ret_info->attribute_name = file->directory.attributes[entry->spec.attribute].name;
    ret_info->attribute_definition = file->directory.attributes[entry->spec.attribute].definition;
    ret_info->segment_count = entry->segment_count;
    ret_info->unindexed_granules = entry->unindexed_granules;
    ret_info->pair_count = entry->pair_count;
    ret_info->size_bytes = entry->data_bytes + entry->head.size;
    ret_info->pinned_bytes = entry->head.size;
    ret_info->predicted_rate = entry->predicted_rate;
}

size_t bb_skip_file_granule_count(const struct bb_skip_file *file)
{
    return file->granules.granule_count;
}

void bb_skip_file_granule(const struct bb_skip_file *file, size_t granule,
                          struct bb_skip_granule_info *ret_info)
{
    *ret_info = (struct bb_skip_granule_info){.place = file->granules.places[granule],
                                              .record_count = file->granules.records[granule]};
}

void bb_skip_file_states(const struct bb_skip_file *file, size_t granule, size_t attribute,
                         uint64_t ret_counts[4])
{
    ret_counts[BB_ATTRIBUTE_PRESENT] = file->granules.records[granule] -
                                       bb_granule_table_nulls(&file->granules, granule, attribute);
    for (uint32_t state = BB_ATTRIBUTE_NULL; state <= BB_ATTRIBUTE_MALFORMED; state++)
        ret_counts[state] = bb_granule_table_count(&file->granules, granule, attribute,
                                                   (enum bb_attribute_state)state);
}

struct bb_bytes bb_skip_file_source(const struct bb_skip_file *file)
{
    return bb_buf_bytes(&file->directory.source);
}

uint64_t bb_skip_file_size(const struct bb_skip_file *file)
{
    return file->size;
}
