/* 1,000 threads in ten kinds of stack of 30 to 60 frames, many of them inlined; then the main thread aborts. */

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kinds = 10;
constexpr int threads = 999;

std::atomic<int> arrived{0};

/* Keeps the compiler from turning the call before it into a jump. */
inline void barrier() { __asm__ volatile("" ::: "memory"); }

[[gnu::noinline]] void stop(int kind)
{
	arrived.fetch_add(1);
	if (kind % 2)
		for (;;)
			pause();
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
}

template <typename T>
struct Account {
	std::map<std::string, T> entries;
	std::vector<T> history;

	/* Inlined. */
	[[gnu::always_inline]] inline T total() const
	{
		return std::accumulate(history.begin(), history.end(), T{});
	}

	template <typename Visit>
	[[gnu::always_inline]] inline void each(Visit &&visit) const
	{
		for (const auto &entry : entries)
			visit(entry.first, entry.second + total());
	}
};

using Ledger = Account<long>;

Ledger make_ledger(int kind)
{
	Ledger ledger;
	ledger.entries.emplace("kind " + std::to_string(kind), kind);
	ledger.history.push_back(kind + 1);
	return ledger;
}

/* One step of a kind's stack: a frame of its own, with one to three calls inlined into it. */
template <int Kind, int Left>
struct Step {
	[[gnu::noinline]] static long go(const Ledger &ledger)
	{
		long sum = 0;
		if constexpr (Left % 3 == 0) {
			ledger.each([&](const std::string &name, long value) {
				sum += value + static_cast<long>(name.size()) + next(ledger);
			});
		} else if constexpr (Left % 3 == 1) {
			const std::function<long(long)> add = [&](long value) { return value + next(ledger); };
			sum = add(ledger.total());
		} else {
			const auto values = std::make_unique<std::vector<long>>(1, Kind);
			std::for_each(values->begin(), values->end(), [&](long value) { sum += value + next(ledger); });
		}
		barrier();
		return sum;
	}

	[[gnu::always_inline]] static inline long next(const Ledger &ledger)
	{
		const long result = Step<Kind, Left - 1>::go(ledger);
		barrier();
		return result + Left;
	}
};

template <int Kind>
struct Step<Kind, 0> {
	[[gnu::noinline]] static long go(const Ledger &ledger)
	{
		stop(Kind);
		barrier();
		return ledger.total();
	}
};

template <int Kind>
void *start(void *)
{
	const Ledger ledger = make_ledger(Kind);
	return reinterpret_cast<void *>(Step<Kind, 5 + Kind / 2>::go(ledger));
}

template <int... Kind>
void start_all(std::integer_sequence<int, Kind...>)
{
	void *(*const starts[])(void *) = {start<Kind>...};
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 * 1024);
	for (int number = 0; number < threads; number++) {
		pthread_t thread;
		if (pthread_create(&thread, &attributes, starts[number % kinds], nullptr)) {
			std::perror("pthread_create");
			std::exit(1);
		}
	}
}

} // namespace

int main()
{
	start_all(std::make_integer_sequence<int, kinds>());
	while (arrived.load() < threads)
		usleep(1000);
	usleep(200000);
	std::abort();
}
