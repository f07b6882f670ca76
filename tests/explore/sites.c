/* The places in the code that order memory, named by function, operation and order; and programs
 * explored again with each place weakened. See explore.h. */
#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore_private.h"

#define SITES_MAX    256
#define NAME_SIZE    160
#define VERDICTS_MAX 256

struct site {
    const void *place;
    enum operation operation;
    int order;
    bool is_failure; /* the order of a failing compare-and-exchange */
};

static struct site sites[SITES_MAX];
static unsigned site_count;
static const struct site *weakened;
static int weakened_order;

static bool is_site(const struct site *site, const void *place, bool is_failure)
{
    return site->place == place && site->is_failure == is_failure;
}

int explore_site(const void *place, enum operation operation, int order, bool is_failure)
{
    if (!explore_is_running || order == memory_order_relaxed)
        return order;
    if (weakened != NULL)
        return is_site(weakened, place, is_failure) ? weakened_order : order;
    for (unsigned i = 0; i < site_count; i++) {
        if (is_site(&sites[i], place, is_failure))
            return order;
    }
    if (site_count == SITES_MAX)
        abort();
    sites[site_count++] = (struct site){place, operation, order, is_failure};
    return order;
}

/* ---- names ---- */

static char *read_program(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        abort();
    size_t size = (size_t)ftell(file);
    char *bytes = malloc(size);
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, size, file) != size)
        abort();
    fclose(file);
    return bytes;
}

static const Elf64_Shdr *find_symbols(const char *program)
{
    const Elf64_Ehdr *head = (const void *)program;
    const Elf64_Shdr *sections = (const void *)(program + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type == SHT_SYMTAB)
            return &sections[i];
    }
    abort(); /* the program is stripped */
}

static uintptr_t load_address(void)
{
    Dl_info info;
    return dladdr((const void *)(uintptr_t)explore_site, &info) == 0 ? 0
                                                                     : (uintptr_t)info.dli_fbase;
}

const char *explore_function(const void *place)
{
    static char *program;
    if (program == NULL)
        program = read_program();
    const Elf64_Ehdr *head = (const void *)program;
    const Elf64_Shdr *table = find_symbols(program);
    const Elf64_Shdr *sections = (const void *)(program + head->e_shoff);
    const char *names = program + sections[table->sh_link].sh_offset;
    const Elf64_Sym *symbols = (const void *)(program + table->sh_offset);
    uintptr_t address = (uintptr_t)place - (head->e_type == ET_DYN ? load_address() : 0);
    for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
        /* A call may be the last instruction of a function. */
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value < address &&
            address <= symbols[i].st_value + symbols[i].st_size)
            return names + symbols[i].st_name;
    }
    return "?";
}

static const char *order_name(int order)
{
    static const char *const names[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};
    return names[order];
}

static void write_name(const struct site *site, int order, char name[NAME_SIZE])
{
    static const char *const operations[] = {"load", "store", "change", "exchange"};
    unsigned number = 1;
    const char *function = explore_function(site->place);
    for (unsigned i = 0; i < site_count; i++)
        number += sites[i].place < site->place && sites[i].operation == site->operation &&
                  sites[i].order == site->order && sites[i].is_failure == site->is_failure &&
                  strcmp(explore_function(sites[i].place), function) == 0;
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), " %u", number);
    snprintf(name, NAME_SIZE, "%s: %s%s%s, %s -> %s", function, site->is_failure ? "failed " : "",
             operations[site->operation], suffix, order_name(site->order), order_name(order));
}

/* ---- weaker variants ---- */

static unsigned weaker_orders(const struct site *site, int orders[3])
{
    unsigned count = 0;
    bool is_change = site->operation >= OPERATION_CHANGE && !site->is_failure;
    if (site->order == memory_order_seq_cst && is_change)
        orders[count++] = memory_order_acq_rel;
    if (is_change && site->order >= memory_order_acq_rel) {
        orders[count++] = memory_order_release;
        orders[count++] = memory_order_acquire;
        return count;
    }
    if (site->order == memory_order_seq_cst)
        orders[count++] =
            site->operation == OPERATION_STORE ? memory_order_release : memory_order_acquire;
    orders[count++] = memory_order_relaxed;
    return count;
}

/* ---- verdicts over all programs ---- */

struct verdict {
    char name[NAME_SIZE];
    bool is_needed; /* a program fails without it */
};

static struct verdict verdicts[VERDICTS_MAX];
static unsigned verdict_count;

static struct verdict *verdict_of(const char *name)
{
    for (unsigned i = 0; i < verdict_count; i++) {
        if (strcmp(verdicts[i].name, name) == 0)
            return &verdicts[i];
    }
    if (verdict_count == VERDICTS_MAX)
        abort();
    struct verdict *verdict = &verdicts[verdict_count++];
    snprintf(verdict->name, sizeof(verdict->name), "%s", name);
    return verdict;
}

static void try_variant(const struct explore_program *program, const struct site *site, int order)
{
    char name[NAME_SIZE];
    write_name(site, order, name);
    struct verdict *verdict = verdict_of(name);
    if (verdict->is_needed)
        return;
    weakened = site;
    weakened_order = order;
    struct explore_result result = explore(program);
    weakened = NULL;
    verdict->is_needed = result.failure[0] != 0;
    if (verdict->is_needed)
        printf("    %s: %s\n", name, result.failure);
}

void explore_every_order(const struct explore_program *program)
{
    site_count = 0;
    struct explore_result result = explore(program);
    printf("%s: %llu shared atomics, %llu states, %llu executions\n", program->name,
           (unsigned long long)result.locations, (unsigned long long)result.states,
           (unsigned long long)result.executions);
    if (result.failure[0] != 0) {
        printf("%s: FAILS: %s\n", program->name, result.failure);
        exit(1);
    }
    fflush(stdout);
    for (unsigned i = 0; i < site_count; i++) {
        int orders[3];
        unsigned count = weaker_orders(&sites[i], orders);
        for (unsigned j = 0; j < count; j++)
            try_variant(program, &sites[i], orders[j]);
    }
    fflush(stdout);
}

static bool is_listed(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(name, *list) == 0)
            return true;
    }
    return false;
}

int explore_conclude(const char *const *not_needed)
{
    unsigned needed = 0;
    unsigned differences = 0;
    for (unsigned i = 0; i < verdict_count; i++) {
        const struct verdict *verdict = &verdicts[i];
        bool is_expected = verdict->is_needed != is_listed(verdict->name, not_needed);
        needed += verdict->is_needed;
        differences += !is_expected;
        if (!is_expected || !verdict->is_needed)
            printf("    %s%s: %s\n", is_expected ? "" : "UNEXPECTED: ", verdict->name,
                   verdict->is_needed ? "needed" : "no program needs it");
    }
    printf("%u weaker orders, %u of them fail\n", verdict_count, needed);
    return differences > 0 ? 1 : 0;
}
