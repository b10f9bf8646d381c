// terminate: throws three calls deep, nobody catches. -DDERIVED throws a class of the program's own, -DRETHROWN one that
// was kept in a std::exception_ptr.
#include "truth.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace app {

class ConfigError : public std::runtime_error {
public:
	/* Not inlined: the throw shall have a line of its own. */
	FN ConfigError(const char *key, int line)
		: std::runtime_error(std::string("no value for ") + key), line_(line)
	{
	}

	int line() const { return line_; }

private:
	int line_;
};

#ifdef DERIVED
#define FAILURE ConfigError("listen.port", 12)
#else
#define FAILURE std::runtime_error("disk full: /var/log")
#endif

#ifdef RETHROWN
#define THROW(failure) std::rethrow_exception(std::make_exception_ptr(failure))
#else
#define THROW(failure) throw failure
#endif

FN int read_value(const char *text)
{
	if (text[0])
		DIE_IN_AS("app::read_value", "libstdc++", THROW(FAILURE));
	return 1;
}

FN int read_section(const char *text)
{
	std::string name(text);
	const char *raw = name.c_str();

	BARRIER();
	int value = CALL_AS("app::read_section", read_value(raw));
	BARRIER();

	return value + name.size();
}

FN int load(const char *text)
{
	return CALL_AS("app::load", read_section(text)) + 1;
}

} // namespace app

int main(int, char **argv)
{
	return CALL(app::load(argv[0]));
}
