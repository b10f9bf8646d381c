/*
 * values-c: values of every kind of type that C has, in globals, thread-locals and locals. The program tells all of them
 * in values.jsonl, then it dies.
 */
#include "truth.h"
#include "values.h"
#include "other.h"

#include <arpa/inet.h>
#include <float.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#define STAYS __attribute__((noinline)) FN

/* Integers. */
signed char g_schar = -5;
unsigned char g_uchar = 250;
short g_short = -30000;
unsigned short g_ushort = 65535;
int g_int = INT_MIN;
int g_zero;
unsigned g_uint = 4000000000u;
long g_long = LONG_MIN;
unsigned long g_ulong = ULONG_MAX;
long long g_llong = -1234567890123456789;
unsigned long long g_ullong = 12345678901234567890u;
int8_t g_int8 = -128;
uint8_t g_uint8 = 200;
int16_t g_int16 = -2;
uint16_t g_uint16 = 0xbeef;
int32_t g_int32 = -3;
uint32_t g_uint32 = 0xdeadbeef;
int64_t g_int64 = INT64_MAX;
uint64_t g_uint64 = UINT64_MAX;
size_t g_size = 12345;
ptrdiff_t g_diff = -12345;
__int128 g_int128 = -((__int128)1 << 100) + 1;
unsigned __int128 g_uint128 = ~(unsigned __int128)0;
_Bool g_true = 1, g_false;
char g_char = 'x', g_newline = '\n', g_nul = 0, g_high = (char)0xe9, g_quote = '\'';
wchar_t g_wchar = L'\u20ac';

/* Floating point. */
float g_float = -0.15625f;
double g_double = 3.141592653589793;
double g_tiny = DBL_MIN, g_huge = DBL_MAX;
double g_inf = INFINITY, g_minus_inf = -INFINITY, g_nan = NAN, g_minus_zero = -0.0;
long double g_ldouble = 2.5L, g_ldouble_big = 1e300L;
float complex g_fcomplex = 1.5f - 2.5fi;
double complex g_dcomplex = -1.0 + 0.25i;
#ifdef __clang__
_BitInt(24) g_bits24 = -5;
unsigned _BitInt(3) g_bits3 = 5;
_BitInt(100) g_bits100 = -7;
#endif
typedef int int4 __attribute__((vector_size(16)));
typedef float float2 __attribute__((vector_size(8)));
int4 g_int4 = {1, -2, 3, -4};
float2 g_float2 = {0.5f, -8.0f};

/* Enumerations. */
enum color { RED, GREEN, BLUE, VIOLET };
enum flags { F_READ = 1, F_WRITE = 2, F_EXEC = 4 };
enum bits { B_NONE = 0, B_ONE = 1, B_TWO = 2, B_FOUR = 4, B_HIGH = 0x40000000 };
enum sparse { LOW = -100, MIDDLE = 7, HIGH = 2000000000 };
enum huge { HUGE_ONE = 1, HUGE_TOP = 0x8000000000000000u };
typedef enum { ANON_A = 10, ANON_B = 20 } anon_t;
enum small { SMALL_X = 200, SMALL_Y = 3 } __attribute__((packed));
enum color g_color = BLUE, g_red = RED, g_color_unknown = (enum color)77;
enum flags g_flags = F_READ | F_EXEC, g_flags_all = (enum flags)7;
enum bits g_bits = B_ONE | B_FOUR, g_bits_none = B_NONE, g_bits_left = (enum bits)(B_TWO | 0x10);
enum sparse g_low = LOW, g_high_one = HIGH;
enum huge g_top = HUGE_TOP;
anon_t g_anon = ANON_B;
enum small g_small = SMALL_X;

/* Typedef chains and qualifiers. */
typedef unsigned int word_t;
typedef word_t register_t_;
typedef const volatile register_t_ port_t_;
port_t_ g_port = 0xabcd;
const int g_const = 99;
volatile int g_volatile = 98;
const char *const g_const_string = "constant";
const char *restrict g_restrict = "restricted";
_Atomic int g_atomic = 31337;

