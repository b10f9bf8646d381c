<?php
// Code of a file itself: it has the variables of whoever includes it.
[$own, $new] = [6, 'of the file'];
return array_reduce([1], function ($carry, $item) use ($value) { return switched($value); });
