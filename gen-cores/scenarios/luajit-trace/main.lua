-- A loop that LuaJIT compiled, down to a read that never ends: the machine code of its trace calls C. Around it stand calls
-- that no trace has.
local ffi = require "ffi"
local truth = require "truth"

ffi.cdef [[
int open(const char *path, int flags);
long read(int file, void *buffer, unsigned long size);
]]

-- What is read at once many times, and a terminal that nobody writes to.
local zero, terminal = ffi.C.open("/dev/zero", 0), ffi.C.open("/dev/ptmx", 0)
local buffer, files = ffi.new("char[8]"), {}
for round = 1, 10000 do files[round] = round < 10000 and zero or terminal end

local function reading(rounds)
  local total = 0
  truth.tell() for round = 1, rounds do
    total = total + tonumber(ffi.C.read(files[round], buffer, 1))
  end
  return total
end

local function around(depth)
  if depth == 0 then
    local result = reading(10000)
    return result
  end
  local result = around(depth - 1)
  return result
end

local ok, result = pcall(around, 3)
