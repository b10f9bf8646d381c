<?php
// Functions of a file of their own, which includes another.
function included($value)
{
    return include __DIR__ . '/nested.php';
}
