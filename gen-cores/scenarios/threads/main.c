/*
 * threads: THREADS threads wait in KINDS ways; then the main thread aborts, or (-DCRASH_IN_THREAD) a thread reads
 * through NULL, or (-DWAITING) all wait to be killed.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static int pipe_ends[2], socket_ends[2], epoll_fd;
static volatile int running = 1, sink;

FN static void wait_for_job(void)
{
	pthread_mutex_lock(&queue_lock);
	WAIT(pthread_cond_wait(&queue_filled, &queue_lock));
}

FN static void read_pipe(void)
{
	char byte;

	WAIT(sink = read(pipe_ends[0], &byte, 1));
}

FN static void take_lock(void)
{
	WAIT(pthread_mutex_lock(&held_lock));
}

FN static void nap(void)
{
	struct timespec long_time = {100000, 0};

	WAIT(nanosleep(&long_time, 0));
}

FN static void poll_socket(void)
{
	struct pollfd fd = {socket_ends[0], POLLIN, 0};

	WAIT(poll(&fd, 1, -1));
}

FN static void take_slot(void)
{
	WAIT(sem_wait(&slots));
}

FN static void run_events(void)
{
	struct epoll_event event;

	WAIT(epoll_wait(epoll_fd, &event, 1, -1));
}

FN static void receive(void)
{
	char byte;

	WAIT(sink = recv(socket_ends[1], &byte, 1, 0));
}

FN static void wait_for_signal(void)
{
	WAIT(pause());
}

/* Runs; which instruction is interrupted nobody knows. Two of them are enough to load a machine. */
FN static void compute(void)
{
	static int computing;

	if (__atomic_add_fetch(&computing, 1, __ATOMIC_SEQ_CST) > 2)
		WAIT(pause());
	truth_push(__func__, __FILE__, 0);
	truth_ready(0);
	while (running)
		sink++;
}

#ifdef CRASH_IN_THREAD
FN static void use(const int *field)
{
	DIE(sink = field[2]);
}
#endif

static void (*const kinds[])(void) = {
	wait_for_job, read_pipe, take_lock,  nap,     poll_socket,
	take_slot,    run_events, receive, wait_for_signal, compute,
};

FN static void dispatch(long number)
{
	CALLV(kinds[number % KINDS]());
}

static void *run(void *number)
{
	truth_thread("waits");
	CALLV(dispatch((long)number));
	return 0;
}

#ifdef CRASH_IN_THREAD
static void *crash(void *unused)
{
	truth_thread("crashes");
	truth_wait_ready(THREADS);
	CALLV(use(truth_launder(0)));
	return unused;
}
#endif

static void prepare(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	pthread_mutex_lock(&held_lock);
	sem_init(&slots, 0, 0);
	if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends))
		exit(1);
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, socket_ends[0], &event);
}

FN static void start(void *(*function)(void *), long number)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	if (pthread_create(&thread, &attr, function, (void *)number))
		exit(1);
}

/* The main thread is one of the waiting, or the one that ends it all. */
FN static void supervise(void)
{
#if defined WAITING
	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("libc");
	truth_wait_ready(THREADS);
	truth_write_waiting();
	for (;;)
		pause();
#elif defined CRASH_IN_THREAD
	WAIT(pause());
#else
	truth_wait_ready(THREADS);
	DIE_IN("libc", abort());
#endif
}

int main(void)
{
	long i;

	truth_thread("main");
	prepare();
#ifdef CRASH_IN_THREAD
	for (i = 0; i < THREADS - 1; i++)
		start(run, i);
	start(crash, 0);
#else
	for (i = 0; i < THREADS; i++)
		start(run, i);
#endif
	CALLV(supervise());
	return 0;
}
