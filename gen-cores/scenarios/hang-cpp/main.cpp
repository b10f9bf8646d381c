/*
 * hang-cpp: two threads wait for each other's std::mutex; others wait for objects of the standard library.
 */
#include "truth.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

std::mutex g_a, g_b, g_queue;
std::recursive_mutex g_recursive;
std::shared_mutex g_written;
std::condition_variable g_filled;
std::promise<int> g_promise;
std::future<int> g_future;
static volatile int first_tid, second_tid, holder_tid;
static int started;

static void tell(const char *kind, const void *at, int holder, const char *instead)
{
	char line[256];
	int length = snprintf(line, sizeof line,
			      "{\"tid\":%d,\"kind\":\"%s\",\"at\":\"%#lx\",\"holder\":\"%s\",\"holder_tid\":%d}\n",
			      gettid(), kind, (unsigned long)at, instead ? instead : "thread", holder);

	if (write(1, line, length) != length)
		_exit(1);
}

FN static void lock_mutex(std::mutex *mutex)
{
	WAIT(mutex->lock());
}

FN static void lock_recursive(void)
{
	WAIT(g_recursive.lock());
}

FN static void lock_shared(void)
{
	WAIT(g_written.lock_shared());
}

FN static void wait_for_job(std::unique_lock<std::mutex> *lock)
{
	WAIT(g_filled.wait(*lock));
}

FN static void get_result(void)
{
	WAIT(g_future.wait());
}

FN static void join_thread(std::thread *thread)
{
	WAIT(thread->join());
}

FN static void stay(void)
{
	WAIT(pause());
}

template <class Function> static std::thread *start(Function function)
{
	started++;
	return new std::thread(function);
}

static void hold(void)
{
	truth_thread("holds");
	holder_tid = gettid();
	g_recursive.lock();
	g_written.lock();
	CALLV(stay());
}

static void take_a_then_b(void)
{
	truth_thread("a then b");
	g_a.lock();
	first_tid = gettid();
	while (!second_tid)
		usleep(1000);
	tell("mutex", &g_b, second_tid, 0);
	CALLV(lock_mutex(&g_b));
}

static void take_b_then_a(void)
{
	truth_thread("b then a");
	g_b.lock();
	second_tid = gettid();
	while (!first_tid)
		usleep(1000);
	tell("mutex", &g_a, first_tid, 0);
	CALLV(lock_mutex(&g_a));
}

static void wait_for_recursive(void)
{
	truth_thread("waits");
	tell("mutex", &g_recursive, holder_tid, 0);
	CALLV(lock_recursive());
}

static void wait_to_read(void)
{
	truth_thread("waits");
	tell("rwlock", &g_written, holder_tid, 0);
	CALLV(lock_shared());
}

static void work(void)
{
	truth_thread("worker");
	std::unique_lock<std::mutex> lock(g_queue);
	tell("condition", &g_filled, 0, "nobody");
	CALLV(wait_for_job(&lock));
}

static void wait_for_result(void)
{
	truth_thread("waits");
	tell("future", 0, 0, "nobody");
	CALLV(get_result());
}

static std::thread *holder;

static void wait_for_end(void)
{
	truth_thread("waits");
	tell("join", 0, holder_tid, 0);
	CALLV(join_thread(holder));
}

FN static void supervise(void)
{
	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("libc");
	truth_wait_ready(started);
	truth_write_waiting();
	for (;;)
		pause();
}

int main(void)
{
	truth_thread("main");
	g_future = g_promise.get_future();
	holder = start(hold);
	truth_wait_ready(started);
	start(take_a_then_b);
	start(take_b_then_a);
	start(wait_for_recursive);
	start(wait_to_read);
	start(work);
	start(work);
	start(wait_for_result);
	start(wait_for_end);
	CALLV(supervise());
	return 0;
}
