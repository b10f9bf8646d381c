/*
 * locals: a stack of functions, each of which does something else to its arguments and locals, from `main` to a handler
 * of the signal that `interrupted` gets, in which `dies` dies. Two threads wait meanwhile.
 */
#include "locals.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum color { RED, GREEN, BLUE };

struct pair {
	int low;
	long high;
};
struct box {
	int width, height;
	const char *label;
};
struct large {
	long numbers[5];
	int count;
};

static volatile long sink;
static struct pair kept = {77, -88};

/* What the instruction that dies uses is in registers that nobody saves. */
STAYS static long dies(const long *field, int left, double ratio, unsigned char small)
{
	int sum = left + small;
	float half = (float)ratio / 2;
	long product;

	INT(left), FLOAT(ratio), UINT(small), INT(sum), FLOAT(half), PTR(field);
	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_write();
	product = field[3] * sum;
	sink = product + (long)half + (long)ratio + left + small;
	return product;
}

STAYS static long in_handler(int number, siginfo_t *info)
{
	void *where = info->si_addr;
	long twice = number * 2;

	INT(number), PTR(info), PTR(where), INT(twice);
	return CALL(dies(truth_launder(0), number + 100, 0.625, 7)) + twice;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	truth_gap("signal");
	INT(number), PTR(info), PTR(context);
	sink = CALL(in_handler(number, info));
}

/* The caller of what a signal interrupted: every register counts. */
STAYS static long interrupted(long first, long second, int *bad)
{
	long sum = first + second, difference = first - second;
	int code = 0x1234;

	INT(first), INT(second), PTR(bad), INT(sum), INT(difference), INT(code);
	truth_push(__func__, __FILE__, __LINE__ + 1);
	*(volatile int *)bad = code;
	sink = first + second + sum + difference;
	return sum * difference;
}

/* Variables of the function that are not in its frame. */
STAYS static long elsewhere(int step)
{
	static int calls = 40;
	static __thread long mine = 1000;
	static const char *const words[] = {"zero", "one", "two"};
	const char *word = words[step];
	struct pair *all = &kept;

	calls += step;
	mine -= step;
	INT(calls), INT(mine), INT(step), CSTR(word), CSTR(words[1]), PTR(all), INT(all->low);
	return CALL(interrupted(calls, mine, truth_launder((void *)8))) + calls + (long)mine + strlen(word);
}

STAYS static long count_down(int left, long sum)
{
	long next = sum + left;
	long result;

	locals_inner = left;
	INT(left), INT(sum), INT(next);
	if (left > 0) {
		result = CALL(count_down(left - 1, next));
	} else {
		locals_inner = 0;
		result = CALL(elsewhere(2));
	}
	return result + next;
}

/* Inlined: what a pointer leads to is no object any more. */
INLINED long area(const struct box *box, int scale)
{
	int scaled = box->width * scale;
	const char *label = box->label;

	INT(box->width), INT(box->height), CSTR(label), INT(scale), INT(scaled);
	NOTE_INLINED();
	long inner = count_down(3, 100);
	truth_pop();
	return inner * scaled + box->height;
}

INLINED long boxed(struct box box, int extra)
{
	struct box grown = {box.width + extra, box.height + extra, box.label};

	INT(box.width), INT(box.height), CSTR(box.label), INT(extra), INT(grown.width), INT(grown.height);
	CSTR(grown.label);
	NOTE_INLINED();
	long inner = area(&grown, 3);
	truth_pop();
	return inner + grown.height;
}

STAYS static long boxes(int width, const char *label)
{
	struct box box = {width, width * 2, label};
	long result;

	INT(width), CSTR(label), INT(box.width), INT(box.height), CSTR(box.label);
	truth_push(__func__, __FILE__, __LINE__ + 1);
	result = boxed(box, 5);
	truth_pop();
	return result + box.height;
}

STAYS static long variable_length(int count, int value)
{
	int items[count];
	long last;

	for (int i = 0; i < count; i++)
		items[i] = value * i;
	truth_launder(items);
	INT(count), INT(value), INT(items[0]), INT(items[3]), INT(items[4]);
	last = CALL(boxes(value + items[1], "a label"));
	return last + items[2];
}

