/* The small part of a program of 100 MB: it calls into the generated functions, each of which calls back. */

using Callback = long (*)(long);

extern "C" {
extern long (*const generated[])(Callback, long);
extern const long generated_count;
}

static volatile long sink;

static long __attribute__((noinline)) crash(const long *field)
{
	return field[1];
}

static long go_on(long left)
{
	if (left == 0)
		return crash(nullptr);
	const long result = generated[left * 7919 % generated_count](go_on, left - 1);
	__asm__ volatile("" ::: "memory");
	return result + left;
}

int main()
{
	sink = go_on(8);
	return 0;
}
