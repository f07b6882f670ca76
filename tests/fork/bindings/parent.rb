# A parent as in tests/fork/bindings_test.py, in Ruby: Fiddle, and finalizers that run at the interpreter's end.
#
#     parent.rb LIBRARY STORE CHILD END BEFORE AFTER
require "fiddle"

LIBRARY = Fiddle.dlopen(ARGV[0])
POINTER = Fiddle::TYPE_VOIDP
SIZE = Fiddle::TYPE_SIZE_T
BYTE = Fiddle::TYPE_CHAR
NOTHING = Fiddle::TYPE_VOID

def function(name, arguments, result)
  Fiddle::Function.new(LIBRARY["leveldb_" + name], arguments, result)
end

OPTIONS_CREATE = function("options_create", [], POINTER)
SET_CREATE = function("options_set_create_if_missing", [POINTER, BYTE], NOTHING)
SET_BUFFER = function("options_set_write_buffer_size", [POINTER, SIZE], NOTHING)
WRITE_CREATE = function("writeoptions_create", [], POINTER)
SET_SYNC = function("writeoptions_set_sync", [POINTER, BYTE], NOTHING)
READ_CREATE = function("readoptions_create", [], POINTER)
OPEN = function("open", [POINTER, POINTER, POINTER], POINTER)
CLOSE = function("close", [POINTER], NOTHING)
PUT = function("put", [POINTER, POINTER, POINTER, SIZE, POINTER, SIZE, POINTER], NOTHING)
ITERATE = function("create_iterator", [POINTER, POINTER], POINTER)
SEEK_FIRST = function("iter_seek_to_first", [POINTER], NOTHING)
DESTROY = function("iter_destroy", [POINTER], NOTHING)

def call_with_error
  error = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
  error[0, Fiddle::SIZEOF_VOIDP] = "\0" * Fiddle::SIZEOF_VOIDP
  result = yield error
  [result, error.ptr.null? ? nil : error.ptr.to_s]
end

# Closed when it is collected, and at the end of the interpreter at the latest; but once.
class Store
  attr_reader :handle, :reading

  def initialize(path)
    options = OPTIONS_CREATE.call
    SET_CREATE.call(options, 1)
    SET_BUFFER.call(options, 64 * 1024)
    @writing = WRITE_CREATE.call
    SET_SYNC.call(@writing, 1)
    @reading = READ_CREATE.call
    @handle, error = call_with_error { |place| OPEN.call(options, path, place) }
    abort error if error
    @open = [@handle]
    ObjectSpace.define_finalizer(self, Store.closer(@open))
  end

  def self.closer(open)
    proc { CLOSE.call(open.pop) unless open.empty? }
  end

  def close
    Store.closer(@open).call
  end

  def put(row)
    key = format("row-%06d", row)
    value = "value #{row} " * 20
    call_with_error { |place| PUT.call(@handle, @writing, key, key.size, value, value.size, place) }[1]
  end
end

# Destroyed as the store is, in no order.
class Iterator
  def initialize(store)
    handle = ITERATE.call(store.handle, store.reading)
    SEEK_FIRST.call(handle)
    ObjectSpace.define_finalizer(self, Iterator.destroyer(handle))
  end

  def self.destroyer(handle)
    proc { DESTROY.call(handle) }
  end
end

# What is left to the end of the interpreter is done by the finalizers.
def be_child(kind, store)
  case kind
  when "killed" then Process.kill(:KILL, Process.pid)
  when "execs" then exec("/bin/true")
  when "uses" then abort "a put of a child was not refused" unless (store.put(0) || "").include?("fork")
  when "closes" then store.close
  end
  exit(0)
end

_library, path, kind, end_, before, after = ARGV
store = Store.new(path)
before.to_i.times { |row| abort "a put failed" if store.put(row) }
iterator = Iterator.new(store)
child = fork { be_child(kind, store) }
status = Process.wait2(child)[1]
expected = kind == "killed" ? status.termsig == 9 : status.success?
abort "the child's status is #{status}" unless expected
after.to_i.times { |row| abort "a put failed" if store.put(before.to_i + row) }
puts "done"
$stdout.flush
Process.kill(:KILL, Process.pid) if end_ == "killed"
abort if iterator.nil?