/* Characters and strings. */
char g_text[16] = "sixteen at most";
char g_short_text[16] = "short";
char g_full[4] = {'f', 'u', 'l', 'l'};
char g_empty_text[8];
char g_binary[4] = {1, 2, (char)0xff, 0};
char g_middle[8] = {'a', 'b', 0, 'c', 0, 0, 0, 0};
const char g_utf8[] = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac";
const char *g_string = "a string";
const char *g_escaped = "tab\there \"quoted\" back\\slash";
const char *g_null_string;
const char *g_strings[3] = {"one", "two", 0};
char *g_heap_string;
signed char g_schars[3] = {'a', -1, 0};
unsigned char g_uchars[4] = {0xde, 0xad, 0xbe, 0xef};
wchar_t g_wide[4] = L"w\u00efd";

/* Arrays. */
int g_ints[5] = {1, -2, 3, -4, 5};
int g_matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
short g_cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
int g_one[1] = {11};
int g_many[100];
double g_doubles[3] = {0.5, -0.5, 1e10};
_Bool g_bools[3] = {1, 0, 1};
enum color g_colors[3] = {RED, BLUE, GREEN};
unsigned long long g_ull_array[2] = {1, 0xffffffffffffffffu};

/* Bit-fields. */
struct fields {
	unsigned one : 1;
	unsigned three : 3;
	int minus : 4;
	unsigned : 3;
	unsigned long crossing : 40;
	long crossing_minus : 35;
	_Bool flag : 1;
	enum color color : 3;
	unsigned char byte : 8;
	unsigned long full : 64;
};
struct fields g_fields = {1, 5, -3, 0x123456789a, -0x123456789, 1, GREEN, 0xa5, 0xfedcba9876543210};
struct packed {
	char head;
	unsigned odd : 13;
	int tail : 7;
	unsigned long wide : 61;
} __attribute__((packed)) g_packed = {'p', 0x1fff, -64, 0x1234567890abcdef};

/* Structures and unions. */
struct point {
	int x, y;
};
struct line {
	struct point from, to;
	const char *label;
};
struct holes {
	char a;
	int b;
	char c;
	long d;
	short e;
};
struct empty {};
union number {
	uint32_t whole;
	uint16_t halves[2];
	uint8_t bytes[4];
	float real;
};
struct tagged {
	int tag;
	union {
		int as_int;
		float as_float;
		struct {
			short low;
			short high;
		};
	};
	struct {
		int depth;
	} named;
};
struct flexible {
	int count;
	int items[];
};
struct zero_length {
	int count;
	int items[0];
};
struct aligned {
	char first;
	_Alignas(32) char second;
};
/* Another structure of the same name lives in other.c. */
struct twin {
	int here;
};
struct point g_point = {3, -4};
struct line g_line = {{1, 2}, {3, 4}, "a line"};
struct holes g_holes = {'a', 2, 'c', 4, 5};
struct empty g_empty;
union number g_number = {0x40490fdb};
struct tagged g_tagged = {2, {0x00070005}, {9}};
struct flexible g_flexible = {3, {10, 20, 30}};
struct zero_length g_zero_length = {0};
struct aligned g_aligned = {'1', '2'};
struct twin g_twin = {55};
struct point g_points[3] = {{1, 2}, {3, 4}, {5, 6}};
struct point g_grid[2][2] = {{{1, 1}, {1, 2}}, {{2, 1}, {2, 2}}};
struct {
	int unnamed_type;
	struct {
		int a;
		struct {
			int b;
		} in;
	} out;
} g_unnamed = {1, {2, {3}}};
struct deep {
	struct {
		struct {
			struct {
				struct {
					int bottom;
				} d;
			} c;
		} b;
	} a;
} g_deep = {{{{{1234}}}}};

/* Pointers. */
int *g_null;
int *g_to_int = &g_int;
void *g_void = &g_double;
struct point *g_to_point = &g_point;
struct point **g_to_to_point = &g_to_point;
int (*g_to_array)[5] = &g_ints;
int *g_inside = &g_ints[3];
void *g_wild = (void *)0xdeadbeef000;
int *g_pointers[3] = {&g_int, 0, &g_zero};

/* Functions. */
typedef int (*binary_t)(int, int);
STAYS static int add(int a, int b)
{
	return a + b;
}
STAYS static int subtract(int a, int b)
{
	return a - b;
}
binary_t g_function = add;
int (*g_functions[3])(int, int) = {add, subtract, 0};
struct operations {
	binary_t apply;
	void (*done)(void);
} g_operations = {subtract, 0};

