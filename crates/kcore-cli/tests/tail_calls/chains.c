/* Functions that end by tail calls, one of which dies. The argument says which way leads to it; each passes its own
   argument on as arithmetic that the test knows. */
#include <stdlib.h>

#define APART __attribute__((noinline))

typedef int function(int);

static volatile int sink, one = 1;
static volatile int *volatile nowhere;
static function *volatile pointer;

/* Leaves nothing in the registers of arguments. */
APART static void clobber(int a, int b, int c)
{
	sink = a + b + c;
	__asm__ volatile("" ::: "rdi", "rsi", "rdx");
}

APART int dies(int x)
{
	clobber(7, 8, 9);
	return *nowhere;
}

APART int last(int x) { sink = x; return dies(x + 1); }
APART int middle(int x) { sink = x; return last(x * 2); }

APART int left(int x) { sink = x; return dies(x + 3); }
APART int right(int x) { sink = x; return dies(x + 4); }
APART int forked(int x)
{
	if (x > one)
		return left(x);
	sink--;
	return right(x);
}
APART int before(int x) { sink = 4; return forked(x + 1); }

APART int pong(int x);
APART int ping(int x)
{
	sink++;
	if (x > one + 20)
		return dies(x);
	return pong(x + 7);
}
APART int pong(int x) { sink--; return ping(x + 5); }
APART int loops(int x) { sink = 3; return ping(x); }

APART int wild(int x) { sink = 8; return pointer(x + 2); }
APART int to_wild(int x) { sink = 8; return wild(x + 2); }

/* May jump anywhere before it dies. */
APART int may_jump(int x)
{
	sink = x;
	if (one > 5) {
		function *elsewhere = pointer;
		sink++;
		return elsewhere(x);
	}
	return dies(x);
}

int main(int argc, char **argv)
{
	int result;
	pointer = middle;
	switch (atoi(argv[1])) {
	case 0: result = middle(argc + 19); break;
	case 1: result = before(argc + 29); break;
	case 2: result = loops(argc); break;
	case 3: result = to_wild(argc); break;
	case 4: result = dies(77); break;
	default: result = may_jump(argc); break;
	}
	return sink = result;
}
