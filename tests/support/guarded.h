/* Memory between unreadable pages. */
#ifndef BB_TESTS_SUPPORT_GUARDED_H
#define BB_TESTS_SUPPORT_GUARDED_H

#include "tests/support/assert_status.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of bytes that ends at an unreadable page; the space before it begins after another one. */
struct guarded {
    uint8_t *pages;
    size_t pages_size;
    uint8_t *start; /* of the space: at least a page before data */
    uint8_t *data;
};

static inline struct guarded guarded_copy(const uint8_t *data, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (size + page - 1) / page * page + page;
    struct guarded copy = {.pages_size = page + body + page};
    copy.pages =
        mmap(NULL, copy.pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(copy.pages != MAP_FAILED);
    copy.start = copy.pages + page;
    assert_int_equal(mprotect(copy.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(copy.start + body, page, PROT_NONE), 0);
    copy.data = copy.start + body - size;
    if (size > 0)
        memcpy(copy.data, data, size);
    return copy;
}

static inline void guarded_free(struct guarded *copy)
{
    assert_int_equal(munmap(copy->pages, copy->pages_size), 0);
}

#endif
