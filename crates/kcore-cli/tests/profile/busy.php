<?php
// A busy program whose calls only lead from function to function as `busy.rs` lists them.
function leaf()
{
    $sum = 0;
    for ($number = 0, $end = mt_rand(1, 200); $number < $end; $number++) {
        $sum += $number % 3;
    }
    return $sum;
}

function gamma()
{
    $sum = leaf();
    return $sum;
}

function delta()
{
    $sum = mt_rand(0, 1) ? gamma() : leaf();
    return $sum;
}

function each_one()
{
    return array_sum(array_map(function ($number) { $sum = leaf(); return $sum + $number; }, [1, 2, 3]));
}

function made()
{
    yield leaf();
    yield leaf();
}

function fiber()
{
    $sum = 0;
    foreach (made() as $part) {
        $sum += $part;
    }
    return $sum;
}

function alpha()
{
    $sum = mt_rand(0, 1) ? gamma() : delta();
    return $sum;
}

function beta()
{
    switch (mt_rand(0, 2)) {
        case 0:
            $sum = delta();
            break;
        case 1:
            $sum = each_one();
            break;
        default:
            $sum = fiber();
    }
    return $sum;
}

function root()
{
    $sum = mt_rand(0, 1) ? alpha() : beta();
    return $sum;
}

echo "runs\n";
flush();
while (true) {
    root();
}
