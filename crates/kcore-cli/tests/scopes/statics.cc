/* Variables of a class that has nothing else in it: clang describes them as members, and their definitions first. */
struct Counts {
	static int made, lost;
};

/* A constant of a class, which clang describes in the class alone. */
struct Limits {
	static const int most = 5;
	char low;
};
Limits limits;

int Counts::made = 41, Counts::lost = 42;

int main()
{
	__builtin_trap();
}
