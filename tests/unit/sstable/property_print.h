/* A property of a table as readable text, for comparison with a golden. */
#ifndef BB_TESTS_UNIT_SSTABLE_PROPERTY_PRINT_H
#define BB_TESTS_UNIT_SSTABLE_PROPERTY_PRINT_H

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "sstable/meta/properties.h"

static enum bb_status property_print_bytes(const struct bb_buf *value, struct bb_buf *buf)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < value->size && status == BB_OK; i++)
        status = bb_buf_print(buf, "%02x", value->data[i]);
    return status;
}

/* Keys may be long and may contain any bytes. */
static enum bb_status property_print_escaped(const struct bb_buf *value, struct bb_buf *buf)
{
    char text[1024];
    return bb_buf_print(buf, "%s", bb_bytes_escape(bb_buf_bytes(value), text, sizeof(text)));
}

/* Appends numbers in decimal, bytes in hexadecimal or escaped. The secret is not printed. */
static enum bb_status property_print(const struct bb_properties *properties,
                                     const struct bb_property_field *field, struct bb_buf *buf)
{
    const void *member = (const char *)properties + field->offset;
    uint64_t number = 0;
    double real = 0;
    switch (field->type) {
    case BB_PROPERTY_NUMBER:
        memcpy(&number, member, sizeof(number));
        return bb_buf_print(buf, "%" PRIu64, number);
    case BB_PROPERTY_REAL:
        memcpy(&real, member, sizeof(real));
        return bb_buf_print(buf, "%.9g", real);
    case BB_PROPERTY_SECRET:
        return bb_buf_print(buf, "(%zu bytes, not shown)", ((const struct bb_buf *)member)->size);
    case BB_PROPERTY_BYTES:
        if (field->size != 0)
            return property_print_bytes(member, buf);
        break;
    case BB_PROPERTY_TEXT:
        break;
    }
    return property_print_escaped(member, buf);
}
#endif
