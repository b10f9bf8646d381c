<?php
// Spends a processor's time in known shares, in functions, a method and a fiber where the version has them.

function clock(): float
{
    $used = getrusage();
    $of = fn(string $kind) => $used["ru_{$kind}time.tv_sec"] + $used["ru_{$kind}time.tv_usec"] / 1e6;
    return $of('u') + $of('s');
}

function spend(float $seconds): void
{
    $over = clock() + $seconds;
    while (clock() < $over) {
    }
}

function spend_seventy(): void
{
    spend(0.07);
}

class Work
{
    public function spend_twenty(): void
    {
        array_map(fn($seconds) => spend($seconds), [0.02]);
    }
}

function spend_ten(): void
{
    if (class_exists('Fiber')) {
        (new Fiber(fn() => spend(0.01)))->start();
    } else {
        spend(0.01);
    }
}

fwrite(STDOUT, "ready\n");
$work = new Work();
while (true) {
    spend_seventy();
    $work->spend_twenty();
    spend_ten();
}
