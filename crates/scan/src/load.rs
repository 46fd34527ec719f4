//! From rule files to a checked bundle, or to everything that is wrong with them.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_canon::{Issue, Issues, Json, NonEmpty, Pointer, Reader, Wire, typed_hash};

use crate::{
    codes,
    glob::Glob,
    verdict::RuleType,
    wire::{
        BoundariesFile, DeprecatedFile, InvariantsFile, Pattern, Prose, RULES_MAX, RuleFileName, RuleId,
        RuleParts, RuleTests, Title, rows,
    },
};

typed_hash! {
    /// The hash of a bundle: what it says, not how its YAML is laid out.
    pub PolicyHash
}

/// The rule files of a bundle as data; the values carry byte offsets into the files' texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleFiles<'t> {
    /// The file boundaries.yml, if it is there.
    pub boundaries: Option<Json<'t>>,
    /// The file invariants.yml, if it is there.
    pub invariants: Option<Json<'t>>,
    /// The file deprecated.yml, if it is there.
    pub deprecated: Option<Json<'t>>,
}

/// What is wrong with one file of a bundle; the offset is into that file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIssue {
    /// The file; none if the bundle as a whole is meant.
    pub file: Option<RuleFileName>,
    /// What is wrong.
    pub issue: Issue,
}

/// A checked bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    // INVARIANT: boundaries before invariants, each in file order; ids unique; at least one.
    rules: Vec<Rule>,
    // Every glob and every pattern once, in order of first use; rules name them by place.
    globs: Vec<Glob>,
    patterns: Vec<Pattern>,
    deprecated_ignored: usize,
    hash: PolicyHash,
}

/// One rule that is enforced.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// Which file it comes from.
    pub rule_type: RuleType,
    /// What it is about, in one line.
    pub title: Title,
    /// What it is about.
    pub description: Option<Prose>,
    /// Why it exists.
    pub rationale: Option<Prose>,
    /// What to do instead.
    pub remediation: Option<Prose>,
    /// Whom to ask.
    pub owner: Option<Title>,
    /// Files that show what it is about.
    pub tests: Option<RuleTests>,
    /// Its globs, as places in [`Bundle::globs`].
    pub globs: Vec<u32>,
    /// Its patterns in order, each once, as places in [`Bundle::patterns`].
    pub patterns: Vec<u32>,
}

impl Bundle {
    /// Checks the files of a bundle.
    ///
    /// # Errors
    ///
    /// Fails with every problem of every file, in order.
    pub fn load(files: &RuleFiles<'_>) -> Result<Self, NonEmpty<FileIssue>> {
        let mut found = Vec::new();
        let boundaries = read::<BoundariesFile>(RuleFileName::Boundaries, files, &mut found);
        let invariants = read::<InvariantsFile>(RuleFileName::Invariants, files, &mut found);
        let deprecated = read::<DeprecatedFile>(RuleFileName::Deprecated, files, &mut found);
        found.extend(check_whole(files));
        if let Some(found) = NonEmpty::new(found) {
            return Err(found);
        }
        let hash = hash(boundaries.as_ref(), invariants.as_ref(), deprecated.as_ref());
        let deprecated_ignored = deprecated.map_or(0, |file| file.deprecated.len());
        let boundaries = boundaries.map_or_else(Vec::new, |file| file.boundaries.into_vec());
        let invariants = invariants.map_or_else(Vec::new, |file| file.invariants.into_vec());
        let mut tables = Tables::default();
        let mut rules = Vec::new();
        rules.extend(boundaries.into_iter().map(|rule| tables.rule(RuleType::Boundary, rule.into())));
        rules.extend(invariants.into_iter().map(|rule| tables.rule(RuleType::Invariant, rule.into())));
        Ok(Self { rules, globs: tables.globs, patterns: tables.patterns, deprecated_ignored, hash })
    }

    /// The rules that are enforced, boundaries before invariants, each in file order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule with this place.
    #[must_use]
    pub fn rule(&self, index: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(index).ok()?)
    }

    /// Every glob of every rule, each once.
    #[must_use]
    pub fn globs(&self) -> &[Glob] {
        &self.globs
    }

    /// Every pattern of every rule, each once.
    #[must_use]
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The pattern with this place.
    #[must_use]
    pub fn pattern(&self, index: u32) -> Option<&Pattern> {
        self.patterns.get(usize::try_from(index).ok()?)
    }

    /// How many rules of deprecated.yml were read and ignored.
    #[must_use]
    pub const fn deprecated_ignored(&self) -> usize {
        self.deprecated_ignored
    }

    /// What the bundle says, as a hash.
    #[must_use]
    pub const fn hash(&self) -> &PolicyHash {
        &self.hash
    }

    /// How many rules of this type are enforced.
    #[must_use]
    pub fn count(&self, rule_type: RuleType) -> usize {
        self.rules.iter().filter(|rule| rule.rule_type == rule_type).count()
    }
}

impl RuleFiles<'_> {
    fn get(&self, name: RuleFileName) -> Option<&Json<'_>> {
        match name {
            RuleFileName::Boundaries => self.boundaries.as_ref(),
            RuleFileName::Invariants => self.invariants.as_ref(),
            RuleFileName::Deprecated => self.deprecated.as_ref(),
        }
    }
}

fn read<T: Wire>(name: RuleFileName, files: &RuleFiles<'_>, found: &mut Vec<FileIssue>) -> Option<T> {
    match Reader::read_json(files.get(name)?, codes::SCAN_RULES_INVALID) {
        Ok(file) => Some(file),
        Err(issues) => {
            let issues = issues.into_vec().into_iter();
            found.extend(issues.map(|issue| FileIssue { file: Some(name), issue }));
            None
        }
    }
}

