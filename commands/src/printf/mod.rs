//! `::printf` — members of an object in a format that the user gives.

mod convert;
mod float;
mod format;

use kcore::Object;
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use self::convert::Failure;
use self::format::{Piece, Specifier};
use crate::member_path::{self, Reach};
use crate::session_process::SessionProcess;
use crate::type_words::{abort, paths, required};

const HELP: &str = "\
The format is that of C, in double quotes. \\n ends a line; ::printf adds nothing to the format. \
Each specifier takes one member: a path, as for ::print, or . for the address itself.

- %d %u %x %X: decimal signed and unsigned, hexadecimal
- %o %q: octal unsigned and signed
- %r %R: the radix, unsigned and signed
- %a %A %p: a pointer as symbol, and as number
- %f %e %g: a floating-point number, and its shorter form; %a: all its bits
- %s: text
- %H: a size in human-readable form
- %I %N: an IPv4 and an IPv6 address
- %Y: a time
- %%: a percent sign

Between % and the letter, - aligns to the left, a number sets the width, ? sets the width of an \
address, and 0 pads with zeros. A number behind a point says how many digits a floating-point number has.";

const EXAMPLES: &[Example] = &[Example {
    line: "first::printf \"%-?p %s\\n\" struct node . n_name",
    shows: "an address, and the text to which a member points",
}];

/// Prints members of an object in a format.
pub struct Printf;

impl Dcmd for Printf {
    fn spec(&self) -> Spec {
        Spec::new("printf", Group::Types, "print members of an object in a format")
            .addr(AddrUse::Required)
            .operands("format type member...", 0, usize::MAX)
            .takes_anything()
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let Some((Arg::Text(format), words)) = args.operands().split_first() else {
            return Err(abort(cx, &DcmdError::failed("expected a format string")));
        };
        let pieces = format::parse(format).map_err(|error| abort(cx, &error))?;
        let (_, ty, rest) = required(cx, words)?;
        let members = paths(rest);
        check_count(cx, &pieces, members.len())?;
        let object = Object::at(ty, cx.dot().addr());
        let mut members = members.iter();
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Specifier(specifier) => {
                    let member = members.next().map_or_else(String::new, Arg::to_text);
                    text.push_str(&converted(cx, &object, &specifier, &member)?);
                }
            }
        }
        cx.emit(&Formatted(text))?;
        move_dot(cx, &object);
        Ok(())
    }
}

fn check_count(cx: &mut Cx<'_>, pieces: &[Piece], members: usize) -> Result<()> {
    let found = pieces.iter().filter(|piece| matches!(piece, Piece::Specifier(_))).count();
    if members == 0 {
        return Err(DcmdError::usage("at least one member must be specified"));
    }
    if found == members {
        return Ok(());
    }
    let which = if members > found { "missing" } else { "extra" };
    let message = format!("{which} format specifiers (found {found}, expected {members})");
    Err(abort(cx, &DcmdError::failed(message)))
}

/// The text of one member.
fn converted(
    cx: &mut Cx<'_>,
    object: &Object,
    specifier: &Specifier,
    member: &str,
) -> Result<String> {
    let process = SessionProcess::new(cx);
    if member == "." {
        return convert::dot(cx, &process, specifier).map_err(|error| abort(cx, &error));
    }
    let end = member_path::required(cx, &process, object, member, Reach::Memory)?;
    let Some(part) = end.parts.first() else { return Ok(String::new()) };
    let failed = DcmdError::failed(format!("failed to print member '{member}'"));
    match convert::text(cx, &process, specifier, &part.object) {
        Ok(text) => Ok(text),
        Err(Failure::Type(why)) => {
            cx.report(&DcmdError::failed(why))?;
            Err(abort(cx, &failed))
        }
        Err(Failure::Memory(why)) => {
            cx.report(&why)?;
            Err(failed)
        }
    }
}

fn move_dot(cx: &mut Cx<'_>, object: &Object) {
    let size = crate::sizeof::size_of(cx, &object.ty).unwrap_or(0);
    let next = cx.dot().number().wrapping_add(size);
    cx.shell_mut().set_dot(Dot::Number(next), 0);
}

/// Text that goes on where the last one ended.
struct Formatted(String);

impl Record for Formatted {
    fn kind(&self) -> &'static str {
        "message"
    }

    fn view(&self) -> View {
        View::Part("{text:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", self.0.as_str());
    }

    fn expressions(&self) -> Option<&str> {
        Some(&self.0)
    }
}
