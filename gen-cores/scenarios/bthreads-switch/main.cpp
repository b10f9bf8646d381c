// bthreads of a program's own scheduler, each of whose threads was stopped at another instruction of a switch: the
// bthreads tell in values.jsonl by which functions they came there. A process beside puts the threads there.

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "../bthreads/scheduler.hpp"
#include "../bthreads/switch.hpp"
#include "bthread_account.hpp"
#include "switches.hpp"

static bthread_t begun[SWITCH_COUNT], switching[SWITCH_COUNT];

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

FN static void *body(void *arg)
{
	enter_and_switch(bthread_self(), (long)arg);
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
