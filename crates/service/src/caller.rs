//! Who asks: known by a credential, never by what a request says about itself.

use countersign_canon::{Issue, Sha256, Text};
use countersign_ledger::{Access, Principal, Source};
use countersign_store::Origin;

use crate::ServiceError;

/// The name of whoever can open the files of an embedded store.
const OWNER: &str = "local";

/// Somebody who asks, and what they may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// Who.
    pub principal: Principal,
    /// What they may do.
    pub access: Access,
    /// The hash of the token that shows it; nothing for whoever can open the files anyway.
    pub credential: Option<Sha256>,
    /// The part of the product that speaks for them, as events name it.
    pub component: Text<1, 64>,
}

impl Caller {
    /// Whoever can open the files of an embedded store: they could write into them anyway, so they are its admin.
    ///
    /// # Errors
    ///
    /// Fails if the component has no name, or one of more than 64 characters.
    pub fn owner(component: &str) -> Result<Self, ServiceError> {
        let principal =
            Principal::parse(OWNER).map_err(|issue: Issue| ServiceError::defect(issue.to_string()))?;
        Ok(Self {
            principal,
            access: Access::Admin,
            credential: None,
            component: text("the component", component)?,
        })
    }

    /// A person who shows who they are by signing, at the same door.
    #[must_use]
    pub fn approver(&self, principal: Principal) -> Self {
        Self { principal, access: Access::Approver, credential: None, component: self.component.clone() }
    }

    /// The origin of a request at this endpoint.
    pub(crate) fn origin(&self, endpoint: &str) -> Result<Origin, ServiceError> {
        Ok(Origin {
            principal: self.principal.clone(),
            access: self.access,
            credential: self.credential,
            endpoint: text("the endpoint", endpoint)?,
            source: Source {
                component: self.component.clone(),
                version: text("the version", env!("CARGO_PKG_VERSION"))?,
                provider: text("the provider", "countersign")?,
            },
        })
    }
}

/// Takes a text if it has the right length.
pub(crate) fn text<const MIN: usize, const MAX: usize>(
    what: &'static str,
    text: &str,
) -> Result<Text<MIN, MAX>, ServiceError> {
    let found = text.chars().count();
    Text::new(text.to_owned()).ok_or(ServiceError::TextLength { what, found, min: MIN, max: MAX })
}
