-- A busy program whose calls only lead from function to function as `busy.rs` lists them.
local random = math.random

function leaf()
  local sum = 0
  for number = 1, random(200) do sum = sum + number % 3 end
  return sum
end

function gamma() local sum = leaf() return sum end

function delta()
  local sum = random(2) == 1 and gamma() or leaf()
  return sum
end

function each()
  local sum = 0
  string.gsub("abc", "%a", function() local more = leaf() sum = sum + more end)
  return sum
end

function fiber()
  local body = coroutine.wrap(function() coroutine.yield(leaf()) local last = leaf() return last end)
  return body() + body()
end

function alpha()
  local sum = random(2) == 1 and gamma() or delta()
  return sum
end

function beta()
  local choice, sum = random(3), nil
  if choice == 1 then sum = delta() elseif choice == 2 then sum = each() else sum = fiber() end
  return sum
end

function root()
  local sum = random(2) == 1 and alpha() or beta()
  return sum
end

io.write("runs\n")
io.flush()
while true do root() end
