/* Describes the machine of the measurement: times are meaningless without it. */
#ifndef BB_BENCH_MACHINE_H
#define BB_BENCH_MACHINE_H

struct machine {
    char processor[128];
    long processor_count;
    long memory_mib;
    char kernel[128];
    char file_system[32]; /* of the folder with the stores */
    char compiler[64];
    double load_average; /* of the last minute, when the comparison began */
    char date[32];
};

void machine_describe(const char *directory, struct machine *ret_machine);

#endif
