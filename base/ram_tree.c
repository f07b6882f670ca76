/* See ram_tree.h. */
#include "base/ram_tree.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/status.h"

#define NAME_SIZE_MAX 255

/* ---- nodes ---- */

struct bb_ram_node *bb_ram_tree_node_create(bool is_directory)
{
    struct bb_ram_node *node = bb_alloc_zeroed(1, sizeof(*node));
    if (node == NULL)
        return NULL;
    node->references = 1;
    node->is_directory = is_directory;
    return node;
}

void bb_ram_tree_node_unref(struct bb_ram_node *node)
{
    if (node == NULL || --node->references > 0)
        return;
    bb_buf_deinit(&node->bytes);
    bb_free(node);
}

static struct bb_ram_node *ref(struct bb_ram_node *node)
{
    node->references++;
    return node;
}

/* ---- names ---- */

static void name_deinit(struct bb_ram_name *name)
{
    bb_ram_tree_node_unref(name->directory);
    bb_ram_tree_node_unref(name->node);
    bb_free(name->name);
}

static void names_deinit(struct bb_ram_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        name_deinit(&names->items[i]);
    bb_free(names->items);
    *names = (struct bb_ram_names){0};
}

int bb_ram_tree_name_add(struct bb_ram_names *names, struct bb_ram_node *directory,
                         const char *name, struct bb_ram_node *node)
{
    if (bb_array_reserve(&names->items, names->count, &names->capacity, sizeof(*names->items),
                         "names of files in memory") != BB_OK)
        return ENOMEM;
    char *copy = bb_strdup(name);
    if (copy == NULL)
        return ENOMEM;
    names->items[names->count++] = (struct bb_ram_name){ref(directory), copy, ref(node)};
    return 0;
}

static void remove_at(struct bb_ram_names *names, size_t i)
{
    struct bb_ram_name removed = names->items[i];
    names->items[i] = names->items[--names->count];
    name_deinit(&removed);
}

static bool is_name(const struct bb_ram_name *entry, const struct bb_ram_node *directory,
                    const char *name)
{
    return entry->directory == directory && strcmp(entry->name, name) == 0;
}

void bb_ram_tree_name_remove(struct bb_ram_names *names, const struct bb_ram_node *directory,
                             const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (is_name(&names->items[i], directory, name)) {
            remove_at(names, i);
            return;
        }
}

size_t bb_ram_tree_name_count(const struct bb_ram_names *names, const struct bb_ram_node *directory)
{
    size_t count = 0;
    for (size_t i = 0; i < names->count; i++)
        count += names->items[i].directory == directory;
    return count;
}

static int copy_names(const struct bb_ram_names *from, const struct bb_ram_node *directory,
                      struct bb_ram_names *to)
{
    int error_number = 0;
    for (size_t i = 0; error_number == 0 && i < from->count; i++)
        if (from->items[i].directory == directory)
            error_number = bb_ram_tree_name_add(to, from->items[i].directory, from->items[i].name,
                                                from->items[i].node);
    return error_number;
}

int bb_ram_tree_names_sync(struct bb_ram_tree *tree, struct bb_ram_node *directory)
{
    struct bb_ram_names *durable = &tree->durable;
    size_t before = durable->count;
    int error_number = copy_names(&tree->names, directory, durable);
    while (error_number != 0 && durable->count > before)
        remove_at(durable, durable->count - 1);
    for (size_t i = before; error_number == 0 && i > 0; i--)
        if (durable->items[i - 1].directory == directory)
            remove_at(durable, i - 1);
    return error_number;
}

/* ---- paths ---- */

struct bb_ram_node *bb_ram_tree_lookup(const struct bb_ram_tree *tree,
                                       struct bb_ram_node *directory, const char *name)
{
    if (name[0] == 0)
        return directory;
    for (size_t i = 0; i < tree->names.count; i++)
        if (is_name(&tree->names.items[i], directory, name))
            return tree->names.items[i].node;
    return NULL;
}

/* The component at *path, copied without "." and slashes; *path moves after it. "" at the end. */
static int next_component(const char **path, char component[NAME_SIZE_MAX + 1])
{
    size_t size = 0;
    do {
        *path += size;
        *path += strspn(*path, "/");
        size = strcspn(*path, "/");
    } while (size == 1 && **path == '.');
    if (size > NAME_SIZE_MAX)
        return ENAMETOOLONG;
    memcpy(component, *path, size);
    component[size] = 0;
    *path += size;
    return strcmp(component, "..") == 0 ? EINVAL : 0;
}

/* Moves *directory to the subdirectory with this name, a component before the last one. */
static int descend(const struct bb_ram_tree *tree, const char *name, struct bb_ram_node **directory)
{
    struct bb_ram_node *node = bb_ram_tree_lookup(tree, *directory, name);
    if (node == NULL)
        return ENOENT;
    if (!node->is_directory)
        return ENOTDIR;
    *directory = node;
    return 0;
}

