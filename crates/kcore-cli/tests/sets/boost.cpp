// Values of Boost's types, each told by its own library.
#include <boost/any.hpp>
#include <boost/circular_buffer.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <boost/container/string.hpp>
#include <boost/date_time/posix_time/posix_time.hpp>
#include <boost/filesystem/path.hpp>
#include <boost/logic/tribool.hpp>
#include <boost/make_shared.hpp>
#include <boost/optional.hpp>
#include <boost/ptr_container/ptr_vector.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>
#include <boost/variant.hpp>
#include <boost/variant2/variant.hpp>
#include <boost/weak_ptr.hpp>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "told.h"

boost::any held_int(5), held_text(std::string("held")), held_nothing;
boost::container::string brief("brief"), lengthy("a text for which a string has no room in itself");
boost::shared_ptr<int> shared = boost::make_shared<int>(8);
boost::weak_ptr<int> weak(shared), expired = boost::make_shared<int>(9), never;
typedef boost::variant<int, std::string, double> Any;
Any any_int(7), any_text(std::string("a text")), any_double(2.5);
boost::variant2::variant<int, double> either(1.5), other(3);
struct Throws {
	int number = 0;
	explicit Throws(int n) : number(n)
	{
	}
	Throws(const Throws &other) : number(other.number)
	{
	}
};
boost::variant2::variant<int, Throws> doubled(4);
boost::container::static_vector<int, 8> fixed{1, 2, 3};
boost::container::small_vector<int, 4> few{4, 5}, many{1, 2, 3, 4, 5, 6};
boost::container::stable_vector<int> stable{7, 8, 9};
boost::container::flat_map<int, double> flat{{2, 0.5}, {1, 1.5}};
boost::circular_buffer<int> ring(3);
boost::filesystem::path path("/usr/share/dict");
boost::logic::tribool yes(true), no(false), unknown(boost::logic::indeterminate);
boost::ptr_vector<int> owned;
boost::unordered_map<int, int> table;
boost::unordered_map<int, int> no_table;
boost::unordered_set<int> set;
boost::unordered_map<std::string, double> named{{"one", 1.5}};
boost::optional<int> some(5), none;
boost::posix_time::time_duration wait = boost::posix_time::milliseconds(2500);

template <typename Range> std::string listed(const Range &range)
{
	std::ostringstream out;
	for (const auto &element : range)
		out << (out.str().empty() ? "" : ", ") << element;
	return "[" + out.str() + "]";
}

template <typename Map> std::string mapped(const Map &map)
{
	std::map<int, std::string> sorted;
	for (const auto &pair : map) {
		std::ostringstream out;
		out << pair.first << ": " << pair.second;
		sorted[pair.first] = out.str();
	}
	std::string all;
	for (const auto &pair : sorted)
		all += (all.empty() ? "" : ", ") + pair.second;
	return "{" + all + "}";
}

int main()
{
	for (int i = 0; i < 5; i++)
		ring.push_back(i);
	for (int i = 0; i < 3; i++)
		owned.push_back(new int(i * i));
	for (int i = 1; i < 30; i++)
		table[i * 37 % 101] = i, set.insert(i * 3);
	std::map<int, int> sorted(table.begin(), table.end());
	std::set<int> keys(set.begin(), set.end());
	told("any_int", "%d", boost::get<int>(any_int));
	told("any_text", "\"%s\"", boost::get<std::string>(any_text).c_str());
	told("any_double", "%g", boost::get<double>(any_double));
	told("either", "%g", boost::variant2::get<double>(either));
	told("other", "%d", boost::variant2::get<int>(other));
	doubled = Throws(6);
	told("doubled.number", "%d", boost::variant2::get<Throws>(doubled).number);
	told("fixed", "%s", listed(fixed).c_str());
	told("few", "%s", listed(few).c_str());
	told("many", "%s", listed(many).c_str());
	told("stable", "%s", listed(stable).c_str());
	told("flat", "%s", mapped(flat).c_str());
	told("ring", "%s", listed(ring).c_str());
	told("path", "\"%s\"", path.c_str());
	told("yes", "1");
	told("no", "0");
	told("unknown", "indeterminate");
	told("owned", "%s", listed(owned).c_str());
	told("table", "%s", mapped(table).c_str());
	told("table[37]", "%d", table[37]);
	told("named", "{\"one\": 1.5}");
	told("set", "%s", listed(keys).c_str());
	told("some", "%d", *some);
	told("none", "boost::none");
	told("wait", "%lld us", static_cast<long long>(wait.total_microseconds()));
	told("no_table", "{}");
	told("held_int", "%d", boost::any_cast<int>(held_int));
	told("held_text", "\"%s\"", boost::any_cast<std::string>(held_text).c_str());
	told("held_nothing", "nothing");
	told("brief", "\"%s\"", brief.c_str());
	told("lengthy", "\"%s\"", lengthy.c_str());
	told("weak.use", "%ld", weak.use_count());
	told("*weak.observes", "%d", *weak.lock());
	told("expired", "expired");
	told("never", "expired");
	told_all();
}
