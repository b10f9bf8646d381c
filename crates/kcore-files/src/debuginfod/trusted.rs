//! Whom a server's certificate may be signed by: those that this machine trusts, or else those that Mozilla does.

use std::{env, fs, path::PathBuf, sync::Arc};

use ureq::tls::{PemItem, RootCerts, parse_pem};

/// Where distributions have the certificates that the machine trusts.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The certificates of `SSL_CERT_FILE`, of this machine, or those that came with kcore.
pub fn roots() -> RootCerts {
    let named = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let files = named.into_iter().chain(BUNDLES.map(PathBuf::from));
    let certificates = files.filter_map(|path| fs::read(path).ok()).find_map(|pem| {
        let items = parse_pem(&pem).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        });
        let certificates: Vec<_> = items.collect();
        (!certificates.is_empty()).then_some(certificates)
    });
    certificates.map_or(RootCerts::WebPki, |found| RootCerts::Specific(Arc::new(found)))
}
