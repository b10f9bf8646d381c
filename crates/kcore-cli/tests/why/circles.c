/* Threads that wait for each other's mutexes whose owners inherit priority, or for their own one. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone))

static pthread_mutex_t first, second;
static pthread_barrier_t both;

FUNCTION void lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	__asm__ volatile("");
}

FUNCTION void *take_second(void *none)
{
	lock(&first);
	pthread_barrier_wait(&both);
	lock(&second);
	return none;
}

FUNCTION void *take_first(void *none)
{
	lock(&second);
	pthread_barrier_wait(&both);
	lock(&first);
	return none;
}

/* One that is only slow: nobody waits for who waits. */
FUNCTION void *hold(void *none)
{
	lock(&first);
	pthread_barrier_wait(&both);
	getchar();
	return none;
}

FUNCTION void *take_held(void *none)
{
	pthread_barrier_wait(&both);
	lock(&first);
	return none;
}

static void run(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	puts("begun");
	fflush(stdout);
	pthread_join(threads[0], NULL);
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	pthread_mutexattr_t inherits;

	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&first, &inherits);
	pthread_mutex_init(&second, &inherits);
	pthread_barrier_init(&both, NULL, 2);
	if (!strcmp(bug, "circle"))
		run(take_second, take_first);
	if (!strcmp(bug, "held"))
		run(hold, take_held);
	lock(&first);
	puts("begun");
	fflush(stdout);
	lock(&first);
	return 0;
}
