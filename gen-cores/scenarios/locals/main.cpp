/*
 * locals-cpp: as locals, what C++ adds: `this`, references, objects of functions, templates, inlined methods, catch blocks, structures
 * that are passed by address behind the scenes.
 */
#include "locals.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace shop {

enum class Kind : unsigned char { Fruit = 1, Tool = 7 };

struct Price {
	long cents;
	Kind kind;
	long doubled() const
	{
		return cents * 2;
	}
};

struct Stock {
	Stock(int items, long first) : count(items), total(first) {}
	// Too large for registers: callers pass where it lies.
	Stock(const Stock &other) : count(other.count + 1), total(other.total) {}
	virtual ~Stock() {}
	virtual long add(const Price &price, int times);
	int count;
	long total;
};

static volatile long sink;

STAYS static long dies(Kind kind, const long *field, unsigned long long large)
{
	int code = static_cast<int>(kind) * 100;

	locals_enum("shop::dies", "kind", static_cast<int>(kind), "shop::Kind::Tool");
	locals_ptr("shop::dies", "field", reinterpret_cast<uintptr_t>(field));
	locals_uint("shop::dies", "large", large);
	locals_int("shop::dies", "code", code);
	DIE_AS("shop::dies", sink = field[3] + code + static_cast<long>(large));
	return sink + code;
}

STAYS static long caught(int depth, const std::string &text)
{
	long length = static_cast<long>(text.size()), result = 0;

	locals_int("shop::caught", "depth", depth);
	locals_int("shop::caught", "length", length);
	locals_ptr("shop::caught", "text", reinterpret_cast<uintptr_t>(&text));
	try {
		if (depth > 0)
			throw std::out_of_range("too deep");
		result = 1;
	} catch (const std::exception &error) {
		int inside = depth * 11;

		locals_int("shop::caught", "inside", inside);
		result = CALL_AS("shop::caught", dies(Kind::Tool, static_cast<long *>(truth_launder(0)), ~0ull)) + inside;
	}
	return result + length;
}

template <typename T, int N> STAYS static long templated(T value, const T (&numbers)[N])
{
	T last = numbers[N - 1];
	long scaled = static_cast<long>(value) * N;

	locals_float("shop::templated<double, 3>", "value", static_cast<double>(value));
	locals_float("shop::templated<double, 3>", "last", static_cast<double>(last));
	locals_int("shop::templated<double, 3>", "scaled", scaled);
	std::string text(5, 'x');
	return CALL_AS("shop::templated", caught(3, text)) + scaled + static_cast<long>(last);
}

// What a lambda is, with a name.
struct Work {
	long &counter;
	int offset;
	__attribute__((noinline)) long run(int step) const
	{
		long sum = counter + offset + step;
		const double numbers[3] = {0.5, 1.5, 2.5};

		locals_int("shop::Work::run", "step", step);
		locals_int("shop::Work::run", "sum", sum);
		locals_int("shop::Work::run", "this->offset", offset);
		sink = CALL_AS("shop::Work::run", templated(4.25, numbers));
		return sink + sum;
	}
};

STAYS static long with_object(int start, long &counter)
{
	int offset = start + 7;
	Work work = {counter, offset};

	locals_int("shop::with_object", "start", start);
	locals_int("shop::with_object", "offset", offset);
	locals_int("shop::with_object", "work.offset", work.offset);
	locals_ptr("shop::with_object", "counter", reinterpret_cast<uintptr_t>(&counter));
	return CALL_AS("shop::with_object", work.run(9)) + offset;
}

STAYS static long by_value(Stock stock, std::pair<int, long> pair)
{
	int count = stock.count;

	locals_int("shop::by_value", "stock.count", stock.count);
	locals_int("shop::by_value", "stock.total", stock.total);
	locals_int("shop::by_value", "pair.first", pair.first);
	locals_int("shop::by_value", "pair.second", pair.second);
	locals_int("shop::by_value", "count", count);
	return CALL_AS("shop::by_value", with_object(count, stock.total)) + count + pair.second;
}

__attribute__((noinline)) long Stock::add(const Price &price, int times)
{
	long before = total;
	long doubled = price.doubled();

	total += price.cents * times;
	locals_ptr("shop::Stock::add", "this", reinterpret_cast<uintptr_t>(this));
	locals_int("shop::Stock::add", "this->total", total);
	locals_ptr("shop::Stock::add", "price", reinterpret_cast<uintptr_t>(&price));
	locals_int("shop::Stock::add", "times", times);
	locals_int("shop::Stock::add", "before", before);
	locals_int("shop::Stock::add", "doubled", doubled);
	return CALL_AS("shop::Stock::add", by_value(*this, std::make_pair(times, doubled))) + before;
}

} // namespace shop

int main(int argc, char **argv)
{
	shop::Stock stock(argc + 20, 1000);
	shop::Price price = {250, shop::Kind::Fruit};
	shop::Stock *chosen = static_cast<shop::Stock *>(truth_launder(&stock));

	truth_thread("main");
	locals_open();
	locals_int("main", "argc", argc);
	locals_ptr("main", "argv", reinterpret_cast<uintptr_t>(argv));
	locals_int("main", "price.cents", price.cents);
	locals_int("main", "stock.count", stock.count);
	locals_ptr("main", "chosen", reinterpret_cast<uintptr_t>(chosen));
	return static_cast<int>(CALL(chosen->add(price, argc + 2)));
}
