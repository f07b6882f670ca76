/* See workload.h. */
#include "bench/workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/dice.h"
#include "bench/die.h"

#define NOISE_SIZE (1 << 20)

/* Streams of random draws: their counters begin far from each other and from the keys' counters. */
enum stream { STREAM_PRESENT = 1, STREAM_SEEK, STREAM_NOISE, STREAM_VALUE };

static uint64_t draw(const struct workload *workload, enum stream stream, uint64_t i)
{
    return dice_mix(dice_mix(workload->options.seed ^ ((uint64_t)stream << 56)) + i);
}

/* Even counts: stored; odd counts: absent. */
static uint64_t number_of(const struct workload *workload, uint64_t count)
{
    return dice_mix(dice_mix(workload->options.seed) + count);
}

uint64_t workload_number(const struct workload *workload, uint64_t i)
{
    return number_of(workload, 2 * i);
}

static void write_digits(uint64_t number, uint8_t *digits)
{
    static const char hexadecimal[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--) {
        digits[i] = (uint8_t)hexadecimal[number & 15];
        number >>= 4;
    }
}

bool workload_index(const struct workload *workload, uint64_t number, uint64_t *ret_index)
{
    uint64_t count = dice_unmix(number) - dice_mix(workload->options.seed);
    *ret_index = count / 2;
    return count % 2 == 0;
}

uint64_t workload_absent_number(const struct workload *workload, uint64_t i)
{
    return number_of(workload, 2 * i + 1);
}

static void write_binary(uint64_t number, uint8_t *bytes)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (56 - 8 * i));
}

static uint64_t digit_value(uint8_t digit)
{
    return (uint64_t)(digit >= 'a' ? digit - 'a' + 10 : digit - '0');
}

uint64_t workload_parse(const struct workload *workload, const uint8_t *key)
{
    uint64_t number = 0;
    if (workload->options.key_size == WORKLOAD_KEY_SIZE_BINARY) {
        for (int i = 0; i < 8; i++)
            number = number << 8 | key[i];
    } else {
        for (int i = 0; i < 16; i++)
            number = number << 4 | digit_value(key[i]);
    }
    return number;
}

void workload_key(const struct workload *workload, uint64_t number, uint8_t *key)
{
    size_t size = workload->options.key_size;
    uint8_t digits[16];
    if (size == WORKLOAD_KEY_SIZE_BINARY) {
        write_binary(number, key);
        return;
    }
    write_digits(number, key);
    for (size_t offset = 16; offset < size; offset += 16) {
        size_t rest = size - offset;
        number = dice_mix(number);
        write_digits(number, digits);
        memcpy(key + offset, digits, rest < 16 ? rest : 16);
    }
}

static uint64_t value_name(uint64_t number)
{
    return dice_mix(number ^ ((uint64_t)STREAM_VALUE << 56));
}

void workload_value(const struct workload *workload, uint64_t number, uint8_t *value)
{
    workload_version_value(workload, number, 0, value);
}

uint64_t workload_version_of(uint64_t number, const uint8_t *value)
{
    uint64_t name = 0;
    memcpy(&name, value, 8);
    return name ^ value_name(number);
}

void workload_version_value(const struct workload *workload, uint64_t number, uint64_t version,
                            uint8_t *value)
{
    size_t size = workload->options.value_size;
    size_t half = size < 16 ? size : (size + 1) / 2;
    uint64_t name = value_name(number) ^ version;
    size_t filled = 8;
    memcpy(value, &name, 8);
    for (; filled < half; name = dice_mix(name)) {
        size_t space = half - filled;
        size_t piece = space < 4096 ? space : 4096;
        memcpy(value + filled, workload->noise + name % (NOISE_SIZE - 4096), piece);
        filled += piece;
    }
    memcpy(value + half, value, size - half);
}

void *workload_allocate(size_t count, size_t element_size)
{
    size_t size = (count == 0 ? 1 : count) * element_size;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_die("no memory for the workload");
    return memory;
}

