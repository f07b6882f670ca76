/* Reads a manifest. It has the framing of a log; its records are edits, which together make the
 * state. See manifest.h. */
#include <inttypes.h>
#include <stdio.h>

#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/wal/wal_reader.h"

/* The offset of the store's id in a log's header. */
#define HEADER_STORE_ID 24

_Static_assert(BB_STORE_ID_SIZE == BB_WAL_STORE_ID_SIZE, "one id for store and logs");

struct walk {
    const char *path;
    uint64_t number;
    uint8_t store_id[BB_STORE_ID_SIZE]; /* of the file's header */
    struct bb_wal_reader *reader;
    enum bb_status (*visit)(void *context, const struct bb_edit *edit, uint64_t offset);
    void *context;
    struct bb_manifest_state *state;
    bool is_salvage; /* stops at damage and contradictions instead of failing */
    uint64_t folded; /* number of edits */
    char contradiction[256];
};

/* The log reader needs the store's id, which is only known from the manifest. It therefore gets the
 * id in the header, and the reader and the first edit verify it. */
static enum bb_status read_claim(struct bb_file_system *fs, struct walk *walk,
                                 uint64_t *ret_file_size)
{
    uint8_t header[BB_WAL_HEADER_SIZE] = {0};
    struct bb_file *file = NULL;
    size_t size = 0;
    enum bb_status status = bb_file_open(fs, walk->path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_size(file, ret_file_size);
    if (status == BB_OK)
        status = bb_file_read_at(file, 0, header, sizeof(header), &size);
    memcpy(walk->store_id, header + HEADER_STORE_ID, sizeof(walk->store_id));
    return bb_file_close_after(file, status);
}

static enum bb_status fold(struct walk *walk, struct bb_bytes record)
{
    struct bb_place place = {.file = walk->path, .offset = bb_wal_reader_offset(walk->reader)};
    struct bb_edit edit;
    enum bb_status status = bb_edit_decode(record, place, &edit);
    if (status != BB_OK)
        return status;
    if (walk->visit != NULL)
        status = walk->visit(walk->context, &edit, place.offset);
    if (status == BB_OK)
        status = bb_manifest_state_apply(walk->state, &edit, place);
    bb_edit_deinit(&edit);
    return status;
}

static enum bb_status fold_all(struct walk *walk)
{
    struct bb_bytes record;
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        status = bb_wal_reader_next(walk->reader, &record);
        if (status == BB_OK)
            status = fold(walk, record);
        else if (status == BB_NOT_FOUND)
            return BB_OK;
        walk->folded += status == BB_OK;
    }
    if (status != BB_CORRUPT || !walk->is_salvage || walk->folded == 0)
        return status;
    snprintf(walk->contradiction, sizeof(walk->contradiction), "%.255s", bb_error_last()->message);
    return BB_OK;
}

/* Checks what holds for every manifest that was ever current. */
static enum bb_status check_whole(const struct walk *walk, const struct bb_wal_report *report)
{
    struct bb_place place = {.file = walk->path};
    const struct bb_manifest_state *state = walk->state;
    if (report->record_count == 0)
        return bb_corrupt(place, report->end_offset, "a manifest without its snapshot: %s",
                          report->reason[0] == 0 ? "the file ends" : report->reason);
    if (memcmp(state->identity.store_id, walk->store_id, sizeof(walk->store_id)) != 0)
        return bb_corrupt(place, HEADER_STORE_ID,
                          "the id of the store is not that of the snapshot");
    if (state->next_file_number <= walk->number)
        return bb_corrupt(place, 0,
                          "the next file number is %" PRIu64 ", and the manifest's own is %" PRIu64,
                          state->next_file_number, walk->number);
    return BB_OK;
}

