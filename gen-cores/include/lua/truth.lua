-- The account of a Lua program: what it says of its own stacks before it dies.
--
-- The account is a file of JSON Lines, named by $KCORE_TRUTH. Stacks are those of debug.traceback, whose names lose the
-- word `function` and the quotes where they are names; what stands for calls that are gone is left out.

local truth = {}
local GAP = '{"gap":"runtime"}'
local before_53 = _VERSION == "Lua 5.1" or _VERSION == "Lua 5.2"

local function text(string)
  return '"' .. string:gsub('[%c"\\]', function(sign)
    return string.format("\\u%04x", sign:byte())
  end) .. '"'
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local all = file:read("*a")
  file:close()
  return all
end

local function append(path, line)
  local account = assert(io.open(path, "a"))
  account:write(line, "\n")
  account:close()
end

local function account()
  return os.getenv("KCORE_TRUTH") or "/dev/stdout"
end

-- Tells what is no stack: a line of a file beside the core.
local function note(file, line)
  append(account():gsub("[^/]*$", "") .. file, line)
end

-- A line of a traceback as a frame; nothing of what is no call.
local function call(line)
  local place, name = line:match("^\t(.-): in (.*)$")
  if not place then
    place, name = line:match("^\t(.-): (%?)$")
  end
  if not place then
    -- Functions without names, as LuaJIT has them.
    place, name = line:match("^\t%[builtin#%d+%]: at"), line:match("builtin#%d+")
    if not place and line:match("^\t%[C%]: at") then place, name = "[C]", "?" end
  end
  if not place or place == "(tail call)" then return nil end
  name = name:match("^function '(.*)'$") or name
  local file, number = place:match("^(.*):(%d+)$")
  if not file then
    return '{"function":' .. text(name) .. ',"match":"exact"}'
  end
  local script = file:match("[^/]*$")
  return '{"function":' .. text(name) .. ',"match":"exact","file":' .. text(script) .. ',"line":' .. number .. "}"
end

local function calls(traceback)
  local all = {}
  for line in traceback:gmatch("[^\n]+") do
    all[#all + 1] = call(line)
  end
  return all
end

-- Remembers the stack of the main thread; what follows in the line of the caller is a call of the variable `last`.
local outer = {}
function truth.outer(last)
  local name = before_53 and last or "local '" .. last .. "'"
  outer = calls(debug.traceback("", 2))
  table.insert(outer, 1, '{"function":' .. text(name) .. ',"match":"exact"}')
end

-- Tells the stack; what follows in the line of the caller is where this thread stops, in a call of the method `last` or, if
-- none is given, of no function of Lua's.
function truth.tell(last)
  local all = calls(debug.traceback("", 2))
  for _, frame in ipairs(outer) do all[#all + 1] = frame end
  if last then
    local name = before_53 and last or "method '" .. last .. "'"
    table.insert(all, 1, '{"function":' .. text(name) .. ',"match":"exact"}')
  end
  local pid = read("/proc/self/stat"):match("^%d+")
  local frames = GAP .. "," .. table.concat(all, "," .. GAP .. ",") .. "," .. GAP
  local path = account()
  append(path, '{"thread":{"tid":' .. pid .. ',"role":"main","crashed":true,"end":"outermost","frames":[' .. frames .. "]}}")
  append(path, '{"pid":' .. pid .. "}")
  local words = {}
  for word in read("/proc/self/cmdline"):gmatch("[^%z]+") do words[#words + 1] = text(word) end
  append(path, '{"argv":[' .. table.concat(words, ",") .. "]}")
  append(path, '{"fact":{"thread_count":1}}')
  append(path, '{"done":true}')
end

-- A value as a program would write it.
local function spell(value)
  if type(value) == "string" then
    local escapes = { ["\n"] = "\\n", ['"'] = '\\"', ["\\"] = "\\\\" }
    return '"' .. value:gsub('[\n"\\]', escapes) .. '"'
  elseif type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for index, element in ipairs(value) do parts[index] = spell(element) end
  for key, member in pairs(value) do
    if type(key) == "string" then
      key = key:match("^%a+$") or '["' .. key .. '"]'
      parts[#parts + 1] = key .. " = " .. spell(member)
    end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Tells the variables of the caller that can be spelled.
function truth.locals(name)
  local told, index = {}, 1
  while true do
    local variable, value = debug.getlocal(2, index)
    if not variable then break end
    local kind = type(value)
    if kind ~= "userdata" and kind ~= "function" and variable:sub(1, 1) ~= "(" then
      told[#told + 1] = text(variable) .. ":" .. text(spell(value))
    end
    index = index + 1
  end
  note("locals.jsonl", '{"function":' .. text(name) .. ',"locals":{' .. table.concat(told, ",") .. "}}")
end

-- Tells how many kilobytes Lua uses.
function truth.memory(kilobytes)
  note("memory.jsonl", '{"bytes":' .. string.format("%.0f", kilobytes * 1024) .. "}")
end

-- Tells a coroutine: where it lies, what it does, and its frames.
function truth.coroutine(made, state)
  local at = tostring(made):match("0x%x+")
  local frames = table.concat(calls(debug.traceback(made)), ",")
  note("coroutines.jsonl", '{"at":' .. text(at) .. ',"state":' .. text(state) .. ',"frames":[' .. frames .. "]}")
end

return truth
