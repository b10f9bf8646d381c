/* why-small-stack: a function of a thread has a frame that is larger than the thread's stack. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <string.h>

/* Fails when it begins, or with its first call: the account is its caller's. */
FN static int format(int value)
{
	char text[40000];

	memset(truth_launder(text), value, sizeof text);
	BARRIER();
	return text[value];
}

FN static int report(int value)
{
	int length;

	truth_push("report", __FILE__, __LINE__ + 4);
	truth_push("format", __FILE__, 0);
	truth_gap("libc");
	truth_write();
	length = format(value + 1);
	BARRIER();
	return length;
}

static void *work(void *argument)
{
	truth_thread("worker");
	return (char *)argument + CALL(report(7));
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32 << 10);
	pthread_create(&thread, &attributes, work, NULL);
	truth_push("main", __FILE__, __LINE__ + 2);
	truth_gap("libc");
	pthread_join(thread, NULL);
	return 0;
}
