// What bthreads tell of themselves in values.jsonl.
#pragma once

#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "down.h"

typedef uint64_t bthread_t;

static FILE *account;
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void open_account()
{
	account = fopen("values.jsonl", "w");
}

// The state that it is about to have, what it waits for, and by which function, called so often by itself.
static inline void tell(bthread_t id, const char *state, const char *on, const void *butex, const char *function, int depth)
{
	pthread_mutex_lock(&account_lock);
	fprintf(account,
		"{\"bthread\":\"%#lx\",\"state\":\"%s\",\"on\":\"%s\",\"butex\":\"%p\",\"function\":\"%s\",\"depth\":%d,"
		"\"tid\":%ld}\n",
		(unsigned long)id, state, on, butex, function, depth, syscall(SYS_gettid));
	fflush(account);
	pthread_mutex_unlock(&account_lock);
}
