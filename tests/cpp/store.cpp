// The calls of docs/cpp.md and of <bb/bloomblock.hpp>: bb_cpp_test FOLDER. Ends with status 0 if
// every check holds.
#include <bb/bloomblock.hpp>

#include <cstdio>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (false)

static bb::store open(const std::string &path)
{
    bb::options options;
    options.create_if_missing = true;
    options.write_buffer_bytes = 1 << 16;
    return bb::store::open(path, options).value();
}

static std::string keys_of(bb::scan scan)
{
    std::string keys;
    for (bb::entry entry : scan)
        keys += std::string(entry.key) + "=" + std::string(entry.value) + " ";
    return keys;
}

static bb::range with_prefix(std::string_view prefix, bool reverse)
{
    bb::range range;
    range.prefix = prefix;
    range.reverse = reverse;
    return range;
}

static void test_values(bb::store &store)
{
    store.put("bloom", "block", bb::durability::power_failure).value();
    CHECK(store.get("bloom").value() == std::optional<std::string>("block"));
    CHECK(!store.get("absent").value());
    CHECK(store.contains("bloom").value() && !store.contains("absent").value());
    bb::pinned pinned = std::move(*store.get_pinned("bloom").value());
    store.put("bloom", "new").value();
    CHECK(pinned.view() == "block");
    store.erase("bloom").value();
    CHECK(!store.get("bloom").value());
}

/* Regression: the moved-from object kept the old pin, and the store could not be closed. */
static void test_moved_values(const std::string &path)
{
    bb::store store = open(path);
    store.put("first", "1").value();
    store.put("second", "2").value();
    bb::pinned value = std::move(*store.get_pinned("first").value());
    bb::pinned next = std::move(*store.get_pinned("second").value());
    value = std::move(next);
    CHECK(value.view() == "2");
    bb::pinned &itself = value;
    value = std::move(itself);
    CHECK(value.view() == "2");
    CHECK(store.close().status() == BB_BUSY);
    value = bb::pinned(bb_pinned{});
    store.close().value(); /* although next exists */

    bb::buffer first, second;
    CHECK(bb_buf_assign(first.handle(), bb::to_bytes("1")) == BB_OK);
    CHECK(bb_buf_assign(second.handle(), bb::to_bytes("2")) == BB_OK);
    first = std::move(second);
    CHECK(first.view() == "2" && second.handle()->data == nullptr);
    bb::buffer &same = first;
    first = std::move(same);
    CHECK(first.view() == "2");
}

static void test_batches_and_ranges(bb::store &store)
{
    bb::batch batch;
    CHECK(store.write(batch));
    batch.put("a1", "1").put("a2", "2").put("b1", "3").put("b2", "4").erase("b2");
    CHECK(batch.size() == 5);
    store.write(batch).value();
    CHECK(keys_of(store.scan()) == "a1=1 a2=2 b1=3 ");
    CHECK(keys_of(store.scan(with_prefix("a", false))) == "a1=1 a2=2 ");
    CHECK(keys_of(store.scan(with_prefix("a", true))) == "a2=2 a1=1 ");
    bb::range range;
    range.low = "a2";
    CHECK(keys_of(store.scan(range)) == "a2=2 b1=3 ");
    range.high = "b";
    CHECK(keys_of(store.scan(range)) == "a2=2 ");
    bb::range keys_only = with_prefix("a", false);
    keys_only.keys_only = true;
    CHECK(keys_of(store.scan(keys_only)) == "a1= a2= ");
    keys_only.prefix.reset();
    keys_only.reverse = true;
    CHECK(keys_of(store.scan(keys_only)) == "b1= a2= a1= ");
    range.prefix = "a";
    CHECK(store.cursor(range).status() == BB_INVALID);
    store.erase_range("a", "b").value();
    CHECK(keys_of(store.scan()) == "b1=3 ");
}

static void test_snapshots_and_cursors(bb::store &store)
{
    bb::snapshot snapshot = store.snapshot().value();
    store.put("b1", "5").value();
    store.flush().value();
    CHECK(*store.get("b1", &snapshot).value() == "3");
    bb::range range;
    range.snapshot = &snapshot;
    CHECK(keys_of(store.scan(range)) == "b1=3 ");
    CHECK(store.close().status() == BB_BUSY);
    bb::cursor cursor = store.cursor().value();
    CHECK(cursor.seek("a") && cursor.key() == "b1" && cursor.value() == "5");
    CHECK(!cursor.next() && cursor.status());
    CHECK(cursor.last() && cursor.key() == "b1" && !cursor.prev());
}

static void test_selections(const std::string &path)
{
    bb::store store = open(path);
    store.create_attribute("status u64 = json($.status)").value();
    for (int i = 0; i < 100; i++)
        store.put(std::to_string(1000 + i), "{\"status\": " + std::to_string(i % 10) + "}").value();
    store.flush().value();
    store.create_index("statuses", "set(status)").value();
    store.build_indexes().value();
    std::string keys;
    for (bb::entry entry : store.select("status = 7", {"1020", "1050", {}, true}).value())
        keys += std::string(entry.key) + " ";
    CHECK(keys == "1047 1037 1027 ");
    CHECK(store.count("status >= 5").value() == 50);
    bb::selection first = store.select("status = 7", bb::range(), 2).value();
    CHECK(first.next() && first.key() == "1007" && first.value() == "{\"status\": 7}");
    CHECK(first.next() && !first.next() && first.status());
    CHECK(first.account().records_returned == 2);
    CHECK(store.select("state = 7").status() == BB_INVALID);
    bb::range with_prefix;
    with_prefix.prefix = "10";
    CHECK(store.select("status = 7", with_prefix).status() == BB_INVALID);
    CHECK(store.count("status = 7", with_prefix).status() == BB_INVALID);
    for (bb::entry entry : store.select("status = 11").value())
        CHECK(entry.key.empty());
}

