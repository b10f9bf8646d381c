// Types of the standard library of C++, in globals. The program tells what each holds, then it dies. A line has what is
// asked, a path and the truth, with tabs between them.
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <typeindex>
#include <unordered_map>
#include <vector>
#if __has_include(<compare>)
#include <compare>
#endif
#if __has_include(<source_location>)
#include <source_location>
#endif

using namespace std::chrono_literals;
using std::string;

static void tell(const char *verb, const char *path, const string &truth)
{
	std::printf("%s\t%s\t%s\n", verb, path, truth.c_str());
}
static void tell(const char *verb, const char *path, long truth)
{
	tell(verb, path, std::to_string(truth));
}

// Spans and points of time.
std::chrono::seconds g_seconds = 90s;
std::chrono::milliseconds g_millis = -1500ms;
std::chrono::hours g_hours = 3h;
std::chrono::duration<double> g_real{2.5};
std::chrono::duration<int, std::ratio<1, 25>> g_frames{50};
using Seconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;
Seconds g_moment{1709210096s}, g_before{-1s};
std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds> g_fine{1709210096789ms};

// Containers and iterators.
std::vector<int> g_vector{10, 20, 30};
std::vector<bool> g_bits{true, false, true};
std::list<int> g_list{10, 20, 30};
std::list<unsigned long> g_twins{1, 1}, g_doubtful{1};
std::forward_list<int> g_forward{4, 5};
std::map<string, int> g_map{{"a", 1}, {"b", 2}};
std::set<int> g_set{5, 6, 7};
std::set<int> g_none;
std::unordered_map<int, int> g_hash{{9, 90}};
std::deque<int> g_deque;
auto g_in_vector = g_vector.begin() + 1;
auto g_back_vector = g_vector.rbegin();
auto g_in_bits = g_bits.begin() + 2;
auto g_in_list = std::next(g_list.begin()), g_end_list = g_list.end();
auto g_back_list = g_list.rbegin();
auto g_in_twins = g_twins.begin(), g_end_doubtful = g_doubtful.end();
auto g_in_forward = g_forward.begin(), g_end_forward = g_forward.end();
auto g_in_map = std::next(g_map.begin()), g_end_map = g_map.end();
auto g_in_set = g_set.begin(), g_end_set = g_set.end(), g_end_none = g_none.end();
auto g_in_hash = g_hash.begin(), g_end_hash = g_hash.end();
std::deque<int>::iterator g_in_deque;

// Owners.
std::shared_ptr<int> g_shared = std::make_shared<int>(7);
std::shared_ptr<int> g_owner = std::shared_ptr<int>(new int(8)), g_second = g_owner;
std::weak_ptr<int> g_weak = g_owner;
#if defined(__cpp_lib_atomic_shared_ptr)
std::atomic<std::shared_ptr<int>> g_atomic{std::make_shared<int>(42)};
#endif

// Locks, threads, results.
std::shared_mutex g_read, g_written;
std::promise<int> g_promise, g_pending;
std::future<int> g_future = g_promise.get_future(), g_waits = g_pending.get_future(), g_nothing;
std::thread g_thread;

// Errors, types.
std::error_code g_error = std::make_error_code(std::errc::no_such_file_or_directory);
std::error_code g_broken = std::make_error_code(std::future_errc::broken_promise);
std::type_index g_type = typeid(double);

// Flags.
enum Flags { F_A = 1, F_B = 2, F_C = 4, F_FIELD = 0x30 };
Flags g_flags = Flags(F_A | F_C | 0x100), g_field = Flags(F_FIELD | F_B);

// Statics of class templates.
template <class T> struct Counted {
	static T count;
	static inline int shared = 5;
};
template <class T> T Counted<T>::count = T(1);
template <> int Counted<int>::count = 17;

