# Every plain way in which Ruby calls Ruby, one inside the other, down to Process.kill: methods, blocks, methods of C,
# of an extension, eval, define_method, rescue and ensure. Beside it threads that wait for a lock, a queue, a pipe and a
# time, one that spins, one that runs a fiber, and fibers that are suspended, never began, or resumed another.
require_relative "truth"
require "stringio"

Encoding.default_external = Encoding::UTF_8

READY = []
KEPT = []
NEVER = Mutex.new
QUEUE = Queue.new
PIPE = IO.pipe

module Shop
  class Item
    def initialize(number)
      @number = number
      @name = "item #{number}"
      @tags = [:new, number]
    end
  end

  Point = Struct.new(:x, :y)
  Wide = Struct.new(:a, :b, :c, :d, :e)
  Named = Struct.new(:key, keyword_init: true)
  Fact = defined?(Data) && Data.respond_to?(:define) ? Data.define(:name, :point) : Point

  class Failure < StandardError
  end

  class Account
    def initialize(name, &block)
      @name = name
      @hook = block
    end

    def self.open(name)
      new(name) { |number, other = 2| check(number + other) }
    end

    def run(list)
      list.each do |item|
        [1].map { |each| @hook.call(item + each) }
      end
    end

    def self.check(value)
      { a: value }.each_pair { |key, held| Helper.new.deep(3, key, held) }
    end
  end

  class Helper
    def deep(count, key, value, *rest, opt: "größe", **more, &block)
      pi, nothing, small, big = 3.25, nil, -7, 3**80
      table = { "a" => 1, :b => [1, 2.5, nil], 3 => "x" * 30, nil => { true => false } }
      wide = (1..12).map { |each| [each, each.to_s] }.to_h
      text, long = "a \"b\" \#{c}\n\e", "0123456789" * 5
      words = [:plain, :"not plain", :ask?, :[]=, String, Shop]
      point, wide_one = Point.new(1, [2, nil]), Wide.new(1, "b", :c, 4.5, Point.new(nil, nil))
      keyed, bare, fact = Named.new(key: 3), Struct.new(:q).new(4), Fact.new("n", point)
      ranges = [1..2, 1...2, "a".."b", (1..nil), Range.new(nil, 3), Range.new(nil, nil)]
      pairs = [Complex(1, -2), Complex(0.5, 3), Rational(-1, 3), { Rational(2, 7) => 3**70 }]
      patterns = [/a\/b"#{1}/mix, /^größe$/, %r{a/b\\/}, /\n x/x]
      bytes = ["\xff\xfea\u00e9", "\xff\xc3\xa9\0\e\"".b, "plain".b, "ab\0\x7f", "\x00\xd8".force_encoding("UTF-16LE")]
      others = ["h\0i\0\x85\0".force_encoding("UTF-16LE"), "\0\0\0h".force_encoding("UTF-32BE"), "\xc6\xfca".force_encoding("EUC-JP"), "\x93\xfa\xb1".force_encoding("Shift_JIS")]
      metaclasses = [Helper.singleton_class, Class, Comparable]
      Truth.locals("Shop::Helper#deep", binding) if count == 0
      count == 0 ? finish(key, value) : deep(count - 1, key, value, 1, 2.5, opt: opt, also: :sym)
    end

    def finish(key, value)
      dynamic = Class.new(Helper) do
        define_method(:defined) { |from| StringIO.new("line\n").each_line { |line| passed(line) { |text| from.handled(text, key) } } }
      end
      dynamic.new.defined(self)
    end

    def passed(line)
      yield line.upcase
    end

    def handled(text, key)
      raise Failure, "the inner one"
    rescue Failure
      begin
        raise ArgumentError, "the outer one"
      rescue ArgumentError
        begin
          Tail.last(text, key)
        ensure
          nil
        end
      end
    end
  end

  module Tail
    def self.last(text, key)
      eval("\n\n[3].sort_by { |number| Shop::Tail.stop(number) }", binding, "made-up.rb", 1)
    end

    def self.stop(number)
      Truth.tell("Process.kill"); Process.kill(:ABRT, $$)
    end
  end
end

def in_sleep(seconds)
  READY << seconds
  sleep(seconds)
end

def in_lock
  READY << 1
  NEVER.synchronize { 1 }
end

def in_queue
  READY << 2
  QUEUE.pop
end

def in_pipe
  READY << 3
  PIPE[0].read
end

def spinning
  READY << 4
  count = 0
  count += 1 while true
end

def in_fiber
  inner = Fiber.new { waiting_inside }
  inner.resume
end

def waiting_inside
  in_sleep(1001)
end

def suspended(depth)
  depth == 0 ? Fiber.yield(depth) : suspended(depth - 1)
end

def start(function, *arguments)
  thread = Thread.new do
    Truth.here
    send(function, *arguments)
  end
  thread.name = function.to_s
end

if ARGV.include?("wait")
  def (Shop::Tail).stop(number)
    Truth.tell("Kernel#sleep"); sleep
  end
end

Signal.trap(:ABRT, "SYSTEM_DEFAULT")
Truth.here
Truth.know(Object, Shop::Account, Shop::Helper, Shop::Tail)
# Blocks that are methods of a class without a name.
Truth.plain(*(2..4).map { |count| "block (#{count} levels) in finish" })
NEVER.lock
start(:in_sleep, 1000)
[:in_lock, :in_queue, :in_pipe, :spinning, :in_fiber].each { |function| start(function) }
KEPT << Fiber.new { suspended(3) } << Fiber.new { [4].each { |each| suspended(each) } }
KEPT.each(&:resume)
KEPT.each { |fiber| Truth.fiber(fiber, "suspended") }
KEPT << Fiber.new { suspended(1) }
Truth.fiber(KEPT.last, "created")
KEPT << (1..1234).map { |number| Shop::Item.new(number) }
sleep(0.01) while READY.size < 6
sleep(0.2)
GC.start
Truth.counts(Shop::Item, Shop::Helper, Shop::Account, Thread, Queue)
Shop::Account.open("savings").run([10])
