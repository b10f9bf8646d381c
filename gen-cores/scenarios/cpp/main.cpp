// cpp: main → template function → virtual method → std::function → lambda → method of a template → anonymous namespace.
#include "truth.h"

#include <functional>
#include <memory>
#include <string>

static volatile long sink;

namespace {

FN long hidden(const long *field)
{
	DIE_AS("(anonymous namespace)::hidden", sink = field[1]);
	return sink;
}

} // namespace

namespace shop {

template <typename T> class Box {
public:
	explicit Box(const T *content) : content_(content) {}

	FN T get(int extra) const
	{
		return CALL_AS("shop::Box<long>::get", hidden(content_)) + extra;
	}

private:
	const T *content_;
};

struct Counter {
	virtual ~Counter() = default;
	virtual long count(const std::function<long(int)> &price) const = 0;
};

struct Till : Counter {
	FN long count(const std::function<long(int)> &price) const override
	{
		long sum = 0;

		truth_push("shop::Till::count", __FILE__, __LINE__ + 3);
		// The parts of std::function between, inlined or not.
		truth_gap("libstdc++");
		sum += price(2);
		BARRIER();
		return sum;
	}
};

template <typename T, int N> FN T fold(const Counter &counter, T start)
{
	const Box<T> box(static_cast<const T *>(truth_launder(nullptr)));
	auto price = [&](int extra) __attribute__((noipa)) {
		truth_push("operator()", __FILE__, __LINE__ + 3);
		truth_match(CONTAINS);
		truth_inlined(0);
		T value = box.get(extra);
		return value + N;
	};
	const std::function<long(int)> callable = price;

	BARRIER();
	return CALL_AS("shop::fold<long, 3>", counter.count(callable)) + start;
}

} // namespace shop

int main()
{
	const std::unique_ptr<shop::Counter> till(static_cast<shop::Counter *>(truth_launder(new shop::Till)));

	const shop::Counter &counter = *till;

	BARRIER();
	long sum = CALL((shop::fold<long, 3>(counter, 4)));
	BARRIER();
	return static_cast<int>(sum);
}
