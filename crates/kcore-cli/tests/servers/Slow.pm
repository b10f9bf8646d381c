# A plugin of a filter of mail that writes where it stands and then waits.
package Slow;
use strict;
use warnings;
use Mail::SpamAssassin::Plugin;
our @ISA = ("Mail::SpamAssassin::Plugin");

sub new {
    my ($class, $main) = @_;
    return bless $class->SUPER::new($main), $class;
}

sub check_start {
    my ($self, $options) = @_;
    my @sorted = sort { slow($a) <=> $b } 2, 1;
    return 1;
}

sub slow {
    my ($item) = @_;
    # The environment is not trusted.
    my ($path) = $ENV{TRACE} =~ /^(.*)$/;
    my ($level, @lines) = (0, __FILE__ . ":" . (__LINE__ + 3));
    while (my @call = caller($level++)) { push @lines, "$call[1]:$call[2]" }
    open my $out, ">", $path or die "trace: $!";
    print $out join "\n", @lines; close $out; sleep 1000;
    return $item;
}

1;
