//! Dcmds of files that show a row for each element of a walk.

use std::sync::Arc;

use kcore::{
    DcmdAction, DcmdColumn, DeclaredDcmd, DeclaredPrinters, Limits, Object, PrinterExpression,
    PrinterFile, Type, Value, WalkElement, WalkTrouble, expression::word, holds_for_element,
    over_element,
};
use kcore_dcmd::{
    Cell, Column, Cx, DcmdError, Dot, Fields, Record, Result, ValueCell, ValueStyle, View,
    kept_columns,
};

use super::walk;
use crate::session_process::SessionProcess;
use crate::walk::starting_address;

/// A table, before its rows are asked for.
pub struct Table<'f> {
    file: &'f PrinterFile,
    dcmd: &'f DeclaredDcmd,
    walk: &'f PrinterExpression,
    when: Option<&'f PrinterExpression>,
    columns: &'f [DcmdColumn],
    /// The type of the elements, if the dcmd says so.
    ty: Option<Type>,
    printers: Arc<DeclaredPrinters>,
}

impl<'f> Table<'f> {
    /// The table that a dcmd shows.
    ///
    /// # Errors
    /// When its type is not known.
    pub fn new(
        cx: &Cx<'_>,
        file: &'f PrinterFile,
        dcmd: &'f DeclaredDcmd,
        action: &'f DcmdAction,
    ) -> Result<Self> {
        let DcmdAction::Table { walk, ty, when, columns } = action else {
            return Err(DcmdError::failed(format!("::{} shows no table", dcmd.name)));
        };
        let ty = ty.as_ref().map(|ty| walk::type_of(cx, file, ty)).transpose()?;
        let printers = Arc::clone(cx.shell().printers());
        Ok(Self { file, dcmd, walk, when: when.as_ref(), columns, ty, printers })
    }

    /// Shows a row for each element; `$1` and so on are the values of the arguments.
    ///
    /// # Errors
    /// Those of the walk, and of the sink.
    pub fn show(&self, cx: &mut Cx<'_>, arguments: &[String]) -> Result<()> {
        let values = arguments.iter().map(|text| cx.shell().evaluate(text));
        let values: Vec<u64> = values.collect::<Result<_>>()?;
        let process = SessionProcess::new(cx);
        let from = cx.addr();
        let mut visit = |cx: &mut Cx<'_>, element: &WalkElement| {
            self.row(&process, cx, element, &values)?.map_or(Ok(()), |row| cx.emit(&row))
        };
        let printers = Arc::clone(&self.printers);
        if let Some(walker) = printers.walker(&self.walk.text) {
            return walk::each(cx, walker, from, &mut visit);
        }
        let walkers = cx.shell().walkers();
        let walker = walkers.iter().find(|walker| walker.spec().name == &*self.walk.text).copied();
        let walker = walker.ok_or_else(|| {
            let PrinterExpression { text, line, .. } = self.walk;
            DcmdError::failed(format!("{}:{line}: there is no walker {text}", self.file.name))
        })?;
        let from = starting_address(walker, from)?;
        walker.walk(cx, from, &mut |cx, dot| visit(cx, &WalkElement::Number(dot.number())))
    }

    /// The row of an element; `None` where it is not wanted.
    fn row(
        &self,
        process: &SessionProcess<'_>,
        cx: &Cx<'_>,
        element: &WalkElement,
        arguments: &[u64],
    ) -> Result<Option<Row<'f>>> {
        let dot = walk::dot_of(element);
        let object = self.object(cx, element, dot);
        let failed = |trouble: WalkTrouble| self.failed(&trouble);
        if !holds_for_element(process, &object, self.when, arguments).map_err(failed)? {
            return Ok(None);
        }
        let limits = Limits { depth: Some(1), ..Limits::default() };
        let value = |column: &DcmdColumn| {
            let part = over_element(process, &object, &column.value, arguments);
            part.map(|part| part.value(process, &limits)).map_err(|trouble| {
                self.printers.note(self.failed(&trouble).to_string());
                trouble.why
            })
        };
        let cells = self.columns.iter().map(value).collect();
        let style = ValueStyle {
            integers: cx.shell().settings().integers(),
            ..ValueStyle::inline(cx.core().target().endian)
        };
        let titles = self.columns.iter().map(|column| (&*column.name, column.width));
        let view = kept_columns(&titles.collect::<Vec<_>>());
        Ok(Some(Row { dcmd: self.dcmd, dot, columns: self.columns, cells, style, view }))
    }

    /// The element as an object whose members have names.
    fn object(&self, cx: &Cx<'_>, element: &WalkElement, dot: Dot) -> Object {
        match (&self.ty, element) {
            (Some(ty), _) => Object::at(ty.clone(), dot.addr()),
            (None, WalkElement::Object(object)) => object.clone(),
            (None, _) => word(dot.number(), cx.core().target()),
        }
    }

    fn failed(&self, trouble: &WalkTrouble) -> DcmdError {
        DcmdError::failed(format!("{}:{trouble}", self.file.name))
    }
}

/// What a table shows of one element.
struct Row<'f> {
    dcmd: &'f DeclaredDcmd,
    dot: Dot,
    columns: &'f [DcmdColumn],
    /// The value in each column, or why there is none.
    cells: Vec<std::result::Result<Value, String>>,
    style: ValueStyle,
    view: &'static [Column],
}

impl Row<'_> {
    fn tree<'a>(
        &'a self,
        column: &'a DcmdColumn,
        cell: &'a std::result::Result<Value, String>,
    ) -> Cell<'a> {
        let value = cell.as_ref().ok();
        let ty = value.map(|value| value.ty.spelled());
        let absent = cell.as_ref().err().map(String::as_str);
        let tree = |value| Cell::Value(Box::new(ValueCell::new("", value, self.style)));
        Cell::Object(vec![
            ("name", Cell::text(&*column.name)),
            ("declared", Cell::or_null(ty, Cell::text)),
            ("value", Cell::or_null(value, tree)),
            ("absent", Cell::or_null(absent, Cell::text)),
        ])
    }
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "own_row"
    }

    fn view(&self) -> View {
        View::Table(self.view)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let pairs = || self.columns.iter().zip(&self.cells);
        let trees = pairs().map(|(column, cell)| self.tree(column, cell)).collect();
        out.text("dcmd", &*self.dcmd.name)
            .hex("element", self.dot.number())
            .put("columns", Cell::List(trees));
        for (column, cell) in self.view.iter().zip(&self.cells) {
            let shown = match cell {
                Ok(value) => Cell::Value(Box::new(ValueCell::new("", value, self.style))),
                Err(_) => Cell::text("?"),
            };
            out.display(column.key, shown);
        }
    }

    fn dot(&self) -> Option<Dot> {
        Some(self.dot)
    }
}
