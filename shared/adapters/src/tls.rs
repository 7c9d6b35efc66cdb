//! How this process speaks TLS over reqwest: one library, one provider, the public roots.
//!
//! Handed to each client, so that nothing depends on what was installed for the whole process, or in which order.

/// Trusts the public roots, with ring.
///
/// # Errors
/// When the library knows none of the protocol's versions.
pub(crate) fn public_roots() -> Result<rustls::ClientConfig, rustls::Error> {
    let roots: rustls::RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let config = rustls::ClientConfig::builder_with_provider(
        rustls::crypto::ring::default_provider().into(),
    )
    .with_safe_default_protocol_versions()?
    .with_root_certificates(roots)
    .with_no_client_auth();
    Ok(config)
}
