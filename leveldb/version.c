/* The version of LevelDB whose C interface this is. */
#include <leveldb/c.h>

int leveldb_major_version(void)
{
    return 1;
}

int leveldb_minor_version(void)
{
    return 23;
}
