/* step: one of 300 libraries; number N calls back with what follows. */

#define PASTE(a, b) a##b
#define NAME(number) PASTE(step_, number)

typedef long (*callback)(int);

long NAME(NUMBER)(callback back, int left)
{
	long result = back(left);

	__asm__ volatile("" ::: "memory");
	return result + NUMBER;
}
