// bthreads of a program's own scheduler, each of whose threads was stopped at another instruction of a switch: the
// bthreads tell in values.jsonl by which functions they came there. A process beside puts the threads there.

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "../bthreads/scheduler.hpp"
#include "../bthreads/switch.hpp"
#include "bthread_account.hpp"
#include "switches.hpp"

// Whether a debugger comes, who can trace only what no other one traces.
#ifndef ARE_LEFT
#define ARE_LEFT 0
#endif

static volatile int entered;
static bthread_t begun[SWITCH_COUNT], switching[SWITCH_COUNT];

static long depth_of(long number)
{
	return number % 7;
}

static void stay()
{
	for (;;)
		pause();
}

FN static void *is_begun(void *arg)
{
	if (kind_of((long)arg) == TO_OLD)
		bthread_yield_to(switching[(long)arg]);
	stay();
	return nullptr;
}

FN static void act(long number)
{
	stop_in_switch(number);
	switch (kind_of(number)) {
	case TO_WORKER:
	case BACK:
		bthread_usleep(1000000000);
		break;
	case TO_NEW:
	case TO_OLD:
		bthread_yield_to(begun[number]);
		break;
	default:
		return;
	}
	stay();
}

FN static long switches(long depth, long number)
{
	if (depth > 0) {
		long below = switches(depth - 1, number);
		__asm__ volatile("" : "+r"(below));
		return below + 1;
	}
	act(number);
	BARRIER();
	return 1;
}

FN static void *body(void *arg)
{
	static const char *const states[] = {"sleeping", "ready", "running", "running", "ended"};
	long number = (long)arg;
	tell(bthread_self(), states[kind_of(number)], "", nullptr, "switches", depth_of(number));
	__atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
	// None is to come to the switch while another one is traced to it.
	while (entered < SWITCH_COUNT)
		usleep(20000);
	if (kind_of(number) == ENDING)
		stop_in_switch(number);
	else
		switches(depth_of(number), number);
	return nullptr;
}

// Runs one bthread, and again the one that comes back.
static void *worker(void *arg)
{
	bthread_run(switching[(long)arg]);
	if (kind_of((long)arg) == BACK)
		bthread_run(switching[(long)arg]);
	stay();
	return nullptr;
}

int main()
{
	places_start(SWITCH_COUNT, ARE_LEFT);
	truth_thread("main");
	open_account();
	places->code = (unsigned long)bthread_jump_fcontext;
	for (long i = 0; i < SWITCH_COUNT; i++) {
		switching[i] = bthread_start_background("switches", body, (void *)i);
		if (kind_of(i) == TO_NEW || kind_of(i) == TO_OLD) {
			begun[i] = bthread_start_background("begun", is_begun, (void *)i);
			tell(begun[i], kind_of(i) == TO_OLD ? "ready" : "running", "", nullptr, "is_begun", 0);
		}
	}
	for (long i = 0; i < SWITCH_COUNT; i++) {
		pthread_t thread;
		pthread_create(&thread, nullptr, worker, (void *)i);
	}
	places_wait_all();
	fclose(account);
	PLACES_DIE();
}