#if __cpp_lib_chrono >= 201907L
std::chrono::year_month_day g_date{std::chrono::year(2024), std::chrono::month(2), std::chrono::day(29)};
std::chrono::year_month_day g_wrong{std::chrono::year(2023), std::chrono::month(2), std::chrono::day(29)};
std::chrono::hh_mm_ss<std::chrono::milliseconds> g_time{3661004ms};
std::chrono::sys_days g_days{g_date};
#endif
#if defined(__cpp_lib_source_location)
std::source_location g_place = std::source_location::current();
#endif

static void tell_time()
{
	tell("means", "g_seconds", std::to_string(g_seconds.count()) + "s");
	tell("number", "g_seconds", g_seconds.count());
	tell("means", "g_millis", std::to_string(g_millis.count()) + "ms");
	tell("means", "g_hours", "3h");
	tell("means", "g_real", "2.5s");
	tell("means", "g_frames", "50[1/25]s");
	char text[64];
	for (auto [path, moment] : {std::pair{"g_moment", g_moment}, std::pair{"g_before", g_before}}) {
		std::time_t time = std::chrono::system_clock::to_time_t(moment);
		std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&time));
		tell("means", path, text);
	}
	tell("means", "g_fine", "2024-02-29 12:34:56.789 UTC");
#if __cpp_lib_chrono >= 201907L
	tell("means", "g_date", "2024-02-29");
	tell("means", "g_wrong", "2023-02-29 is not a valid date");
	tell("means", "g_time", "01:01:01.004");
	tell("means", "g_days", "2024-02-29 UTC");
#endif
}

static void tell_iterators()
{
	tell("holds", "g_in_vector", *g_in_vector);
	tell("number", "*g_in_vector", *g_in_vector);
	tell("holds", "g_back_vector", *g_back_vector);
	tell("shows", "g_in_bits", *g_in_bits ? "true" : "false");
	tell("holds", "g_in_list", *g_in_list);
	tell("shows", "g_end_list", "end");
	tell("holds", "g_back_list", *g_back_list);
	tell("holds", "g_in_twins", *g_in_twins);
	// Behind the links of the list stands its length, 1, and behind those of its node as well.
	std::printf("number\tg_end_doubtful\t%p\n", (void *)&g_doubtful);
	tell("holds", "g_in_forward", *g_in_forward);
	tell("shows", "g_end_forward", "end");
	tell("number", "g_in_map->second", g_in_map->second);
	tell("shows", "g_end_map", "end");
	tell("holds", "g_in_set", *g_in_set);
	tell("shows", "g_end_set", "end");
	tell("shows", "g_end_none", "end");
	tell("number", "g_in_hash->second", g_in_hash->second);
	tell("shows", "g_end_hash", "end");
	tell("holds", "g_in_deque", *g_in_deque);
}

std::weak_ptr<int> g_expired = std::make_shared<int>(6);

static void tell_rest()
{
	tell("holds", "g_shared", *g_shared);
	tell("holds", "g_owner", *g_owner);
	tell("use", "g_owner", g_owner.use_count());
	tell("weak", "g_owner", 1);
	tell("use", "g_expired", 0);
	tell("weak", "g_expired", 1);
#if defined(__cpp_lib_atomic_shared_ptr)
	tell("holds", "g_atomic", *g_atomic.load());
	tell("use", "g_atomic", g_atomic.load().use_count() - 1);
#endif
	tell("shows", "g_nothing", "no state");
#if !defined(_LIBCPP_VERSION)
	// clang leaves the description of libc++'s states to the debug information of the library.
	tell("shows", "g_future", "ready(0x63)");
	tell("shows", "g_waits", "pending");
#endif
	tell("means", "g_error", string("generic:") + std::to_string(g_error.value()) + " ENOENT");
	tell("means", "g_broken", string("future:") + std::to_string(g_broken.value()));
	tell("has", "g_type", "typeinfo for double");
	tell("shows", "g_flags", "0x105 (F_{A|C}|0x100)");
	tell("shows", "g_field", "0x32 (F_{B|FIELD})");
	tell("number", "Counted<int>::count", Counted<int>::count);
	tell("number", "Counted<int>::shared", Counted<int>::shared);
	tell("number", "Counted<long>::count", Counted<long>::count);
	tell("number", "g_read.readers", 1);
	tell("number", "g_written.readers", 0);
#if defined(__cpp_lib_source_location)
	tell("has", "g_place", "library.cpp:" + std::to_string(g_place.line()) + ":");
#endif
}

