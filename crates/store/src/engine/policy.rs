//! Which policy is in force, since when, by whom.

use countersign_canon::{Issue, NonEmpty, Timestamp, Wire as _};
use countersign_ledger::{
    Access, Activation, EventKind, LoadedVersion, NewEvent, PolicyVersion, StreamId, VersionNumber, detail,
};
use countersign_policy::{AllowPolicy, Lattice, Policy};

use super::not_found;
use crate::{
    StoreError,
    request::{CallError, Origin, PolicyDocuments, Refusal},
    shelf::read_body,
    working::{Working, object_of},
};

impl Working<'_> {
    /// Puts three documents in force together, as a new version unless they are one already.
    pub(super) fn activate(
        &mut self,
        origin: &Origin,
        documents: &PolicyDocuments,
        now: Timestamp,
    ) -> Result<Activation, CallError> {
        origin.require(&[Access::Admin])?;
        let (loaded, known) = self.load_documents(documents)?;
        let version = match &known {
            Some(known) => known.clone(),
            None => self.next_version(origin, documents, &loaded, now)?,
        };
        let loaded = LoadedVersion { version: version.version, ..loaded };
        let new = known.is_none().then_some(&version);
        self.put_version(origin, EventKind::PolicyActivated, (new, &version), loaded, now)
    }

    /// Puts an earlier version back in force.
    pub(super) fn roll_back(
        &mut self,
        origin: &Origin,
        version: VersionNumber,
        now: Timestamp,
    ) -> Result<Activation, CallError> {
        origin.require(&[Access::Admin])?;
        let stored = self.version(version.get())?;
        let stored = stored.ok_or_else(|| not_found("policy version", &version.get().to_string()))?;
        let loaded = LoadedVersion::load(&stored).map_err(StoreError::corrupt)?;
        self.put_version(origin, EventKind::PolicyRolledBack, (None, &stored), loaded, now)
    }

    fn put_version(
        &mut self,
        origin: &Origin,
        kind: EventKind,
        (new, version): (Option<&PolicyVersion>, &PolicyVersion),
        loaded: LoadedVersion,
        now: Timestamp,
    ) -> Result<Activation, CallError> {
        let rows = self.sql.query("SELECT COALESCE(MAX(number), 0) + 1 FROM activation", &[])?;
        let number = rows.first().map_or(Ok(1), |row| row.integer(0))?;
        let activation = Activation {
            number: counted(number)?,
            version: version.version,
            activated_at: now,
            activated_by: origin.principal.clone(),
        };
        self.put_in_force(new, &activation, loaded)?;
        let members = [
            ("policy_version", version.version.write()),
            ("policy_hash", version.policy_hash.write()),
            ("lattice_hash", version.lattice_hash.write()),
            ("allow_hash", version.allow_hash.write()),
            ("by", origin.principal.write()),
        ];
        let event = origin.event(kind, None, now, detail(members));
        self.emit(&NewEvent { stream_id: StreamId::policy(), ..event })?;
        Ok(activation)
    }

    /// Checks the documents, and finds the version that they are, if they are one.
    fn load_documents(
        &mut self,
        documents: &PolicyDocuments,
    ) -> Result<(LoadedVersion, Option<PolicyVersion>), CallError> {
        let text = |json: &countersign_canon::Json<'static>| json.to_canonical();
        let policy = Policy::load(text(&documents.policy).as_bytes()).map_err(|issues| refused(&issues))?;
        let lattice =
            Lattice::load(text(&documents.lattice).as_bytes()).map_err(|issues| refused(&issues))?;
        let allow = AllowPolicy::load(text(&documents.allow).as_bytes(), &lattice)
            .map_err(|issues| refused(&issues))?;
        let query = "SELECT body FROM policy_version WHERE policy_hash = $1 ORDER BY version";
        let mut known = None;
        for row in self.sql.query(query, &[policy.hash().to_string().into()])? {
            let version: PolicyVersion = read_body(row.text(0)?)?;
            if version.lattice_hash == *lattice.hash() && version.allow_hash == *allow.hash() {
                known = Some(version);
            }
        }
        Ok((LoadedVersion { version: counted(1)?, policy, lattice, allow }, known))
    }

    fn next_version(
        &mut self,
        origin: &Origin,
        documents: &PolicyDocuments,
        loaded: &LoadedVersion,
        now: Timestamp,
    ) -> Result<PolicyVersion, CallError> {
        let rows = self.sql.query("SELECT COALESCE(MAX(version), 0) + 1 FROM policy_version", &[])?;
        let version = rows.first().map_or(Ok(1), |row| row.integer(0))?;
        Ok(PolicyVersion {
            version: counted(version)?,
            policy_hash: *loaded.policy.hash(),
            lattice_hash: *loaded.lattice.hash(),
            allow_hash: *loaded.allow.hash(),
            policy: object_of(&documents.policy),
            lattice: object_of(&documents.lattice),
            allow: object_of(&documents.allow),
            created_at: now,
            created_by: origin.principal.clone(),
        })
    }
}

fn refused(issues: &NonEmpty<Issue>) -> Refusal {
    let first =
        issues.first().map_or_else(String::new, |issue| format!("{} {}: {issue}", issue.code, issue.pointer));
    Refusal::Invalid { message: first }
}

fn counted(number: i64) -> Result<VersionNumber, StoreError> {
    VersionNumber::new(number).ok_or_else(|| StoreError::corrupt(format!("{number} is not a version")))
}
