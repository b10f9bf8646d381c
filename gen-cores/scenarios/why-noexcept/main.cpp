// why-noexcept: an exception reaches a function that is noexcept, above one that would catch it. -DSEVERAL throws one of a
// class with several bases, which nobody catches, as Boost's wrapexcept has; -DNESTED one that carries another.
#include "truth.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace app {

class Origin {
public:
	virtual ~Origin() = default;
	const char *file = "table.cpp";
};

template <class E> class Located : public Origin, public E {
public:
	using E::E;
};

#if defined SEVERAL
#define FAILURE Located<std::out_of_range>("no column " + name)
#define NOEXCEPT
#else
#define FAILURE std::runtime_error("no column " + name)
#define NOEXCEPT noexcept
#endif

FN int read_value(const std::string &name)
{
	if (!name.empty())
		DIE_IN_AS("app::read_value", "libstdc++", throw FAILURE);
	return 1;
}

#ifdef NESTED
/* What comes of the first exception is thrown while that is handled. */
FN int read_row(const std::string &name)
{
	try {
		if (!name.empty())
			throw FAILURE;
	} catch (const std::exception &) {
		DIE_IN_AS("app::read_row", "libstdc++", std::throw_with_nested(std::logic_error("no row 7")));
	}
	return 1;
}
#else
FN int read_row(const std::string &name) NOEXCEPT
{
	int value = CALL_AS("app::read_row", read_value(name));
	BARRIER();

	return value + 1;
}
#endif

FN int load(const char *text)
{
	std::string name(text ? "price" : "");
	int value = CALL_AS("app::load", read_row(name));
	BARRIER();

	return value + name.size();
}

} // namespace app

int main(int, char **argv)
{
#if !defined SEVERAL && !defined NESTED
	try {
		return CALL(app::load(argv[0]));
	} catch (const std::exception &) {
		return 3;
	}
#else
	return CALL(app::load(argv[0]));
#endif
}