int bb_ram_tree_walk(const struct bb_ram_tree *tree, const char *path,
                     struct bb_ram_node **ret_directory, char **ret_name)
{
    char name[NAME_SIZE_MAX + 1];
    char next[NAME_SIZE_MAX + 1];
    struct bb_ram_node *directory = tree->root;
    int error_number = next_component(&path, name);
    while (error_number == 0 && (error_number = next_component(&path, next)) == 0 && next[0] != 0) {
        error_number = descend(tree, name, &directory);
        memcpy(name, next, sizeof(name));
    }
    if (error_number != 0)
        return error_number;
    *ret_name = bb_strdup(name);
    if (*ret_name == NULL)
        return ENOMEM;
    *ret_directory = directory;
    return 0;
}

int bb_ram_tree_find(const struct bb_ram_tree *tree, const char *path,
                     struct bb_ram_node **ret_node)
{
    struct bb_ram_node *directory = NULL;
    char *name = NULL;
    int error_number = bb_ram_tree_walk(tree, path, &directory, &name);
    if (error_number != 0)
        return error_number;
    struct bb_ram_node *node = bb_ram_tree_lookup(tree, directory, name);
    bb_free(name);
    if (node == NULL)
        return ENOENT;
    *ret_node = node;
    return 0;
}

/* ---- trees ---- */

static enum bb_status no_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for the files in memory");
}

enum bb_status bb_ram_tree_init(struct bb_ram_tree *tree)
{
    *tree = (struct bb_ram_tree){.root = bb_ram_tree_node_create(true)};
    return tree->root != NULL ? BB_OK : no_memory();
}

void bb_ram_tree_deinit(struct bb_ram_tree *tree)
{
    names_deinit(&tree->names);
    names_deinit(&tree->durable);
    bb_ram_tree_node_unref(tree->root);
    *tree = (struct bb_ram_tree){0};
}

/* The copy of a node, made once. node->twin owns a reference to it until the tree is copied. */
static int copy_node(struct bb_ram_node *node, struct bb_ram_node **ret_twin)
{
    if (node->twin == NULL) {
        struct bb_ram_node *twin = bb_ram_tree_node_create(node->is_directory);
        struct bb_bytes durable = {node->bytes.data, node->durable_size};
        if (twin == NULL || bb_buf_assign(&twin->bytes, durable) != BB_OK) {
            bb_ram_tree_node_unref(twin);
            return ENOMEM;
        }
        twin->durable_size = node->durable_size;
        node->twin = twin;
    }
    *ret_twin = node->twin;
    return 0;
}

/* Copies a name whose directory has a copy. */
static int copy_name(struct bb_ram_tree *to, const struct bb_ram_name *name)
{
    struct bb_ram_node *twin = NULL;
    int error_number = copy_node(name->node, &twin);
    if (error_number == 0)
        error_number = bb_ram_tree_name_add(&to->names, name->directory->twin, name->name, twin);
    if (error_number == 0)
        error_number = bb_ram_tree_name_add(&to->durable, name->directory->twin, name->name, twin);
    return error_number;
}

/* Copies all names that are reachable from the root, level by level. */
static int copy_levels(const struct bb_ram_tree *from, struct bb_ram_tree *to)
{
    bool is_more = true;
    int error_number = 0;
    while (is_more && error_number == 0) {
        is_more = false;
        for (size_t i = 0; error_number == 0 && i < from->durable.count; i++) {
            const struct bb_ram_name *name = &from->durable.items[i];
            struct bb_ram_node *directory = name->directory->twin;
            if (directory == NULL || bb_ram_tree_lookup(to, directory, name->name) != NULL)
                continue;
            error_number = copy_name(to, name);
            is_more = true;
        }
    }
    return error_number;
}

enum bb_status bb_ram_tree_copy_durable(const struct bb_ram_tree *from,
                                        struct bb_ram_tree *ret_tree)
{
    struct bb_ram_tree copy;
    enum bb_status status = bb_ram_tree_init(&copy);
    if (status != BB_OK)
        return status;
    from->root->twin = ref(copy.root);
    int error_number = copy_levels(from, &copy);
    for (size_t i = 0; i < from->durable.count; i++) {
        bb_ram_tree_node_unref(from->durable.items[i].node->twin); /* its first reference */
        from->durable.items[i].node->twin = NULL;
    }
    bb_ram_tree_node_unref(from->root->twin);
    from->root->twin = NULL;
    if (error_number != 0) {
        bb_ram_tree_deinit(&copy);
        return no_memory();
    }
    *ret_tree = copy;
    return BB_OK;
}
