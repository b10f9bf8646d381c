/* A script with tables, closures and a coroutine. A function of C that it calls stops the program. */
#include <stdio.h>
#include <stdlib.h>
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static int stop(lua_State *state)
{
    if (lua_gettop(state) > 1)
        abort();
    return 0;
}

static const char script[] =
    "local queue = setmetatable({}, {__index = table, __name = 'queue'})\n"
    "for i = 1, 50 do queue:insert({id = i, name = 'item ' .. i, half = i / 2}) end\n"
    "local function worker(depth, ...)\n"
    "  if depth == 0 then stop(queue, ..., string.rep('x', 100)) end\n"
    "  for item in coroutine.wrap(function() for _, it in ipairs(queue) do coroutine.yield(it) end end) do\n"
    "    if item.id == depth then worker(depth - 1, item.name, ...) end\n"
    "  end\n"
    "end\n"
    "table.sort({5, 3, 1}, function(a, b) return a < b end)\n"
    "print(pcall(string.gsub, 'hello world', '%w+', function(w) coroutine.wrap(worker)(4, w) end))\n";

int main(void)
{
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    lua_register(state, "stop", stop);
    if (luaL_dostring(state, script))
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
    return 1;
}
