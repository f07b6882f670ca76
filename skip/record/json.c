/* json: values at paths of a JSON text. See bb/record.h. */
#include "base/alloc.h"
#include "skip/record/formats.h"
#include "skip/record/json_finder.h"

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    struct bb_json_path *path;
    enum bb_status status = bb_json_path_parse(text, &path);
    if (status == BB_OK)
        definition->path = path;
    return status;
}

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    return bb_json_path_print(definition->path, buf);
}

static enum bb_status prepare(struct bb_pass *pass)
{
    struct bb_json_tree *tree = bb_alloc_zeroed(1, sizeof(*tree));
    if (tree == NULL)
        return BB_NO_MEMORY;
    pass->state = tree;
    enum bb_status status = bb_json_tree_init(tree, pass);
    tree->find = bb_json_find_portable;
#if BB_CPU_X86
    if (bb_cpu_has(BB_CPU_AVX2))
        tree->find = bb_json_find_avx2;
#endif
    return status;
}

static void read_text(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_json_tree *tree = pass->state;
    tree->find(tree, pass, record);
}

static void release(struct bb_pass *pass)
{
    if (pass->state != NULL)
        bb_json_tree_deinit(pass->state);
    bb_free(pass->state);
}

static const struct bb_pass_type TEXT_PASS = {
    .shares = bb_formats_share_pass,
    .prepare = prepare,
    .read = read_text,
    .release = release,
};

const struct bb_format bb_format_json = {
    .name = "json",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = print_arguments,
    .verbatim = bb_formats_verbatim_backslash,
    .pass_type = &TEXT_PASS,
};
