# The account of a Perl program: what it says of its own stacks before it dies.
#
# The account is a file of JSON Lines, named by $KCORE_TRUTH. Stacks are those of `caller`, whose frames have the place
# that they were called from: here each has the place where it stands, as a frame of a debugger has.

package Truth;
use strict;
use warnings;

use B ();

my $GAP = '{"gap":"runtime"}';
my $path = $ENV{KCORE_TRUTH} || "/dev/stdout";

sub text {
    my ($string) = @_;
    $string =~ s/([\x00-\x1f"\\])/sprintf "\\u%04x", ord $1/ge;
    return qq("$string");
}

sub slurp {
    my ($file) = @_;
    open my $in, "<", $file or die "$file: $!";
    local $/;
    return scalar <$in>;
}

sub append {
    my ($file, $line) = @_;
    open my $out, ">>", $file or die "$file: $!";
    print $out "$line\n";
    close $out;
}

# Tells what is no stack: a line of a file beside the core.
sub note {
    my ($file, $line) = @_;
    (my $beside = $path) =~ s{[^/]*$}{$file};
    append($beside, $line);
}

# The frames from the caller of the caller on.
sub frames {
    my ($is_executed) = @_;
    my ($level, @all) = (2);
    my (undef, $file, $line) = caller($level);
    while (my @call = caller(++$level)) {
        push @all, frame($call[3], $file, $line);
        ($file, $line) = @call[1, 2];
    }
    push @all, frame("main program", $file, $line) if $is_executed;
    return @all;
}

sub frame {
    my ($name, $file, $line) = @_;
    $file =~ s{^.*/}{};
    my $place = '"file":' . text($file) . qq(,"line":$line);
    return '{"function":' . text($name) . qq(,"match":"exact",$place});
}

sub thread {
    my ($tid, $role, $crashed, $is_executed) = @_;
    my $frames = join ",", $GAP, map { ($_, $GAP) } frames($is_executed);
    append($path, qq({"thread":{"tid":$tid,"role":"$role","crashed":$crashed,"end":"outermost","frames":[$frames]}}));
}

# Tells the stack of the main thread, which stops in the line of the caller, and what is known of the process. Another
# thread has told of its own.
sub tell {
    my ($threads) = @_;
    thread($$, "main", "true", 1);
    append($path, qq({"pid":$$}));
    my @words = map { text($_) } split /\0/, slurp("/proc/self/cmdline");
    append($path, '{"argv":[' . join(",", @words) . "]}");
    append($path, qq({"fact":{"thread_count":$threads}}));
    append($path, '{"done":true}');
}

# Tells the stack of a thread with an interpreter of its own, which stops in the line of the caller.
sub tell_thread {
    # A thread of Perl does not execute the program outside of subs.
    my $tid = readlink("/proc/thread-self") =~ /(\d+)$/ ? $1 : 0;
    thread($tid, "interpreter", "false", 0);
}

# A value as Data::Dumper would write it on one line.
sub spell {
    my ($value) = @_;
    return "undef" unless defined $value;
    if (my $class = ref $value) {
        my $plain = spell_reference($value);
        return $class =~ /^(?:ARRAY|HASH|SCALAR|REF)$/ ? $plain : qq(bless($plain, "$class"));
    }
    my $flags = B::svref_2object(\$value)->FLAGS;
    return "$value" unless $flags & B::SVf_POK();
    my %escapes = ("\n" => "\\n", "\t" => "\\t", map { $_ => "\\$_" } '"', "\\", '$', '@');
    $value =~ s/(["\\\$\@\n\t])/$escapes{$1}/g;
    return qq("$value");
}

sub spell_reference {
    my ($value) = @_;
    my $kind = B::svref_2object($value);
    return "[" . elements(@$value) . "]" if $kind->isa("B::AV");
    return "{" . entries(%$value) . "}" if $kind->isa("B::HV");
    return "\\ " . spell($$value);
}

sub elements { return join ", ", map { spell($_) } @_ }

sub entries {
    my (%entries) = @_;
    my $key = sub { $_[0] =~ /^[A-Za-z_]\w*$/ ? $_[0] : spell("$_[0]") };
    return join ", ", map { $key->($_) . " => " . spell($entries{$_}) } sort keys %entries;
}

# Tells variables of a function: by their names, references to them.
sub variables {
    my ($function, %variables) = @_;
    my @told;
    for my $name (sort keys %variables) {
        my $variable = $variables{$name};
        my $value = $name =~ /^\@/ ? "(" . elements(@$variable) . ")"
            : $name =~ /^%/ ? "(" . entries(%$variable) . ")"
            : spell($$variable);
        push @told, text($name) . ":" . text($value);
    }
    note("variables.jsonl", '{"function":' . text($function) . ',"variables":{' . join(",", @told) . "}}");
}

1;
