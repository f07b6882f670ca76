/* The state of a file system in memory. */
#include "tests/support/file_memory_tree.h"

#include <errno.h>

#include "base/assert.h"
#include "tests/support/must_alloc.h"

#define NO_ENTRY SIZE_MAX

static struct bb_memory_inode *inode_create(struct bb_memory_tree *tree, bool is_directory)
{
    struct bb_memory_inode *inode = bb_must_alloc_zeroed(sizeof(*inode));
    inode->is_directory = is_directory;
    inode->number = tree->count;
    tree->inodes =
        bb_must_grow(tree->inodes, tree->count, &tree->capacity, sizeof(struct bb_memory_inode *));
    tree->inodes[tree->count++] = inode;
    return inode;
}

static void inode_destroy(struct bb_memory_tree *tree, struct bb_memory_inode *inode);

void bb_memory_acquire(struct bb_memory_inode *inode)
{
    inode->references++;
}

void bb_memory_release(struct bb_memory_tree *tree, struct bb_memory_inode *inode)
{
    BB_ASSERT(inode->references > 0);
    inode->references--;
    if (inode->references == 0)
        inode_destroy(tree, inode);
}

static size_t names_find(const struct bb_memory_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->entries[i].name, name) == 0)
            return i;
    }
    return NO_ENTRY;
}

static void names_add(struct bb_memory_names *names, const char *name,
                      struct bb_memory_inode *inode)
{
    bb_memory_acquire(inode);
    names->entries =
        bb_must_grow(names->entries, names->count, &names->capacity, sizeof(*names->entries));
    names->entries[names->count++] =
        (struct bb_memory_entry){.name = bb_must_strdup(name), .inode = inode};
}

/* Takes the entry at index out; its name is freed, its reference handed to the caller. */
static struct bb_memory_inode *names_take(struct bb_memory_names *names, size_t index)
{
    struct bb_memory_inode *inode = names->entries[index].inode;
    free(names->entries[index].name);
    names->count--;
    memmove(names->entries + index, names->entries + index + 1,
            (names->count - index) * sizeof(*names->entries));
    return inode;
}

static void names_clear(struct bb_memory_tree *tree, struct bb_memory_names *names)
{
    while (names->count > 0)
        bb_memory_release(tree, names_take(names, names->count - 1));
}

static void names_copy(const struct bb_memory_names *from, struct bb_memory_names *to)
{
    for (size_t i = 0; i < from->count; i++)
        names_add(to, from->entries[i].name, from->entries[i].inode);
}

static void changes_clear(struct bb_memory_tree *tree, struct bb_memory_inode *directory)
{
    for (size_t i = 0; i < directory->change_count; i++) {
        free(directory->changes[i].name);
        free(directory->changes[i].to);
        bb_memory_release(tree, directory->changes[i].inode);
    }
    directory->change_count = 0;
}

static void inode_free(struct bb_memory_inode *inode)
{
    free(inode->bytes);
    free(inode->append_ends);
    free(inode->written);
    free(inode->names.entries);
    free(inode->durable_names.entries);
    free(inode->changes);
    free(inode);
}

static void inode_destroy(struct bb_memory_tree *tree, struct bb_memory_inode *inode)
{
    names_clear(tree, &inode->names);
    names_clear(tree, &inode->durable_names);
    changes_clear(tree, inode);
    tree->count--;
    tree->inodes[inode->number] = tree->inodes[tree->count];
    tree->inodes[inode->number]->number = inode->number;
    inode_free(inode);
}

void bb_memory_tree_init(struct bb_memory_tree *tree)
{
    *tree = (struct bb_memory_tree){0};
    tree->root = inode_create(tree, true);
    tree->root->links = 1;
    bb_memory_acquire(tree->root);
}

void bb_memory_tree_deinit(struct bb_memory_tree *tree)
{
    bb_memory_release(tree, tree->root);
    BB_ASSERT(tree->count == 0);
    free(tree->inodes);
    *tree = (struct bb_memory_tree){0};
}

/* Names in a copied inode still point to the original's inodes; the copies have the same numbers.
 */
static void copy_names(struct bb_memory_tree *tree, const struct bb_memory_names *from,
                       struct bb_memory_names *to)
{
    for (size_t i = 0; i < from->count; i++)
        names_add(to, from->entries[i].name, tree->inodes[from->entries[i].inode->number]);
}

