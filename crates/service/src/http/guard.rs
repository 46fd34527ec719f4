//! Who a request says it is for and where it says it comes from: a page of somebody else's must not speak to us.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};

use super::problem::Problem;
use crate::code::codes;

/// What a browser says about the page that a request comes from.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names under which this service may be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts(BTreeSet<String>);

impl Hosts {
    /// These names, without regard to case.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name.to_ascii_lowercase())
    }

    /// Refuses a request that is for another host, or comes from a page of another origin.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut named = headers.get_all(header::HOST).iter().map(|value| value.to_str().ok());
        let (host, second) = (named.next().flatten(), named.next());
        let is_ours = second.is_none()
            && host.is_some_and(|host| self.has(host))
            && uri.authority().is_none_or(|authority| self.has(authority.as_str()));
        if !is_ours {
            let message = "this service is not known under that name";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, codes::HTTP_HOST, message));
        }
        let origins = headers.get_all(header::ORIGIN).iter();
        let is_same_origin = origins.map(|origin| origin.to_str().ok()).all(|origin| {
            let rest =
                origin.and_then(|origin| origin.strip_prefix("http://").or(origin.strip_prefix("https://")));
            rest.is_some_and(|rest| self.has(rest))
        });
        let sites = headers.get_all(SEC_FETCH_SITE).iter();
        let is_same_site =
            sites.map(|site| site.to_str().ok()).all(|site| matches!(site, Some("same-origin" | "none")));
        if is_same_origin && is_same_site {
            return Ok(());
        }
        let message = "pages of other origins may not ask here";
        Err(Problem::new(StatusCode::FORBIDDEN, codes::HTTP_ORIGIN, message))
    }
}

#[cfg(test)]
mod tests;
