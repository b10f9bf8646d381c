//! Asking debuginfod servers, if the user wants that.

use anyhow::Result;
use kcore::OpenOptions;

/// The variable of the usual client.
#[cfg(feature = "debuginfod")]
const URLS: &str = "DEBUGINFOD_URLS";

/// Adds the servers of the command line, or, without them, those of the environment.
///
/// # Errors
/// When the user asked for servers and none is known.
#[cfg(feature = "debuginfod")]
pub(crate) fn add(named: Option<&str>, options: &mut OpenOptions) -> Result<()> {
    use std::env;
    use std::sync::Arc;
    use std::time::Duration;

    use anyhow::bail;
    use kcore::debuginfod::{Debuginfod, PATIENCE, ServerList};

    use crate::{folders, progress};

    let environment = env::var(URLS).ok().filter(|urls| !urls.trim().is_empty());
    let list = match (named, environment) {
        (None, None) => return Ok(()),
        (Some(named), _) if !named.is_empty() => ServerList::of(named),
        (_, Some(urls)) => ServerList::of(&urls),
        (Some(_), None) => ServerList::of_system(),
    };
    if let (Some(_), Some(refused)) = (named, list.refused.first()) {
        bail!("{refused}: not an address of a server: http:// or https:// is wanted");
    }
    let folder = folders::debuginfod();
    let (urls, Some(folder)) = (list.urls, folder) else {
        bail!("there is no folder for fetched files: set DEBUGINFOD_CACHE_PATH")
    };
    if urls.is_empty() {
        match named {
            Some(_) => bail!("no server is known: --debuginfod=URL, or set {URLS}"),
            None => return Ok(()),
        }
    }
    let patience = env::var("DEBUGINFOD_TIMEOUT").ok().and_then(|it| it.parse().ok());
    let patience = patience.map_or(PATIENCE, Duration::from_secs);
    let place = Debuginfod::new(urls, folder, &options.budget);
    let place = place.with_patience(patience).telling(progress::of_transfers());
    options.places.push(Arc::new(place));
    Ok(())
}

/// Refuses to ask servers: this build cannot.
///
/// # Errors
/// When the user asked for servers.
#[cfg(not(feature = "debuginfod"))]
pub(crate) fn add(named: Option<&str>, _options: &mut OpenOptions) -> Result<()> {
    match named {
        Some(_) => anyhow::bail!("this build of kcore cannot ask debuginfod servers"),
        None => Ok(()),
    }
}