// What references refer to, keys of all kinds, and names that mean what the enumeration says.
struct Node {
	int number;
};
enum Sequence { S0, S1, S2 };
std::vector<int> g_numbers{10, 20, 30};
std::vector<int> &g_numbers_ref = g_numbers;
int g_array[3] = {1, 2, 3};
int (&g_array_ref)[3] = g_array;
Node g_node{5};
Node *g_to_node = &g_node;
Node *&g_to_node_ref = g_to_node;
std::map<char, int> g_letters{{'a', 1}, {'b', 2}};
std::map<char, int> &g_letters_ref = g_letters;
std::map<int, int> g_below{{-5, 6}, {3, 4}};
std::map<bool, int> g_truths{{true, 7}};
std::map<Sequence, int> g_sequences{{S1, 8}};
std::map<string, int> g_words{{"one", 1}};
const std::map<string, int> &g_words_ref = g_words;
string g_word = "word";
const string &g_word_ref = g_word;
Sequence g_sequence = S2;

static void tell_references()
{
	tell("number", "g_numbers_ref[1]", g_numbers_ref[1]);
	tell("number", "g_array_ref[2]", g_array_ref[2]);
	tell("number", "*g_array_ref", *g_array_ref);
	tell("number", "g_to_node_ref->number", g_to_node_ref->number);
	tell("number", "(*g_to_node_ref).number", (*g_to_node_ref).number);
	tell("number", "sizeof(g_numbers_ref)", sizeof(g_numbers_ref));
	tell("number", "g_letters['a']", g_letters['a']);
	tell("number", "g_letters_ref[98]", g_letters_ref['b']);
	tell("number", "g_below[-5]", g_below[-5]);
	tell("number", "g_truths[true]", g_truths[true]);
	tell("number", "g_sequences[S1]", g_sequences[S1]);
	tell("number", "g_words_ref[\"one\"]", g_words_ref.at("one"));
	tell("number", "g_word_ref == \"word\"", "true");
	tell("number", "g_sequence == S2", "true");
	// A number without its unit, and a distance without the size of an element, would be wrong.
	tell("has", "g_seconds + g_millis", "operand");
	tell("has", "g_seconds == g_millis", "operand");
	tell("has", "g_in_deque + 1", "operand");
}

// Variables of classes and of templates, through objects and by their names.
struct Ancestor {
	static long heirs;
};
long Ancestor::heirs = 3;
struct Counter : Ancestor {
	static int made;
	static const int limit = 77;
	int number = 5;
	void stop();
};
int Counter::made = 42;
namespace ns {
template <class T> int width = int(sizeof(T)) * 100;
}
Counter g_counter, *g_to_counter = &g_counter, &g_counter_ref = g_counter;
Counted<int> g_counted;

static void tell_statics()
{
	tell("number", "g_counter.made", g_counter.made);
	tell("number", "g_to_counter->made", g_to_counter->made);
	tell("number", "g_counter_ref.made", g_counter_ref.made);
	tell("number", "g_counter.limit", g_counter.limit);
	tell("number", "g_counter.heirs", g_counter.heirs);
	tell("number", "g_counter.made + 1", g_counter.made + 1);
	tell("number", "g_counted.count", g_counted.count);
	tell("number", "local:this->made", Counter::made);
	tell("number", "ns::width<int>", ns::width<int>);
	tell("number", "ns::width<double>", ns::width<double>);
	tell("has", "Counted<char>::count", "no variable, function or type has the name 'Counted<char>::count'");
}

