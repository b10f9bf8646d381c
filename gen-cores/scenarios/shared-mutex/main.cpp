/* shared-mutex: locks that readers and writers hold and wait for. */
#include "truth.h"

#include <fstream>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unistd.h>

std::shared_mutex g_free, g_read, g_wanted, g_written, g_released;
long g_writer;

/* Waits until so many threads of the process wait in a futex. */
static void wait_for_waiters(int wanted)
{
	for (int waiting = 0; waiting < wanted; usleep(1000)) {
		waiting = 0;
		for (int tid = getpid(); tid < getpid() + 64; tid++) {
			std::ifstream call("/proc/self/task/" + std::to_string(tid) + "/syscall");
			std::string number;
			call >> number;
			waiting += number == "202";
		}
	}
}

static void read_and_stay(std::shared_mutex *lock)
{
	std::thread([lock] {
		lock->lock_shared();
		pause();
	}).detach();
}

static void write_and_stay(std::shared_mutex *lock)
{
	std::thread([lock] {
		lock->lock();
		pause();
	}).detach();
}

/* clang knows no noipa. */
FN __attribute__((noinline)) static void hold(void)
{
	g_read.lock_shared();
	read_and_stay(&g_read);
	g_wanted.lock_shared();
	write_and_stay(&g_wanted);
	wait_for_waiters(1);
	g_written.lock();
	g_writer = gettid();
	read_and_stay(&g_written), read_and_stay(&g_written), read_and_stay(&g_written);
	wait_for_waiters(4);
	g_released.lock(), g_released.unlock();
	usleep(50000);
	DIE(*(volatile long *)truth_launder((void *)8) = 1);
}

int main(void)
{
	CALLV(hold());
	return 0;
}
