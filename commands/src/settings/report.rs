//! All settings, as `::set` alone shows them.

use kcore_dcmd::{Cell, Cx, Fields, Record, Result, Settings, View};

use super::{options, symbols};

const VIEW: &str = "\
    {macro_path_title:>26} {macro_path_text}\n\
    {distance_title:>26} {distance_text}\n\
    {array_members_title:>26} {array_members_text}\n\
    {array_characters_title:>26} {array_characters_text}\n\
    {prompt_title:>26} \"{prompt}\"\n\
    {width_title:>26} {page_width:d}\n\
    {options_title:>26} {options_text}";

/// Shows all settings.
pub fn show(cx: &mut Cx<'_>) -> Result<()> {
    let record = SettingsRecord {
        settings: cx.shell().settings().clone(),
        page_width: cx.shell().page_width(),
        radix: cx.shell().radix(),
    };
    cx.emit(&record)
}

struct SettingsRecord {
    settings: Settings,
    page_width: usize,
    radix: u32,
}

impl Record for SettingsRecord {
    fn kind(&self) -> &'static str {
        "settings"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let settings = &self.settings;
        let path: Vec<String> =
            settings.macro_path.iter().map(|path| path.display().to_string()).collect();
        let on = options::names_on(settings);
        let limit = |limit: Option<u64>| Cell::or_null(limit, Cell::Num);
        let limit_text = |limit: Option<u64>| {
            Cell::text(limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string()))
        };
        out.put("macro_path", Cell::List(path.iter().cloned().map(Cell::text).collect()))
            .num("symbol_distance", settings.symbol_distance)
            .put("array_mem_limit", limit(settings.array_members))
            .put("array_str_limit", limit(settings.array_characters))
            .text("prompt", settings.prompt.as_str())
            .num("page_width", self.page_width as u64)
            .put("options", Cell::List(on.iter().map(|name| Cell::text(*name)).collect()))
            .display("macro_path_title", Cell::text("macro path:"))
            .display("macro_path_text", Cell::text(path.join(":")))
            .display("distance_title", Cell::text("symbol matching distance:"))
            .display(
                "distance_text",
                Cell::text(symbols::distance_text(settings.symbol_distance, self.radix)),
            )
            .display("array_members_title", Cell::text("array member print limit:"))
            .display("array_members_text", limit_text(settings.array_members))
            .display("array_characters_title", Cell::text("array string print limit:"))
            .display("array_characters_text", limit_text(settings.array_characters))
            .display("prompt_title", Cell::text("command prompt:"))
            .display("width_title", Cell::text("output page width:"))
            .display("options_title", Cell::text("debugger options:"))
            .display("options_text", Cell::text(on.join(", ")));
    }
}