/* The innermost of several variables of one name counts. */
STAYS static long shadowed(int value)
{
	long result = value;

	{
		int value = 2;
		result += value;
		{
			long value = result * 3;
			char letter = (char)('a' + result);

			INT(value), CHAR(letter);
			result += CALL(variable_length(6, (int)value));
			result += value + letter;
		}
	}
	return result + value;
}

/* Values that stand nowhere but in what the compiler knows. */
STAYS static long folded(int given)
{
	const int constant = 42;
	const double fraction = 0.75;
	const char *literal = "a literal";
	enum color shade = BLUE;
	_Bool is_so = 1;
	unsigned long long large = 0xfedcba9876543210u;
	int twice = given * 2, unused_later = given + 3;
	struct pair fixed = {11, -12};
	long result;

	INT(constant), FLOAT(fraction), CSTR(literal), ENUM(shade, "BLUE"), BOOL(is_so), UINT(large), INT(twice);
	INT(given), INT(unused_later), INT(fixed.low), INT(fixed.high);
	result = CALL(shadowed(given));
	return result + constant + twice + (long)fraction + literal[0] + shade + is_so + (long)large + fixed.high;
}

/* Structures that are passed in registers, and kept in parts. */
STAYS static long split(struct pair pair, struct large large, struct pair *at)
{
	struct pair swapped = {(int)pair.high, pair.low};
	struct pair summed = {pair.low + at->low, pair.high + at->high};
	long result;

	INT(pair.low), INT(pair.high), INT(swapped.low), INT(swapped.high), INT(summed.low), INT(summed.high);
	INT(large.numbers[0]), INT(large.numbers[4]), INT(large.count), PTR(at);
	result = CALL(folded(summed.low));
	return result + swapped.high + summed.high + large.numbers[2];
}

/* More values live across a call than there are registers that outlive it. */
STAYS static long saved(long a, long b, int c)
{
	long d = a * b, e = a - b, f = d ^ e, g = d + c, h = e * c, i = f - g;
	double x = (double)a / 2, y = (double)b * 1.5;
	struct large large = {{a, b, c, d, e}, 5};
	struct pair pair = {c, d};
	long result;

	INT(a), INT(b), INT(c), INT(d), INT(e), INT(f), INT(g), INT(h), INT(i), FLOAT(x), FLOAT(y);
	result = CALL(split(pair, large, truth_launder(&kept)));
	return result + a + b + c + d + e + f + g + h + i + (long)(x + y);
}

/* Arguments that nobody needs any more when the call is made: only the caller knows what they were. */
STAYS static long clobbered(int first, long second, const char *third, double fourth, unsigned char fifth,
			    short sixth, long seventh, int eighth)
{
	INT(first), INT(second), CSTR(third), FLOAT(fourth), UINT(fifth), INT(sixth), INT(seventh), INT(eighth);
	return CALL(saved(0x1111, 0x22, -3)) + 1;
}

STAYS static void waits(long number, const char *name)
{
	long square = number * number;

	INT(number), CSTR(name), INT(square);
	truth_push(__func__, __FILE__, __LINE__ + 4);
	truth_gap("libc");
	truth_ready(1);
	for (;;)
		pause();
}

static void *run(void *argument)
{
	long number = (long)argument;
	const char *name = number == 1 ? "first" : "second";

	truth_thread("waits");
	PTR(argument), INT(number), CSTR(name);
	CALLV(waits(number + 10, name));
	return 0;
}

static void start_threads(void)
{
	pthread_t thread;

	for (long number = 1; number <= 2; number++)
		pthread_create(&thread, 0, run, (void *)number);
	truth_wait_ready(2);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	long start = argc + 4;

	truth_thread("main");
	locals_open();
	sigaction(SIGSEGV, &action, 0);
	start_threads();
	INT(argc), PTR(argv), INT(start);
	return (int)CALL(clobbered(argc, start * 1000, "third", 2.5, 200, -6, start, 8)) + argc;
}
