//! `::sizeof` — the size of a type.

use kcore::{Type, TypeKind};
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::type_words;

const EXAMPLES: &[Example] =
    &[Example { line: "::sizeof struct node", shows: "its size in bytes" }];

/// Shows the size of a type.
pub struct Sizeof;

impl Dcmd for Sizeof {
    fn spec(&self) -> Spec {
        Spec::new("sizeof", Group::Types, "print the size of a type")
            .operands("type", 1, usize::MAX)
            .help("Prints the size in bytes, in the current radix. A pipe gets it as a number.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let (name, ty) = type_words::alone(cx, args)?;
        let size =
            size_of(cx, &ty).ok_or_else(|| DcmdError::failed(format!("{name} has no size")))?;
        cx.emit(&Size { name, size })
    }
}

/// The size of a type, or of its definition if that is in another module. The size of `void` is 0.
pub fn size_of(cx: &Cx<'_>, ty: &Type) -> Option<u64> {
    let complete = kcore::Object::at(ty.clone(), kcore::Addr::new(0));
    let complete = complete.complete_type(&**cx.core()).ok()?;
    match complete.kind() {
        TypeKind::Void => Some(0),
        _ => complete.size(),
    }
}

struct Size {
    name: String,
    size: u64,
}

impl Record for Size {
    fn kind(&self) -> &'static str {
        "type_size"
    }

    fn view(&self) -> View {
        View::Line("sizeof ({name}) = {shown:#}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name.as_str())
            .num("size", self.size)
            .display("shown", Cell::Hex(self.size));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(self.size))
    }
}