/* Well-known types. */
time_t g_time = 1366394400;
struct timespec g_timespec = {1366394400, 500};
struct in_addr g_address;
struct in6_addr g_address6;
in_port_t g_in_port = 8080;

/* Statics and thread-locals. */
static int s_static = -77;
static const struct point s_origin = {0, 0};
__thread int t_int = 7;
__thread struct point t_point = {8, 9};
static __thread long t_zero;
__thread char t_text[8] = "thread";

/* A list, a ring, a tree. */
struct item {
	int number;
	struct item *next;
};
struct item g_third = {30, 0}, g_second = {20, &g_third}, g_first = {10, &g_second};
struct item *g_list = &g_first;
struct item g_ring_b, g_ring_a = {1, &g_ring_b};
struct item g_ring_b = {2, &g_ring_a};
struct item g_self = {5, &g_self};
struct tree {
	struct tree *left, *right;
	int key;
};
static struct tree tree_1 = {0, 0, 1}, tree_3 = {0, 0, 3};
struct tree g_tree = {&tree_1, &tree_3, 2};

static void tell_integers(void)
{
	INT(g_schar), UINT(g_uchar), INT(g_short), UINT(g_ushort), INT(g_int), INT(g_zero), UINT(g_uint);
	INT(g_long), UINT(g_ulong), INT(g_llong), UINT(g_ullong), INT(g_int8), UINT(g_uint8), INT(g_int16);
	UINT(g_uint16), INT(g_int32), UINT(g_uint32), INT(g_int64), UINT(g_uint64), UINT(g_size), INT(g_diff);
	INT128(g_int128), UINT128(g_uint128), BOOL(g_true), BOOL(g_false), CHAR(g_char), CHAR(g_newline);
	CHAR(g_nul), CHAR(g_high), CHAR(g_quote), INT(g_wchar);
	UINT(g_port), INT(g_const), INT(g_volatile), INT(g_atomic), CSTR(g_const_string), CSTR(g_restrict);
#ifdef __clang__
	INT(g_bits24), UINT(g_bits3), INT(g_bits100);
#endif
}

static void tell_floats(void)
{
	FLOAT(g_float), FLOAT(g_double), FLOAT(g_tiny), FLOAT(g_huge), FLOAT(g_inf), FLOAT(g_minus_inf);
	FLOAT(g_nan), FLOAT(g_minus_zero), FLOAT(g_ldouble), FLOAT(g_ldouble_big);
	COMPLEX(g_fcomplex), COMPLEX(g_dcomplex);
	INT(g_int4[0]), INT(g_int4[1]), INT(g_int4[3]), COUNT(g_int4), FLOAT(g_float2[0]), FLOAT(g_float2[1]);
}

static void tell_enums(void)
{
	ENUM(g_color, "BLUE"), ENUM(g_red, "RED"), ENUM(g_color_unknown, "");
	ENUM(g_flags, "F_READ|F_EXEC"), ENUM(g_flags_all, "F_READ|F_WRITE|F_EXEC");
	ENUM(g_bits, "B_ONE|B_FOUR"), ENUM(g_bits_none, "B_NONE"), ENUM(g_bits_left, "B_TWO|0x10");
	ENUM(g_low, "LOW"), ENUM(g_high_one, "HIGH"), ENUM(g_anon, "ANON_B"), ENUM(g_small, "SMALL_X");
	values_line("g_top", "\"enum\":\"%" PRIuMAX "\",\"symbol\":\"HUGE_TOP\"", (uintmax_t)g_top);
}

static void tell_texts(void)
{
	TEXT(g_text), TEXT(g_short_text), TEXT(g_empty_text), TEXT(g_utf8);
	values_text("g_full", "text", g_full, sizeof g_full);
	/* More than zeros follows its first NUL. */
	values_text("g_middle", "text", g_middle, 4);
	COUNT(g_binary), CHAR(g_binary[0]), CHAR(g_binary[2]), CHAR(g_binary[3]);
	CSTR(g_string), CSTR(g_escaped), PTR(g_null_string), CSTR(g_strings[0]), CSTR(g_strings[1]);
	PTR(g_strings[2]), CSTR(g_heap_string);
	INT(g_schars[0]), INT(g_schars[1]), UINT(g_uchars[0]), UINT(g_uchars[3]), COUNT(g_uchars);
	INT(g_wide[0]), INT(g_wide[1]), COUNT(g_wide);
}