static void copy_changes(struct bb_memory_tree *tree, const struct bb_memory_inode *from,
                         struct bb_memory_inode *to)
{
    to->change_count = to->change_capacity = from->change_count;
    to->changes = bb_must_realloc(NULL, from->change_count * sizeof(*to->changes));
    for (size_t i = 0; i < from->change_count; i++) {
        struct bb_memory_change *change = &to->changes[i];
        *change = from->changes[i];
        change->name = bb_must_strdup(change->name);
        change->to = change->to == NULL ? NULL : bb_must_strdup(change->to);
        change->inode = tree->inodes[change->inode->number];
        bb_memory_acquire(change->inode);
    }
}

static void copy_bytes(const struct bb_memory_inode *from, struct bb_memory_inode *to)
{
    to->size = to->capacity = from->size;
    to->durable_size = from->durable_size;
    to->bytes = bb_must_realloc(NULL, from->size);
    if (from->size > 0)
        memcpy(to->bytes, from->bytes, from->size);
    if (from->written != NULL)
        to->written = memcpy(bb_must_realloc(NULL, from->size), from->written, from->size);
    to->append_count = to->append_capacity = from->append_count;
    to->append_ends = bb_must_realloc(NULL, from->append_count * sizeof(*to->append_ends));
    if (from->append_count > 0)
        memcpy(to->append_ends, from->append_ends, from->append_count * sizeof(*to->append_ends));
}

/* In the copy, inodes that only an open file kept alive are unreferenced. */
static void drop_unreferenced(struct bb_memory_tree *tree)
{
    for (size_t i = tree->count; i > 0; i--) {
        if (i <= tree->count && tree->inodes[i - 1]->references == 0)
            inode_destroy(tree, tree->inodes[i - 1]);
    }
}

void bb_memory_tree_copy(const struct bb_memory_tree *from, struct bb_memory_tree *ret_tree)
{
    struct bb_memory_tree tree = {.next_serial = from->next_serial};
    for (size_t i = 0; i < from->count; i++) {
        struct bb_memory_inode *copy = inode_create(&tree, from->inodes[i]->is_directory);
        copy->links = from->inodes[i]->links;
        copy_bytes(from->inodes[i], copy);
    }
    tree.root = tree.inodes[from->root->number];
    bb_memory_acquire(tree.root);
    for (size_t i = 0; i < from->count; i++) {
        copy_names(&tree, &from->inodes[i]->names, &tree.inodes[i]->names);
        copy_names(&tree, &from->inodes[i]->durable_names, &tree.inodes[i]->durable_names);
        copy_changes(&tree, from->inodes[i], tree.inodes[i]);
    }
    drop_unreferenced(&tree);
    *ret_tree = tree;
}

uint64_t bb_memory_tree_used(const struct bb_memory_tree *tree)
{
    uint64_t used = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct bb_memory_inode *inode = tree->inodes[i];
        if (inode->links + inode->handles > 0)
            used += inode->size;
    }
    return used;
}

struct bb_memory_inode *bb_memory_lookup(struct bb_memory_inode *directory, const char *name)
{
    if (*name == '\0')
        return directory;
    size_t index = names_find(&directory->names, name);
    return index == NO_ENTRY ? NULL : directory->names.entries[index].inode;
}

/* The next component of a path, without slashes; its length, 0 at the end. */
static size_t next_component(const char **path)
{
    for (;;) {
        *path += strspn(*path, "/");
        size_t length = strcspn(*path, "/");
        if (length != 1 || **path != '.')
            return length;
        *path += 1;
    }
}

int bb_memory_walk(const struct bb_memory_tree *tree, const char *path,
                   struct bb_memory_inode **ret_directory,
                   char ret_name[BB_MEMORY_NAME_SIZE_MAX + 1])
{
    struct bb_memory_inode *directory = tree->root;
    ret_name[0] = '\0';
    if (*path == '\0')
        return ENOENT;
    for (size_t length = next_component(&path); length > 0; length = next_component(&path)) {
        directory =
            bb_memory_lookup(directory, ret_name); /* the previous component must be a directory */
        if (directory == NULL)
            return ENOENT;
        if (!directory->is_directory)
            return ENOTDIR;
        if (length == 2 && memcmp(path, "..", 2) == 0)
            return EINVAL;
        if (length > BB_MEMORY_NAME_SIZE_MAX)
            return ENAMETOOLONG;
        memcpy(ret_name, path, length);
        ret_name[length] = '\0';
        path += length;
    }
    *ret_directory = directory;
    return 0;
}

