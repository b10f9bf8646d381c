//! `::offsetof` — where a member lies in its structure.

use kcore::{Addr, Object, ObjectError, PathError};
use kcore_dcmd::{
    Arg, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::member_path::{self, Reach};
use crate::sizeof::size_of;
use crate::type_words;

const EXAMPLES: &[Example] = &[Example {
    line: "::offsetof struct node n_next",
    shows: "where the member lies, and its size",
}];

/// Shows where a member lies in its structure.
pub struct Offsetof;

impl Dcmd for Offsetof {
    fn spec(&self) -> Spec {
        Spec::new("offsetof", Group::Types, "print the offset of a member")
            .operands("type member", 2, usize::MAX)
            .help(
                "Prints the offset in bytes from the beginning of the type, in the current \
                 radix. For a bit-field, its first bit follows after a point. The member may be \
                 a path, such as a.b[2].c, that goes through no pointer. A pipe gets the offset \
                 as a number.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let (name, ty, rest) = type_words::required(cx, args.operands())?;
        let [Arg::Text(member)] = rest else {
            return Err(DcmdError::usage("expected a type and a member"));
        };
        let (object, member) = (Object::at(ty, Addr::new(0)), member.clone());
        let part = place(cx, &object, &name, &member)?;
        let offset = Offset {
            offset: part.address().unwrap_or_default().get(),
            bit: part.place.bits().map_or(0, |bits| bits.offset % 8),
            size: size_of(cx, &part.ty),
            name,
            member,
        };
        if cx.input().pipe_out && offset.bit > 0 {
            let (member, name) = (&offset.member, &offset.name);
            let message = format!("member {member} of type {name} is not byte-aligned");
            return Err(DcmdError::failed(message));
        }
        cx.emit(&offset)
    }
}

/// The member of a type whose objects begin at address 0.
///
/// # Errors
/// When the type has no such member.
pub fn place(cx: &mut Cx<'_>, object: &Object, name: &str, member: &str) -> Result<Object> {
    let core = std::sync::Arc::clone(cx.core());
    let end = member_path::follow(cx, &*core, object, member, Reach::Within)?;
    let reason = match &end {
        Ok(_) => "it leads to several members".to_owned(),
        Err(PathError::Object(ObjectError::NoMember { .. })) => {
            "no such member of structure or union".to_owned()
        }
        Err(why) => why.to_string(),
    };
    let mut parts = end.map(|end| end.parts).unwrap_or_default();
    match (parts.pop(), parts.is_empty()) {
        (Some(part), true) => Ok(part.object),
        _ => Err(DcmdError::failed(format!(
            "failed to find member {member} of type {name}: {reason}"
        ))),
    }
}

struct Offset {
    name: String,
    member: String,
    offset: u64,
    bit: u64,
    size: Option<u64>,
}

impl Record for Offset {
    fn kind(&self) -> &'static str {
        "member_offset"
    }

    fn view(&self) -> View {
        View::Line(
            "offsetof ({name}, {member}) = {shown:#}{bits?.{bit:d}}\
             {size?, sizeof (...->{member}) = {shown_size:#}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name.as_str())
            .text("member", self.member.as_str())
            .num("offset", self.offset)
            .num("bit", self.bit)
            .num("size", self.size)
            .display("shown", Cell::Hex(self.offset))
            .display("bits", Cell::Bool(self.bit > 0))
            .display("shown_size", Cell::or_null(self.size, Cell::Hex));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(self.offset))
    }
}
