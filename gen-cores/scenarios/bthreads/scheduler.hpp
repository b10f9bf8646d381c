// As much of a scheduler as it takes to have bthreads in every state. Contexts are Boost.Context's.
#pragma once

#include "layout.hpp"

struct bthread_mutex_t {
	unsigned *butex;
};

struct bthread_cond_t {
	bthread_mutex_t *m;
	int *seq;
};

// Makes a bthread that will run `fn(arg)`. Each thread that makes some has blocks of its own in the pool.
bthread_t bthread_start_background(const char *name, void *(*fn)(void *), void *arg);
// Makes one that will run on the stack of the thread which runs it.
bthread_t bthread_start_on_worker(const char *name, void *(*fn)(void *), void *arg);
// Gives it a stack, and does not run it.
void bthread_prepare(bthread_t id);
// Runs it on the calling thread until it waits, yields or ends.
void bthread_run(bthread_t id);

// For bthreads.
int bthread_usleep(uint64_t microseconds);
int bthread_yield();
// Lets another one run in its place.
void bthread_yield_to(bthread_t id);
int bthread_join(bthread_t id, void **);
int bthread_mutex_init(bthread_mutex_t *mutex);
int bthread_mutex_lock(bthread_mutex_t *mutex);
int bthread_cond_init(bthread_cond_t *cond);
int bthread_cond_wait(bthread_cond_t *cond, bthread_mutex_t *mutex);
bthread_t bthread_self();

void *bthread_butex_of(bthread_t id);
