/*
 * Threads wait for locks of a table, several of which one thread holds: it reads from a pipe into which nobody writes
 * ("reads"), or waits for events that do not come ("events"). With "one" there is one waiter alone. With "leader" all wait
 * for one lock, whose holder waits for events, as one thread of a pool does for all.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#define HELD 3

static pthread_mutex_t items[64];
static const int places[HELD] = {3, 17, 40};
static pthread_barrier_t begun;
static int waits_for_events, is_led;

__attribute__((noinline, noclone)) int flush(int from)
{
	struct epoll_event event = {.events = EPOLLIN};
	char byte;

	if (!waits_for_events)
		return read(from, &byte, 1) + 1;
	from = epoll_create1(0);
	/* A stop of the process ends the call. */
	while (epoll_wait(from, &event, 1, -1) < 0)
		continue;
	return from;
}

static void *hold(void *none)
{
	int ends[2];

	for (int place = 0; place < HELD; place++)
		pthread_mutex_lock(&items[places[place]]);
	pthread_barrier_wait(&begun);
	return pipe(ends) || flush(ends[0]) ? NULL : none;
}

__attribute__((noinline, noclone)) static void *store(void *item)
{
	pthread_mutex_lock(item);
	pthread_mutex_unlock(item);
	return item;
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	is_led = !strcmp(bug, "leader");
	waits_for_events = is_led || !strcmp(bug, "events");
	for (int place = 0; place < 64; place++)
		pthread_mutex_init(&items[place], NULL);
	pthread_barrier_init(&begun, NULL, 2);
	pthread_create(&thread, NULL, hold, NULL);
	pthread_barrier_wait(&begun);
	for (int place = 0; place < (strcmp(bug, "one") ? HELD : 1); place++)
		pthread_create(&thread, NULL, store, &items[places[is_led ? 0 : place]]);
	printf("%d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
