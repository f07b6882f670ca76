/* Copies of a file system in memory: whole, and as a power failure leaves it. */
#include "tests/support/file_memory.h"

#include "base/assert.h"
#include "tests/support/file_memory_private.h"
#include "tests/support/must_alloc.h"

#define SECTOR_SIZE 512
/* Stale bytes begin after the header of a log: a whole header of another log means that the file
 * was exchanged, which is refused in every mode (docs/format-wal.md, section 4). */
#define STALE_START 48

/* One crash while it is being worked out. */
struct crash {
    const struct bb_crash *choice;
    const struct bb_memory_tree *from;
    struct bb_memory_tree *to;
    struct bb_rng rng;
    enum bb_crash_names names; /* never ANY */
    uint64_t names_end;        /* PREFIX: changes from this serial on are lost */
};

static size_t draw_between(struct crash *crash, size_t low, size_t high)
{
    return (size_t)bb_rng_between(&crash->rng, low, high);
}

/* The end of some whole append, or of the durable front. */
static size_t draw_append_end(struct crash *crash, const struct bb_memory_inode *file)
{
    size_t appends = draw_between(crash, 0, file->append_count);
    return appends == 0 ? file->durable_size : file->append_ends[appends - 1];
}

static size_t draw_sector_end(struct crash *crash, const struct bb_memory_inode *file)
{
    size_t end = draw_between(crash, file->durable_size, file->size);
    end -= end % SECTOR_SIZE;
    return end < file->durable_size ? file->durable_size : end;
}

/* Keeps the bytes up to some place and a length that is greater. */
static size_t draw_wrong_tail(struct crash *crash, const struct bb_memory_inode *file,
                              uint8_t *bytes, bool is_garbage)
{
    size_t kept = draw_between(crash, file->durable_size, file->size - 1);
    size_t end = draw_between(crash, kept + 1, file->size);
    if (is_garbage)
        bb_rng_bytes(&crash->rng, bytes + kept, end - kept);
    else
        memset(bytes + kept, 0, end - kept);
    return end;
}

/* Another file of the tree with bytes; NULL if no other file has any. WHY no window: a log does not
 * grow any more when its window is removed, and other logs cannot read its bytes. */
static const struct bb_memory_inode *draw_other(struct crash *crash,
                                                const struct bb_memory_inode *file)
{
    size_t first = draw_between(crash, 0, crash->from->count - 1);
    for (size_t i = 0; i < crash->from->count; i++) {
        const struct bb_memory_inode *other = crash->from->inodes[(first + i) % crash->from->count];
        if (other != file && !other->is_directory && other->size > 0 && other->written == NULL)
            return other;
    }
    return NULL;
}

static size_t draw_stale_tail(struct crash *crash, const struct bb_memory_inode *file,
                              uint8_t *bytes)
{
    const struct bb_memory_inode *other = draw_other(crash, file);
    size_t low = file->durable_size > STALE_START ? file->durable_size : STALE_START;
    if (file->size <= low)
        return file->durable_size;
    size_t kept = draw_between(crash, low, file->size - 1);
    size_t end = draw_between(crash, kept + 1, file->size);
    for (size_t i = kept; i < end; i++)
        bytes[i] = other == NULL ? 0 : other->bytes[i % other->size];
    return end;
}

static size_t draw_holes(struct crash *crash, const struct bb_memory_inode *file, uint8_t *bytes)
{
    size_t start = file->durable_size;
    while (start < file->size) {
        size_t end = start - start % SECTOR_SIZE + SECTOR_SIZE;
        if (end > file->size)
            end = file->size;
        if (bb_rng_one_in(&crash->rng, 2))
            memset(bytes + start, 0, end - start);
        start = end;
    }
    return file->size;
}

