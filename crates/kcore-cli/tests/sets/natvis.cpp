// Types for each form of natvis: types.natvis shows them.
#include "told.h"

struct Node {
	int value;
	Node *next, *left, *right;
};
struct Bag {
	Node *first;
	int count;
	int *data;
	int length() const
	{
		return count;
	}
};
struct Table {
	Node *buckets[4];
};
struct Matrix {
	int rows, columns;
	int *cells;
};
struct Shape {
	int kind;
	double width, height;
	Shape *inner;
};
struct Chain {
	Node *first;
};
struct Tree {
	Node *root;
};

int data[6] = {10, 20, 30, 40, 50, 60};
Node nodes[4] = {{1, &nodes[1], nullptr, nullptr}, {2, &nodes[2], &nodes[0], &nodes[2]}, {3, nullptr, nullptr, nullptr},
                 {4, nullptr, nullptr, nullptr}};
Bag bag = {nodes, 3, data};
Table table = {{&nodes[3], nullptr, &nodes[1], nullptr}};
Matrix matrix = {2, 3, data};
Shape inner = {2, 1, 1, nullptr}, shape = {1, 2.5, 4, &inner};
Chain chain = {nodes};
Tree tree = {&nodes[1]};

int main()
{
	told("bag", "[%d, %d, %d]", data[0], data[1], data[2]);
	told("chain", "[1, 2, 3]");
	told("tree", "[1, 2, 3]");
	told("table", "{0: 4, 2: 2, 2: 3}");
	told("matrix", "[[10, 20, 30], [40, 50, 60]]");
	told("shape", "{kind: %d, area: %.1f, inner_kind: %d, size: {twice: %.1f}}", shape.kind, shape.width * shape.height,
	     inner.kind, 2 * shape.width);
	told("shape.kind", "%d", shape.kind);
	told_all();
}
