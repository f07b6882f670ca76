/* See file_window.h. */
#include "base/file_window.h"

#include <stdatomic.h>

#include "base/process.h"
#include "base/status.h"

/* Only grows. */
static struct bb_file_window_maker *_Atomic makers;

void bb_file_window_offer(struct bb_file_window_maker *maker)
{
    maker->next = atomic_load_explicit(&makers, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&makers, &maker->next, maker,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}

static const struct bb_file_window_maker *find_maker(const struct bb_file_system *fs)
{
    const struct bb_file_window_maker *maker = atomic_load_explicit(&makers, memory_order_acquire);
    while (maker != NULL && maker->ops != fs->ops)
        maker = maker->next;
    return maker;
}

enum bb_status bb_file_window_create(struct bb_file_system *fs, const char *path, size_t size,
                                     struct bb_file_window **ret_window)
{
    const struct bb_file_window_maker *maker = find_maker(fs);
    if (maker == NULL)
        return bb_fail(BB_UNSUPPORTED, "%s: its file system has no windows", path);
    enum bb_status status = maker->create(fs, path, size, ret_window);
    if (status == BB_OK)
        (*ret_window)->process = bb_process_number();
    return status;
}

void bb_file_window_destroy(struct bb_file_window *window)
{
    if (window != NULL)
        window->ops->destroy(window);
}

uint8_t *bb_file_window_bytes(const struct bb_file_window *window)
{
    return window->process == bb_process_number() ? window->bytes : NULL;
}

bool bb_file_window_is_sound(const struct bb_file_window *window)
{
    return window->ops->is_sound(window);
}
