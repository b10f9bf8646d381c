/*
 * Tells arguments and locals: each as one line of JSON in values.jsonl, which says how a user would name it, of which
 * frame it is, and what it is. The layout stands in gen-cores/README.md. Values alone are handed over: a variable whose
 * address is taken would be kept in memory.
 */
#ifndef LOCALS_H
#define LOCALS_H

#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int locals_out;
/* Which of several frames of a function is told: so many are called by it, in the end. */
static __thread int locals_inner;

static inline void locals_open(void)
{
	locals_out = open("values.jsonl", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
}

#define LOCALS_LINE(form, ...)                                                                                         \
	dprintf(locals_out, "{\"print\":\"%s\",\"frame\":\"%s\",\"inner\":%d,\"tid\":%ld," form "}\n", path, function, \
		locals_inner, syscall(SYS_gettid), __VA_ARGS__)

FN static void locals_int(const char *function, const char *path, intmax_t value)
{
	LOCALS_LINE("\"int\":\"%" PRIdMAX "\"", value);
}

FN static void locals_uint(const char *function, const char *path, uintmax_t value)
{
	LOCALS_LINE("\"int\":\"%" PRIuMAX "\"", value);
}

FN static void locals_float(const char *function, const char *path, double value)
{
	LOCALS_LINE("\"float\":\"%.17g\"", value);
}

FN static void locals_ptr(const char *function, const char *path, uintptr_t value)
{
	LOCALS_LINE("\"ptr\":\"0x%" PRIxPTR "\"", value);
}

FN static void locals_cstr(const char *function, const char *path, const char *value)
{
	LOCALS_LINE("\"cstr\":\"%s\"", value);
}

FN static void locals_char(const char *function, const char *path, unsigned char value)
{
	LOCALS_LINE("\"char\":%u", value);
}

FN static void locals_bool(const char *function, const char *path, int value)
{
	LOCALS_LINE("\"bool\":%s", value ? "true" : "false");
}

FN static void locals_enum(const char *function, const char *path, int value, const char *name)
{
	LOCALS_LINE("\"enum\":\"%d\",\"symbol\":\"%s\"", value, name);
}

/* The value of what an expression names, of the function that tells it. */
#define INT(path) locals_int(__func__, #path, (path))
#define UINT(path) locals_uint(__func__, #path, (path))
#define FLOAT(path) locals_float(__func__, #path, (path))
#define PTR(path) locals_ptr(__func__, #path, (uintptr_t)(path))
#define CSTR(path) locals_cstr(__func__, #path, (path))
#define CHAR(path) locals_char(__func__, #path, (unsigned char)(path))
#define BOOL(path) locals_bool(__func__, #path, (path))
#define ENUM(path, name) locals_enum(__func__, #path, (path), name)

/* A function that stays one, of which callers may be told what becomes of its arguments. */
#define STAYS __attribute__((noinline)) FN
/* Notes the call in the next line, of a function that is inlined. */
#define NOTE_INLINED() (truth_push(__func__, __FILE__, __LINE__ + 1), truth_inlined(1))

#endif
