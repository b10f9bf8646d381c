/* Variables of a class that has nothing else in it: clang describes them as members, and their definitions first. */
struct Counts {
	static int made, lost;
};

int Counts::made = 41, Counts::lost = 42;

int main()
{
	__builtin_trap();
}
