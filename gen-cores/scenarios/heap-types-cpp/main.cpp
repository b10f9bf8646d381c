// heap-types-cpp: blocks of containers, of classes with virtual functions, and of arrays that new[] made.
// types.txt has for each its address, how its type stands in it, and what the type's name begins with. Blocks of containers
// are known by an allocator that tells them.
#include "truth.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

static int out;
static volatile long sink;
// What operator new is called for; nullptr where nobody tells.
static const char *what;

FN static void tell(const void *at, const char *role, const char *name)
{
	char line[160];
	int len = snprintf(line, sizeof line, "%zx %s %s\n", size_t(at), role, name);

	sink = write(out, line, size_t(len));
	memset(line, 0, sizeof line);
}

void *operator new(size_t size)
{
	void *at = malloc(size);

	if (what)
		tell(at, "part", what);
	return at;
}

// A vector gives its smaller buffers back: what is freed is told as such.
void operator delete(void *at) noexcept
{
	if (what)
		tell(at, "freed", what);
	free(at);
}

void operator delete(void *at, size_t) noexcept
{
	operator delete(at);
}

struct Leaf {
	long weight[4];
};

struct Shape {
	virtual ~Shape() = default;
	long id = 7;
};

struct Circle : Shape {
	Leaf *leaf = nullptr;
};

struct Item {
	Leaf *leaf;
	~Item() { sink = long(leaf); }
};

struct Store {
	std::vector<int> numbers;
	std::vector<Leaf *> leaves;
	std::map<int, Leaf *> by_number;
	std::unordered_map<int, long> table;
	std::list<int> chain;
	std::forward_list<long> once;
	std::set<long> longs;
	std::deque<int> ring;
	std::string text;
	std::vector<std::string> texts;
	std::unique_ptr<Leaf> owned;
	std::vector<std::unique_ptr<Shape>> shapes;
	Shape *shape;
	Item *items;
	void *hidden;
};

Store *store;

FN static Leaf *leaf()
{
	auto *made = static_cast<Leaf *>(calloc(1, sizeof(Leaf)));

	tell(made, "object", "Leaf");
	return made;
}

FN static Shape *circle()
{
	auto *made = new Circle;

	tell(made, "object", "Circle");
	made->leaf = leaf();
	return made;
}

FN static void fill()
{
	store = new Store;
	tell(store, "object", "Store");
	what = "std::vector<int";
	for (int count = 0; count < 300; count++)
		store->numbers.push_back(count);
	what = "std::unordered_map<int";
	for (int count = 0; count < 100; count++)
		store->table[count * 7] = count;
	what = "std::list<int";
	for (int count = 0; count < 50; count++)
		store->chain.push_back(count);
	what = "std::forward_list<long";
	for (int count = 0; count < 20; count++)
		store->once.push_front(count);
	what = "std::set<long";
	for (int count = 0; count < 200; count++)
		store->longs.insert(count * 31 % 200);
	what = "std::deque<int";
	for (int count = 0; count < 1000; count++)
		store->ring.push_back(count);
	what = "std::";
	store->text = std::string(100, 't');
	what = nullptr;
	for (int count = 0; count < 30; count++) {
		Leaf *held = leaf();

		what = "std::map<int";
		store->by_number[count] = held;
		what = nullptr;
	}
	store->leaves.reserve(10);
	tell(store->leaves.data(), "part", "std::vector<Leaf");
	store->leaves.push_back(leaf());
	store->texts.reserve(4);
	tell(store->texts.data(), "part", "std::vector<std::");
	for (int count = 0; count < 4; count++) {
		store->texts.emplace_back(60, 'u');
		tell(store->texts.back().data(), "part", "std::");
	}
	store->owned.reset(leaf());
	store->shapes.reserve(3);
	tell(store->shapes.data(), "part", "std::vector<std::unique_ptr<Shape");
	store->shapes.emplace_back(circle());
	store->shape = circle();
	store->items = new Item[5];
	tell(reinterpret_cast<char *>(store->items) - 8, "array", "Item");
	for (int count = 0; count < 5; count++)
		store->items[count].leaf = leaf();
	store->hidden = calloc(1, 400);
	tell(store->hidden, "-", "-");
}

FN static void use(int *field)
{
	DIE(*static_cast<volatile int *>(field) = 1);
}

int main()
{
	out = open("types.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fill();
	CALLV(use(static_cast<int *>(truth_launder(reinterpret_cast<void *>(8)))));
	return 0;
}
