//! What a worker serves: `sapi_request_info` of `SAPI.h`.

use super::{Php, globals::Globals};
use crate::Host;

/// `request_method`, `query_string`, `path_translated` and `request_uri`, from `sapi_globals_struct` on.
const METHOD: u64 = 8;
const QUERY: u64 = 16;
const SCRIPT: u64 = 40;
const URI: u64 = 48;

impl Php {
    /// The request that is served, in one line: `serves GET /a.php?b=1 (/srv/a.php)`. `None` where none is.
    pub(super) fn request(&self, host: &dyn Host, globals: &Globals) -> Option<String> {
        let memory = self.memory(host);
        globals.current(&memory)?;
        let text = |offset| {
            let text = memory.c_text(globals.server?, offset)?;
            (!text.is_empty()).then_some(text)
        };
        let (method, uri) = (text(METHOD)?, text(URI)?);
        let query = text(QUERY).filter(|_| !uri.contains('?'));
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let script = text(SCRIPT).map(|script| format!(" ({script})")).unwrap_or_default();
        Some(format!("serves {method} {uri}{query}{script}"))
    }
}
