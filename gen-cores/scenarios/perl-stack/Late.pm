# A file that is required while the program runs, and uses another while it is compiled.
package Late;
use strict;
use warnings;

BEGIN {
    my $value = "begun";
    main::matched($value);
}

1;