static void tell_arrays(void)
{
	COUNT(g_ints), INT(g_ints[0]), INT(g_ints[1]), INT(g_ints[4]);
	COUNT(g_matrix), COUNT(g_matrix[1]), INT(g_matrix[0][2]), INT(g_matrix[1][0]), INT(g_matrix[1][2]);
	INT(g_cube[0][1][0]), INT(g_cube[1][0][1]), COUNT(g_cube[1]), COUNT(g_one), INT(g_one[0]);
	COUNT(g_many), INT(g_many[0]), INT(g_many[31]), INT(g_many[99]);
	FLOAT(g_doubles[2]), BOOL(g_bools[0]), BOOL(g_bools[1]), ENUM(g_colors[1], "BLUE");
	UINT(g_ull_array[1]), INT(g_points[2].y), COUNT(g_points), INT(g_grid[1][0].x), INT(g_grid[1][0].y);
}

static void tell_fields(void)
{
	UINT(g_fields.one), UINT(g_fields.three), INT(g_fields.minus), UINT(g_fields.crossing);
	INT(g_fields.crossing_minus), BOOL(g_fields.flag), ENUM(g_fields.color, "GREEN"), UINT(g_fields.byte);
	UINT(g_fields.full), CHAR(g_packed.head), UINT(g_packed.odd), INT(g_packed.tail), UINT(g_packed.wide);
	MEMBERS(g_fields, "one three minus crossing crossing_minus flag color byte full");
}

static void tell_structures(void)
{
	INT(g_point.x), INT(g_point.y), MEMBERS(g_point, "x y"), AT(g_point), INT(g_line.from.y), INT(g_line.to.x);
	CSTR(g_line.label), AT(g_line.to), CHAR(g_holes.a), INT(g_holes.b), CHAR(g_holes.c), INT(g_holes.d);
	INT(g_holes.e), MEMBERS(g_holes, "a b c d e"), MEMBERS(g_empty, ""), UINT(g_number.whole);
	UINT(g_number.halves[0]), UINT(g_number.halves[1]), UINT(g_number.bytes[3]), FLOAT(g_number.real);
	INT(g_tagged.tag), INT(g_tagged.as_int), INT(g_tagged.low), INT(g_tagged.high), INT(g_tagged.named.depth);
	INT(g_flexible.count), INT(g_flexible.items[0]), INT(g_flexible.items[2]), INT(g_zero_length.count);
	CHAR(g_aligned.first), CHAR(g_aligned.second), AT(g_aligned.second), INT(g_twin.here);
	INT(g_unnamed.unnamed_type), INT(g_unnamed.out.a), INT(g_unnamed.out.in.b), INT(g_deep.a.b.c.d.bottom);
	INT(s_origin.x), INT(s_static);
}

static void tell_pointers(void)
{
	PTR(g_null), PTR(g_to_int), PTR(g_void), PTR(g_to_point), PTR(g_to_to_point), PTR(g_to_array);
	PTR(g_inside), PTR(g_wild), PTR(g_pointers[0]), PTR(g_pointers[1]), PTR(g_pointers[2]);
	INT(g_to_point->x), INT(g_to_point->y), INT(g_to_array[0][1]), INT(g_first.next->number);
	INT(g_first.next->next->number), INT(g_list->next->number), INT(g_tree.right->key), INT(g_self.next->number);
	FUNCTION(g_function, "add"), FUNCTION(g_functions[0], "add"), FUNCTION(g_functions[1], "subtract");
	PTR(g_functions[2]), FUNCTION(g_operations.apply, "subtract"), PTR(g_operations.done);
	PTR(g_secret), INT(g_shared);
	values_line("g_secret->id", "\"int\":\"78\"");
	values_line("g_secret->peer->label", "\"cstr\":\"inner secret\"");
	values_line("outer.label", "\"cstr\":\"outer secret\"");
	values_line("g_other_twin.there[1]", "\"float\":\"1.5\"");
}

static void tell_others(void)
{
	INT(g_time), INT(g_timespec.tv_sec), INT(g_timespec.tv_nsec), UINT(g_address.s_addr), UINT(g_in_port);
	INT(t_int), INT(t_point.x), INT(t_point.y), INT(t_zero), TEXT(t_text);
}

