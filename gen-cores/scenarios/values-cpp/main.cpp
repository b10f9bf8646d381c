// values-cpp: values of every kind of type that C++ and its library have, in globals, static members and locals. The
// program tells all of them in values.jsonl, then it dies.
#include "truth.h"
#include "values.hpp"

#include <atomic>
#include <bitset>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <stack>
#include <stdexcept>
#include <unistd.h>

#define STAYS __attribute__((noinline)) FN

using std::string;

namespace demo {

enum class Color : uint8_t { Red = 1, Green, Blue = 200 };
enum Plain { PLAIN_A, PLAIN_B = 5 };
enum class Signed : int16_t { Minus = -300, Plus = 300 };

struct Point {
	int x = 0, y = 0;

	bool operator<(const Point &other) const
	{
		return x < other.x;
	}
	int sum() const
	{
		return x + y;
	}
};

// Bases.
struct Animal {
	int legs = 4;
	virtual ~Animal() = default;
	virtual int noise() const
	{
		return legs;
	}
};
struct Dog : Animal {
	string name = "Rex";
	int noise() const override
	{
		return 10;
	}
};
struct Puppy final : Dog {
	double weeks = 6.5;
	int noise() const override
	{
		return 20;
	}
};
struct Left {
	int left = 11;
	virtual ~Left() = default;
};
struct Right {
	int right = 22;
	virtual ~Right() = default;
};
struct Both : Left, Right {
	int both = 33;
};
struct Top {
	int top = 1;
	virtual ~Top() = default;
};
struct ViaA : virtual Top {
	int via_a = 2;
};
struct ViaB : virtual Top {
	int via_b = 3;
};
struct Diamond : ViaA, ViaB {
	int bottom = 4;
};
struct Nothing {};
struct FromNothing : Nothing {
	int something = 5;
};
// A member of the same name hides that of the base.
struct Hides : Point {
	int x = 77;
};

class Account {
public:
	Account(string owner, long cents) : owner_(std::move(owner)), cents_(cents) {}
	struct Limit {
		long daily;
		enum class Kind { Soft, Hard } kind;
	};
	static int count;
	static constexpr int version = 3;
	const string &owner() const
	{
		return owner_;
	}
	long cents() const
	{
		return cents_;
	}
	Limit limit{500, Limit::Kind::Hard};

private:
	string owner_;
	long cents_;
};
int Account::count = 12;

template <typename T, int N = 2> struct Box {
	T items[N];
	T sum() const
	{
		return items[0] + items[1];
	}
};
template <typename A, typename... Rest> struct Pack {
	A first;
	std::tuple<Rest...> rest;
};
template <Color C> struct Painted {
	int shade = static_cast<int>(C);
};

inline namespace v2 {
int g_in_inline = 222;
}
namespace deep::deeper {
long g_deep = 333;
struct Hidden {
	short at = 44;
} g_hidden;
}

Point g_point{3, -4};
Color g_color = Color::Blue;
Color g_unknown = static_cast<Color>(99);
Plain g_plain = PLAIN_B;
Signed g_signed = Signed::Minus;
Dog g_dog;
Puppy g_puppy;
Both g_both;
Diamond g_diamond;
FromNothing g_from_nothing;
Hides g_hides;
Animal *g_animal = &g_puppy;
Animal *g_plain_animal = new Animal;
Right *g_right = &g_both;
Top *g_top = &g_diamond;
const Animal &g_animal_ref = g_dog;
int g_target = 4711;
int &g_ref = g_target;
const Point &g_point_ref = g_point;
int &&g_rvalue = 815;
Account g_account("Ada", 123456);
Account::Limit g_limit{7, Account::Limit::Kind::Soft};
Box<int> g_box{{5, 6}};
Box<double, 3> g_box3{{0.5, 1.5, 2.5}};
Box<Box<char>> g_boxes{{{{'a', 'b'}}, {{'c', 'd'}}}};
Pack<char, int, bool> g_pack{'p', {7, true}};
Painted<Color::Green> g_painted;
union Either {
	int whole;
	float real;
} g_either{0x3f800000};
int Point::*g_data_member = &Point::y;
int (Point::*g_method)() const = &Point::sum;
int (Animal::*g_virtual)() const = &Animal::noise;
int Point::*g_no_member = nullptr;
std::nullptr_t g_nullptr = nullptr;
bool g_true = true;
char16_t g_char16 = u'\u20ac';
char32_t g_char32 = U'\U0001f600';
thread_local int t_counter = 6;

struct Failure {
	string why;
	int code;
};

} // namespace demo