int bb_memory_find(const struct bb_memory_tree *tree, const char *path,
                   struct bb_memory_inode **ret_inode)
{
    struct bb_memory_inode *directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    int error_number = bb_memory_walk(tree, path, &directory, name);
    if (error_number != 0)
        return error_number;
    *ret_inode = bb_memory_lookup(directory, name);
    return *ret_inode == NULL ? ENOENT : 0;
}

static void add_change(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                       struct bb_memory_change change, const char *name, const char *to)
{
    change.serial = tree->next_serial++;
    change.name = bb_must_strdup(name);
    change.to = to == NULL ? NULL : bb_must_strdup(to);
    bb_memory_acquire(change.inode);
    directory->changes = bb_must_grow(directory->changes, directory->change_count,
                                      &directory->change_capacity, sizeof(*directory->changes));
    directory->changes[directory->change_count++] = change;
}

struct bb_memory_inode *bb_memory_make(struct bb_memory_tree *tree,
                                       struct bb_memory_inode *directory, const char *name,
                                       bool is_directory)
{
    struct bb_memory_inode *inode = inode_create(tree, is_directory);
    inode->links = 1;
    names_add(&directory->names, name, inode);
    add_change(tree, directory, (struct bb_memory_change){.kind = BB_MEMORY_CREATE, .inode = inode},
               name, NULL);
    return inode;
}

/* Takes a name away, if it is there. */
static void drop_name(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                      const char *name)
{
    size_t index = names_find(&directory->names, name);
    if (index == NO_ENTRY)
        return;
    struct bb_memory_inode *inode = names_take(&directory->names, index);
    inode->links--;
    bb_memory_release(tree, inode);
}

void bb_memory_unlink(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                      const char *name)
{
    struct bb_memory_inode *inode = bb_memory_lookup(directory, name);
    add_change(tree, directory, (struct bb_memory_change){.kind = BB_MEMORY_REMOVE, .inode = inode},
               name, NULL);
    drop_name(tree, directory, name);
}

void bb_memory_relink(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                      const char *from, const char *to)
{
    struct bb_memory_inode *inode = bb_memory_lookup(directory, from);
    if (strcmp(from, to) == 0)
        return;
    add_change(tree, directory, (struct bb_memory_change){.kind = BB_MEMORY_RENAME, .inode = inode},
               from, to);
    drop_name(tree, directory, to);
    names_add(&directory->names, to, inode);
    inode->links++;
    drop_name(tree, directory, from);
}

void bb_memory_link(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                    const char *name, struct bb_memory_inode *inode)
{
    inode->links++;
    names_add(&directory->names, name, inode);
    add_change(tree, directory, (struct bb_memory_change){.kind = BB_MEMORY_CREATE, .inode = inode},
               name, NULL);
}

void bb_memory_sync_names(struct bb_memory_tree *tree, struct bb_memory_inode *directory)
{
    /* References the new ones first, so that no inode is destroyed in between. */
    struct bb_memory_names before = directory->durable_names;
    directory->durable_names = (struct bb_memory_names){0};
    names_copy(&directory->names, &directory->durable_names);
    names_clear(tree, &before);
    free(before.entries);
    changes_clear(tree, directory);
}

void bb_memory_append(struct bb_memory_inode *file, const void *data, size_t size)
{
    if (size == 0)
        return;
    while (file->capacity - file->size < size)
        file->bytes = bb_must_grow(file->bytes, file->capacity, &file->capacity, 1);
    memcpy(file->bytes + file->size, data, size);
    file->size += size;
    file->append_ends = bb_must_grow(file->append_ends, file->append_count, &file->append_capacity,
                                     sizeof(*file->append_ends));
    file->append_ends[file->append_count++] = file->size;
}

void bb_memory_sync_bytes(struct bb_memory_inode *file)
{
    file->durable_size = file->size;
    file->append_count = 0;
}

bool bb_memory_tree_has_removed(const struct bb_memory_tree *tree)
{
    bool has = false;
    for (size_t i = 0; i < tree->count && !has; i++)
        has = tree->inodes[i]->links == 0 && tree->inodes[i]->handles > 0;
    return has;
}
