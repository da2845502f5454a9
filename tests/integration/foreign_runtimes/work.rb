# SPDX-License-Identifier: MIT
# Two threads with blocks, exceptions, regular expressions, fibers (each has a stack of its own), and
# calls of a known depth, until it is ended.
def deeper(left)
  left.zero? ? 'y' * 100 : deeper(left - 1) + 'x'
end

def grouped
  (1..50).map { |i| i.to_s * 3 }.each_slice(3).to_a.flatten.group_by(&:size)
end

def fibers
  fiber = Fiber.new { |i| loop { i = Fiber.yield('z' * (i % 200 + 50)) } }
  30.times { |i| fiber.resume(i) }
end

def replaced
  ('abc def ' * 20).gsub(/(\w+) (\w+)/) { $2 + $1.upcase }
end

def failed
  raise 'over'
rescue StandardError => e
  e.backtrace.size
end

$stdout.sync = true
puts 'ready'
threads = Array.new(2) do
  Thread.new do
    1.step do |i|
      deeper(20)
      grouped
      fibers if (i % 10).zero?
      replaced
      failed if (i % 5).zero?
    end
  end
end
threads.each(&:join)
