// Tells values: each as one line of JSON in values.jsonl, which says how a user would name it and what it is, as a tree.
// The layout stands in gen-cores/README.md.
#ifndef VALUES_HPP
#define VALUES_HPP

#include <any>
#include <array>
#include <cinttypes>
#include <cmath>
#include <complex>
#include <deque>
#include <fstream>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace tell {

using Out = std::ostringstream;

inline void quoted(Out &out, std::string_view text)
{
	out << '"';
	for (char c : text) {
		char escape[8];
		if (c == '"' || c == '\\') {
			out << '\\' << c;
		} else if (static_cast<unsigned char>(c) < ' ') {
			std::snprintf(escape, sizeof escape, "\\u%04x", c);
			out << escape;
		} else {
			out << c;
		}
	}
	out << '"';
}

inline std::string hex(const volatile void *pointer)
{
	char text[24];

	std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(pointer));
	return text;
}

// What has its own way to be told: structures of the program.
template <typename T> struct Shape;

template <typename T> void value(Out &out, const T &it);

template <typename Range> void sequence(Out &out, const char *key, const Range &range)
{
	const char *comma = "";
	size_t count = 0;

	out << "{\"" << key << "\":[";
	for (auto &&element : range) {
		out << comma;
		using Element = typename std::decay<decltype(element)>::type;
		value<Element>(out, element);
		comma = ",";
		count++;
	}
	out << "],\"total\":" << count << '}';
}

template <typename Map> void mapping(Out &out, const char *key, const Map &map)
{
	const char *comma = "";

	out << "{\"" << key << "\":[";
	for (const auto &[first, second] : map) {
		out << comma << '[';
		value(out, first);
		out << ',';
		value(out, second);
		out << ']';
		comma = ",";
	}
	out << "],\"total\":" << map.size() << '}';
}

// The code points of text that is no UTF-8.
template <typename Char> std::string narrow(std::basic_string_view<Char> text)
{
	std::string bytes;

	for (size_t at = 0; at < text.size(); at++) {
		unsigned long c = text[at];
		if (sizeof(Char) == 2 && c >= 0xd800 && c < 0xdc00 && at + 1 < text.size())
			c = 0x10000 + ((c - 0xd800) << 10) + (text[++at] - 0xdc00);
		if (c < 0x80) {
			bytes += static_cast<char>(c);
		} else if (c < 0x800) {
			bytes += static_cast<char>(0xc0 | c >> 6);
			bytes += static_cast<char>(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			bytes += static_cast<char>(0xe0 | c >> 12);
			bytes += static_cast<char>(0x80 | (c >> 6 & 0x3f));
			bytes += static_cast<char>(0x80 | (c & 0x3f));
		} else {
			bytes += static_cast<char>(0xf0 | c >> 18);
			bytes += static_cast<char>(0x80 | (c >> 12 & 0x3f));
			bytes += static_cast<char>(0x80 | (c >> 6 & 0x3f));
			bytes += static_cast<char>(0x80 | (c & 0x3f));
		}
	}
	return bytes;
}

template <typename T> struct Teller {
	static void tell(Out &out, const T &it)
	{
		if constexpr (std::is_same_v<T, bool>) {
			out << "{\"bool\":" << (it ? "true" : "false") << '}';
		} else if constexpr (std::is_same_v<T, char>) {
			out << "{\"char\":" << static_cast<unsigned>(static_cast<unsigned char>(it)) << '}';
		} else if constexpr (std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>) {
			out << "{\"char\":" << static_cast<uint32_t>(it) << '}';
		} else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
			out << "{\"int\":\"" << static_cast<intmax_t>(it) << "\"}";
		} else if constexpr (std::is_integral_v<T>) {
			out << "{\"int\":\"" << static_cast<uintmax_t>(it) << "\"}";
		} else if constexpr (std::is_floating_point_v<T>) {
			char text[40];
			std::snprintf(text, sizeof text, "%.17g", static_cast<double>(it));
			out << "{\"float\":\"" << text << "\"}";
		} else if constexpr (std::is_pointer_v<T>) {
			out << "{\"ptr\":\"" << hex(reinterpret_cast<const void *>(it)) << "\"}";
		} else {
			out << "{\"struct\":{";
			Shape<T>::tell(out, it);
			out << "}}";
		}
	}
};

template <typename Char, typename Traits, typename A> struct Teller<std::basic_string<Char, Traits, A>> {
	static void tell(Out &out, const std::basic_string<Char, Traits, A> &it)
	{
		out << "{\"text\":";
		if constexpr (sizeof(Char) == 1)
			quoted(out, it);
		else
			quoted(out, narrow(std::basic_string_view<Char>(it)));
		out << '}';
	}
};
template <> struct Teller<std::string_view> {
	static void tell(Out &out, const std::string_view &it)
	{
		out << "{\"text\":";
		quoted(out, it);
		out << '}';
	}
};
template <> struct Teller<const char *> {
	static void tell(Out &out, const char *it)
	{
		if (!it) {
			out << "{\"ptr\":\"0x0\"}";
			return;
		}
		out << "{\"cstr\":";
		quoted(out, it);
		out << '}';
	}
};

#define TELL_SEQUENCE(type, key)                                                                                       \
	template <typename... T> struct Teller<type<T...>> {                                                           \
		static void tell(Out &out, const type<T...> &it)                                                       \
		{                                                                                                      \
			sequence(out, key, it);                                                                        \
		}                                                                                                      \
	}
