/* 300 libraries, and 60 threads that each have called through ten of them, one into the next. */

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <unistd.h>

using Callback = long (*)(int, int);
using Enter = long (*)(Callback, int, int);

static constexpr int libraries = 300;
static constexpr int threads = 60;
static constexpr int depth = 10;
static Enter entries[libraries];

static long go_on(int at, int left)
{
	while (left == 0)
		pause();
	const long result = entries[at % libraries](go_on, at + 31, left - 1);
	__asm__ volatile("" ::: "memory");
	return result;
}

static void *work(void *number)
{
	return reinterpret_cast<void *>(go_on(static_cast<int>(reinterpret_cast<long>(number)) * 5, depth));
}

int main()
{
	for (int number = 0; number < libraries; number++) {
		const std::string name = "enter_" + std::to_string(number);
		entries[number] = reinterpret_cast<Enter>(dlsym(RTLD_DEFAULT, name.c_str()));
	}
	for (long number = 0; number < threads; number++) {
		pthread_t thread;
		if (pthread_create(&thread, nullptr, work, reinterpret_cast<void *>(number)))
			std::exit(1);
	}
	usleep(300000);
	std::abort();
}
