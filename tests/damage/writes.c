/* See writes.h. */
#include "tests/damage/writes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define PUT_KEYS 240

/* A number without order in the numbers before it. */
static uint32_t mixed(uint32_t number)
{
    uint32_t x = number * 2654435761u;
    return (x ^ x >> 15) * 2246822519u >> 8;
}

uint32_t write_key(uint32_t number)
{
    /* 97 has no divisor in common with 240: every key is put once before the compaction. */
    if (number <= WRITES_COMPACTED)
        return number * 97 % PUT_KEYS;
    return mixed(number) % PUT_KEYS;
}

bool write_is_put(uint32_t number)
{
    return number <= WRITES_COMPACTED || number % 4 != 0;
}

struct bb_bytes write_key_text(uint32_t key, char *buffer)
{
    int size = snprintf(buffer, WRITES_KEY_MAX, "key-%06u", key);
    return bb_bytes_of(buffer, (size_t)size);
}

/* Half of the bytes compress. */
struct bb_bytes write_value(uint32_t number, uint8_t *buffer)
{
    size_t size = 100 + mixed(number) % (WRITES_VALUE_MAX - 100);
    int head = snprintf((char *)buffer, WRITES_VALUE_MAX, "%u:", number);
    for (size_t i = (size_t)head; i < size; i++)
        buffer[i] = i % 64 < 32 ? (uint8_t)mixed(number * 1000 + (uint32_t)i) : (uint8_t)'.';
    return bb_bytes_of(buffer, size);
}

uint32_t write_number_of(uint32_t key, struct bb_bytes value)
{
    uint8_t expected[WRITES_VALUE_MAX];
    char head[8] = "";
    memcpy(head, value.data, value.size < 7 ? value.size : 7);
    unsigned long number = strtoul(head, NULL, 10);
    if (number == 0 || number > WRITES_MAX || write_key((uint32_t)number) != key ||
        !bb_bytes_equal(value, write_value((uint32_t)number, expected)))
        return WRITES_FOREIGN;
    return (uint32_t)number;
}

uint32_t write_key_of(struct bb_bytes key)
{
    char text[WRITES_KEY_MAX];
    for (uint32_t i = 0; i < WRITES_KEYS; i++) {
        if (bb_bytes_equal(key, write_key_text(i, text)))
            return i;
    }
    return WRITES_KEYS;
}

void writes_state(uint32_t count, uint32_t ret_shown[WRITES_KEYS])
{
    memset(ret_shown, 0, WRITES_KEYS * sizeof(*ret_shown));
    for (uint32_t number = 1; number <= count; number++)
        ret_shown[write_key(number)] = write_is_put(number) ? number : WRITES_ABSENT;
}