namespace {
int g_anonymous = 555;
demo::Point g_anonymous_point{1, 1};
}

SHAPE(demo::Point, FIRST(x), ALSO(y));
SHAPE(demo::Animal, FIRST(legs));
SHAPE(demo::Dog, FIRST(legs), ALSO(name));
SHAPE(demo::Puppy, FIRST(legs), ALSO(name), ALSO(weeks));
SHAPE(demo::Left, FIRST(left));
SHAPE(demo::Right, FIRST(right));
SHAPE(demo::Both, FIRST(left), ALSO(right), ALSO(both));
SHAPE(demo::Diamond, FIRST(top), ALSO(via_a), ALSO(via_b), ALSO(bottom));
SHAPE(demo::FromNothing, FIRST(something));
SHAPE(demo::deep::deeper::Hidden, FIRST(at));
SHAPE(demo::Box<int>, FIRST(items));
using Box3 = demo::Box<double, 3>;
SHAPE(Box3, FIRST(items));
SHAPE(demo::Box<char>, FIRST(items));
SHAPE(demo::Box<demo::Box<char>>, FIRST(items));
using Packed = demo::Pack<char, int, bool>;
SHAPE(Packed, FIRST(first), ALSO(rest));
SHAPE(demo::Painted<demo::Color::Green>, FIRST(shade));
SHAPE(demo::Either, FIRST(whole), ALSO(real));

// Containers.
string s_empty, s_short = "short", s_fifteen = "fifteen letters", s_sixteen = "sixteen letters!";
string s_twenty_two = "twenty-two characters.", s_twenty_three = "twenty-three characters";
string s_long(300, 'l'), s_nul("a\0b", 3), s_utf8 = "gr\u00fc\u00df \u20ac \U0001f600", s_quotes = "a \"b\" \\ \n";
std::wstring s_wide = L"w\u00efde \u20ac", s_wide_long = L"a wide string that is long enough for the heap";
std::u16string s_u16 = u"sixteen \u20ac \U0001f600";
std::u32string s_u32 = U"thirty-two \U0001f600";
std::string_view s_view = "a view";
string *s_pointer = &s_short;
string &s_reference = s_long;

