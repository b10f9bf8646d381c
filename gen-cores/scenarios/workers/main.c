/*
 * workers: a job server in small, without stdio so that its static executable is small too. The main thread accepts,
 * six workers take jobs, two threads read replies, three write a log; a request without headers kills a worker.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IDLE_WORKERS 5
#define READERS 2
#define LOGGERS 3
#define OTHERS (IDLE_WORKERS + READERS + LOGGERS)

struct header {
	const char *name;
	const char *value;
	struct header *next;
};

struct request {
	const char *path;
	struct header *headers;
	int length;
};

struct job {
	int id;
	struct request request;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static int listener, replies[2];
static volatile long sink;

/* The request has no header: `header` is NULL. */
FN static int parse_header(const struct header *header)
{
	const char *value;

	DIE(value = *(const char *volatile *)&header->value);
	return (int)strlen(value);
}

FN static int parse_request(struct request *request)
{
	request->length = CALL(parse_header(request->headers));
	return request->length;
}

FN static void handle_job(struct job *job)
{
	sink += CALL(parse_request(&job->request));
}

FN static struct job *next_job(void)
{
	pthread_mutex_lock(&queue_lock);
	WAIT(pthread_cond_wait(&queue_filled, &queue_lock));
	return 0;
}

FN static void worker_run(struct job *job)
{
	while (!job)
		job = CALL(next_job());
	CALLV(handle_job(job));
}

static void *worker_main(void *job)
{
	truth_thread("worker");
	if (job)
		truth_wait_ready(OTHERS + 1);
	CALLV(worker_run(job));
	return 0;
}

FN static void read_reply(int from)
{
	char reply[64];

	WAIT(sink = read(from, reply, sizeof reply));
}

static void *upstream_main(void *unused)
{
	truth_thread("upstream");
	CALLV(read_reply(replies[0]));
	return unused;
}

FN static void flush_log(long seconds)
{
	struct timespec pause = {seconds, 0};

	WAIT(nanosleep(&pause, 0));
}

FN static void log_loop(void)
{
	for (;;)
		CALLV(flush_log(3600));
}

static void *log_main(void *unused)
{
	truth_thread("log");
	CALLV(log_loop());
	return unused;
}

FN static void start(void *(*function)(void *), void *argument, int count)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	while (count--)
		pthread_create(&thread, &attr, function, argument);
}

FN static void accept_loop(int on)
{
	WAIT(sink = accept(on, 0, 0));
}

FN static void serve(void)
{
	static struct job poisoned = {4711, {"/status", 0, 0}};

	start(worker_main, 0, IDLE_WORKERS);
	start(upstream_main, 0, READERS);
	start(log_main, 0, LOGGERS);
	start(worker_main, &poisoned, 1);
	CALLV(accept_loop(listener));
}

int main(void)
{
	truth_thread("main");
	/* An unnamed local socket: nothing outside of the process is touched. */
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, &(struct sockaddr){AF_UNIX, ""}, sizeof(sa_family_t)))
		return 1;
	if (listen(listener, 5) || pipe(replies))
		return 1;
	CALLV(serve());
	return 0;
}
