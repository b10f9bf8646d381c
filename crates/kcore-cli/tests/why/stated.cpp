// Ends by a function that is told why: of Boost, and of Python if -DPYTHON makes it a library.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef PYTHON
extern "C" [[noreturn]] void _Py_FatalErrorFunc(const char *function, const char *message);

extern "C" __attribute__((noinline, noclone)) int give_up(int count)
{
	if (count > 3)
		_Py_FatalErrorFunc(__func__, "the cache is torn");
	return count;
}
#else
// What a program has to define for <boost/assert.hpp> with BOOST_ENABLE_ASSERT_HANDLER.
namespace boost {
__attribute__((noinline, noclone)) void assertion_failed(char const *text, char const *function, char const *file, long line)
{
	std::fprintf(stderr, "%s:%ld: %s: %s\n", file, line, function, text);
	std::abort();
}

__attribute__((noinline, noclone)) void assertion_failed_msg(char const *text, char const *message, char const *function,
							     char const *file, long line)
{
	std::fprintf(stderr, "%s:%ld: %s: %s: %s\n", file, line, function, text, message);
	std::abort();
}
} // namespace boost

#define FILE "parts/table.hpp"

__attribute__((noinline, noclone)) int add(int used, int size)
{
	__builtin_expect(used <= size, 1) ? (void)0 : boost::assertion_failed("used <= size", __func__, FILE, 1217);
	return used + 1;
}

__attribute__((noinline, noclone)) int find(const char *name)
{
	name ? (void)0 : boost::assertion_failed_msg("name", "a table has a name", __func__, FILE, 31);
	return name[0];
}

// What it is told is not known before it runs.
__attribute__((noinline, noclone)) int check(const char *text)
{
	boost::assertion_failed(text, __func__, FILE, 12);
	return 1;
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";

	if (!std::strcmp(bug, "plain"))
		return add(argc + 7, 3);
	return std::strcmp(bug, "told") ? check(argv[0]) : find(argv[argc]);
}
#endif