std::vector<int> v_empty, v_one{42}, v_ints{1, -2, 3}, v_many;
std::vector<bool> v_bools{true, false, true, true}, v_bools_many;
std::vector<string> v_strings{"one", "two", "a string that is too long for the short form"};
std::vector<std::vector<int>> v_nested{{1}, {}, {2, 3}};
std::vector<demo::Point> v_points{{1, 2}, {3, 4}};
std::vector<std::unique_ptr<demo::Animal>> v_animals;
std::array<int, 3> a_ints{7, 8, 9};
std::array<string, 2> a_strings{"x", "y"};
std::array<int, 0> a_none;
std::deque<int> d_empty, d_one{1}, d_many;
std::deque<string> d_strings{"front", "back"};
std::list<int> l_empty, l_one{5}, l_many;
std::list<string> l_strings{"p", "q"};
std::forward_list<int> f_empty, f_one{9}, f_ints{1, 2, 3};
std::map<int, int> m_empty, m_one{{1, 2}}, m_many;
std::map<string, int> m_ages{{"Ada", 36}, {"Bob", 25}, {"Eve", 99}};
std::map<string, std::vector<std::pair<int, string>>> m_deep{{"a", {{1, "one"}, {2, "two"}}}, {"b", {}}};
std::map<demo::Point, demo::Point> m_points{{{1, 2}, {3, 4}}};
std::multimap<int, string> m_multi{{1, "x"}, {1, "y"}, {2, "z"}};
std::set<int> e_empty, e_ints{3, 1, 2}, e_many;
std::set<string> e_strings{"b", "a"};
std::multiset<int> e_multi{2, 1, 2};
std::unordered_map<int, string> u_empty, u_one{{1, "one"}}, u_many;
std::unordered_map<string, int> u_ages{{"Ada", 36}, {"Bob", 25}, {"Eve", 99}};
std::unordered_map<string, std::shared_ptr<demo::Point>> u_shared;
std::unordered_multimap<int, int> u_multi{{1, 10}, {1, 11}};
std::unordered_set<int> u_set{5, 6, 7}, u_set_empty;
std::unordered_set<string> u_words{"red", "green"};
std::unordered_multiset<int> u_multiset{1, 1};
std::pair<int, string> p_pair{1, "pair"};
std::tuple<> t_none;
std::tuple<int, string, double> t_three{1, "two", 3.0};
std::tuple<std::tuple<int>, char> t_nested{{7}, 'c'};
std::optional<int> o_none, o_some = 42;
std::optional<string> o_text = "text";
std::optional<demo::Point> o_point = demo::Point{1, 2};
std::optional<std::optional<bool>> o_nested = std::optional<bool>();
std::variant<int, string, std::monostate> w_int = 42, w_text = "text", w_mono = std::monostate();
std::variant<demo::Point, double> w_point = demo::Point{5, 6};
std::any y_none, y_int = 42, y_text = string("any text");
std::unique_ptr<int> q_null, q_int = std::make_unique<int>(17);
std::unique_ptr<demo::Point> q_point = std::make_unique<demo::Point>(demo::Point{1, 2});
std::unique_ptr<demo::Animal> q_animal = std::make_unique<demo::Puppy>();
struct Free {
	void operator()(char *text) const
	{
		free(text);
	}
};
std::unique_ptr<char, Free> q_deleter(strdup("freed"));
void (*q_free)(void *) = free;
std::shared_ptr<int> h_null, h_int = std::make_shared<int>(23), h_new(new int(24));
std::shared_ptr<demo::Point> h_point = std::make_shared<demo::Point>(demo::Point{9, 8});
std::shared_ptr<int> h_alias(h_point, &h_point->y);
std::weak_ptr<int> h_weak = h_int, h_expired = std::make_shared<int>(1), h_never;
struct Chain {
	int number = 0;
	std::shared_ptr<Chain> next;
};
std::shared_ptr<Chain> h_cycle = std::make_shared<Chain>();
std::bitset<12> b_bits("101000000011");
std::stack<int> c_stack({1, 2, 3});
std::queue<int> c_queue({4, 5});
std::priority_queue<int> c_heap;
std::complex<double> k_complex{1.5, -2.5};
std::atomic<int> k_atomic{88};
std::atomic<bool> k_flag{true};
std::chrono::milliseconds k_duration{1500};
std::filesystem::path k_path = "/usr/share/doc";
std::reference_wrapper<int> k_wrapper = demo::g_target;
std::initializer_list<int> k_list{1, 2, 3};
std::mutex k_mutex, k_free_mutex;
std::shared_mutex k_shared;
std::exception_ptr x_none, x_int = std::make_exception_ptr(42),
			   x_error = std::make_exception_ptr(demo::Failure{"thrown", 7});
std::filesystem::path k_empty_path;
std::chrono::system_clock::time_point k_time{std::chrono::seconds(5)};

STAYS static int twice(int n)
{
	return n * 2;
}
std::function<int(int)> n_empty, n_free = twice, n_lambda;
static auto g_lambda = [factor = 3, name = string("captured")](int n) { return n * factor + int(name.size()); };

SHAPE(Chain, FIRST(number));

static string ptr(const volatile void *pointer, const string &more = "")
{
	return "{\"ptr\":\"" + tell::hex(pointer) + "\"" + more + "}";
}

