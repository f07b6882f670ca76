/* See machine.h. */
#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static void copy_text(char *target, size_t size, const char *text)
{
    snprintf(target, size, "%s", text);
}

static void describe_processor(char *text, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    copy_text(text, size, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        copy_text(text, size, value + 2);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static void describe_file_system(const char *directory, char *text, size_t size)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0xef53, "ext4"},      {0x58465342, "xfs"},     {0x9123683e, "btrfs"},
                 {0x01021994, "tmpfs"}, {0x794c7630, "overlay"}, {0x2fc12fc1, "zfs"},
                 {0xf2f52010, "f2fs"},  {0x6969, "nfs"}};
    struct statfs information;
    copy_text(text, size, "unknown");
    if (statfs(directory, &information) != 0)
        return;
    snprintf(text, size, "0x%lx", (unsigned long)information.f_type);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].magic == (unsigned long)information.f_type)
            copy_text(text, size, known[i].name);
    }
}

void machine_describe(const char *directory, struct machine *ret_machine)
{
    struct utsname name;
    time_t now = time(NULL);
    struct tm parts;
    memset(ret_machine, 0, sizeof(*ret_machine));
    describe_processor(ret_machine->processor, sizeof(ret_machine->processor));
    describe_file_system(directory, ret_machine->file_system, sizeof(ret_machine->file_system));
    ret_machine->processor_count = sysconf(_SC_NPROCESSORS_ONLN);
    ret_machine->memory_mib = sysconf(_SC_PHYS_PAGES) / 1024 * (sysconf(_SC_PAGESIZE) / 1024);
    if (uname(&name) == 0)
        snprintf(ret_machine->kernel, sizeof(ret_machine->kernel), "%.32s %.64s %.24s",
                 name.sysname, name.release, name.machine);
    if (getloadavg(&ret_machine->load_average, 1) != 1)
        ret_machine->load_average = 0;
    copy_text(ret_machine->compiler, sizeof(ret_machine->compiler), BENCH_COMPILER);
    if (gmtime_r(&now, &parts) != NULL)
        strftime(ret_machine->date, sizeof(ret_machine->date), "%Y-%m-%d", &parts);
}
