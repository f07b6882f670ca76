/* See workload.h. */
#include "bench/workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/die.h"

#define NOISE_SIZE (1 << 20)

/* The finishing steps of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection of 64 bits. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Streams of random draws: their counters begin far from each other and from the keys' counters. */
enum stream { STREAM_PRESENT = 1, STREAM_SEEK, STREAM_NOISE, STREAM_VALUE };

static uint64_t draw(const struct workload *workload, enum stream stream, uint64_t i)
{
    return mix(mix(workload->options.seed ^ ((uint64_t)stream << 56)) + i);
}

/* Even counts: stored; odd counts: absent. */
static uint64_t number_of(const struct workload *workload, uint64_t count)
{
    return mix(mix(workload->options.seed) + count);
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

void workload_key(const struct workload *workload, uint64_t number, uint8_t *key)
{
    size_t size = workload->options.key_size;
    uint8_t digits[16];
    write_digits(number, key);
    for (size_t offset = 16; offset < size; offset += 16) {
        size_t rest = size - offset;
        number = mix(number);
        write_digits(number, digits);
        memcpy(key + offset, digits, rest < 16 ? rest : 16);
    }
}

void workload_value(const struct workload *workload, uint64_t number, uint8_t *value)
{
    size_t size = workload->options.value_size;
    size_t half = (size + 1) / 2;
    uint64_t name = mix(number ^ ((uint64_t)STREAM_VALUE << 56));
    size_t filled = 8;
    memcpy(value, &name, 8);
    for (; filled < half; name = mix(name)) {
        size_t room = half - filled;
        size_t piece = room < 4096 ? room : 4096;
        memcpy(value + filled, workload->noise + name % (NOISE_SIZE - 4096), piece);
        filled += piece;
    }
    memcpy(value + half, value, size - half);
}

static void *allocate(size_t count, size_t element_size)
{
    size_t size = (count == 0 ? 1 : count) * element_size;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_die("no memory for the workload");
    return memory;
}

static void release(void *memory, size_t count, size_t element_size)
{
    munmap(memory, (count == 0 ? 1 : count) * element_size);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static uint64_t *sorted_numbers(const struct workload *workload)
{
    uint64_t count = workload->options.key_count;
    uint64_t *numbers = allocate(count, sizeof(*numbers));
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = workload_number(workload, i);
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    return numbers;
}

/* Index of the first that is not below number. */
static uint64_t lower_bound(const uint64_t *sorted, uint64_t count, uint64_t number)
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
    uint64_t count = 1;
    for (uint64_t i = 0; i < options->lookup_count; count += 2) {
        uint64_t number = number_of(workload, count);
        uint64_t position = lower_bound(sorted, options->key_count, number);
        if (position == 0 || position == options->key_count)
            continue; /* outside the range of the stored keys: no engine would have to look */
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
        trace_entries(workload, sorted, lower_bound(sorted, options->key_count, number),
                      options->seek_length, &workload->seek);
    }
}

void workload_init(struct workload *workload, const struct workload_options *options)
{
    *workload = (struct workload){.options = *options};
    workload->present = allocate(options->lookup_count, sizeof(uint64_t));
    workload->absent = allocate(options->lookup_count, sizeof(uint64_t));
    workload->seeks = allocate(options->seek_count, sizeof(uint64_t));
    workload->noise = allocate(NOISE_SIZE, 1);
    for (uint64_t i = 0; i < NOISE_SIZE / 8; i++)
        memcpy(workload->noise + 8 * i, &(uint64_t){draw(workload, STREAM_NOISE, i)}, 8);
    for (uint64_t i = 0; i < options->lookup_count; i++)
        workload->present[i] =
            workload_number(workload, draw(workload, STREAM_PRESENT, i) % options->key_count);
    uint64_t *sorted = sorted_numbers(workload);
    draw_absent(workload, sorted);
    draw_seeks(workload, sorted);
    trace_entries(workload, sorted, 0, UINT64_MAX, &workload->scan);
    release(sorted, options->key_count, sizeof(*sorted));
}

void workload_deinit(struct workload *workload)
{
    release(workload->present, workload->options.lookup_count, sizeof(uint64_t));
    release(workload->absent, workload->options.lookup_count, sizeof(uint64_t));
    release(workload->seeks, workload->options.seek_count, sizeof(uint64_t));
    release(workload->noise, NOISE_SIZE, 1);
}