static struct bb_manifest_report make_report(const struct walk *walk,
                                             const struct bb_wal_report *log, uint64_t file_size)
{
    struct bb_manifest_report report = {
        .number = walk->number,
        .file_size = file_size,
        .record_count = log->record_count,
        .end_offset = log->end_offset,
        .dropped_bytes = log->dropped_bytes,
        .is_whole = log->reason[0] == 0,
        .is_damaged = log->is_damaged,
        .is_marked = log->is_marked || (walk->state->is_closed && log->reason[0] == 0),
    };
    snprintf(report.dropped, sizeof(report.dropped), "%s", log->reason);
    return report;
}

static enum bb_status read_manifest(struct bb_file_system *fs, struct walk *walk,
                                    struct bb_manifest_state *ret_state,
                                    struct bb_manifest_report *ret_report)
{
    struct bb_manifest_state state = {0};
    uint64_t file_size = 0;
    walk->state = &state;
    enum bb_status status = read_claim(fs, walk, &file_size);
    if (status == BB_OK)
        status = bb_wal_reader_open(fs, walk->path, bb_manifest_log_number(walk->number),
                                    walk->store_id, walk->is_salvage, &walk->reader);
    if (status == BB_OK)
        status = fold_all(walk);
    if (status == BB_OK)
        status = check_whole(walk, bb_wal_reader_report(walk->reader));
    if (status == BB_OK) {
        if (ret_report != NULL)
            *ret_report = make_report(walk, bb_wal_reader_report(walk->reader), file_size);
        *ret_state = state;
        state = (struct bb_manifest_state){0};
    }
    bb_wal_reader_close(walk->reader);
    bb_manifest_state_deinit(&state);
    return status;
}

enum bb_status bb_manifest_read(struct bb_file_system *fs, const char *path, uint64_t number,
                                enum bb_status (*visit)(void *context, const struct bb_edit *edit,
                                                        uint64_t offset),
                                void *context, struct bb_manifest_state *ret_state,
                                struct bb_manifest_report *ret_report)
{
    struct walk walk = {.path = path, .number = number, .visit = visit, .context = context};
    return read_manifest(fs, &walk, ret_state, ret_report);
}

enum bb_status bb_manifest_salvage(struct bb_file_system *fs, const char *path, uint64_t number,
                                   struct bb_manifest_state *ret_state,
                                   struct bb_manifest_report *ret_report)
{
    struct walk walk = {.path = path, .number = number, .is_salvage = true};
    enum bb_status status = read_manifest(fs, &walk, ret_state, ret_report);
    if (status == BB_OK && walk.contradiction[0] != 0) {
        ret_report->is_whole = false;
        ret_report->is_marked = false;
        ret_report->is_damaged = true;
        snprintf(ret_report->dropped, sizeof(ret_report->dropped), "%s", walk.contradiction);
    }
    return status;
}

enum bb_status bb_manifest_load(struct bb_file_system *fs, const char *directory,
                                struct bb_manifest_state *ret_state,
                                struct bb_manifest_report *ret_report)
{
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = 0;
    enum bb_status status = bb_current_read(fs, directory, &number);
    if (status != BB_OK)
        return status;
    bb_filename_path(directory, BB_FILE_MANIFEST, number, path);
    status = bb_manifest_read(fs, path, number, NULL, NULL, ret_state, ret_report);
    if (status == BB_NOT_FOUND)
        return bb_fail(BB_CORRUPT, "%s: missing, and CURRENT names it", path);
    return status;
}

enum bb_status bb_manifest_check_whole(const char *directory,
                                       const struct bb_manifest_report *report)
{
    if (report->is_whole)
        return BB_OK;
    return bb_fail(BB_CORRUPT,
                   "%s/MANIFEST-%06" PRIu64 ": ends early: %s; the %" PRIu64
                   " records before that can be read. Recovery is strict: another mode opens with "
                   "these",
                   directory, report->number, report->dropped, report->record_count);
}

enum bb_status bb_manifest_report_context(enum bb_status status,
                                          const struct bb_manifest_report *report)
{
    if (status != BB_CORRUPT || report->is_whole)
        return status;
    return bb_fail_context(status, "MANIFEST-%06" PRIu64 " ends early (%s), and before that",
                           report->number, report->dropped);
}
