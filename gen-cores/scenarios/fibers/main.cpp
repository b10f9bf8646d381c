// Fibers of Boost.Fiber in every state, on three threads: each tells in values.jsonl what it is about to do and by which
// functions it came there. The first thread dies in the midst of one. -fno-access-control lets them tell where what they
// wait in lies.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/fiber/all.hpp>
#include <boost/fiber/scheduler.hpp>

#include "down.h"

#ifndef COUNT
#define COUNT 40
#endif
// The algorithm of the first thread's scheduler. One that steals wants another thread to steal from.
#if defined SHARED
#define USE_ALGORITHM() boost::fibers::use_scheduling_algorithm<boost::fibers::algo::shared_work>()
#define JOIN_ALGORITHM() (void)0
#elif defined STEALING
#define USE_ALGORITHM() boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(2)
#define JOIN_ALGORITHM() USE_ALGORITHM()
#else
#define USE_ALGORITHM() (void)0
#define JOIN_ALGORITHM() (void)0
#endif

using boost::fibers::context;
using boost::fibers::fiber;

static FILE *out;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static boost::fibers::mutex mutex, other;
static boost::fibers::condition_variable condition, timed;
static boost::fibers::barrier barrier(COUNT + 1);
static boost::fibers::unbuffered_channel<int> channel;
static boost::fibers::promise<int> promise;
static boost::fibers::shared_future<int> result;
static context *joined;
static volatile int spinning, resting, idle_tid;
static bool lives_on;

// Where the monotonic clock stands after 1000 hours, in nanoseconds, for those that wait so long; else 0.
static long until(const char *on, const char *function)
{
	bool is_timed = strcmp(on, "timer") == 0 || strcmp(function, "waits_for_long") == 0;
	auto at = std::chrono::steady_clock::now() + std::chrono::hours(1000);
	return is_timed ? std::chrono::nanoseconds(at.time_since_epoch()).count() : 0;
}

static void tell(const void *id, const char *kind, const char *state, const char *on, const void *queue,
		 const char *function, int depth)
{
	pthread_mutex_lock(&out_lock);
	fprintf(out,
		"{\"fiber\":\"%p\",\"kind\":\"%s\",\"state\":\"%s\",\"on\":\"%s\",\"queue\":\"%p\",\"function\":\"%s\","
		"\"depth\":%d,\"until\":%ld,\"tid\":%ld}\n",
		id, kind, state, on, queue, function, depth, until(on, function), syscall(SYS_gettid));
	fflush(out);
	pthread_mutex_unlock(&out_lock);
}

// The scheduler's own two fibers on the calling thread.
static void tell_own(const char *main_state, const char *on, const void *queue, const char *dispatcher_state)
{
	auto *scheduler = context::active()->get_scheduler();
	tell(scheduler->main_ctx_, "main", main_state, on, queue, "", 0);
	tell(scheduler->dispatcher_ctx_.get(), "dispatcher", dispatcher_state, "", nullptr, "", 0);
}

static void wait_on_condition()
{
	std::unique_lock<boost::fibers::mutex> lock(other);
	condition.wait(lock);
}

static void wait_for_long()
{
	std::unique_lock<boost::fibers::mutex> lock(other);
	timed.wait_for(lock, std::chrono::hours(1000));
}

static void receive()
{
	int value;
	channel.pop(value);
}

static void spin()
{
	spinning = 1;
	for (;;)
		__asm__ volatile("pause");
}

// With an argument it lives on, for those who look at live processes.
static void die()
{
	while (lives_on)
		pause();
	DIE_IN("libc", abort());
}

DOWN(sleeps, boost::this_fiber::sleep_for(std::chrono::hours(1000)))
DOWN(waits, wait_on_condition())
DOWN(waits_for_long, wait_for_long())
DOWN(meets, barrier.wait())
DOWN(locks, mutex.lock())
DOWN(receives, receive())
DOWN(expects, result.wait())
DOWN(joins, joined->join())
DOWN(yields, for (;;) boost::this_fiber::yield())
DOWN(spins, spin())
DOWN(dies, die())

static void tell_and(const char *state, const char *on, const void *queue, const char *name, long (*function)(long),
		     int depth)
{
	tell(context::active(), "worker", state, on, queue, name, depth);
	function(depth);
}

// A function as it is, with what it is to be called with.
static void sleeper(int depth)
{
	tell_and("sleeping", "timer", nullptr, "sleeps", sleeps, depth);
}