static string number(long value)
{
	return "{\"int\":\"" + std::to_string(value) + "\"}";
}

static string name_of(long value, const char *name)
{
	return "{\"enum\":\"" + std::to_string(value) + "\",\"symbol\":\"" + name + "\"}";
}

static string bits(const string &text)
{
	string told = "{\"list\":[";

	for (size_t at = text.size(); at-- > 0;)
		told += string(at + 1 < text.size() ? "," : "") + "{\"bool\":" + (text[at] == '1' ? "true}" : "false}");
	return told + "],\"total\":" + std::to_string(text.size()) + "}";
}

static string list(const char *key, std::initializer_list<long> values)
{
	string text = string("{\"") + key + "\":[";

	for (long value : values)
		text += (text.back() == '[' ? "" : ",") + number(value);
	return text + "],\"total\":" + std::to_string(values.size()) + "}";
}

static void fill()
{
	for (int i = 0; i < 100; i++) {
		v_many.push_back(i * 3);
		v_bools_many.push_back(i % 3 == 0);
		l_many.push_back(-i);
		m_many[i] = i * i;
		e_many.insert(i * 2);
		u_many[i] = std::to_string(i);
	}
	for (int i = 0; i < 400; i++)
		d_many.push_back(i);
	// Its first element does not begin a block any more.
	for (int i = 0; i < 5; i++)
		d_many.pop_front();
	v_animals.push_back(std::make_unique<demo::Dog>());
	v_animals.push_back(nullptr);
	u_shared["origin"] = std::make_shared<demo::Point>();
	u_shared["none"] = nullptr;
	h_cycle->number = 1;
	h_cycle->next = std::make_shared<Chain>();
	h_cycle->next->number = 2;
	h_cycle->next->next = h_cycle;
	for (int n : {3, 9, 4})
		c_heap.push(n);
	n_lambda = [](int n) { return n + 1; };
}

static void tell_classes()
{
	using namespace demo;

	VALUE(demo::g_point), VALUE(demo::g_dog), VALUE(demo::g_puppy), VALUE(demo::g_both), VALUE(demo::g_diamond);
	VALUE(demo::g_from_nothing), VALUE(demo::g_true), VALUE(demo::g_char16), VALUE(demo::g_char32);
	VALUE(demo::g_box), VALUE(demo::g_box3), VALUE(demo::g_boxes), VALUE(demo::g_pack), VALUE(demo::g_painted);
	VALUE(demo::g_either), VALUE(demo::g_in_inline), VALUE(demo::deep::deeper::g_deep);
	VALUE(demo::deep::deeper::g_hidden), VALUE(demo::t_counter);
	VALUE(g_anonymous), VALUE(g_anonymous_point), VALUE(demo::Account::count), VALUE(demo::g_target);
	RAW("demo::v2::g_in_inline", number(222));
	RAW("demo::g_color", name_of(200, "demo::Color::Blue"));
	RAW("demo::g_unknown", name_of(99, ""));
	RAW("demo::g_plain", name_of(5, "demo::PLAIN_B"));
	RAW("demo::g_signed", name_of(-300, "demo::Signed::Minus"));
	RAW("demo::g_account.cents_", number(g_account.cents()));
	RAW("demo::g_account.owner_", "{\"text\":\"Ada\"}");
	RAW("demo::g_account.limit.kind", name_of(1, "demo::Account::Limit::Hard"));
	RAW("demo::g_limit", "{\"struct\":{\"daily\":{\"int\":\"7\"},\"kind\":" + name_of(0, "Soft") + "}}");
	RAW("demo::g_animal", ptr(g_animal, ",\"dynamic\":\"demo::Puppy\""));
	RAW("demo::g_plain_animal", ptr(g_plain_animal));
	RAW("demo::g_right", ptr(g_right, ",\"dynamic\":\"demo::Both\""));
	RAW("demo::g_top", ptr(g_top, ",\"dynamic\":\"demo::Diamond\""));
	RAW("demo::g_animal_ref", ptr(&g_animal_ref, ",\"dynamic\":\"demo::Dog\""));
	RAW("demo::g_animal->legs", number(4));
	RAW("demo::g_ref", "{\"ptr\":\"" + tell::hex(&g_ref) + "\",\"owns\":" + number(4711) + "}");
	RAW("demo::g_rvalue", "{\"ptr\":\"" + tell::hex(&g_rvalue) + "\",\"owns\":" + number(815) + "}");
	RAW("demo::g_point_ref.y", number(-4));
	RAW("demo::g_nullptr", ptr(nullptr));
	RAW("demo::g_data_member", "{\"says\":\"y\"}");
	RAW("demo::g_method", "{\"says\":\"demo::Point::sum\"}");
	RAW("demo::g_virtual", "{\"says\":\"virtual\"}");
	RAW("demo::g_hides.x", number(77));
	RAW("demo::g_hides.demo::Point.x", number(0));
}