/* Regression: the part before the NUL was used, so that a condition lost its second half. */
static void test_nuls(const std::string &path)
{
    const std::string nul(1, '\0');
    bb::store store = open(path);
    CHECK(store.create_attribute("a u64 = json($.a)" + nul + ")").status() == BB_INVALID);
    store.create_attribute("a u64 = json($.a)").value();
    store.put("1", "{\"a\": 1}").value();
    CHECK(store.create_index("as" + nul, "set(a)").status() == BB_INVALID);
    CHECK(store.create_index("as", "set(a)" + nul).status() == BB_INVALID);
    const std::string where = "a > 0" + nul + " AND a = 404";
    CHECK(store.count("a > 0").value() == 1 && store.count(where).status() == BB_INVALID);
    CHECK(store.count(where).message() == "the condition contains a NUL");
    CHECK(store.select(where).status() == BB_INVALID);
    CHECK(bb::store::open(path + nul + "x").status() == BB_INVALID);
    bb::filter filter = bb::filter_builder().add("z").finish().value();
    CHECK(filter.save(path + nul + "x").status() == BB_INVALID);
    CHECK(bb::filter::load(path + nul + "x").status() == BB_INVALID);
}

static void test_failures(bb::store &store)
{
    const std::string large(1 << 20, 'k');
    bb::result<void> put = store.put(large, "");
    CHECK(!put && put.status() == BB_TOO_LARGE && !put.message().empty());
    bb::batch batch;
    batch.put("x", "1").put(large, "");
    CHECK(store.write(batch).status() == BB_TOO_LARGE && !store.contains("x").value());
    bb::result<bb::store> absent = bb::store::open("/absent/store");
    CHECK(!absent && absent.status() == BB_NOT_FOUND);
    try {
        put.value();
        CHECK(false);
    } catch (const bb::error &error) {
        CHECK(error.status() == BB_TOO_LARGE && error.what() == put.message());
    }
}

static void test_filters(const std::string &path)
{
    bb_filter_options options{};
    options.kind = BB_FILTER_BLOOM;
    bb::filter_builder builder(options);
    for (int i = 0; i < 1000; i++)
        builder.add(std::to_string(i));
    bb::filter filter = builder.finish().value();
    filter.save(path).value();
    bb::filter loaded = bb::filter::load(path).value();
    for (int i = 0; i < 1000; i++)
        CHECK(loaded.may_contain(std::to_string(i)));
    CHECK(!loaded.may_contain("x") || !loaded.may_contain("y") || !loaded.may_contain("z"));
    CHECK(loaded.info().value().key_count == 1000);
    bb::filter_builder second(options, &loaded.secret());
    for (int i = 1000; i < 2000; i++)
        second.add(std::to_string(i));
    bb::filter both = filter.unite(second.finish().value()).value();
    CHECK(both.may_contain("7") && both.may_contain("1007"));
    CHECK(bb::filter::load(path + ".absent").status() == BB_NOT_FOUND);
    /* Regression: a union of filters with different secrets denied keys of the second. */
    bb::filter stranger = bb::filter_builder(options).add("z").finish().value();
    CHECK(filter.unite(stranger).status() == BB_INVALID);
}

/* A filter of hashes without a secret, in a file, as the command writes one of Parquet's. */
static bb::filter without_secret(const std::string &path, int first)
{
    bb_filter_options options{};
    options.kind = BB_FILTER_BLOOM;
    bb_filter_builder *builder = nullptr;
    bb::buffer envelope;
    CHECK(bb_filter_builder_create(&options, &builder) == BB_OK);
    for (int i = first; i < first + 1000; i++) {
        std::string key = std::to_string(i);
        CHECK(bb_filter_builder_add(builder,
                                    bb_hash_xxh64({reinterpret_cast<const uint8_t *>(key.data()),
                                                   key.size()})) == BB_OK);
    }
    CHECK(bb_filter_builder_finish(builder, envelope.handle()) == BB_OK);
    bb_filter_builder_destroy(builder);
    bb_filter_file file{};
    file.hash = BB_FILTER_HASH_XXH64;
    file.envelope = {envelope.handle()->data, envelope.handle()->size};
    CHECK(bb_filter_file_save(nullptr, path.c_str(), &file) == BB_OK);
    return bb::filter::load(path).value();
}

/* Regression: the union took another hash, and denied every key. */
static void test_union_without_secret(const std::string &path)
{
    bb::filter first = without_secret(path + "1", 0), second = without_secret(path + "2", 1000);
    bb::filter both = first.unite(second).value();
    for (int i = 0; i < 2000; i++)
        CHECK(both.may_contain(std::to_string(i)));
    bb_filter_options options{};
    options.kind = BB_FILTER_BLOOM;
    bb::filter keyed = bb::filter_builder(options).add("z").finish().value();
    CHECK(first.unite(keyed).status() == BB_INVALID);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const std::string folder = argv[1];
    bb::store first = open(folder + "/store");
    bb::store store = std::move(first);
    test_values(store);
    test_moved_values(folder + "/moved");
    test_batches_and_ranges(store);
    test_snapshots_and_cursors(store);
    test_failures(store);
    CHECK(store.stats().writes > 0);
    store.close().value();
    CHECK(*open(folder + "/store").get("b1").value() == "5");
    test_selections(folder + "/records");
    test_nuls(folder + "/texts");
    test_filters(folder + "/words.bbf");
    test_union_without_secret(folder + "/hashes.bbf");
    return 0;
}
