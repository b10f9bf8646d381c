/*
 * pcre-jit: a regular expression runs off the end of its subject, in code that PCRE2's compiler made. That has no unwind
 * information, and no frame pointer.
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE 0x4000

/* The part of PCRE2's interface that is used: its headers need not be installed. */
enum { NO_UTF_CHECK = 0x40000000, JIT_COMPLETE = 1 };
typedef void *(*compile_fn)(const char *, size_t, uint32_t, int *, size_t *, void *);
typedef int (*jit_compile_fn)(void *, uint32_t);
typedef void *(*match_data_fn)(void *, void *);
typedef int (*match_fn)(void *, const char *, size_t, size_t, uint32_t, void *, void *);

static void *function(const char *name)
{
	void *library = dlopen("libpcre2-8.so.0", RTLD_NOW);
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s in libpcre2-8.so.0\n", name);
		exit(1);
	}
	return found;
}

FN static int match(const char *subject, size_t size)
{
	static const char pattern[] = "(?:a|bc)+?d";
	int error = 0;
	size_t offset = 0;
	compile_fn compile = (compile_fn)function("pcre2_compile_8");
	void *code = compile(pattern, sizeof pattern - 1, 0, &error, &offset, NULL);
	void *data = ((match_data_fn)function("pcre2_match_data_create_from_pattern_8"))(code, NULL);
	match_fn run = (match_fn)function("pcre2_jit_match_8");

	if (((jit_compile_fn)function("pcre2_jit_compile_8"))(code, JIT_COMPLETE) != 0)
		exit(1);
	DIE_IN("libpcre2", error += run(code, subject, size, 0, NO_UTF_CHECK, data, NULL));
	return error;
}

FN static int search(const char *subject, size_t size)
{
	return CALL(match(subject, size)) + 1;
}

int main(void)
{
	/* Twice as much is asked for as may be read. */
	char *subject = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(subject, SIZE, PROT_READ | PROT_WRITE);
	memset(subject, 'a', SIZE);
	return CALL(search(subject, 2 * SIZE));
}
