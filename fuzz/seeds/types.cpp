// What C++ has: see make/debug.rs.

namespace ns {
enum class Kind : unsigned char { One, Two = 200 };

struct Base {
    virtual ~Base() {}
    virtual int get() const { return number; }
    int number = 1;
};

struct Left : virtual Base {
    int left = 2;
};

struct Right : virtual Base {
    int right = 3;
};

template <typename T, int N> struct Both : Left, Right {
    T values[N];
    static constexpr T one = 1;
    static T two;
    struct Inner {
        T &reference;
        T &&moved;
    };
    int T_at(Inner inner) { return inner.reference; }
};
} // namespace ns

using Whole = ns::Both<int, 4>;
template <> int Whole::two = 2;

extern "C" {
void *__dso_handle;
}

Whole g_whole;
ns::Kind g_kind;
int Whole::*g_member = &Whole::left;
int (Whole::*g_method)(Whole::Inner) = &Whole::T_at;
decltype(nullptr) g_null;

int main_of(const Whole &whole, ns::Base *base)
{
    auto add = [&](int more) { return more + whole.left + base->get(); };
    return add(whole.values[1]);
}