/// What no single value shows: that the bundle is there, is not too large, and names each rule once.
fn check_whole(files: &RuleFiles<'_>) -> Vec<FileIssue> {
    if files.boundaries.is_none() && files.invariants.is_none() {
        let issue =
            Issue::new(codes::SCAN_RULES_MISSING, "the bundle has neither boundaries.yml nor invariants.yml")
                .with_expected("a folder with at least one of them")
                .with_hint("name the folder with --rules, or write rules/boundaries.yml");
        return Vec::from([FileIssue { file: None, issue }]);
    }
    let mut found = Vec::new();
    let count: usize = RuleFileName::ALL
        .iter()
        .filter_map(|name| files.get(*name).map(|json| rows(json, *name).len()))
        .fold(0, usize::saturating_add);
    if count > RULES_MAX {
        let issue = Issue::new(codes::SCAN_RULES_TOO_MANY, format!("the bundle has {count} rules"))
            .with_expected(format!("at most {RULES_MAX}"));
        found.push(FileIssue { file: None, issue: issue.under(codes::SCAN_RULES_INVALID) });
    }
    let mut seen: BTreeMap<String, RuleFileName> = BTreeMap::new();
    for &name in RuleFileName::ALL {
        let Some(json) = files.get(name) else { continue };
        let mut issues = Issues::new();
        for (index, row) in rows(json, name).iter().enumerate() {
            let pointer = Pointer::root().key(name.key()).index(index);
            issues.extend(check_id(row, &pointer, name, &mut seen));
            if name == RuleFileName::Deprecated {
                issues.extend(check_kind(row, &pointer));
            }
        }
        found.extend(issues.into_sorted().into_iter().map(|issue| FileIssue { file: Some(name), issue }));
    }
    found
}

fn check_id(
    row: &Json<'_>,
    pointer: &Pointer,
    name: RuleFileName,
    seen: &mut BTreeMap<String, RuleFileName>,
) -> Option<Issue> {
    let json = row.get("id")?;
    let id = json.as_str()?;
    let Some(first) = seen.get(id) else {
        seen.insert(id.into(), name);
        return None;
    };
    let issue =
        Issue::new(codes::SCAN_RULE_ID_REPEATED, format!("rule id `{id}` is used twice, first in {first}"))
            .with_expected("ids that are unique in the whole bundle")
            .with_hint("give this rule another id");
    Some(issue.with_pointer(pointer.key("id")).with_offset(json.offset()).under(codes::SCAN_RULES_INVALID))
}

/// A deprecated rule was a boundary or an invariant.
fn check_kind(row: &Json<'_>, pointer: &Pointer) -> Option<Issue> {
    let json = row.get("match")?;
    let lists =
        ["forbidden_patterns", "required_absent"].iter().filter(|key| json.get(key).is_some()).count();
    if lists == 1 || json.as_object().is_none() {
        return None;
    }
    let issue = Issue::new(codes::SCAN_RULE_KIND, format!("found {lists} lists of patterns"))
        .with_expected("either forbidden_patterns or required_absent");
    Some(issue.with_pointer(pointer.key("match")).with_offset(json.offset()).under(codes::SCAN_RULES_INVALID))
}

fn hash(
    boundaries: Option<&BoundariesFile>,
    invariants: Option<&InvariantsFile>,
    deprecated: Option<&DeprecatedFile>,
) -> PolicyHash {
    let rows = [
        boundaries.and_then(|file| file.write().get("boundaries").cloned().map(|rows| ("boundaries", rows))),
        invariants.and_then(|file| file.write().get("invariants").cloned().map(|rows| ("invariants", rows))),
        deprecated.and_then(|file| file.write().get("deprecated").cloned().map(|rows| ("deprecated", rows))),
    ];
    PolicyHash::of_json(&Json::object(rows.into_iter().flatten()))
}

/// Gives every glob and every pattern one place.
#[derive(Default)]
struct Tables {
    globs: Vec<Glob>,
    glob_places: BTreeMap<String, u32>,
    patterns: Vec<Pattern>,
    pattern_places: BTreeMap<String, u32>,
}

impl Tables {
    fn rule(&mut self, rule_type: RuleType, parts: RuleParts) -> Rule {
        let RuleParts { id, title, description, rationale, remediation, owner, tests, files, patterns } =
            parts;
        let globs = files.into_iter().map(|glob| {
            let text = glob.as_str().into();
            place(text, glob, &mut self.globs, &mut self.glob_places)
        });
        let globs = each_once(globs.collect());
        let patterns = patterns.into_iter().map(|pattern| {
            let text = pattern.as_str().into();
            place(text, pattern, &mut self.patterns, &mut self.pattern_places)
        });
        let patterns = each_once(patterns.collect());
        Rule { id, rule_type, title, description, rationale, remediation, owner, tests, globs, patterns }
    }
}

/// The place of a value in its table, where it is put if it is new.
fn place<T>(text: String, value: T, table: &mut Vec<T>, places: &mut BTreeMap<String, u32>) -> u32 {
    // LIMIT: RULES_MAX times RULE_PATTERNS_MAX is below 2^32.
    *places.entry(text).or_insert_with(|| {
        table.push(value);
        u32::try_from(table.len().saturating_sub(1)).unwrap_or(u32::MAX)
    })
}

/// The list without what was there before.
fn each_once(places: Vec<u32>) -> Vec<u32> {
    let mut seen = alloc::collections::BTreeSet::new();
    places.into_iter().filter(|place| seen.insert(*place)).collect()
}

#[cfg(test)]
mod tests;
