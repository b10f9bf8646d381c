/* One function beside the others' code, and one in a segment of its own behind the data, as optimisers leave them. */
typedef void then_fn(void);

__attribute__((section(".hot"), noinline)) void hot(then_fn *then)
{
    then();
    __asm__ volatile("");
}

__attribute__((noinline)) void cold(then_fn *then)
{
    hot(then);
    __asm__ volatile("");
}
