//! Tokens: what a caller shows to be somebody.

use countersign_canon::{Timestamp, record};
use countersign_ledger::{Access, Principal, Token};
use countersign_store::{Command, fresh_secret};

use super::{ADMINS, Asked, Done, Endpoint, Route, done};
use crate::{Caller, ServiceError, clock};

record! {
    /// Lists tokens.
    pub struct ListTokens {}
}

record! {
    /// A token, without what it could be found by.
    pub struct TokenView {
        /// Whom it speaks for.
        name: Principal,
        /// What it may do.
        access: Access,
        /// When it was made.
        created_at: Timestamp,
        /// When it stopped counting.
        revoked_at: Option<Timestamp>,
    }
}

record! {
    /// Tokens.
    pub struct Tokens {
        /// Each of them, also those that no longer count.
        tokens: Vec<TokenView>,
    }
}

impl Endpoint for ListTokens {
    type Reply = Tokens;
    const ROUTE: Route = Route::get("/v1/tokens", ADMINS, "List tokens by name");

    fn ask(self, _: &Caller) -> Result<Asked<Tokens>, ServiceError> {
        let view = |token: Token| {
            let Token { token_hash: _, name, access, created_at, revoked_at } = token;
            TokenView { name, access, created_at, revoked_at }
        };
        Ok(Asked::question(move |node| {
            Ok(Tokens { tokens: node.store().tokens()?.into_iter().map(view).collect() })
        }))
    }
}

record! {
    /// Makes a token.
    pub struct CreateToken {
        /// Whom it speaks for.
        name: Principal,
        /// What it may do.
        access: Access,
    }
}

record! {
    /// A fresh token.
    pub struct NewToken {
        /// The secret text, which nobody can give again.
        token: String,
    }
}

impl Endpoint for CreateToken {
    type Reply = NewToken;
    const ROUTE: Route =
        Route { status: 201, ..Route::post("/v1/tokens", ADMINS, "Make a token, shown once") };

    fn ask(self, _: &Caller) -> Result<Asked<NewToken>, ServiceError> {
        let secret = fresh_secret()?;
        let Self { name, access } = self;
        let token = Token {
            token_hash: Token::hash_of(&secret),
            name,
            access,
            created_at: clock::now()?,
            revoked_at: None,
        };
        Ok(Asked::change(Command::AddToken(token), move |_| Ok(NewToken { token: secret })))
    }
}

record! {
    /// Stops counting a token.
    pub struct RevokeToken {
        /// Its name.
        name: Principal,
    }
}

impl Endpoint for RevokeToken {
    type Reply = Done;
    const ROUTE: Route = Route::post("/v1/tokens/{name}/revoke", ADMINS, "Stop counting a token");

    fn ask(self, _: &Caller) -> Result<Asked<Done>, ServiceError> {
        Ok(Asked::change(Command::RevokeToken(self.name), done))
    }
}
