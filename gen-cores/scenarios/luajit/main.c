/*
 * luajit: a loop in Lua, of which LuaJIT made machine code, reads beyond memory. The unwind information that is registered
 * for that code is there for exceptions alone and describes no frame, and rbp is a number of the loop.
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SIZE 0x4000

/* The part of Lua's interface that is used: its headers need not be installed. */
typedef void *(*new_fn)(void);
typedef void (*open_fn)(void *);
typedef int (*load_fn)(void *, const char *);
typedef void (*push_fn)(void *, double);
typedef int (*call_fn)(void *, int, int, int);

static const char script[] =
	"local ffi = require('ffi')\n"
	"local words = ffi.cast('int32_t*', ffi.cast('uintptr_t', (...)))\n"
	"local sum = 0\n"
	"for index = 0, 1000000 do sum = sum + words[index] % 7 end\n"
	"return sum\n";

static void *function(const char *name)
{
	void *library = dlopen("libluajit-5.1.so.2", RTLD_NOW | RTLD_GLOBAL);
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s in libluajit-5.1.so.2\n", name);
		exit(1);
	}
	return found;
}

FN static int run(void *lua, void *words)
{
	load_fn load = (load_fn)function("luaL_loadstring");
	call_fn call = (call_fn)function("lua_pcall");
	int error = load(lua, script);

	((push_fn)function("lua_pushnumber"))(lua, (double)(uintptr_t)words);
	DIE_IN("libluajit", error += call(lua, 1, 1, 0));
	return error;
}

FN static int interpret(void *words)
{
	void *lua = ((new_fn)function("luaL_newstate"))();

	((open_fn)function("luaL_openlibs"))(lua);
	return CALL(run(lua, words)) + 1;
}

int main(void)
{
	/* Less than the loop asks for may be read. */
	void *words = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(words, SIZE, PROT_READ | PROT_WRITE);
	return CALL(interpret(words));
}
