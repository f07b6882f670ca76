/* The store, selections and filters for C++17 and later, in one header over <bb/db.h>,
 * <bb/select.h> and <bb/filter.h>.
 *
 *     bb::options options;
 *     options.create_if_missing = true;
 *     bb::store store = bb::store::open("words", options).value();
 *     store.put("bloom", "block").value();
 *     std::optional<std::string> found = store.get("bloom").value();
 *     for (bb::entry entry : store.scan({.prefix = "b"}))     // C++20's way to set a field
 *         use(entry.key, entry.value);
 *
 * Results or exceptions. A call that can fail returns a bb::result, which must not be ignored.
 * value() returns its value, or throws a bb::error. Without exceptions, test the result: it
 * converts to bool, * and -> access the value, and status() and message() describe the failure.
 * Loops over a scan or a selection throw. A cursor, and a selection that is moved by next(), have a
 * status instead. If the compiler has exceptions disabled, value() of a failure, and a loop that
 * fails, end the program by std::abort.
 *
 * Ownership. Objects own their handles and can be moved, not copied. A moved-from object may only
 * be destroyed or assigned to. Snapshots, scans, cursors, selections and pinned values must be
 * destroyed before their store is closed or destroyed. The destructor of a store closes it and
 * drops the status: call close() to see it.
 *
 * Keys and values are std::string_view, with any bytes. A path, a name, a definition or a condition
 * contains no NUL: BB_INVALID. Threads, limits and errors are those of the C functions, which the
 * members call; handle() returns the object for all other functions of the library. */
#ifndef BB_PUBLIC_BLOOMBLOCK_HPP
#define BB_PUBLIC_BLOOMBLOCK_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/* Some C functions have the same name as the struct that they fill in. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <bb/db.h>
#include <bb/filter.h>
#include <bb/select.h>
#pragma GCC diagnostic pop

