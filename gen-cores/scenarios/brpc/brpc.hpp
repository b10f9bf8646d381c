// As much of bRPC's interface as is used, from the symbols of a library that does not export it.
#pragma once

#include <cstdint>
#include <ctime>

typedef uint64_t bthread_t;

// src/bthread/types.h, releases 1.8 to 1.15.
struct bthread_attr_t {
	uint32_t stack_type;
	uint32_t flags;
	void *keytable_pool;
	int32_t tag;
};

enum { ON_WORKER = 1, SMALL = 2, NORMAL = 3, LARGE = 4 };

// Room for what the release has in them; the butex is the first word of a mutex and the second of a condition.
struct bthread_mutex_t {
	unsigned *butex;
	char rest[56];
};

struct bthread_cond_t {
	bthread_mutex_t *m;
	int *seq;
	char rest[48];
};

extern struct Brpc {
	int (*start_background)(bthread_t *, const bthread_attr_t *, void *(*)(void *), void *);
	int (*start_urgent)(bthread_t *, const bthread_attr_t *, void *(*)(void *), void *);
	int (*setconcurrency)(int);
	bthread_t (*self)();
	int (*usleep)(uint64_t);
	int (*yield)();
	int (*join)(bthread_t, void **);
	int (*mutex_init)(bthread_mutex_t *, const void *);
	int (*mutex_lock)(bthread_mutex_t *);
	int (*mutex_unlock)(bthread_mutex_t *);
	int (*cond_init)(bthread_cond_t *, const void *);
	int (*cond_wait)(bthread_cond_t *, bthread_mutex_t *);
	int (*cond_timedwait)(bthread_cond_t *, bthread_mutex_t *, const timespec *);
	void *(*butex_create)();
	int (*butex_wake)(void *, bool);
	int (*butex_wait)(void *, int, const timespec *, bool);
	int (*timer_add)(uint64_t *, timespec, void (*)(void *), void *);
	// The code that switches from one stack to another.
	void (*jump_fcontext)();
} brpc;

// Loads the library and finds all of that.
void brpc_load(const char *path);
