# Ractors that wait for a message, that spin, and that have threads of their own.
require_relative "truth"

def receiving(depth)
  depth == 0 ? Ractor.receive : receiving(depth - 1)
end

def spinning(depth)
  return spinning(depth - 1) if depth > 0
  count = 0
  count += 1 while true
end

def joining
  inner = Thread.new { sleep }
  inner.name = "inner"
  inner.join
end

$VERBOSE = nil
KEPT = [Ractor.new { receiving(3) }, Ractor.new { spinning(2) }, Ractor.new { joining }]
Signal.trap(:ABRT, "SYSTEM_DEFAULT")
Truth.here
Truth.know(Object)
sleep(0.5)
Truth.tell("Process.kill"); Process.kill(:ABRT, $$)
