// Fibers of Boost.Fiber that wait for different things: each tells in values.jsonl by which functions it comes there.
// One thread runs them all and dies in the midst of one.

#include <cstdio>
#include <cstdlib>
#include <functional>

#include <boost/fiber/all.hpp>

#include "down.h"

#define COUNT 40

static FILE *out;
static boost::fibers::mutex mutex;
static boost::fibers::condition_variable condition;
static boost::fibers::barrier barrier(COUNT + 1);

static void tell(const char *state, const char *function, int depth)
{
	fprintf(out, "{\"state\":\"%s\",\"function\":\"%s\",\"depth\":%d}\n", state, function, depth);
}

static void wait_on_condition()
{
	std::unique_lock<boost::fibers::mutex> lock(mutex);
	condition.wait(lock);
}

DOWN(sleeps, boost::this_fiber::sleep_for(std::chrono::hours(1000)))
DOWN(waits, wait_on_condition())
DOWN(meets, barrier.wait())
DOWN(dies, fclose(out); DIE_IN("libc", abort()))

static void body(int number)
{
	static const struct {
		const char *name;
		long (*function)(long);
	} kinds[] = {{"sleeps", sleeps}, {"waits", waits}, {"meets", meets}};
	auto kind = kinds[number % 3];
	tell("suspended", kind.name, number % 5);
	kind.function(number % 5);
}

int main()
{
	truth_thread("main");
	out = fopen("values.jsonl", "w");
	for (int i = 0; i < COUNT; i++)
		// Some end before others begin, and leave stacks with what was on them.
		boost::fibers::fiber([] { boost::this_fiber::yield(); }).join();
	for (int i = 0; i < COUNT; i++)
		boost::fibers::fiber(std::bind(body, i)).detach();
	boost::this_fiber::sleep_for(std::chrono::milliseconds(50));
	boost::fibers::fiber(dies, 3).join();
}
