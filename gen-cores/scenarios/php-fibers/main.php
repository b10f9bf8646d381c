<?php
// Thousands of fibers that are suspended in the same place, beside a read that never ends.
require __DIR__ . '/truth.php';

function paused(int $number)
{
    $given = Fiber::suspend($number);
    return $given;
}

function worker(int $number)
{
    $result = paused($number);
    return $result;
}

function reading()
{
    // A terminal that nobody writes to.
    $pipe = fopen('/dev/ptmx', 'r');
    Truth::tell('fread'); $first = fread($pipe, 1);
    return $first;
}

ini_set('fiber.stack_size', '65536');
$kept = [];
for ($number = 0; $number < 2000; $number++) {
    $fiber = new Fiber(function () use ($number) { return worker($number); });
    $fiber->start();
    $kept[] = $fiber;
}
reading();