static void tell_strings()
{
	VALUE(s_empty), VALUE(s_short), VALUE(s_fifteen), VALUE(s_sixteen), VALUE(s_twenty_two), VALUE(s_twenty_three);
	VALUE(s_long), VALUE(s_nul), VALUE(s_utf8), VALUE(s_quotes), VALUE(s_wide), VALUE(s_wide_long), VALUE(s_u16);
	VALUE(s_u32), VALUE(s_view);
	RAW("s_pointer", ptr(&s_short));
}

static void tell_sequences()
{
	VALUE(v_empty), VALUE(v_one), VALUE(v_ints), VALUE(v_many), VALUE(v_bools), VALUE(v_bools_many);
	VALUE(v_strings), VALUE(v_nested), VALUE(v_points), VALUE(v_animals), VALUE(a_ints), VALUE(a_strings);
	VALUE(a_none), VALUE(d_empty), VALUE(d_one), VALUE(d_many), VALUE(d_strings), VALUE(l_empty), VALUE(l_one);
	VALUE(l_many), VALUE(l_strings), VALUE(f_empty), VALUE(f_one), VALUE(f_ints);
	RAW("v_ints[1]", number(-2)), RAW("v_points[1].x", number(3)), RAW("v_strings[0]", "{\"text\":\"one\"}");
	RAW("d_many[394]", number(399)), RAW("v_many[99]", number(297));
}

static void tell_maps()
{
	VALUE(m_empty), VALUE(m_one), VALUE(m_many), VALUE(m_ages), VALUE(m_deep), VALUE(m_points), VALUE(m_multi);
	VALUE(e_empty), VALUE(e_ints), VALUE(e_many), VALUE(e_strings), VALUE(e_multi), VALUE(u_empty), VALUE(u_one);
	VALUE(u_many), VALUE(u_ages), VALUE(u_shared), VALUE(u_multi), VALUE(u_set), VALUE(u_set_empty);
	VALUE(u_words), VALUE(u_multiset);
}

static void tell_sums()
{
	VALUE(p_pair), VALUE(t_none), VALUE(t_three), VALUE(t_nested), VALUE(o_none), VALUE(o_some), VALUE(o_text), VALUE(o_point);
	VALUE(o_nested), VALUE(w_int), VALUE(w_text), VALUE(w_mono), VALUE(w_point), VALUE(k_complex);
	RAW("y_none", "{\"any\":null}"), RAW("y_int", "{\"any\":" + number(42) + "}");
	RAW("y_text", "{\"any\":{\"text\":\"any text\"}}");
}