TELL_SEQUENCE(std::vector, "list");
TELL_SEQUENCE(std::deque, "list");
TELL_SEQUENCE(std::list, "list");
TELL_SEQUENCE(std::forward_list, "list");
TELL_SEQUENCE(std::set, "list");
TELL_SEQUENCE(std::multiset, "list");
TELL_SEQUENCE(std::unordered_set, "bag");
TELL_SEQUENCE(std::unordered_multiset, "bag");

// Its elements are no objects.
template <> struct Teller<std::vector<bool>> {
	static void tell(Out &out, const std::vector<bool> &it)
	{
		sequence(out, "list", std::deque<bool>(it.begin(), it.end()));
	}
};
template <typename T, size_t N> struct Teller<std::array<T, N>> {
	static void tell(Out &out, const std::array<T, N> &it)
	{
		sequence(out, "list", it);
	}
};
template <typename T, size_t N> struct Teller<T[N]> {
	static void tell(Out &out, const T (&it)[N])
	{
		sequence(out, "list", it);
	}
};

#define TELL_MAP(type, key)                                                                                            \
	template <typename... T> struct Teller<type<T...>> {                                                           \
		static void tell(Out &out, const type<T...> &it)                                                       \
		{                                                                                                      \
			mapping(out, key, it);                                                                         \
		}                                                                                                      \
	}
TELL_MAP(std::map, "map");
TELL_MAP(std::multimap, "map");
TELL_MAP(std::unordered_map, "hash");
TELL_MAP(std::unordered_multimap, "hash");

template <typename A, typename B> struct Teller<std::pair<A, B>> {
	static void tell(Out &out, const std::pair<A, B> &it)
	{
		out << "{\"struct\":{\"first\":";
		value(out, it.first);
		out << ",\"second\":";
		value(out, it.second);
		out << "}}";
	}
};
template <typename... T> struct Teller<std::tuple<T...>> {
	static void tell(Out &out, const std::tuple<T...> &it)
	{
		const char *comma = "";

		out << "{\"tuple\":[";
		std::apply([&](const auto &...part) { ((out << comma, value(out, part), comma = ","), ...); }, it);
		out << "]}";
	}
};
template <typename T> struct Teller<std::optional<T>> {
	static void tell(Out &out, const std::optional<T> &it)
	{
		out << "{\"optional\":";
		if (it)
			value(out, *it);
		else
			out << "null";
		out << '}';
	}
};
template <typename... T> struct Teller<std::variant<T...>> {
	static void tell(Out &out, const std::variant<T...> &it)
	{
		out << "{\"alternative\":";
		if (it.valueless_by_exception())
			out << "null";
		else
			std::visit([&](const auto &part) { value(out, part); }, it);
		out << '}';
	}
};
template <> struct Teller<std::monostate> {
	static void tell(Out &out, const std::monostate &)
	{
		out << "{\"empty\":true}";
	}
};
template <typename T> struct Teller<std::complex<T>> {
	static void tell(Out &out, const std::complex<T> &it)
	{
		char text[96];

		std::snprintf(text, sizeof text, "{\"complex\":[\"%.17g\",\"%.17g\"]}", static_cast<double>(it.real()),
			      static_cast<double>(it.imag()));
		out << text;
	}
};

template <typename T> void owned(Out &out, const T *it)
{
	out << "{\"ptr\":\"" << hex(it) << "\"";
	if (it) {
		out << ",\"owns\":";
		value(out, *it);
	}
	out << '}';
}
template <typename T, typename D> struct Teller<std::unique_ptr<T, D>> {
	static void tell(Out &out, const std::unique_ptr<T, D> &it)
	{
		owned(out, it.get());
	}
};
template <typename T> struct Teller<std::shared_ptr<T>> {
	static void tell(Out &out, const std::shared_ptr<T> &it)
	{
		owned(out, it.get());
	}
};

template <typename T> void value(Out &out, const T &it)
{
	Teller<T>::tell(out, it);
}

inline std::ofstream &file()
{
	static std::ofstream out("values.jsonl");
	return out;
}

// A line: NAME as a user types it, and the tree without its outer braces.
inline void line(const char *name, const std::string &tree, const char *frame = nullptr)
{
	file() << "{\"print\":\"" << name << "\",";
	if (frame)
		file() << "\"frame\":\"" << frame << "\",";
	file() << tree.substr(1) << '\n';
}

template <typename T> void global(const char *name, const T &it)
{
	Out out;

	value(out, it);
	line(name, out.str());
}

template <typename T> void local(const char *frame, const char *name, const T &it)
{
	Out out;

	value(out, it);
	line(name, out.str(), frame);
}

template <typename T> void member(Out &out, const char *name, const T &it, bool first = false)
{
	out << (first ? "\"" : ",\"") << name << "\":";
	value(out, it);
}

} // namespace tell

// How members of a structure are told: SHAPE(type, FIRST(a), ALSO(b)).
#define SHAPE(type, ...)                                                                                               \
	template <> struct tell::Shape<type> {                                                                         \
		static void tell(Out &out, const type &it)                                                             \
		{                                                                                                      \
			__VA_ARGS__;                                                                                   \
		}                                                                                                      \
	}
#define FIRST(name) member(out, #name, it.name, true)
#define ALSO(name) member(out, #name, it.name)

#define VALUE(name) tell::global(#name, name)
// The value as text of JSON, for what C++ cannot tell of itself.
#define RAW(name, tree) tell::line(name, tree)

#endif
