# The account of a Ruby program: what it says of its own stacks before it dies.
#
# The account is a file of JSON Lines, named by $KCORE_TRUTH. Stacks are those of Thread#backtrace. Before 3.4 they have
# methods without their classes; those are then told by who owns a method of the name.

module Truth
  GAP = '{"gap":"runtime"}'
  # Methods of Ruby's own, by name: the class that owns what the programs call.
  OWN = {
    "each" => "Array#each", "map" => "Array#map", "each_pair" => "Hash#each_pair", "sleep" => "Kernel#sleep",
    "new" => "Class#new", "eval" => "Kernel#eval", "sort_by" => "Enumerable#sort_by", "kill" => "Process.kill",
    "each_line" => "StringIO#each_line", "read" => "IO#read", "resume" => "Fiber#resume", "yield" => "Fiber.yield",
    "synchronize" => "#{Mutex.name}#synchronize", "pop" => "#{Queue.name}#pop", "times" => "Integer#times",
    "send" => "Kernel#send", "join" => "Thread#join", "raise" => "Kernel#raise", "loop" => "Kernel#loop",
  }

  @tids = {}
  @methods = {}
  @plain = []

  class << self
    # The number of the calling thread: Thread#native_thread_id is new in 3.1.
    def here
      verbose, $VERBOSE = $VERBOSE, nil
      @tids[Thread.current] = syscall(186)
      $VERBOSE = verbose
    end

    # Remembers the methods of the program's own classes.
    def know(*classes)
      classes.each do |owner|
        [[owner, "#"], [owner.singleton_class, "."]].each do |all, sign|
          names = all.instance_methods(false) + all.private_instance_methods(false)
          names.each { |name| @methods[name.to_s] ||= owner.name + sign + name.to_s }
        end
      end
    end

    # Remembers what has no class in its name.
    def plain(*labels)
      @plain += labels
    end

    def text(string)
      '"' + string.gsub(/["\\\n]/) { |sign| sign == "\n" ? '\n' : "\\" + sign } + '"'
    end

    def qualified(label)
      return label if RUBY_VERSION >= "3.4" || @plain.include?(label)
      label.sub(/[^ ]+\z/) { |name| @methods[name] || OWN[name] || name }
    end

    def call(line)
      script, number, label = line.match(/\A(.*):(\d+):in [`'](.*)'\z/).captures
      name, file = text(qualified(label)), text(script.split("/").last)
      %({"function":#{name},"match":"exact","file":#{file},"line":#{number},"script":#{text(script)}})
    end

    def frames(backtrace)
      ([GAP] + backtrace.flat_map { |line| [call(line), GAP] }).join(",")
    end

    def thread(thread, backtrace, crashed)
      role = text(thread.name || "main")
      told = %("tid":#{@tids[thread]},"role":#{role},"crashed":#{crashed},"end":"outermost")
      append(%({"thread":{#{told},"frames":[#{frames(backtrace)}]}}))
    end

    def append(line)
      File.open(ENV["KCORE_TRUTH"] || "/dev/stdout", "a") { |account| account.puts(line) }
    end

    # Tells all stacks; what follows in the line of the caller is where this thread stops, in a call of `last`.
    def tell(last)
      backtrace = caller(1)
      backtrace.unshift(backtrace.first.sub(/in ([`'])(.*)'\z/) { "in #{$1}#{last}'" })
      thread(Thread.current, backtrace, true)
      (Thread.list - [Thread.current]).each { |other| thread(other, other.backtrace, false) }
      append(%({"pid":#{$$}}))
      append(%({"argv":[#{File.read("/proc/self/cmdline").split("\0").map { |word| text(word) }.join(",")}]}))
      append(%({"fact":{"thread_count":#{Dir.children("/proc/self/task").size}}}))
      append('{"done":true}')
    end

    # Tells what is no stack: a line of a file beside the core.
    def note(file, line)
      path = File.join(File.dirname(ENV["KCORE_TRUTH"] || "."), file)
      File.open(path, "a") { |told| told.puts(line) }
    end

    # Tells a suspended fiber: where its object lies, and its frames where Ruby can say them.
    def fiber(fiber, state)
      at = fiber.inspect[/0x0*(\h+)/, 1]
      told = fiber.respond_to?(:backtrace) && state != "created" ? fiber.backtrace : nil
      frames = told ? "[#{told.map { |line| call(line) }.join(",")}]" : "null"
      note("fibers.jsonl", %({"object":"0x#{at}","state":"#{state}","frames":#{frames}}))
    end

    # Tells the local variables of the caller as `inspect` has them.
    def locals(function, binding)
      names = binding.local_variables.select { |name| plain?(binding.local_variable_get(name)) }
      told = names.map { |name| "#{text(name.to_s)}:#{text(binding.local_variable_get(name).inspect)}" }
      note("locals.jsonl", %({"function":#{text(function)},"locals":{#{told.join(",")}}}))
    end

    # Whether `inspect` of a value says all of it, and no address.
    def plain?(value)
      case value
      when Integer, Float, String, Symbol, Complex, Rational, Regexp, nil, true, false then true
      when Range then plain?(value.begin) && plain?(value.end)
      when Struct then value.all? { |each| plain?(each) }
      when Array then value.all? { |each| plain?(each) }
      when Hash then value.all? { |pair| pair.all? { |each| plain?(each) } }
      when Module then value.inspect !~ /0x/
      else defined?(Data) && Data === value && value.to_h.values.all? { |each| plain?(each) }
      end
    end

    def counts(*classes)
      classes.each do |owner|
        note("counts.jsonl", %({"class":#{text(owner.name)},"count":#{ObjectSpace.each_object(owner).count}}))
      end
    end
  end
end