// Results of comparisons, bits, owners of arrays.
std::any g_any_text = static_cast<const char *>("some text"), g_any_number = 5;
std::unique_ptr<int[]> g_owned(new int[3]{4, 5, 6});
std::unique_ptr<Counter[]> g_counters(new Counter[2]);
std::vector<bool>::reference g_bit = g_bits[2], g_no_bit = g_bits[1];
std::bitset<70> g_set_of_bits(5);
std::bitset<70>::reference g_bit_of_set = g_set_of_bits[2], g_no_bit_of_set = g_set_of_bits[1];
std::map<double, int> g_reals{{2.5, 1}, {-1.5, 2}};
std::map<float, int> g_singles{{0.1f, 3}};
#if __cpp_lib_three_way_comparison >= 201907L
std::strong_ordering g_less = std::strong_ordering::less, g_equal = std::strong_ordering::equal;
std::weak_ordering g_same = std::weak_ordering::equivalent;
std::partial_ordering g_greater = std::partial_ordering::greater, g_nan = std::partial_ordering::unordered;
#endif

static void tell_small()
{
	tell("has", "g_any_text", string("\"") + std::any_cast<const char *>(g_any_text) + "\"");
	tell("has", "g_any_number", "int(0x5)");
	tell("number", "g_owned[2]", g_owned[2]);
	tell("number", "g_counters[1].number", g_counters[1].number);
	tell("shows", "g_bit", g_bit ? "true" : "false");
	tell("shows", "g_no_bit", g_no_bit ? "true" : "false");
	tell("shows", "g_bit_of_set", g_bit_of_set ? "true" : "false");
	tell("shows", "g_no_bit_of_set", g_no_bit_of_set ? "true" : "false");
	tell("number", "g_reals[2.5]", g_reals.at(2.5));
	tell("number", "g_reals[-1.5]", g_reals.at(-1.5));
	tell("number", "g_singles[0.1]", g_singles.at(0.1f));
	tell("has", "g_reals[7.5]", "no key 7.5");
	tell("number", "-7 / 2", -7 / 2);
#if __cpp_lib_three_way_comparison >= 201907L
	tell("shows", "g_less", "less");
	tell("shows", "g_equal", "equal");
	tell("shows", "g_same", "equivalent");
	tell("shows", "g_greater", "greater");
	tell("shows", "g_nan", "unordered");
#endif
}

// Iterators whose elements are gone: no element, and no end.
std::list<int> g_shrunk{1, 2, 3}, g_behead{1, 2, 3};
std::map<int, int> g_shrunk_map{{1, 2}, {3, 4}, {5, 6}};
auto g_gone = std::next(g_shrunk.begin()), g_here = std::next(g_gone);
auto g_rend = g_behead.rend(), g_last = g_behead.rbegin();
auto g_gone_pair = g_shrunk_map.begin(), g_last_pair_base = g_shrunk_map.end();
auto g_last_pair = g_shrunk_map.rbegin();
std::map<int, int> g_lone_pair{{7, 8}}, g_two_pairs{{7, 8}, {9, 10}};
auto g_before_lone = g_lone_pair.rend(), g_before_two = g_two_pairs.rend();

static void tell_erased()
{
	tell("shows", "g_before_lone", "end");
	tell("shows", "g_before_two", "end");
	std::printf("number\tg_gone\t%p\n", (void *)((char *)&*g_gone - 2 * sizeof(void *)));
	// Before what rend() was made of stands nothing that memory still tells.
	std::printf("has\tg_rend\t%p\n", (void *)((char *)&g_behead.front() - 2 * sizeof(void *)));
	g_shrunk.erase(g_gone);
	g_behead.pop_front();
	g_shrunk_map.erase(g_gone_pair);
	tell("holds", "g_here", *g_here);
	tell("holds", "g_last", *g_last);
	tell("number", "g_last_pair->first", g_last_pair->first);
}

void __attribute__((noinline)) Counter::stop()
{
	std::fflush(stdout);
	std::abort();
}

int main()
{
	for (int i = 0; i < 200; i++)
		g_deque.push_back(i);
	g_in_deque = g_deque.begin() + 150;
	g_promise.set_value(99);
	g_read.lock_shared();
	g_written.lock();
	tell_time();
	tell_iterators();
	tell_rest();
	tell_references();
	tell_statics();
	tell_small();
	tell_erased();
	g_counter.stop();
}
