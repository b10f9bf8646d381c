/*
 * signal-again-other: the handler of a fault sends the signal to the whole process, and stays: another thread takes it
 * and dies of it.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int seen;

static void on_fault(int number, siginfo_t *info, void *context)
{
	signal(number, SIG_DFL);
	kill(getpid(), number);
	for (;;)
		pause();
	(void)info, (void)context;
}

/* Whether the main thread waits for signals, in system call 34. */
static int main_waits(void)
{
	char path[64];
	int call = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &call) != 1)
		call = -1;
	if (file)
		fclose(file);
	return call == 34;
}

static void *work(void *field)
{
	while (!main_waits())
		usleep(1000);
	seen = *(const volatile int *)field;
	return 0;
}

FN static void wait_for_work(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	sigaction(SIGSEGV, &action, 0);
	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("libc");
	truth_write();
	pthread_create(&thread, 0, work, truth_launder((void *)24));
	for (;;)
		pause();
}

int main(void)
{
	CALLV(wait_for_work());
	return 0;
}
