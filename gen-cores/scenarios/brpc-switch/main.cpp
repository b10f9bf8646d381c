// bRPC's own bthreads, each of whose workers was stopped at another instruction of a switch: the bthreads tell in
// values.jsonl by which functions they came there. A process beside puts the workers there.

#include <cstdlib>
#include <unistd.h>

#include "../brpc/brpc.hpp"
#include "bthread_account.hpp"
#include "switches.hpp"

static bthread_t begun[SWITCH_COUNT];

static bthread_attr_t attributes = {NORMAL, 0, nullptr, -1};

FN static void *is_begun(void *arg)
{
	if (kind_of((long)arg) == TO_OLD)
		brpc.yield();
	stay();
	return nullptr;
}

FN static void act(long number)
{
	stop_in_switch(number);
	switch (kind_of(number)) {
	case TO_WORKER:
		brpc.usleep(1000000000000);
		break;
	case TO_NEW:
	case TO_OLD:
		brpc.start_urgent(&begun[number], &attributes, is_begun, (void *)number);
		break;
	case BACK:
		brpc.usleep(20000);
		break;
	default:
		return;
	}
	stay();
}

FN static void *body(void *arg)
{
	enter_and_switch(brpc.self(), (long)arg);
	return nullptr;
}

int main()
{
	places_start(SWITCH_COUNT, ARE_LEFT);
	truth_thread("main");
	open_account();
	brpc_load("./libspu.so");
	places->code = (unsigned long)brpc.jump_fcontext;
	brpc.setconcurrency(SWITCH_COUNT);
	for (long i = 0; i < SWITCH_COUNT; i++) {
		bthread_t id;
		if (brpc.start_background(&id, &attributes, body, (void *)i) != 0)
			abort();
	}
	while (entered < SWITCH_COUNT)
		usleep(1000);
	places_wait_all();
	for (long i = 0; i < SWITCH_COUNT; i++)
		if (begun[i] != 0)
			tell(begun[i], kind_of(i) == TO_OLD ? "ready" : "running", "", nullptr, "is_begun", 0);
	fclose(account);
	PLACES_DIE();
}
