/*
 * Tells values: each as one line of JSON in values.jsonl, which says how a user would name it and what it is. The layout
 * stands in gen-cores/README.md.
 */
#ifndef VALUES_H
#define VALUES_H

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static FILE *values_out;
/* The function whose local the next line tells; NULL for globals. */
static const char *values_frame;

static void values_open(void)
{
	values_out = fopen("values.jsonl", "w");
}

static void values_close(void)
{
	fclose(values_out);
}

static void values_head(const char *name)
{
	fprintf(values_out, "{\"print\":\"%s\",", name);
	if (values_frame)
		fprintf(values_out, "\"frame\":\"%s\",", values_frame);
}

static void __attribute__((format(printf, 2, 3))) values_line(const char *name, const char *format, ...)
{
	va_list rest;

	values_head(name);
	va_start(rest, format);
	vfprintf(values_out, format, rest);
	va_end(rest);
	fputs("}\n", values_out);
}

static void values_text(const char *name, const char *key, const char *text, size_t length)
{
	values_head(name);
	fprintf(values_out, "\"%s\":\"", key);
	for (const char *at = text; at < text + length; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(values_out, "\\%c", *at);
		else if ((unsigned char)*at < ' ')
			fprintf(values_out, "\\u%04x", *at);
		else
			fputc(*at, values_out);
	}
	fputs("\"}\n", values_out);
}

static void values_float(const char *name, double value)
{
	if (isnan(value))
		values_line(name, "\"float\":\"nan\"");
	else if (isinf(value))
		values_line(name, "\"float\":\"%s\"", value < 0 ? "-inf" : "inf");
	else
		values_line(name, "\"float\":\"%.17g\"", value);
}

static void values_wide(const char *name, unsigned __int128 value, int negative)
{
	char digits[48], *at = digits + sizeof digits - 1;

	*at = 0;
	if (negative)
		value = -value;
	do
		*--at = (char)('0' + (int)(value % 10));
	while (value /= 10);
	values_line(name, "\"int\":\"%s%s\"", negative ? "-" : "", at);
}

/* A number, whatever its type. */
#define INT(path) values_line(#path, "\"int\":\"%" PRIdMAX "\"", (intmax_t)(path))
#define UINT(path) values_line(#path, "\"int\":\"%" PRIuMAX "\"", (uintmax_t)(path))
#define INT128(path) values_wide(#path, (unsigned __int128)(path), (path) < 0)
#define UINT128(path) values_wide(#path, (path), 0)
#define BOOL(path) values_line(#path, "\"bool\":%s", (path) ? "true" : "false")
/* A character, by its code. */
#define CHAR(path) values_line(#path, "\"char\":%u", (unsigned char)(path))
#define FLOAT(path) values_float(#path, (double)(path))
#define COMPLEX(path)                                                                                                  \
	values_line(#path, "\"complex\":[\"%.17g\",\"%.17g\"]", (double)__real__(path), (double)__imag__(path))
/* A pointer, by where it points to. */
#define PTR(path) values_line(#path, "\"ptr\":\"0x%" PRIxPTR "\"", (uintptr_t)(path))
/* A pointer to characters: what it points to, and the text. */
#define CSTR(path) values_text(#path, "cstr", (path), strlen(path))
/* An array of characters that ends with a NUL. */
#define TEXT(path) values_text(#path, "text", (path), strlen(path))
/* A pointer to a function. */
#define FUNCTION(path, name) values_line(#path, "\"ptr\":\"0x%" PRIxPTR "\",\"symbol\":\"" name "\"", (uintptr_t)(path))
/* An enumeration: the number, and the name that stands for it, "" if there is none. */
#define ENUM(path, name) values_line(#path, "\"enum\":\"%" PRIdMAX "\",\"symbol\":\"%s\"", (intmax_t)(path), name)
/* An array: how many elements. */
#define COUNT(path) values_line(#path, "\"count\":%zu", sizeof(path) / sizeof((path)[0]))
/* A structure or union: its members, in order, as one string of words. */
#define MEMBERS(path, names) values_line(#path, "\"members\":\"%s\"", names)
/* Where it lies. */
#define AT(path) values_line(#path, "\"at\":\"0x%" PRIxPTR "\"", (uintptr_t)&(path))

/* What `::sizeof` and `::offsetof` say. */
#define SIZEOF(type) fprintf(values_out, "{\"sizeof\":\"%s\",\"bytes\":%zu}\n", #type, sizeof(type))
#define OFFSETOF(type, member)                                                                                         \
	fprintf(values_out, "{\"offsetof\":\"%s\",\"member\":\"%s\",\"bytes\":%zu}\n", #type, #member,                 \
		__builtin_offsetof(type, member))

/* The addresses that COMMAND gives to a pipe, one after another by values_address(). */
static int values_addresses;

static void values_command(const char *command)
{
	fprintf(values_out, "{\"command\":\"%s\",\"addresses\":[", command);
	values_addresses = 0;
}

static void values_address(const void *address)
{
	fprintf(values_out, "%s\"0x%" PRIxPTR "\"", values_addresses++ ? "," : "", (uintptr_t)address);
}

static void values_command_end(void)
{
	fputs("]}\n", values_out);
}

#endif