void workload_release(void *memory, size_t count, size_t element_size)
{
    munmap(memory, (count == 0 ? 1 : count) * element_size);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

uint64_t *workload_sorted(const struct workload *workload, uint64_t count)
{
    uint64_t *numbers = workload_allocate(count, sizeof(*numbers));
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = workload_number(workload, i);
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    return numbers;
}

uint64_t workload_lower_bound(const uint64_t *sorted, uint64_t count, uint64_t number)
{
    uint64_t begin = 0;
    while (count > 0) {
        uint64_t half = count / 2;
        if (sorted[begin + half] < number) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return begin;
}

/* Adds the entries that a reader sees from position on. */
static void trace_entries(const struct workload *workload, const uint64_t *sorted,
                          uint64_t position, uint64_t count_max, struct workload_trace *trace)
{
    static uint8_t key[WORKLOAD_SIZE_MAX];
    static uint8_t value[WORKLOAD_SIZE_MAX];
    for (uint64_t i = position; i < workload->options.key_count && i - position < count_max; i++) {
        workload_key(workload, sorted[i], key);
        workload_value(workload, sorted[i], value);
        workload_trace_add(trace,
                           (struct bb_bytes){.data = key, .size = workload->options.key_size},
                           (struct bb_bytes){.data = value, .size = workload->options.value_size});
    }
}

static void draw_absent(struct workload *workload, const uint64_t *sorted)
{
    const struct workload_options *options = &workload->options;
    uint64_t count = 0;
    for (uint64_t i = 0; i < options->lookup_count; count++) {
        uint64_t number = workload_absent_number(workload, count);
        uint64_t position = workload_lower_bound(sorted, options->key_count, number);
        if (position == 0 || position == options->key_count)
            continue; /* outside the range of the stored keys: bounds rule it out */
        if (sorted[position] == number)
            bench_die("an absent key is stored: the bijection is broken");
        workload->absent[i++] = number;
    }
}

static void draw_seeks(struct workload *workload, const uint64_t *sorted)
{
    const struct workload_options *options = &workload->options;
    for (uint64_t i = 0; i < options->seek_count; i++) {
        uint64_t number = draw(workload, STREAM_SEEK, i);
        workload->seeks[i] = number;
        trace_entries(workload, sorted, workload_lower_bound(sorted, options->key_count, number),
                      options->seek_length, &workload->seek);
    }
}

static void make_noise(struct workload *workload)
{
    workload->noise = workload_allocate(NOISE_SIZE, 1);
    for (uint64_t i = 0; i < NOISE_SIZE / 8; i++)
        memcpy(workload->noise + 8 * i, &(uint64_t){draw(workload, STREAM_NOISE, i)}, 8);
}

void workload_init(struct workload *workload, const struct workload_options *options)
{
    *workload = (struct workload){.options = *options};
    make_noise(workload);
    if (options->is_bare)
        return;
    workload->present = workload_allocate(options->lookup_count, sizeof(uint64_t));
    workload->absent = workload_allocate(options->lookup_count, sizeof(uint64_t));
    workload->seeks = workload_allocate(options->seek_count, sizeof(uint64_t));
    for (uint64_t i = 0; i < options->lookup_count; i++)
        workload->present[i] =
            workload_number(workload, draw(workload, STREAM_PRESENT, i) % options->key_count);
    uint64_t *sorted = workload_sorted(workload, options->key_count);
    draw_absent(workload, sorted);
    draw_seeks(workload, sorted);
    trace_entries(workload, sorted, 0, UINT64_MAX, &workload->scan);
    workload_release(sorted, options->key_count, sizeof(*sorted));
}

void workload_deinit(struct workload *workload)
{
    workload_release(workload->noise, NOISE_SIZE, 1);
    if (workload->options.is_bare)
        return;
    workload_release(workload->present, workload->options.lookup_count, sizeof(uint64_t));
    workload_release(workload->absent, workload->options.lookup_count, sizeof(uint64_t));
    workload_release(workload->seeks, workload->options.seek_count, sizeof(uint64_t));
}
