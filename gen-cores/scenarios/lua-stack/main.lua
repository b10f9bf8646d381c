-- Every plain way in which Lua calls Lua, one inside the other, down to a read that never ends: functions that are global,
-- local, upvalues, fields and methods, metamethods, iterators, functions of C, calls in place of their caller, text that
-- was loaded, and coroutines in each other. Beside it coroutines that are suspended, failed, or never began.
local truth = require "truth"

local kept = {}
local count = 42
local load = loadstring or load
local Account = {}
Account.__index = Account

function Account.new(name)
  return setmetatable({ name = name, total = 0 }, Account)
end

function Account:deposit(value, ...)
  self.total = self.total + value
  return (string.gsub("x", "x", function(sign)
    local result = helper(self, sign)
    return result
  end))
end

function helper(account, sign)
  local ok, result = pcall(function()
    return table.concat({ sorted(account) })
  end)
  assert(ok, result)
  return sign
end

function sorted(account)
  local list = { 3, 1, 2 }
  local done = false
  table.sort(list, function(a, b)
    local upper = count
    if not done then
      done = true
      account.of_member(a)
    end
    return a < b
  end)
  return "sorted"
end

local members = setmetatable({}, {
  __index = function(of, key)
    local value = iterated(key)
    return value
  end,
  __add = function(of, other)
    local value = of[other]
    return value
  end,
})

local function of_member(key)
  local value = members + key
  return value
end

function Account.of_member(key)
  local value = of_member(key)
  return value
end

function iterated(key)
  for step in function(from, last) return resumed(last or key) end, 1, nil do
    return step
  end
end

local function in_place(value)
  return deep(3, value)
end

function resumed(key)
  local other = coroutine.wrap(function(first)
    local second = first + 1
    while true do
      local third = in_place(second)
      coroutine.yield(third)
    end
  end)
  truth.outer("other") local result = other(key)
  return result
end

function deep(depth, value)
  if depth == 0 then
    local result = loaded(value)
    return result
  end
  local result = deep(depth - 1, value)
  return result
end

function loaded(value)
  local chunk = load("local given = ...\nlocal result = finish(given)\nreturn result")
  local result = chunk(value)
  return result
end

function finish(value, missing)
  local text, flag, none = "a \"b\"\n\\", true, nil
  local whole, part, big = 7, 2.5, 2 ^ 53
  local list, member = { 1, "two", false, { 4 } }, { name = "x" }
  local odd, empty = { ["not plain"] = 1 }, {}
  -- A terminal that nobody writes to.
  local pipe = assert(io.open("/dev/ptmx", "rb"))
  truth.locals("finish")
  collectgarbage()
  truth.memory(collectgarbage("count"))
  truth.tell("read") local first = pipe:read(1)
  return first
end

-- Objects of a class, whose number is known.
Pair = {}
Pair.__index = Pair
for number = 1, 1000 do kept[#kept + 1] = setmetatable({ number = number, text = "text " .. number }, Pair) end

local function yielding(depth)
  if depth == 0 then
    local again = coroutine.yield(depth)
    return again
  end
  local result = yielding(depth - 1)
  return result
end

local function keep(state, body, ...)
  local made = coroutine.create(body)
  kept[#kept + 1] = made
  if state ~= "created" then
    coroutine.resume(made, ...)
  end
  truth.coroutine(made, state)
end

keep("suspended", function(depth) local result = yielding(depth) return result end, 3)
keep("suspended", function(depth) for each = 1, depth do yielding(each) end end, 2)
keep("created", function() return 1 end)
keep("failed", function() local none = nil local result = none.member return result end)
keep("ended", function() return 1 end)
if _VERSION ~= "Lua 5.1" then
  keep("suspended", function() pcall(function() local result = yielding(1) return result end) end)
end
for number = 1, 1000 do kept[#kept + 1] = { number } end
Account.new("savings"):deposit(7)
