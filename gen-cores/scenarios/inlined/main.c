/* inlined: five functions inlined into one another, and into `outer`, which has the only frame. */
#include "truth.h"

static volatile long sink;

/* Notes an inlined function's call in the next line. */
#define NOTE_INLINED() (truth_push(__func__, __FILE__, __LINE__ + 1), truth_inlined(1))

INLINED void level5(const long *field)
{
	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_inlined(1);
	truth_write();
	sink = field[1];
}

INLINED void level4(const long *field)
{
	NOTE_INLINED();
	level5(field);
	sink = 4;
}

INLINED void level3(const long *field)
{
	NOTE_INLINED();
	level4(field);
	sink = 3;
}

INLINED void level2(const long *field)
{
	NOTE_INLINED();
	level3(field);
	sink = 2;
}

INLINED void level1(const long *field)
{
	NOTE_INLINED();
	level2(field);
	sink = 1;
}

FN static long outer(const long *field)
{
	truth_push(__func__, __FILE__, __LINE__ + 1);
	level1(field);
	return sink;
}

int main(void)
{
	return (int)CALL(outer(truth_launder(0)));
}