namespace bb
{

/* ---- bytes ---- */

inline bb_bytes to_bytes(std::string_view text) noexcept
{
    return bb_bytes{reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

inline std::string_view to_view(bb_bytes bytes) noexcept
{
    return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

/* Owns a bb_buf and releases it. */
class buffer
{
  public:
    buffer() noexcept = default;
    buffer(buffer &&other) noexcept : buf_(std::exchange(other.buf_, bb_buf{}))
    {
    }
    buffer &operator=(buffer &&other) noexcept
    {
        buffer taken(std::move(other)); /* whose destructor releases the old one */
        std::swap(buf_, taken.buf_);
        return *this;
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        bb_buf_deinit(&buf_);
    }

    std::string_view view() const noexcept
    {
        return to_view(bb_bytes{buf_.data, buf_.size});
    }
    bb_buf *handle() noexcept
    {
        return &buf_;
    }

  private:
    bb_buf buf_{};
};

/* ---- results ---- */

/* The exception of a failed call. */
class error : public std::runtime_error
{
  public:
    error(bb_status status, const std::string &message)
        : std::runtime_error(message), status_(status)
    {
    }
    bb_status status() const noexcept
    {
        return status_;
    }

  private:
    bb_status status_;
};

/* A failed call: the status, and the library's message. */
struct failure {
    bb_status status = BB_OK;
    std::string message;

    /* The thread's latest failure: the one that the previous call returned. */
    static failure last(bb_status status)
    {
        return {status, bb_error_last()->message};
    }
    [[noreturn]] void raise() const
    {
#if defined(__cpp_exceptions)
        throw error(status, message);
#else
        std::abort();
#endif
    }
};

/* BB_INVALID for a text with a NUL: a C function would use only the part before it. */
inline std::optional<failure> nul_in(const char *name, const std::string &text)
{
    if (text.find('\0') == std::string::npos)
        return std::nullopt;
    return failure{BB_INVALID, std::string(name) + " contains a NUL"};
}

/* A value or a failure. */
template <typename T> class [[nodiscard]] result
{
  public:
    result(T value) : value_(std::move(value))
    {
    }
    result(failure why) : failure_(std::move(why))
    {
    }

    explicit operator bool() const noexcept
    {
        return value_.has_value();
    }
    bb_status status() const noexcept
    {
        return failure_.status;
    }
    /* Empty without a failure. */
    const std::string &message() const noexcept
    {
        return failure_.message;
    }

    /* The value; throws an error if there is none. */
    T &value() &
    {
        check();
        return *value_;
    }
    const T &value() const &
    {
        check();
        return *value_;
    }
    T value() &&
    {
        check();
        return std::move(*value_);
    }
    /* REQUIRES: a value. */
    T &operator*() noexcept
    {
        return *value_;
    }
    const T &operator*() const noexcept
    {
        return *value_;
    }
    T *operator->() noexcept
    {
        return &*value_;
    }
    const T *operator->() const noexcept
    {
        return &*value_;
    }

  private:
    void check() const
    {
        if (!value_)
            failure_.raise();
    }

    std::optional<T> value_;
    failure failure_;
};

/* Success or a failure. */
template <> class [[nodiscard]] result<void>
{
  public:
    result() = default;
    result(failure why) : failure_(std::move(why))
    {
    }
    /* From a status that a function of the library returned. */
    static result of(bb_status status)
    {
        return status == BB_OK ? result() : result(failure::last(status));
    }

    explicit operator bool() const noexcept
    {
        return failure_.status == BB_OK;
    }
    bb_status status() const noexcept
    {
        return failure_.status;
    }
    const std::string &message() const noexcept
    {
        return failure_.message;
    }
    /* Throws an error after a failure. */
    void value() const
    {
        if (failure_.status != BB_OK)
            failure_.raise();
    }

  private:
    failure failure_;
};

/* ---- parts of a store ---- */

/* The fields of bb_db_options, all default. */
struct options : bb_db_options {
    options() noexcept : bb_db_options()
    {
    }
};

/* The failures that a write survives after the call returns: a crash of the process, or also a
 * power failure. */
enum class durability { crash, power_failure };

/* The value at the time of a get, without a copy, until this object is destroyed. */
class pinned
{
  public:
    explicit pinned(bb_pinned pin) noexcept : pin_(pin)
    {
    }
    pinned(pinned &&other) noexcept : pin_(std::exchange(other.pin_, bb_pinned{}))
    {
    }
    pinned &operator=(pinned &&other) noexcept
    {
        pinned taken(std::move(other)); /* whose destructor releases the old one */
        std::swap(pin_, taken.pin_);
        return *this;
    }
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;
    ~pinned()
    {
        bb_pinned_release(&pin_);
    }
    std::string_view view() const noexcept
    {
        return to_view(pin_.bytes);
    }

  private:
    bb_pinned pin_;
};

/* Operations that a store applies atomically. The first failure (no memory, a key that is too long)
 * is kept: store::write returns it and applies nothing. */
class batch
{
  public:
    batch &put(std::string_view key, std::string_view value)
    {
        return add([&] { return bb_batch_put(batch_.get(), to_bytes(key), to_bytes(value)); });
    }
    batch &erase(std::string_view key)
    {
        return add([&] { return bb_batch_delete(batch_.get(), to_bytes(key)); });
    }
    /* The keys from low, inclusive, to high, exclusive. */
    batch &erase_range(std::string_view low, std::string_view high)
    {
        return add(
            [&] { return bb_batch_delete_range(batch_.get(), to_bytes(low), to_bytes(high)); });
    }
    /* Removes the operations and a kept failure. */
    void clear() noexcept
    {
        if (batch_)
            bb_batch_reset(batch_.get());
        state_ = result<void>();
    }
    std::size_t size() const noexcept
    {
        return batch_ ? bb_batch_count(batch_.get()) : 0;
    }
    const result<void> &state() const noexcept
    {
        return state_;
    }
    /* NULL: no operation was added. */
    const bb_batch *handle() const noexcept
    {
        return batch_.get();
    }

  private:
    struct destroy {
        void operator()(bb_batch *handle) const noexcept
        {
            bb_batch_destroy(handle);
        }
    };

    template <typename Function> batch &add(Function function)
    {
        bb_batch *created = nullptr;
        if (state_ && !batch_) {
            state_ = result<void>::of(bb_batch_create(&created));
            batch_.reset(created);
        }
        if (state_)
            state_ = result<void>::of(function());
        return *this;
    }

    std::unique_ptr<bb_batch, destroy> batch_;
    result<void> state_;
};

/* The state of a store at one moment. */
class snapshot
{
  public:
    snapshot(bb_db *db, bb_snapshot *handle) noexcept : handle_(handle, release{db})
    {
    }
    const bb_snapshot *handle() const noexcept
    {
        return handle_.get();
    }

  private:
    struct release {
        bb_db *db = nullptr;
        void operator()(bb_snapshot *handle) const noexcept
        {
            bb_snapshot_release(db, handle);
        }
    };
    std::unique_ptr<bb_snapshot, release> handle_;
};

struct entry {
    std::string_view key;
    std::string_view value;
};

/* Keys from low, inclusive, to high, exclusive, or with a prefix, but not both. */
struct range {
    std::optional<std::string_view> low{};
    std::optional<std::string_view> high{};
    std::optional<std::string_view> prefix{};
    bool reverse = false;                   /* of loops: from the last key to the first */
    const bb::snapshot *snapshot = nullptr; /* NULL: the newest state */
    bool keys_only = false; /* of loops and cursors: values are empty, bb_db_iter_create_keys */
};

/* A position among the keys of a range, which moves in both directions. It is not valid until
 * first(), last() or seek(). Each move returns whether the new position has a key. If not, check
 * status(): reading may have failed. */
class cursor
{
  public:
    explicit cursor(bb_db_iter *handle) noexcept : handle_(handle)
    {
    }
    bool first() noexcept
    {
        bb_db_iter_seek_first(handle_.get());
        return valid();
    }
    bool last() noexcept
    {
        bb_db_iter_seek_last(handle_.get());
        return valid();
    }
    /* Moves to the first key at or after this one. */
    bool seek(std::string_view key) noexcept
    {
        bb_db_iter_seek(handle_.get(), to_bytes(key));
        return valid();
    }
    /* REQUIRES: valid(). */
    bool next() noexcept
    {
        bb_db_iter_next(handle_.get());
        return valid();
    }
    bool prev() noexcept
    {
        bb_db_iter_prev(handle_.get());
        return valid();
    }
    bool valid() const noexcept
    {
        return bb_db_iter_valid(handle_.get());
    }
    /* Key and value, until the cursor moves. REQUIRES: valid(). */
    std::string_view key() const noexcept
    {
        return to_view(bb_db_iter_key(handle_.get()));
    }
    std::string_view value() const noexcept
    {
        return to_view(bb_db_iter_value(handle_.get()));
    }
    result<void> status() const
    {
        return result<void>::of(bb_db_iter_status(handle_.get()));
    }
    bb_db_iter *handle() noexcept
    {
        return handle_.get();
    }

  private:
    struct destroy {
        void operator()(bb_db_iter *handle) const noexcept
        {
            bb_db_iter_destroy(handle);
        }
    };
    std::unique_ptr<bb_db_iter, destroy> handle_;
};

/* The position of a loop over the entries of a range or a selection. An entry is valid until the
 * next step. */
template <typename Source> class step_iterator
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const entry *;
    using reference = entry;

    explicit step_iterator(Source *of = nullptr) noexcept : source_(of)
    {
    }
    entry operator*() const noexcept
    {
        return {source_->key(), source_->value()};
    }
    step_iterator &operator++()
    {
        source_->step();
        return *this;
    }
    void operator++(int)
    {
        source_->step();
    }
    friend bool operator==(const step_iterator &a, const step_iterator &b) noexcept
    {
        return a.is_at_end() == b.is_at_end();
    }
    friend bool operator!=(const step_iterator &a, const step_iterator &b) noexcept
    {
        return !(a == b);
    }

  private:
    bool is_at_end() const noexcept
    {
        return source_ == nullptr || !source_->valid();
    }
    Source *source_;
};

/* The entries of a range, for one loop. A failure throws from begin() or ++. */
class scan
{
  public:
    using iterator = step_iterator<scan>;

    scan(cursor at, bool is_backward) noexcept : cursor_(std::move(at)), is_backward_(is_backward)
    {
    }
    iterator begin()
    {
        check(is_backward_ ? cursor_.last() : cursor_.first());
        return iterator(this);
    }
    iterator end() noexcept
    {
        return iterator();
    }

  private:
    friend iterator;

    void step()
    {
        check(is_backward_ ? cursor_.prev() : cursor_.next());
    }
    void check(bool is_there) const
    {
        if (!is_there)
            cursor_.status().value();
    }
    bool valid() const noexcept
    {
        return cursor_.valid();
    }
    std::string_view key() const noexcept
    {
        return cursor_.key();
    }
    std::string_view value() const noexcept
    {
        return cursor_.value();
    }

    cursor cursor_;
    bool is_backward_;
};

/* The records for which a condition is true, in the order of their keys. Use either a loop, which
 * throws after a failure, or next(). */
class selection
{
  public:
    using iterator = step_iterator<selection>;

    explicit selection(bb_select *handle) noexcept : handle_(handle)
    {
    }
    /* Moves to the next record; the first call moves to the first record. False: there is none;
     * check status(). */
    bool next()
    {
        valid_ = false;
        state_ = result<void>::of(bb_select_next(handle_.get(), &valid_));
        return valid_;
    }
    bool valid() const noexcept
    {
        return valid_;
    }
    /* Key and value, until the selection moves. REQUIRES: valid(). */
    std::string_view key() const noexcept
    {
        return to_view(bb_select_key(handle_.get()));
    }
    std::string_view value() const noexcept
    {
        return to_view(bb_select_value(handle_.get()));
    }
    const result<void> &status() const noexcept
    {
        return state_;
    }
    /* The work up to now: granules excluded, read and counted, records. */
    struct bb_select_account account() const noexcept
    {
        struct bb_select_account account;
        bb_select_account(handle_.get(), &account);
        return account;
    }
    /* For one loop, before any call of next(). */
    iterator begin()
    {
        step();
        return iterator(this);
    }
    iterator end() noexcept
    {
        return iterator();
    }
    bb_select *handle() noexcept
    {
        return handle_.get();
    }

  private:
    friend iterator;
    struct destroy {
        void operator()(bb_select *handle) const noexcept
        {
            bb_select_destroy(handle);
        }
    };
    void step()
    {
        if (!next())
            state_.value();
    }

    std::unique_ptr<bb_select, destroy> handle_;
    result<void> state_;
    bool valid_ = false;
};

/* ---- the store ---- */

class store
{
  public:
    static result<store> open(const std::string &directory, const bb_db_options &how = options())
    {
        bb_db *db = nullptr;
        if (std::optional<failure> why = nul_in("the path of the store", directory))
            return *why;
        bb_status status = bb_db_open(directory.c_str(), &how, &db);
        if (status != BB_OK)
            return failure::last(status);
        return store(db);
    }

    /* BB_BUSY: snapshots, scans, cursors, selections or pinned values exist; the store stays
     * open. */
    result<void> close()
    {
        bb_db *db = db_.release();
        result<void> closed = result<void>::of(bb_db_close(db));
        if (closed.status() == BB_BUSY)
            db_.reset(db);
        return closed;
    }

    result<void> put(std::string_view key, std::string_view value,
                     durability until = durability::crash)
    {
        const bb_write_options how = options_of(until);
        return result<void>::of(bb_db_put(db_.get(), &how, to_bytes(key), to_bytes(value)));
    }
    /* An absent key is no failure. */
    result<void> erase(std::string_view key, durability until = durability::crash)
    {
        const bb_write_options how = options_of(until);
        return result<void>::of(bb_db_delete(db_.get(), &how, to_bytes(key)));
    }
    /* The keys from low, inclusive, to high, exclusive, by one operation. */
    result<void> erase_range(std::string_view low, std::string_view high,
                             durability until = durability::crash)
    {
        const bb_write_options how = options_of(until);
        return result<void>::of(bb_db_delete_range(db_.get(), &how, to_bytes(low), to_bytes(high)));
    }
    result<void> write(const batch &operations, durability until = durability::crash)
    {
        const bb_write_options how = options_of(until);
        if (!operations.state() || operations.handle() == nullptr)
            return operations.state();
        return result<void>::of(bb_db_write(db_.get(), &how, operations.handle()));
    }

    /* The value; std::nullopt: the key is absent. */
    result<std::optional<std::string>> get(std::string_view key, const bb::snapshot *at = nullptr) const
    {
        result<std::optional<pinned>> found = get_pinned(key, at);
        if (!found)
            return failure{found.status(), found.message()};
        if (!*found)
            return std::optional<std::string>();
        return std::optional<std::string>(std::string((*found)->view()));
    }
    result<std::optional<pinned>> get_pinned(std::string_view key,
                                             const bb::snapshot *at = nullptr) const
    {
        const bb_get_options how = options_of(at);
        bb_pinned pin{};
        bb_status status = bb_db_get_pinned(db_.get(), &how, to_bytes(key), &pin);
        if (status == BB_NOT_FOUND)
            return std::optional<pinned>();
        if (status != BB_OK)
            return failure::last(status);
        return std::optional<pinned>(pinned(pin));
    }
    result<bool> contains(std::string_view key, const bb::snapshot *at = nullptr) const
    {
        const bb_get_options how = options_of(at);
        bb_status status = bb_db_get(db_.get(), &how, to_bytes(key), nullptr);
        if (status != BB_OK && status != BB_NOT_FOUND)
            return failure::last(status);
        return status == BB_OK;
    }

    result<bb::snapshot> snapshot() const
    {
        bb_snapshot *handle = nullptr;
        bb_status status = bb_snapshot_create(db_.get(), &handle);
        if (status != BB_OK)
            return failure::last(status);
        return bb::snapshot(db_.get(), handle);
    }
    /* BB_INVALID: the range has a prefix and a bound. */
    result<bb::cursor> cursor(const range &over = range()) const
    {
        const bb_get_options how = options_of(over.snapshot);
        bb_db_iter *iter = nullptr;
        bb_status status = open_iterator(over, how, &iter);
        if (status == BB_INVALID && over.prefix && (over.low || over.high))
            return failure{status, "a range has either a prefix or bounds, not both"};
        if (status != BB_OK)
            return failure::last(status);
        return bb::cursor(iter);
    }
    /* For loops; throws if it cannot begin. */
    bb::scan scan(const range &over = range()) const
    {
        return bb::scan(cursor(over).value(), over.reverse);
    }

    /* An attribute of the values, such as "status u64 = clf(status)" (bb/record.h), and an index
     * over one, such as "tokens(agent)" (bb/skip.h). The store keeps both. */
    result<void> create_attribute(const std::string &definition)
    {
        if (std::optional<failure> why = nul_in("the definition", definition))
            return *why;
        return result<void>::of(bb_db_attribute_create(db_.get(), definition.c_str()));
    }
    result<void> create_index(const std::string &name, const std::string &spec)
    {
        if (std::optional<failure> why = nul_in("the name of the index", name))
            return *why;
        if (std::optional<failure> why = nul_in("the index", spec))
            return *why;
        return result<void>::of(bb_db_index_create(db_.get(), name.c_str(), spec.c_str()));
    }
    /* Builds the indexes of data that was written before them. */
    result<void> build_indexes()
    {
        return result<void>::of(bb_db_index_materialize(db_.get(), nullptr));
    }
    /* The records of a range for which the condition (bb/condition.h) is true. BB_INVALID for a
     * range with a prefix. limit: maximum number of records; 0: all. */
    result<selection> select(const std::string &where, const range &over = range(),
                             std::uint64_t limit = 0) const
    {
        bb_select *selected = nullptr;
        bb_bytes low, high;
        const bb_key_range keys = bounds_of(over, low, high);
        const bb_select_options how = options_of(where, over, keys, limit);
        if (std::optional<failure> why = refusal_of(where, over))
            return *why;
        bb_status status = bb_db_select(db_.get(), &how, &selected);
        if (status != BB_OK)
            return failure::last(status);
        return selection(selected);
    }
    /* The number of records that select() returns. Granules are not read if the indexes determine
     * how many of their records match. */
    result<std::uint64_t> count(const std::string &where, const range &over = range()) const
    {
        std::uint64_t found = 0;
        bb_bytes low, high;
        const bb_key_range keys = bounds_of(over, low, high);
        const bb_select_options how = options_of(where, over, keys, 0);
        if (std::optional<failure> why = refusal_of(where, over))
            return *why;
        bb_status status = bb_db_select_count(db_.get(), &how, &found, nullptr);
        if (status != BB_OK)
            return failure::last(status);
        return found;
    }

    result<void> flush()
    {
        return result<void>::of(bb_db_flush(db_.get()));
    }
    result<void> compact()
    {
        return result<void>::of(bb_db_compact(db_.get()));
    }
    result<void> wait_idle()
    {
        return result<void>::of(bb_db_wait_idle(db_.get()));
    }
    struct bb_db_stats stats() const
    {
        struct bb_db_stats stats;
        bb_db_stats(db_.get(), &stats);
        return stats;
    }
    bb_db *handle() const noexcept
    {
        return db_.get();
    }

  private:
    struct closing {
        void operator()(bb_db *db) const noexcept
        {
            if (bb_db_close(db) != BB_OK)
                return; /* a destructor cannot return it; close() does */
        }
    };

    explicit store(bb_db *db) noexcept : db_(db)
    {
    }
    static bb_write_options options_of(durability until) noexcept
    {
        bb_write_options how{};
        how.sync = until == durability::power_failure;
        return how;
    }
    static bb_get_options options_of(const bb::snapshot *at) noexcept
    {
        bb_get_options how{};
        how.snapshot = at == nullptr ? nullptr : at->handle();
        return how;
    }
    bb_status open_iterator(const range &over, const bb_get_options &how, bb_db_iter **iter) const
    {
        if (over.prefix && (over.low || over.high))
            return BB_INVALID;
        if (over.prefix && over.keys_only)
            return bb_db_iter_create_prefix_keys(db_.get(), &how, to_bytes(*over.prefix), iter);
        if (over.prefix)
            return bb_db_iter_create_prefix(db_.get(), &how, to_bytes(*over.prefix), iter);
        bb_bytes low, high;
        const bb_key_range keys = bounds_of(over, low, high);
        return over.keys_only ? bb_db_iter_create_keys(db_.get(), &how, &keys, iter)
                              : bb_db_iter_create_range(db_.get(), &how, &keys, iter);
    }
    /* low, high: the memory of the bounds. */
    static bb_key_range bounds_of(const range &over, bb_bytes &low, bb_bytes &high) noexcept
    {
        low = to_bytes(over.low.value_or(std::string_view()));
        high = to_bytes(over.high.value_or(std::string_view()));
        bb_key_range keys{};
        keys.low = over.low ? &low : nullptr;
        keys.high = over.high ? &high : nullptr;
        return keys;
    }
    static std::optional<failure> refusal_of(const std::string &where, const range &over)
    {
        if (over.prefix)
            return failure{BB_INVALID, "a selection has bounds of keys, but no prefix"};
        return nul_in("the condition", where);
    }
    static bb_select_options options_of(const std::string &where, const range &over,
                                        const bb_key_range &keys, std::uint64_t limit) noexcept
    {
        bb_select_options how{};
        how.where = where.c_str();
        how.range = &keys;
        how.snapshot = over.snapshot == nullptr ? nullptr : over.snapshot->handle();
        how.backward = over.reverse;
        how.limit = limit;
        return how;
    }

    std::unique_ptr<bb_db, closing> db_;
};

/* ---- filters ---- */

/* A filter of keys with the secret of its hashes: the contents of a filter file. */
class filter
{
  public:
    bool may_contain(std::string_view key) const noexcept
    {
        return bb_filter_may_contain(&view_, bb_filter_file_hash(&file_, to_bytes(key)));
    }
    result<struct bb_filter_info> info() const
    {
        struct bb_filter_info info;
        bb_status status = bb_filter_info(file_.envelope, &info);
        if (status != BB_OK)
            return failure::last(status);
        return info;
    }
    /* Writes a filter file durably, with mode 0600. An existing file is replaced
     * (bb_filter_file_save). */
    result<void> save(const std::string &path) const
    {
        if (std::optional<failure> why = nul_in("the path of the filter", path))
            return *why;
        return result<void>::of(bb_filter_file_save(nullptr, path.c_str(), &file_));
    }
    static result<filter> load(const std::string &path)
    {
        filter loaded;
        if (std::optional<failure> why = nul_in("the path of the filter", path))
            return *why;
        bb_status status =
            bb_filter_file_load(nullptr, path.c_str(), loaded.contents_.handle(), &loaded.file_);
        if (status == BB_OK)
            status = bb_filter_view_init(&loaded.view_, loaded.file_.envelope);
        if (status != BB_OK)
            return failure::last(status);
        return loaded;
    }
    /* The union of two filters of a Bloom kind. BB_INVALID if they hash keys differently, or have
     * different secrets. */
    result<filter> unite(const filter &other) const
    {
        buffer envelope;
        if (file_.hash != other.file_.hash ||
            std::memcmp(&file_.secret, &other.file_.secret, sizeof(file_.secret)) != 0)
            return failure{BB_INVALID, "the filters have different hashes or secrets: build the "
                                       "second one with the secret of the first"};
        bb_status status = bb_filter_union(file_.envelope, other.file_.envelope, envelope.handle());
        if (status != BB_OK)
            return failure::last(status);
        return of(std::move(envelope), file_.hash, file_.secret);
    }
    const bb_hash_secret &secret() const noexcept
    {
        return file_.secret;
    }
    bb_bytes envelope() const noexcept
    {
        return file_.envelope;
    }

  private:
    friend class filter_builder;
    filter() noexcept = default;

    static result<filter> of(buffer envelope, bb_filter_hash hash, const bb_hash_secret &secret)
    {
        filter made;
        made.contents_ = std::move(envelope);
        made.file_.hash = hash;
        made.file_.secret = secret;
        made.file_.envelope = to_bytes(made.contents_.view());
        bb_status status = bb_filter_view_init(&made.view_, made.file_.envelope);
        if (status != BB_OK)
            return failure::last(status);
        return made;
    }

    buffer contents_; /* the envelope, or the file with it */
    bb_filter_file file_{};
    bb_filter_view view_{};
};

/* Collects keys. The first failure is kept, and finish() returns it. */
class filter_builder
{
  public:
    /* Filters built with the same secret can be united and compared. */
    explicit filter_builder(const bb_filter_options &how = bb_filter_options(),
                            const bb_hash_secret *secret = nullptr)
    {
        bb_filter_builder *created = nullptr;
        if (secret != nullptr)
            secret_ = *secret;
        else
            state_ = result<void>::of(bb_hash_secret_random(&secret_));
        if (state_)
            state_ = result<void>::of(bb_filter_builder_create(&how, &created));
        builder_.reset(created);
    }
    filter_builder &add(std::string_view key)
    {
        if (state_)
            state_ = result<void>::of(
                bb_filter_builder_add(builder_.get(), bb_hash_key(&secret_, to_bytes(key))));
        return *this;
    }
    /* The filter of the keys. The builder is then empty. */
    result<filter> finish()
    {
        buffer envelope;
        if (state_)
            state_ = result<void>::of(bb_filter_builder_finish(builder_.get(), envelope.handle()));
        if (!state_)
            return failure{state_.status(), state_.message()};
        return filter::of(std::move(envelope), BB_FILTER_HASH_KEYED, secret_);
    }

  private:
    struct destroy {
        void operator()(bb_filter_builder *handle) const noexcept
        {
            bb_filter_builder_destroy(handle);
        }
    };
    std::unique_ptr<bb_filter_builder, destroy> builder_;
    bb_hash_secret secret_{};
    result<void> state_;
};

} // namespace bb

#endif
