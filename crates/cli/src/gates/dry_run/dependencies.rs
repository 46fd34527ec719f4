//! What a crate of this workspace depends on, directly or not, as its manifest and the lock file say.

use std::collections::{BTreeMap, BTreeSet};

/// Everything that these crates need, themselves included. The manifests speak for our own crates, because the lock file
/// lists what their tests need as well; the lock file speaks for all others.
pub(super) fn closure(sources: &BTreeMap<String, String>, roots: &[&str]) -> BTreeSet<String> {
    let locked = locked(sources.get("Cargo.lock").map_or("", String::as_str));
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut pending: Vec<String> = roots.iter().map(|root| (*root).to_owned()).collect();
    while let Some(name) = pending.pop() {
        if reached.insert(name.clone()) {
            pending.extend(match manifest(sources, &name) {
                Some(text) => declared(text),
                None => locked.get(&name).cloned().unwrap_or_default(),
            });
        }
    }
    reached
}

fn manifest<'s>(sources: &'s BTreeMap<String, String>, name: &str) -> Option<&'s str> {
    let folder = name.strip_prefix("countersign-")?;
    sources.get(&format!("crates/{folder}/Cargo.toml")).map(String::as_str)
}

/// The names in every table of dependencies but that of the tests.
fn declared(manifest: &str) -> Vec<String> {
    let mut is_wanted = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            is_wanted = table.contains("dependencies") && !table.contains("dev-dependencies");
        } else if is_wanted && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            names.extend(Some(name.to_owned()).filter(|name| !name.is_empty()));
        }
    }
    names
}

/// Who needs whom, by the lock file; versions of one name count as one.
fn locked(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(value) = line.strip_prefix("name = ") {
            value.trim_matches('"').clone_into(&mut name);
        } else if line.starts_with('"') {
            let needed = line.trim_matches(['"', ',']).split(' ').next().unwrap_or_default();
            needs.entry(name.clone()).or_default().push(needed.to_owned());
        }
    }
    needs
}
