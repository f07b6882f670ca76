/* Runs the unit test that the argument names. A layer's tests are one program: each *_test.c is
 * compiled with another name for main(). A generated header, which the build includes first,
 * declares these functions and lists them (BB_UNIT_TESTS). */
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
#define TEST(test) {#test, test},
    BB_UNIT_TESTS(TEST)
#undef TEST
};

int main(int argc, char **argv)
{
    size_t count = sizeof(tests) / sizeof(tests[0]);
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(tests[i].name, argv[1]) == 0)
            return tests[i].run();
    fprintf(stderr, "usage: %s TEST\ntests:\n", argv[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "    %s\n", tests[i].name);
    return 2;
}