static void tell_pointers()
{
	VALUE(q_null), VALUE(q_int), VALUE(q_point), VALUE(h_null), VALUE(h_int), VALUE(h_new), VALUE(h_point);
	VALUE(h_alias);
	RAW("q_animal", ptr(q_animal.get(), ",\"dynamic\":\"demo::Puppy\",\"owns\":{\"struct\":{\"weeks\":"
					    "{\"float\":\"6.5\"},\"legs\":{\"int\":\"4\"}}}"));
	RAW("q_deleter", ptr(q_deleter.get()));
	RAW("h_weak", ptr(h_int.get())), RAW("h_never", ptr(nullptr));
	RAW("h_cycle", ptr(h_cycle.get(), ",\"owns\":{\"struct\":{\"number\":{\"int\":\"1\"},\"next\":{\"ptr\":\"" +
						  tell::hex(h_cycle->next.get()) +
						  "\",\"owns\":{\"struct\":{\"number\":{\"int\":\"2\"},\"next\":" +
						  ptr(h_cycle.get()) + "}}}}}"));
	RAW("n_free", "{\"says\":\"twice\"}"), RAW("n_empty", "{\"says\":\"empty\"}");
	RAW("n_lambda", "{\"says\":\"fill()\"}");
	RAW("g_lambda", "{\"struct\":{\"factor\":{\"int\":\"3\"},\"name\":{\"text\":\"captured\"}}}");
}

static void tell_others()
{
	string tid = std::to_string(gettid());

	k_mutex.lock(), k_shared.lock_shared();
	// A lock of some libraries does not say whose it is.
	RAW("k_mutex", "{\"struct\":{\"locked\":{\"bool\":true},\"owner\":{\"int\":\"" + tid + "\"}}}");
	RAW("k_free_mutex", "{\"struct\":{\"locked\":{\"bool\":false},\"owner\":{\"int\":\"0\"}}}");
	RAW("k_shared", "{\"struct\":{\"readers\":{\"int\":\"1\"}}}");
	RAW("x_none", "{\"any\":null}"), RAW("x_int", "{\"any\":" + number(42) + "}");
	RAW("x_error", "{\"any\":{\"struct\":{\"why\":{\"text\":\"thrown\"},\"code\":{\"int\":\"7\"}}}}");
	RAW("k_empty_path", "{\"text\":\"\"}");
	RAW("k_time", number(std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::seconds(5)).count()));
	RAW("b_bits", bits(b_bits.to_string()));
	RAW("c_stack", list("list", {1, 2, 3})), RAW("c_queue", list("list", {4, 5}));
	RAW("k_atomic", number(88)), RAW("k_flag", "{\"bool\":true}"), RAW("k_duration", number(1500));
	RAW("k_path", "{\"text\":\"/usr/share/doc\"}"), RAW("k_list", list("list", {1, 2, 3}));
	RAW("k_wrapper", "{\"ptr\":\"" + tell::hex(&demo::g_target) + "\",\"owns\":" + number(4711) + "}");
}

STAYS static long deepest(const string &text, const std::vector<int> &numbers, demo::Animal *animal, int &counter)
{
	std::map<string, int> words{{"local", 1}};
	std::optional<demo::Point> maybe = demo::Point{4, 5};
	auto adder = [&counter, text](int n) { return n + counter + int(text.size()); };
	demo::Color shade = demo::Color::Green;

	tell::local("deepest", "words", words), tell::local("deepest", "maybe", maybe);
	tell::line("text", "{\"ptr\":\"" + tell::hex(&text) + "\",\"owns\":{\"text\":\"an argument\"}}", "deepest");
	tell::line("counter", "{\"ptr\":\"" + tell::hex(&counter) + "\",\"owns\":" + number(6) + "}", "deepest");
	tell::line("animal", ptr(animal, ",\"dynamic\":\"demo::Dog\""), "deepest");
	tell::line("shade", name_of(2, "demo::Color::Green"), "deepest");
	tell::file().close();
	truth_launder(&words), truth_launder(&maybe), truth_launder(&adder);
	DIE(*static_cast<volatile int *>(truth_launder(reinterpret_cast<void *>(8))) = adder(int(numbers.size())));
	return words.size() + maybe->x + animal->noise() + int(shade) + counter;
}

int main()
{
	truth_thread("main");
	fill();
	tell_classes();
	tell_strings();
	tell_sequences();
	tell_maps();
	tell_sums();
	tell_pointers();
	tell_others();
	demo::t_counter += n_free(0) + n_lambda(-1) + g_lambda(0) * 0;
	return int(CALL(deepest("an argument", v_ints, &demo::g_dog, demo::t_counter)));
}
