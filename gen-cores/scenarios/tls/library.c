/* library: a thread-local variable, and a function that tells where the caller's lies. */

#define JOIN(a, b) a##b
#define NAME(name, suffix) JOIN(name, suffix)

/* So that the variable is not the first of its block. */
static __thread char before[100];
__thread int NAME(LIBRARY, _value) = 42;

int *NAME(LIBRARY, _address)(void)
{
	before[1] = 1;
	return &NAME(LIBRARY, _value);
}
