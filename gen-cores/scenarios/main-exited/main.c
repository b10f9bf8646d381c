/* main-exited: the main thread calls pthread_exit, a worker goes on and dies. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <unistd.h>

static volatile int sink;

FN static void use(const int *field)
{
	DIE(sink = field[2]);
}

static void *work(void *unused)
{
	usleep(50000);
	truth_thread("worker");
	CALLV(use(truth_launder(0)));
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work, 0);
	pthread_exit(0);
}
