<?php
/* A parent as in tests/fork/bindings_test.py, in PHP: FFI, and destructors that run at the script's end.
 *
 *     parent.php LIBRARY STORE CHILD END BEFORE AFTER
 */
[, $library, $path, $kind, $end, $before, $after] = $argv;
$leveldb = FFI::cdef('
    void *leveldb_options_create(void);
    void leveldb_options_set_create_if_missing(void *options, unsigned char on);
    void leveldb_options_set_write_buffer_size(void *options, size_t size);
    void *leveldb_writeoptions_create(void);
    void leveldb_writeoptions_set_sync(void *options, unsigned char on);
    void *leveldb_readoptions_create(void);
    void *leveldb_open(const void *options, const char *name, char **error);
    void leveldb_close(void *db);
    void leveldb_put(void *db, const void *options, const char *key, size_t key_size, const char *value,
                     size_t value_size, char **error);
    void *leveldb_create_iterator(void *db, const void *options);
    void leveldb_iter_seek_to_first(void *iterator);
    void leveldb_iter_destroy(void *iterator);
', $library);

/* Closed when nothing refers to it, and at the end of the script at the latest. */
class Store
{
    public $handle;
    public $reading;
    private $writing;

    public function __construct(private $leveldb, string $path)
    {
        $options = $leveldb->leveldb_options_create();
        $leveldb->leveldb_options_set_create_if_missing($options, 1);
        $leveldb->leveldb_options_set_write_buffer_size($options, 64 * 1024);
        $this->writing = $leveldb->leveldb_writeoptions_create();
        $leveldb->leveldb_writeoptions_set_sync($this->writing, 1);
        $this->reading = $leveldb->leveldb_readoptions_create();
        $error = $leveldb->new('char *');
        $this->handle = $leveldb->leveldb_open($options, $path, FFI::addr($error));
        if (!FFI::isNull($error)) {
            fwrite(STDERR, FFI::string($error));
            exit(1);
        }
    }

    public function put(int $row): ?string
    {
        $key = sprintf('row-%06d', $row);
        $value = str_repeat("value $row ", 20);
        $error = $this->leveldb->new('char *');
        $this->leveldb->leveldb_put($this->handle, $this->writing, $key, strlen($key), $value, strlen($value),
                                    FFI::addr($error));
        return FFI::isNull($error) ? null : FFI::string($error);
    }

    public function close(): void
    {
        if ($this->handle !== null) {
            $this->leveldb->leveldb_close($this->handle);
        }
        $this->handle = null;
    }

    public function __destruct()
    {
        $this->close();
    }
}

/* Destroyed as the store is, in no order. */
class StoreIterator
{
    private $handle;

    public function __construct(private $leveldb, Store $store)
    {
        $this->handle = $leveldb->leveldb_create_iterator($store->handle, $store->reading);
        $leveldb->leveldb_iter_seek_to_first($this->handle);
    }

    public function __destruct()
    {
        $this->leveldb->leveldb_iter_destroy($this->handle);
    }
}

function give_up(string $why): void
{
    fwrite(STDERR, "$why\n");
    exit(1);
}

/* What is left to the end of the script is done by the destructors. */
function be_child(string $kind, Store $store): void
{
    switch ($kind) {
        case 'killed':
            posix_kill(posix_getpid(), SIGKILL);
            break;
        case 'execs':
            pcntl_exec('/bin/true');
            break;
        case 'uses':
            if (!str_contains($store->put(0) ?? '', 'fork')) {
                give_up('a put of a child was not refused');
            }
            break;
        case 'closes':
            $store->close();
            break;
    }
    exit(0);
}

function put_rows(Store $store, int $from, int $to): void
{
    for ($row = $from; $row < $to; $row++) {
        if ($store->put($row) !== null) {
            give_up('a put failed');
        }
    }
}

$store = new Store($leveldb, $path);
put_rows($store, 0, (int)$before);
$iterator = new StoreIterator($leveldb, $store);
$child = pcntl_fork();
if ($child === 0) {
    be_child($kind, $store);
}
pcntl_waitpid($child, $status);
$is_well = $kind === 'killed' ? pcntl_wifsignaled($status) : pcntl_wifexited($status) && pcntl_wexitstatus($status) === 0;
if (!$is_well) {
    give_up("the child's status is $status");
}
put_rows($store, (int)$before, (int)$before + (int)$after);
echo "done\n";
flush();
if ($end === 'killed') {
    posix_kill(posix_getpid(), SIGKILL);
}
