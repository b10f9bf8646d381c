/* tail-call: outer calls middle calls inner, each as its last act; inner dies. */
#include "truth.h"

/* Not noipa, which forbids tail calls; they are kept apart by noinline and volatile arguments. */
#define APART __attribute__((noinline, noclone))

/* With tail calls the frame is not there, without it is an ordinary one. */
#ifdef __OPTIMIZE__
#define TAIL() truth_mark("tail_call")
#else
#define TAIL() ((void)0)
#endif

static volatile long sink;

APART static long inner(const long *field)
{
	DIE(sink = field[1]);
	return sink;
}

APART static long middle(const long *field)
{
	sink = 2;
	truth_push(__func__, __FILE__, __LINE__ + 2);
	TAIL();
	return inner(field);
}

APART static long outer(const long *field)
{
	sink = 1;
	truth_push(__func__, __FILE__, __LINE__ + 2);
	TAIL();
	return middle(field);
}

FN static long run(const long *field)
{
	return CALL(outer(field)) + 1;
}

int main(void)
{
	return (int)CALL(run(truth_launder(0)));
}
