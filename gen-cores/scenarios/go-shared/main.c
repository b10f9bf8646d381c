// go-shared: a program in C with two libraries of Go, each with a runtime of its own: threads of C wait in Go, and
// the program ends in C that Go called.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FN __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")

struct library {
	void (*start)(int);
	void (*expect)(void);
	void (*park)(void);
	void (*tell)(const char *);
	void (*back)(void (*)(void));
};

static struct library load(const char *path) {
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	struct library library = {
		dlsym(handle, "startParked"), dlsym(handle, "expectPark"), dlsym(handle, "goPark"),
		dlsym(handle, "tellAll"), dlsym(handle, "callBack"),
	};
	return library;
}

FN static void c_parks(struct library *library) {
	library->park();
	KEEP();
}

FN static void *c_thread(void *library) {
	c_parks(library);
	KEEP();
	return 0;
}

FN static void c_ends(void) {
	abort();
	KEEP();
}

FN static void c_begins_end(struct library *library) {
	library->back(c_ends);
	KEEP();
}

int main(int argc, char **argv) {
	struct library first = load("./libfirst.so"), second = load("./libsecond.so");
	pthread_t threads[2];
	first.start(3);
	second.start(5);
	first.expect();
	second.expect();
	pthread_create(&threads[0], 0, c_thread, &first);
	pthread_create(&threads[1], 0, c_thread, &second);
	first.tell("trace-first.txt");
	second.tell("trace-second.txt");
	FILE *account = fopen(getenv("KCORE_TRUTH"), "w");
	fprintf(account, "{\"pid\":%d}\n{\"done\":true}\n", (int)getpid());
	fclose(account);
	if (argc > 1 && argv[1][0] == 'w')
		pause();
	c_begins_end(&second);
	return 0;
}