/* Damages a copy of the file's bytes and returns the remaining length. */
static size_t harm_bytes(struct crash *crash, const struct bb_memory_inode *file, uint8_t *bytes)
{
    enum bb_crash_bytes mode = crash->choice->bytes;
    if (mode == BB_CRASH_BYTES_ANY)
        mode = (enum bb_crash_bytes)bb_rng_below(&crash->rng, BB_CRASH_BYTES_ANY);
    switch (mode) {
    case BB_CRASH_BYTES_ALL:
        return file->size;
    case BB_CRASH_BYTES_PREFIX:
        return draw_append_end(crash, file);
    case BB_CRASH_BYTES_TORN_SECTOR:
        return draw_sector_end(crash, file);
    case BB_CRASH_BYTES_TORN_BYTE:
        return draw_between(crash, file->durable_size, file->size);
    case BB_CRASH_BYTES_ZEROED:
        return draw_wrong_tail(crash, file, bytes, false);
    case BB_CRASH_BYTES_GARBAGE:
        return draw_wrong_tail(crash, file, bytes, true);
    case BB_CRASH_BYTES_STALE:
        return draw_stale_tail(crash, file, bytes);
    case BB_CRASH_BYTES_HOLES:
        return draw_holes(crash, file, bytes);
    case BB_CRASH_BYTES_NONE:
    case BB_CRASH_BYTES_ANY:
        break;
    }
    return file->durable_size;
}

/* The pages of a window, or some sectors of each, as the disk has them. */
static void draw_pages(struct crash *crash, const struct bb_memory_inode *file, uint8_t *bytes)
{
    size_t unit = bb_rng_one_in(&crash->rng, 4) ? SECTOR_SIZE : BB_MEMORY_PAGE_SIZE;
    if (crash->choice->bytes == BB_CRASH_BYTES_ALL)
        return;
    for (size_t start = 0; start < file->size; start += unit) {
        if (bb_rng_one_in(&crash->rng, 2))
            memcpy(bytes + start, file->written + start, unit);
    }
}

static void rebuild_file(struct crash *crash, const struct bb_memory_inode *from,
                         struct bb_memory_inode *to)
{
    if (from->size == 0)
        return;
    uint8_t *bytes = bb_must_realloc(NULL, from->size);
    memcpy(bytes, from->bytes, from->size);
    if (from->written != NULL)
        draw_pages(crash, from, bytes);
    size_t size = from->durable_size == from->size ? from->size : harm_bytes(crash, from, bytes);
    bb_memory_append(to, bytes, size);
    bb_memory_sync_bytes(to);
    free(bytes);
}

/* The number of pending changes of the whole tree before this one: its bit in a mask. */
static uint64_t rank_of(const struct bb_memory_tree *tree, uint64_t serial)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < tree->count; i++) {
        for (size_t j = 0; j < tree->inodes[i]->change_count; j++)
            rank += tree->inodes[i]->changes[j].serial < serial;
    }
    return rank;
}

static bool draw_survival(struct crash *crash, const struct bb_memory_change *change)
{
    switch (crash->names) {
    case BB_CRASH_NAMES_ALL:
        return true;
    case BB_CRASH_NAMES_PREFIX:
        return change->serial < crash->names_end;
    case BB_CRASH_NAMES_SUBSET:
        return bb_rng_one_in(&crash->rng, 2);
    case BB_CRASH_NAMES_MASK: {
        uint64_t rank = rank_of(crash->from, change->serial);
        return rank < 64 && (crash->choice->names_mask >> rank & 1) != 0;
    }
    case BB_CRASH_NAMES_NONE:
    case BB_CRASH_NAMES_ANY:
        break;
    }
    return false;
}

static bool touches(const struct bb_memory_change *change, const char *name)
{
    return strcmp(change->name, name) == 0 || (change->to != NULL && strcmp(change->to, name) == 0);
}

/* Decides for every change of a directory. A name has one history, so a surviving change keeps
 * earlier changes to the same names. Walking backward applies that over several steps. */
static void draw_survivals(struct crash *crash, const struct bb_memory_inode *directory,
                           bool *survives)
{
    for (size_t i = 0; i < directory->change_count; i++)
        survives[i] = draw_survival(crash, &directory->changes[i]);
    for (size_t later = directory->change_count; later-- > 0;) {
        const struct bb_memory_change *change = &directory->changes[later];
        for (size_t i = 0; survives[later] && i < later; i++) {
            const struct bb_memory_change *earlier = &directory->changes[i];
            if (touches(earlier, change->name) ||
                (change->to != NULL && touches(earlier, change->to)))
                survives[i] = true;
        }
    }
}

/* A directory's names after the crash, each with the inode of the original tree. */
struct outcome {
    struct bb_memory_entry *entries; /* names borrowed */
    size_t count;
};

static void outcome_drop(struct outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->count; i++) {
        if (strcmp(outcome->entries[i].name, name) == 0) {
            outcome->entries[i] = outcome->entries[--outcome->count];
            return;
        }
    }
}