static void tell_types(void)
{
	SIZEOF(struct line), SIZEOF(struct holes), SIZEOF(union number), SIZEOF(enum small), SIZEOF(struct empty);
	SIZEOF(struct fields), SIZEOF(struct packed), SIZEOF(struct flexible), SIZEOF(struct aligned), SIZEOF(int4);
	SIZEOF(unsigned long), SIZEOF(anon_t), SIZEOF(long double), SIZEOF(char *), SIZEOF(binary_t);
	SIZEOF(struct point[7]);
	OFFSETOF(struct line, to), OFFSETOF(struct line, label), OFFSETOF(struct holes, d), OFFSETOF(struct tagged, high);
	OFFSETOF(struct aligned, second), OFFSETOF(struct deep, a.b.c.d), OFFSETOF(struct flexible, items);
	OFFSETOF(struct line, to.y);
}

static void tell_commands(void)
{
	values_command("g_first::list struct item next");
	for (struct item *item = &g_first; item; item = item->next)
		values_address(item);
	values_command_end();
	values_command("g_ring_a::list struct item next");
	values_address(&g_ring_a), values_address(&g_ring_b);
	values_command_end();
	values_command("g_points::array struct point 3");
	for (int i = 0; i < 3; i++)
		values_address(&g_points[i]);
	values_command_end();
	values_command("g_points::array");
	for (int i = 0; i < 3; i++)
		values_address(&g_points[i]);
	values_command_end();
	values_command("g_line::print struct line label");
	values_address(g_line.label);
	values_command_end();
	values_command("g_line::print -a struct line label");
	values_address(&g_line.label);
	values_command_end();
	values_command("g_first::list struct item next | ::print struct item next | ::grep '.!=0'");
	values_address(&g_second), values_address(&g_third);
	values_command_end();
}

/* Locals that the frame tells while it still runs; `told` is where optimised code must have kept them. */
STAYS static long deepest(int count, const char *name, struct point where, double ratio)
{
	static int calls_so_far = 41;
	char buffer[8] = "local";
	struct point corner = {where.y, where.x};
	int numbers[3] = {count, count * 2, count * 3};
	union number mixed = {0x11223344};
	const char *const alias = name;
	enum color shade = GREEN;
	unsigned bits = 0xf0f0;
	long result = count;

	calls_so_far++;
	values_frame = 0;
	INT(calls_so_far);
	values_frame = "deepest";
	INT(count), CSTR(name), INT(where.x), INT(where.y), FLOAT(ratio), TEXT(buffer), INT(corner.x), INT(corner.y);
	INT(numbers[0]), INT(numbers[2]), COUNT(numbers), UINT(mixed.whole), UINT(mixed.bytes[0]), CSTR(alias);
	ENUM(shade, "GREEN"), UINT(bits), INT(result);
	{
		int nested = 5;
		long long hidden = -6;

		INT(nested), INT(hidden);
		values_close();
		truth_launder(buffer), truth_launder(numbers), truth_launder(&corner), truth_launder(&mixed);
		DIE(*(volatile int *)truth_launder((void *)8) = nested + (int)hidden);
	}
	return result + corner.x + numbers[1] + mixed.bytes[1] + alias[0] + (long)shade + bits;
}

STAYS static long middle(int argc, char **argv)
{
	struct point at = {argc + 10, -20};
	long answer;

	values_frame = "middle";
	INT(argc), PTR(argv), INT(at.x), INT(at.y);
	answer = CALL(deepest(argc + 2, argv[0], at, 0.75));
	return answer + at.x;
}

int main(int argc, char **argv)
{
	truth_thread("main");
	g_heap_string = strdup("on the heap");
	for (int i = 0; i < 100; i++)
		g_many[i] = i * i;
	inet_pton(AF_INET, "192.0.2.33", &g_address);
	inet_pton(AF_INET6, "2001:db8::42", &g_address6);
	t_zero = other_touch() - 78;
	values_open();
	tell_integers();
	tell_floats();
	tell_enums();
	tell_texts();
	tell_arrays();
	tell_fields();
	tell_structures();
	tell_pointers();
	tell_others();
	tell_types();
	tell_commands();
	return (int)CALL(middle(argc, argv));
}
