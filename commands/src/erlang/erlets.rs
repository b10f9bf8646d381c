//! `::erlets`: the tables of ETS.

use kcore::erlang::{EtsTable, Missing, Pid};
use kcore_dcmd::{Args, Column, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View};

use super::{missing, subject};

/// Lists the tables of ETS.
pub struct Erlets;

const HELP: &str = "\
Lists the tables of ETS with the processes that own them. TYPE is that of ets:info: `set`, \
`ordered_set`, `bag` or `duplicate_bag`. KIND says how a table is built: `hash`, `tree` for ordered \
sets, or `catree` for ordered sets that many processes write. Tables that count \
their objects in many places have no OBJECTS and BYTES.";

impl Dcmd for Erlets {
    fn spec(&self) -> Spec {
        Spec::new("erlets", Group::Runtimes, "list the ETS tables of Erlang")
            .help(HELP)
            .examples(&[Example { line: "::erlets", shows: "every table of ETS" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core().clone();
        for erlang in subject::instances(&core)? {
            let tables = erlang.tables(core.as_ref());
            for table in tables.all {
                cx.check_interrupt()?;
                if let Err(why) = &table.name {
                    missing::note(cx, Some(*why))?;
                }
                cx.emit(&TableRecord(table))?;
            }
            note_torn(cx, &tables.torn)?;
        }
        Ok(())
    }
}

/// Says whose tables are not all shown, if some are not.
fn note_torn(cx: &mut Cx<'_>, torn: &[(Pid, Missing)]) -> Result<()> {
    let Some((first, why)) = torn.first() else { return Ok(()) };
    let others = match torn.len().saturating_sub(1) {
        0 => String::new(),
        others => format!(", and of {others} other processes"),
    };
    cx.note(&format!("tables of {first}{others} are left out: {}", missing::reason(*why)))
}

struct TableRecord(EtsTable);

const COLUMNS: &[Column] = &[
    Column::right("address", "TABLE", 16),
    Column::right("owner", "OWNER", 12),
    Column::left("holds", "TYPE", 13),
    Column::left("table_kind", "KIND", 6),
    Column::right("objects", "OBJECTS", 10),
    Column::right("bytes", "BYTES", 12),
    Column::left("shown_name", "NAME", 0),
];

impl Record for TableRecord {
    fn kind(&self) -> &'static str {
        "ets_table"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let table = &self.0;
        out.addr("address", table.at)
            .opt_text("name", table.name.as_deref().ok())
            .display("shown_name", missing::cell(&table.name))
            .opt_text("missing", table.name.as_ref().err().map(|why| why.as_str()))
            .text("owner", table.owner.to_string())
            .opt_text("holds", table.holds)
            .opt_text("table_kind", table.kind)
            .num("objects", table.objects)
            .num("bytes", table.bytes)
            .num("key_position", table.key_position.map(u64::from));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}