static void outcome_set(struct outcome *outcome, char *name, struct bb_memory_inode *inode)
{
    outcome_drop(outcome, name);
    outcome->entries[outcome->count++] = (struct bb_memory_entry){.name = name, .inode = inode};
}

static void outcome_apply(struct outcome *outcome, const struct bb_memory_change *change)
{
    switch (change->kind) {
    case BB_MEMORY_CREATE:
        outcome_set(outcome, change->name, change->inode);
        break;
    case BB_MEMORY_RENAME:
        outcome_drop(outcome, change->name);
        outcome_set(outcome, change->to, change->inode);
        break;
    case BB_MEMORY_REMOVE:
        outcome_drop(outcome, change->name);
        break;
    }
}

static struct outcome draw_outcome(struct crash *crash, const struct bb_memory_inode *directory)
{
    size_t count_max = directory->durable_names.count + directory->change_count;
    struct outcome outcome = {.entries =
                                  bb_must_alloc_zeroed(count_max * sizeof(*outcome.entries))};
    for (size_t i = 0; i < directory->durable_names.count; i++)
        outcome.entries[outcome.count++] = directory->durable_names.entries[i];

    bool *survives = bb_must_alloc_zeroed(directory->change_count * sizeof(*survives));
    draw_survivals(crash, directory, survives);
    for (size_t i = 0; i < directory->change_count; i++) {
        if (survives[i])
            outcome_apply(&outcome, &directory->changes[i]);
    }
    free(survives);
    return outcome;
}

static void rebuild_directory(struct crash *crash, const struct bb_memory_inode *from,
                              struct bb_memory_inode *to)
{
    struct outcome outcome = draw_outcome(crash, from);
    for (size_t i = 0; i < outcome.count; i++) {
        const struct bb_memory_inode *inode = outcome.entries[i].inode;
        struct bb_memory_inode *copy =
            bb_memory_make(crash->to, to, outcome.entries[i].name, inode->is_directory);
        if (inode->is_directory)
            rebuild_directory(crash, inode, copy);
        else
            rebuild_file(crash, inode, copy);
    }
    bb_memory_sync_names(crash->to, to);
    free(outcome.entries);
}

static void draw_names_mode(struct crash *crash)
{
    static const enum bb_crash_names modes[] = {BB_CRASH_NAMES_NONE, BB_CRASH_NAMES_ALL,
                                                BB_CRASH_NAMES_PREFIX, BB_CRASH_NAMES_SUBSET};
    crash->names = crash->choice->names;
    if (crash->names == BB_CRASH_NAMES_ANY)
        crash->names = modes[bb_rng_below(&crash->rng, BB_ARRAY_LENGTH(modes))];

    uint64_t first = crash->from->next_serial;
    for (size_t i = 0; i < crash->from->count; i++) {
        const struct bb_memory_inode *inode = crash->from->inodes[i];
        if (inode->change_count > 0 && inode->changes[0].serial < first)
            first = inode->changes[0].serial;
    }
    crash->names_end = bb_rng_between(&crash->rng, first, crash->from->next_serial);
}

/* The shared state of the copy and the original. */
static struct bb_file_memory *create_copy(const struct bb_file_memory *memory)
{
    struct bb_file_memory *copy = bb_file_memory_create_bare();
    copy->rng = memory->rng;
    copy->clock = memory->clock;
    copy->space = memory->space;
    copy->has_links = memory->has_links;
    copy->has_windows = memory->has_windows;
    copy->calls = memory->calls;
    return copy;
}

struct bb_file_memory *bb_file_memory_clone(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    struct bb_file_memory *copy = create_copy(memory);
    bb_memory_tree_copy(&memory->tree, &copy->tree);
    bb_mutex_unlock(&memory->mutex);
    return copy;
}

struct bb_file_memory *bb_file_memory_crash(struct bb_file_memory *memory,
                                            const struct bb_crash *choice)
{
    bb_mutex_lock(&memory->mutex);
    struct bb_file_memory *image = create_copy(memory);
    bb_memory_tree_init(&image->tree);
    struct crash crash = {.choice = choice, .from = &memory->tree, .to = &image->tree};
    bb_rng_init(&crash.rng, choice->seed);
    draw_names_mode(&crash);
    rebuild_directory(&crash, memory->tree.root, image->tree.root);
    bb_mutex_unlock(&memory->mutex);
    return image;
}