static void body(int number)
{
	static const struct {
		const char *state, *on;
		const void *queue;
		const char *name;
		long (*function)(long);
	} kinds[] = {
		{"waiting", "condition", &condition.cnd_.wait_queue_, "waits", waits},
		{"waiting", "condition", &timed.cnd_.wait_queue_, "waits_for_long", waits_for_long},
		{"waiting", "barrier", &barrier.cond_.cnd_.wait_queue_, "meets", meets},
		{"waiting", "mutex", &mutex.wait_queue_, "locks", locks},
		{"waiting", "channel", &channel.waiting_consumers_, "receives", receives},
		{"waiting", "future", &result.state_->waiters_.cnd_.wait_queue_, "expects", expects},
		{"waiting", "join", &joined->wait_queue_, "joins", joins},
	};
	auto kind = kinds[number % 7];
	tell_and(kind.state, kind.on, kind.queue, kind.name, kind.function, number % 5);
}

static void yielder(int depth)
{
	tell_and("ready", "", nullptr, "yields", yields, depth);
}

// A thread one of whose fibers runs, and others are ready.
static void *busy(void *)
{
	for (int i = 0; i < 3; i++)
		fiber(yielder, i).detach();
	for (int i = 0; i < 3; i++)
		fiber(sleeper, i).detach();
	fiber last([] {
		tell_own("waiting", "join", &context::active()->wait_queue_, "ready");
		tell_and("running", "", nullptr, "spins", spins, 2);
	});
	// All of them have come to what they do before the last one does.
	last.join();
	return nullptr;
}

// A thread all of whose fibers sleep.
static void *idle(void *)
{
	fiber last(sleeper, 4);
	idle_tid = syscall(SYS_gettid);
	tell_own("waiting", "join", &last.impl_->wait_queue_, "running");
	last.join();
	return nullptr;
}

// A thread that has used fibers, and is on its own stack.
static void *resting_on_own_stack(void *)
{
	JOIN_ALGORITHM();
	tell_own("running", "", nullptr, "created");
	resting = 1;
	for (;;)
		pause();
}

static bool sleeps_in_the_system(int tid)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *file = fopen(path, "r");
	size_t size = file == nullptr ? 0 : fread(text, 1, sizeof text - 1, file);
	if (file != nullptr)
		fclose(file);
	std::string line(text, size);
	size_t end = line.rfind(')');
	return end != std::string::npos && end + 2 < line.size() && line[end + 2] == 'S';
}

// The dispatcher sleeps for good once there is nothing more to look for.
static void wait_for_others()
{
	while (!spinning || !resting || idle_tid == 0)
		usleep(1000);
	for (int times = 0; times < 20; times++) {
		usleep(5000);
		if (!sleeps_in_the_system(idle_tid))
			times = 0;
	}
}

static void last(int depth)
{
	for (int i = 0; i < 3; i++)
		fiber(yielder, i).detach();
	boost::this_fiber::yield();
	for (int i = 0; i < 4; i++) {
		fiber created(sleeper, i);
		tell(created.impl_.get(), "worker", "created", "", nullptr, "sleeper", 0);
		created.detach();
	}
	tell_own("waiting", "join", &context::active()->wait_queue_, "ready");
	tell(context::active(), "worker", "running", "", nullptr, "dies", depth);
	fclose(out);
	dies(depth);
}

static void start_threads()
{
	pthread_t thread;
	for (void *(*function)(void *) : {busy, idle, resting_on_own_stack})
		pthread_create(&thread, nullptr, function, nullptr);
	USE_ALGORITHM();
}

int main(int argc, char **)
{
	lives_on = argc > 1;
	truth_thread("main");
	out = fopen("values.jsonl", "w");
	start_threads();
	result = promise.get_future().share();
	for (int i = 0; i < COUNT; i++)
		// Some end before others begin, and leave stacks with what was on them.
		fiber([] { boost::this_fiber::yield(); }).join();
	fiber ended([] {});
	fiber held(sleeper, 1);
	joined = held.impl_.get();
	mutex.lock();
	for (int i = 0; i < COUNT; i++)
		if (i % 2 == 0)
			fiber(body, i / 2).detach();
		else
			fiber(std::bind(body, i / 2)).detach();
	boost::this_fiber::sleep_for(std::chrono::milliseconds(50));
	wait_for_others();
	fiber(last, 3).join();
}
