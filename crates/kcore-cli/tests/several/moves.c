/* Three threads wait in idle(). At the first line on standard input, one of them goes on to stuck(), two others are
 * made that go there too, and the one in starting() ends. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int pipes[2][2];

static __attribute__((noinline)) void idle(void)
{
	char byte;

	if (read(pipes[0][0], &byte, 1) != 1)
		puts("idle");
	__asm__ volatile("");
}

static __attribute__((noinline)) void starting(void)
{
	char byte;

	if (read(pipes[1][0], &byte, 1) != 1)
		puts("starting");
	__asm__ volatile("");
}

static __attribute__((noinline)) void stuck(void)
{
	for (;;)
		pause();
}

static void *work(void *first)
{
	if (first)
		idle();
	stuck();
	return NULL;
}

static void *start(void *nothing)
{
	starting();
	return nothing;
}

int main(void)
{
	pthread_t threads[3], starter, more;
	int i;

	if (pipe(pipes[0]) || pipe(pipes[1]))
		return 1;
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, pipes);
	pthread_create(&starter, NULL, start, NULL);
	sleep(1);
	puts("begun");
	fflush(stdout);
	getchar();
	if (write(pipes[0][1], "x", 1) != 1 || write(pipes[1][1], "x", 1) != 1)
		return 1;
	pthread_join(starter, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&more, NULL, work, NULL);
	sleep(1);
	puts("moved");
	fflush(stdout);
	getchar();
	getchar();
	return 0;
}
