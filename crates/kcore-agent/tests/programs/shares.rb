# Spends a processor's time in known shares, in methods, a block and a fiber; a thread begins later.

def clock = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

def spend(seconds)
  over = clock + seconds
  nil while clock < over
end

class Work
  def spend_seventy = spend(0.07)
  def spend_twenty = [1].each { spend(0.02) }
  def spend_ten = Fiber.new { spend(0.01) }.resume
end

def late_work = loop { spend(0.01); sleep 0.03 }

$stdout.sync = true
puts 'ready'
begun = Time.now
late = nil
work = Work.new
loop do
  work.spend_seventy
  work.spend_twenty
  work.spend_ten
  late ||= Thread.new { late_work } if Time.now - begun > 3
end
