/*
 * dlopen: main → plug_run in libplug.so → on_plug in the program, which dies. Before, the library's file is deleted
 * (-DDELETE) or another build is moved in its place (-DREPLACE).
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef long (*callback)(const long *);
typedef long (*plug_run)(callback, const long *);

static volatile long sink;

FN static long on_plug(const long *field)
{
	DIE(sink = field[1]);
	return sink;
}

/* After this the library's file is not what the process has mapped. */
static void spoil(void)
{
#if defined DELETE
	unlink("libplug.so");
#elif defined REPLACE
	rename("libplug-next.so", "libplug.so");
#endif
}

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : 0;

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void note_plug(int line)
{
	truth_push("plug_run", "plug.c", line);
	truth_module("libplug.so");
#if defined DELETE
	truth_mark("deleted");
#elif defined REPLACE
	truth_mark("replaced");
#endif
}

FN static long use_plug(void)
{
	void *library = dlopen("./libplug.so", RTLD_NOW);
	plug_run run = (plug_run)symbol(library, "plug_run");
	long result;

	spoil();
	truth_push(__func__, __FILE__, __LINE__ + 2);
	note_plug(*(int *)symbol(library, "plug_line"));
	result = run(on_plug, truth_launder(0));
	return result + 1;
}

int main(void)
{
	return (int)CALL(use_plug());
}
