/* One of 300 libraries: a call back out of code that is inlined. */

#include <algorithm>
#include <vector>

using Callback = long (*)(int, int);

namespace {

struct Sum {
	long value = 0;

	template <typename Call>
	[[gnu::always_inline]] inline void add(Call &&call)
	{
		value += call();
	}
};

} // namespace

#define PASTE(a, b) a##b
#define NAME(number) PASTE(enter_, number)

extern "C" long NAME(NUMBER)(Callback back, int at, int left)
{
	const std::vector<int> once(1, left);
	Sum sum;
	std::for_each(once.begin(), once.end(), [&](int count) {
		sum.add([&] { return back(at, count); });
	});
	return sum.value + NUMBER;
}
