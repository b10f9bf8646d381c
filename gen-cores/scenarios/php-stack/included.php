<?php
// Functions of a file of their own, which includes another.
function included($value)
{
    $own = 5;
    extract(['taken' => 'from an array']);
    return include __DIR__ . '/nested.php';
}
