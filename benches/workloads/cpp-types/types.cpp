// Types, and nothing that runs: each unit has 100 shelves of its own, with all that the standard
// library makes of them. UNIT is the number of the unit.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#ifndef UNIT
#define UNIT 0
#endif

namespace store {

template <unsigned Number>
struct Item {
    enum class State : unsigned char { New, Used, Broken };
    unsigned id;
    State state;
    double weight;
    std::string name;
    Item *next;
    struct Size { short width, height, depth; } size;
};

template <unsigned Number>
struct Shelf {
    using Thing = Item<Number>;
    std::vector<Thing> all;
    std::map<unsigned, Thing> by_id;
    std::unordered_map<std::string, std::shared_ptr<Thing>> by_name;
    std::unique_ptr<Thing> last;
};

#define JOINED(word, number) word##number
#define NAMED(word, number) JOINED(word, number)
#define SHELF(number) Shelf<UNIT * 100 + number> shelf##number;
#define TEN(tens)                                                                     \
    SHELF(tens##0) SHELF(tens##1) SHELF(tens##2) SHELF(tens##3) SHELF(tens##4)        \
    SHELF(tens##5) SHELF(tens##6) SHELF(tens##7) SHELF(tens##8) SHELF(tens##9)

struct NAMED(Room, UNIT) {
    TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
};

// Who asks for its size needs its members: they are described, and no code is made.
unsigned long NAMED(size, UNIT) = sizeof(NAMED(Room, UNIT));
NAMED(Room, UNIT) *NAMED(room, UNIT);

}  // namespace store
