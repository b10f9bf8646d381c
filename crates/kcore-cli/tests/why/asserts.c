/* Fails an assertion of its own, as servers have them. */
#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *text, *file;
	int line;
} failed;

__attribute__((noinline, noreturn)) void fail_assert(const char *estr, const char *file, int line)
{
	failed.text = estr;
	failed.file = file;
	failed.line = line;
	fprintf(stderr, "ASSERTION FAILED %s:%d %s\n", file, line, estr);
	abort();
}

/* What it is told is no assertion. */
__attribute__((noinline, noreturn)) void give_up(const char *why)
{
	fprintf(stderr, "%s\n", why);
	abort();
}

#define must(condition) ((condition) ? (void)0 : fail_assert(#condition, "parts/table.c", 1217))

__attribute__((noinline, noclone)) int grow(int used, int size)
{
	must(used <= size);
	return used * 2;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		give_up(argv[1]);
	return grow(argc * 4, argc);
}
