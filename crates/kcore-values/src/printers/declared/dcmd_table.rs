//! Dcmds as files have them: tables `[[dcmd]]`.

use serde::Deserialize;

use super::{
    DcmdAction, DcmdAddress, DcmdArgument, DcmdColumn, DeclaredDcmd, PrinterExpression,
    PrinterFileError,
    walker_table::name,
    written::{Written, WrittenFile},
};

/// Arguments of a dcmd, at most: each is one digit behind a `$`.
const MAX_ARGUMENTS: usize = 9;
/// Columns of a table, at most.
const MAX_COLUMNS: usize = 64;
/// Characters of a column, without and at most.
const WIDTHS: (usize, usize) = (16, 256);

/// A dcmd as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DcmdTable {
    name: Written,
    summary: String,
    #[serde(default)]
    help: String,
    address: Option<Written>,
    #[serde(default)]
    arguments: Vec<ArgumentTable>,
    run: Option<Written>,
    walk: Option<Written>,
    #[serde(rename = "type")]
    ty: Option<Written>,
    when: Option<Written>,
    #[serde(default)]
    columns: Vec<ColumnTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentTable {
    name: Written,
    default: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnTable {
    name: Written,
    value: Written,
    width: Option<usize>,
}

impl DcmdTable {
    /// The dcmd that it is.
    ///
    /// # Errors
    /// When it is none, with where.
    pub fn read(&self, file: &WrittenFile<'_>) -> Result<DeclaredDcmd, PrinterFileError> {
        let arguments = self.arguments(file)?;
        let action = self.action(file)?;
        for expression in expressions(&action) {
            check_arguments(expression, arguments.len())?;
        }
        let address = match self.address.as_ref().map(|address| address.get_ref().as_str()) {
            Some("none") => DcmdAddress::None,
            Some("optional") => DcmdAddress::Optional,
            Some("required") => DcmdAddress::Required,
            Some(_) => {
                let at = self.address.as_ref().map_or(0..0, Written::span);
                return Err(file.error(&at, "address is none, optional or required"));
            }
            None if matches!(action, DcmdAction::Table { .. }) => DcmdAddress::Optional,
            None => DcmdAddress::None,
        };
        let (line, column) = file.position(&self.name);
        Ok(DeclaredDcmd {
            name: name(file, &self.name)?,
            summary: self.summary.trim().into(),
            help: self.help.trim().into(),
            address,
            arguments,
            action,
            line,
            column,
        })
    }

    fn arguments(&self, file: &WrittenFile<'_>) -> Result<Vec<DcmdArgument>, PrinterFileError> {
        let mut arguments: Vec<DcmdArgument> = Vec::new();
        for argument in &self.arguments {
            let at = argument.name.span();
            if arguments.len() >= MAX_ARGUMENTS {
                return Err(file.error(&at, "a dcmd has at most 9 arguments"));
            }
            let is_behind_default = arguments.last().is_some_and(|last| last.default.is_some());
            if is_behind_default && argument.default.is_none() {
                return Err(file.error(&at, "an argument behind one with a default has one too"));
            }
            let default = argument.default.as_deref().map(Into::into);
            arguments.push(DcmdArgument { name: name(file, &argument.name)?, default });
        }
        Ok(arguments)
    }

    fn action(&self, file: &WrittenFile<'_>) -> Result<DcmdAction, PrinterFileError> {
        let is_table = self.ty.is_some() || self.when.is_some() || !self.columns.is_empty();
        match (&self.run, &self.walk) {
            (Some(run), None) if !is_table => Ok(DcmdAction::Pipeline(file.plain(run))),
            (None, Some(walk)) if !self.columns.is_empty() => Ok(DcmdAction::Table {
                walk: file.plain(walk),
                ty: self.ty.as_ref().map(|ty| file.plain(ty)),
                when: file.maybe(self.when.as_ref()),
                columns: self.columns(file)?,
            }),
            _ => Err(file.error(&self.name.span(), "a dcmd has run, or walk and columns")),
        }
    }

    fn columns(&self, file: &WrittenFile<'_>) -> Result<Vec<DcmdColumn>, PrinterFileError> {
        let mut columns = Vec::new();
        for column in &self.columns {
            let width = column.width.unwrap_or(WIDTHS.0);
            if width > WIDTHS.1 || columns.len() >= MAX_COLUMNS {
                let why = "a table has at most 64 columns of at most 256 characters";
                return Err(file.error(&column.name.span(), why));
            }
            let (name, value) = (name(file, &column.name)?, file.expression(&column.value));
            columns.push(DcmdColumn { name, width, value });
        }
        Ok(columns)
    }
}

/// What arguments may stand in.
fn expressions(action: &DcmdAction) -> Vec<&PrinterExpression> {
    match action {
        DcmdAction::Pipeline(run) => vec![run],
        DcmdAction::Table { when, columns, .. } => {
            when.iter().chain(columns.iter().map(|column| &column.value)).collect()
        }
    }
}

/// Refuses the number of an argument that there is not.
fn check_arguments(expression: &PrinterExpression, count: usize) -> Result<(), PrinterFileError> {
    let text = &expression.text;
    for (at, _) in text.match_indices('$') {
        let digit = text.get(at.saturating_add(1)..).and_then(|rest| rest.chars().next());
        let Some(number) = digit.and_then(|digit| digit.to_digit(10)) else { continue };
        if number == 0 || number as usize > count {
            let before = text.get(..at).unwrap_or_default().chars().count();
            let column = expression.column.saturating_add(before);
            let why = format!("there is no argument ${number}");
            return Err(PrinterFileError { line: expression.line, column, why });
        }
    }
    Ok(())
}
