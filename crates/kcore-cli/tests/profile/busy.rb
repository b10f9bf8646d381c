# A busy program whose calls only lead from method to method as `busy.rs` lists them.
class Work
  def leaf
    sum = 0
    rand(1..200).times { |number| sum += number % 3 }
    sum
  end

  def gamma
    sum = leaf
    sum
  end

  def delta
    sum = rand(2) == 1 ? gamma : leaf
    sum
  end

  def each
    sum = 0
    [1, 2, 3].map { |_| sum += leaf }
    sum
  end

  def fiber
    body = Fiber.new { Fiber.yield(leaf); leaf }
    body.resume + body.resume
  end

  def alpha
    sum = rand(2) == 1 ? gamma : delta
    sum
  end

  def beta
    sum = case rand(3)
          when 0 then delta
          when 1 then each
          else fiber
          end
    sum
  end

  def root
    sum = rand(2) == 1 ? alpha : beta
    sum
  end
end

puts "runs"
$stdout.flush
work = Work.new
loop { work.root }
