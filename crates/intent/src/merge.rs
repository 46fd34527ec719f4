//! The union of intents: one intent out of those that are kept, or the caps it would break.

mod commands;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Checksum, Json, List, Object, RepoPath, Text, Timestamp, Value, Wire, Within};

use crate::{
    AgentId, DocumentKind, EvidenceRef, Intent, IntentId, Money, Registry, Version, WorkflowId,
    detect::short_hash,
    reach::MERGED_PREFIX,
    wire::{
        Audit, AuditSource, Budgets, Constraints, Environment, ExecutionIntentType, Forbidden,
        IntentDocument, Interaction, Lineage, LockMode, LockScope, MergeOrder, Metadata, Objective, Phase,
        Review, Risk, Scope, SelectedAgent, SelectedWorkflow, Status, Targets, True,
    },
};

/// A bound or red line that a union would break, and who brings it about, by position among the kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) contributors: Vec<usize>,
}

/// What the sources say about one agent, and which of them do.
#[derive(Debug, Default)]
struct AgentParts<'i> {
    roles: Vec<&'i str>,
    duties: Vec<Text<1, 1000>>,
    who: Vec<usize>,
}

/// What a merge is made from.
#[derive(Debug)]
pub(crate) struct Merge<'i> {
    /// Those kept, in the order in which they run.
    pub(crate) kept: &'i [&'i Intent],
    /// Those superseded.
    pub(crate) dropped: &'i [&'i Intent],
    pub(crate) created_at: Timestamp,
    /// Where those take place that do not say.
    pub(crate) environment: Environment,
    /// What the kept ones write, for a lock that must cover it.
    pub(crate) written: Vec<RepoPath>,
    /// Which of the kept run after which.
    pub(crate) merge_order: MergeOrder,
}

impl Merge<'_> {
    /// Builds the merged intent and checks it as any other.
    ///
    /// # Errors
    ///
    /// Fails with every cap and red line that the union would break.
    pub(crate) fn build(&self, registry: Option<&Registry>) -> Result<Intent, Vec<Breach>> {
        let mut breaches = Vec::new();
        let document = self.document(&mut breaches);
        let everyone = || (0..self.kept.len()).collect::<Vec<_>>();
        let Some(document) = document.filter(|_| breaches.is_empty()) else {
            if breaches.is_empty() {
                let message = "the union does not have the form of an intent".into();
                breaches.push(Breach { pointer: "/".into(), message, contributors: everyone() });
            }
            return Err(breaches);
        };
        let sealed = self.sealed(document);
        Intent::from_json(&sealed, registry).map_err(|issues| {
            let breach = |issue: &countersign_canon::Issue| Breach {
                pointer: issue.pointer.to_string(),
                message: format!("{}: {issue}", issue.code),
                contributors: everyone(),
            };
            issues.iter().map(breach).collect()
        })
    }

    /// Gives the document its id, unless it keeps the winner's, and its checksum.
    fn sealed(&self, document: IntentDocument) -> Json<'static> {
        let json = document.write();
        let json = match (self.keeps_its_name(), json.as_object().cloned()) {
            (true, _) | (_, None) => json,
            (false, Some(object)) => Value::Object(object.with("id", Json::from(merged_id(&json)))).into(),
        };
        DocumentKind::Intent.seal(&json)
    }

    /// Whether one intent goes on under its own name. One that was merged itself is named after its content, which is
    /// another now.
    fn keeps_its_name(&self) -> bool {
        matches!(self.kept, [only] if !only.document().is_merged())
    }

    fn document(&self, breaches: &mut Vec<Breach>) -> Option<IntentDocument> {
        let first = self.kept.first()?.document();
        let (scope, objective) = (self.scope(breaches), self.objective(breaches));
        let (selected_workflows, selected_agents) = (self.workflows(breaches), self.agents(breaches));
        let commands = self.commands(breaches);
        let (risk, budgets) = (self.risk(breaches), self.budgets(breaches));
        let evidence = self.evidence(breaches);
        let constraints = self.constraints(breaches);
        let is_single = self.kept.len() == 1;
        let count = self.kept.len();
        let title = format!("Merged: {count} intents of {}", first.scope.project_id.as_str());
        let names: Vec<&str> = self.kept.iter().map(|intent| intent.id().as_str()).collect();
        let description = format!("Runs in this order: {}", names.join(", "));
        Some(IntentDocument {
            id: if is_single { first.id.clone() } else { IntentId::parse("intent_merged").ok()? },
            kind: ExecutionIntentType::ExecutionIntent,
            title: if is_single { first.title.clone() } else { Text::new(title)? },
            version: self.version()?,
            status: Status::Draft,
            created_at: self.created_at,
            lineage: self.lineage()?,
            scope: scope?,
            objective: objective?,
            selected_workflows: selected_workflows?,
            selected_agents: selected_agents?,
            planned_commands: commands?,
            interaction: self.interaction()?,
            risk: risk?,
            budgets: budgets?,
            evidence_refs: evidence?,
            constraints: constraints?,
            audit: Audit {
                created_by: Text::new("countersign intent evaluate".into())?,
                source: AuditSource::Agent,
                checksum: Checksum::of_json(&Value::Null.into()),
            },
            description: if is_single { first.description.clone() } else { Some(Text::new(description)?) },
            metadata: self.metadata(),
        })
    }

    fn version(&self) -> Option<Version> {
        let versions = self.kept.iter().map(|intent| &intent.document().version);
        versions.max_by(|a, b| a.sort_key().cmp(&b.sort_key())).cloned()
    }

    fn lineage(&self) -> Option<Lineage> {
        let ids = |intents: &[&Intent]| {
            let ids: BTreeSet<IntentId> = intents.iter().map(|intent| intent.id().clone()).collect();
            List::new(ids.into_iter().collect())
        };
        Some(Lineage {
            introduced_in: Version::parse("0.9.3").ok()?,
            derived_from: ids(self.kept)?,
            supersedes: ids(self.dropped)?,
        })
    }

    fn scope(&self, breaches: &mut Vec<Breach>) -> Option<Scope> {
        let first = &self.kept.first()?.document().scope;
        let files =
            self.union("/scope/targets/files", breaches, |intent| intent.scope.targets.files.to_vec());
        let modules =
            self.union("/scope/targets/modules", breaches, |intent| intent.scope.targets.modules.to_vec());
        let areas =
            self.union("/scope/targets/areas", breaches, |intent| intent.scope.targets.areas.to_vec());
        let services = self.union("/scope/targets/services", breaches, |intent| {
            intent.scope.targets.services.as_deref().unwrap_or_default().to_vec()
        });
        let has_services = self.kept.iter().any(|intent| intent.document().scope.targets.services.is_some());
        Some(Scope {
            project_id: first.project_id.clone(),
            repo_root: first.repo_root.clone(),
            env: match self.kept {
                [only] => only.document().scope.env,
                all => all.iter().map(|intent| intent.document().scope.env.unwrap_or(self.environment)).max(),
            },
            targets: Targets {
                files: files?,
                modules: modules?,
                areas: areas?,
                services: services.filter(|_| has_services),
            },
        })
    }

    fn objective(&self, breaches: &mut Vec<Breach>) -> Option<Objective> {
        let goals: Vec<&str> =
            distinct(self.kept.iter().map(|intent| intent.document().objective.goal.as_str()));
        let goal = goals.join("\n");
        let characters = goal.chars().count();
        let goal = Text::new(goal);
        if goal.is_none() {
            breaches.push(Breach {
                pointer: "/objective/goal".into(),
                message: format!("together the goals have {characters} characters; at most 2000 are allowed"),
                contributors: (0..self.kept.len()).collect(),
            });
        }
        let criteria = self.union("/objective/success_criteria", breaches, |intent| {
            intent.objective.success_criteria.to_vec()
        });
        let non_goals =
            self.union("/objective/non_goals", breaches, |intent| intent.objective.non_goals.to_vec());
        Some(Objective { goal: goal?, success_criteria: criteria?, non_goals: non_goals? })
    }

    fn workflows(&self, breaches: &mut Vec<Breach>) -> Option<List<SelectedWorkflow, 1, 18>> {
        let mut order: Vec<&WorkflowId> = Vec::new();
        let mut phases: BTreeMap<&WorkflowId, BTreeSet<Phase>> = BTreeMap::new();
        let mut reasons: BTreeMap<&WorkflowId, Text<1, 2000>> = BTreeMap::new();
        for workflow in self.kept.iter().flat_map(|intent| intent.document().selected_workflows.iter()) {
            if !phases.contains_key(&workflow.workflow_id) {
                order.push(&workflow.workflow_id);
            }
            phases.entry(&workflow.workflow_id).or_default().extend(workflow.phases.iter().copied());
            if let Some(reason) = &workflow.reason {
                reasons.entry(&workflow.workflow_id).or_insert_with(|| reason.clone());
            }
        }
        let merged: Vec<SelectedWorkflow> = order
            .into_iter()
            .filter_map(|id| {
                let phases: Vec<Phase> = phases.get(id)?.iter().copied().collect();
                Some(SelectedWorkflow {
                    workflow_id: id.clone(),
                    phases: List::new(phases)?,
                    reason: reasons.get(id).cloned(),
                })
            })
            .collect();
        self.capped("/selected_workflows", merged, (0..self.kept.len()).collect(), breaches)
    }

    fn agents(&self, breaches: &mut Vec<Breach>) -> Option<List<SelectedAgent, 1, 13>> {
        let mut order: Vec<&AgentId> = Vec::new();
        let mut merged: BTreeMap<&AgentId, AgentParts<'_>> = BTreeMap::new();
        for (position, intent) in self.kept.iter().enumerate() {
            for agent in intent.document().selected_agents.iter() {
                if !merged.contains_key(&agent.agent_id) {
                    order.push(&agent.agent_id);
                }
                let AgentParts { roles, duties, who } = merged.entry(&agent.agent_id).or_default();
                roles.push(agent.role.as_str());
                duties.extend(agent.responsibilities.iter().cloned());
                who.push(position);
            }
        }
        let mut agents = Vec::new();
        for id in order {
            let AgentParts { roles, duties, who } = merged.remove(id)?;
            let roles = distinct(roles.into_iter());
            let role = Text::new(roles.join(" / ")).or_else(|| Text::new((*roles.first()?).into()));
            let index = agents.len();
            let pointer = format!("/selected_agents/{index}/responsibilities");
            let duties = self.capped(&pointer, distinct(duties.into_iter()), who, breaches);
            agents.push(Some(SelectedAgent { agent_id: id.clone(), role: role?, responsibilities: duties? }));
        }
        let agents: Option<Vec<SelectedAgent>> = agents.into_iter().collect();
        self.capped("/selected_agents", agents?, (0..self.kept.len()).collect(), breaches)
    }

    /// The strictest of each.
    fn interaction(&self) -> Option<Interaction> {
        let all = || self.kept.iter().map(|intent| &intent.document().interaction);
        Some(Interaction {
            mode: all().map(|interaction| interaction.mode).min()?,
            question_budget: all().map(|interaction| interaction.question_budget).min()?,
            question_policy: all().map(|interaction| interaction.question_policy).min()?,
        })
    }

    /// The highest, with the drivers and reviews of all, also of those superseded: what they warned of is still so.
    fn risk(&self, breaches: &mut Vec<Breach>) -> Option<Risk> {
        let all = || self.kept.iter().chain(self.dropped).map(|intent| &intent.document().risk);
        let drivers = distinct(all().flat_map(|risk| risk.drivers.iter().cloned()));
        let reviews: BTreeSet<Review> = all().flat_map(|risk| risk.requires_review.iter().copied()).collect();
        let contributors = (0..self.kept.len()).collect();
        Some(Risk {
            overall: self.kept.iter().map(|intent| intent.document().risk.overall).max()?,
            drivers: self.capped("/risk/drivers", drivers, contributors, breaches)?,
            requires_review: List::new(reviews.into_iter().collect())?,
        })
    }

    fn budgets(&self, breaches: &mut Vec<Breach>) -> Option<Budgets> {
        let cost = self.kept.iter().map(|intent| intent.document().budgets.max_cost_usd);
        let cost = cost.fold(Money::default(), Money::plus);
        if cost > Money::MAX {
            breaches.push(Breach {
                pointer: "/budgets/max_cost_usd".into(),
                message: format!(
                    "together they may spend {cost} dollars; at most {} are allowed",
                    Money::MAX
                ),
                contributors: self.contributors(|intent| intent.budgets.max_cost_usd > Money::default()),
            });
        }
        Some(Budgets {
            max_files: self.sum("/budgets/max_files", breaches, |budgets| budgets.max_files.get())?,
            max_commits: self.sum("/budgets/max_commits", breaches, |budgets| budgets.max_commits.get())?,
            max_tokens: self.sum("/budgets/max_tokens", breaches, |budgets| budgets.max_tokens.get())?,
            max_cost_usd: cost,
        })
    }

    fn sum<const MIN: i64, const MAX: i64>(
        &self,
        pointer: &str,
        breaches: &mut Vec<Breach>,
        of: impl Fn(&Budgets) -> i64,
    ) -> Option<Within<MIN, MAX>> {
        let total =
            self.kept.iter().map(|intent| of(&intent.document().budgets)).fold(0, i64::saturating_add);
        let within = Within::new(total);
        if within.is_none() {
            breaches.push(Breach {
                pointer: pointer.into(),
                message: format!("the sum is {total}; at most {MAX} is allowed"),
                contributors: self.contributors(|intent| of(&intent.budgets) > 0),
            });
        }
        within
    }

    fn evidence(&self, breaches: &mut Vec<Breach>) -> Option<List<EvidenceRef, 1, 200>> {
        let all = self.kept.iter().flat_map(|intent| intent.document().evidence_refs.iter().cloned());
        let all: BTreeSet<EvidenceRef> = all.collect();
        self.capped("/evidence_refs", all.into_iter().collect(), (0..self.kept.len()).collect(), breaches)
    }

    /// A merged files-lock also covers every write of its sources: whoever comes next must respect those too.
    fn constraints(&self, breaches: &mut Vec<Breach>) -> Option<Constraints> {
        let locks = || self.kept.iter().map(|intent| &intent.document().constraints.lock_scope);
        let mode = locks().map(|lock| lock.mode).min()?;
        let covered = if mode == LockMode::Files { self.written.as_slice() } else { &[] };
        let covered = covered.iter().filter(|_| self.kept.len() > 1);
        let paths: BTreeSet<RepoPath> =
            locks().flat_map(|lock| lock.paths.iter()).chain(covered).cloned().collect();
        let contributors = (0..self.kept.len()).collect();
        Some(Constraints {
            execution: Forbidden::Forbidden,
            no_fabrication: True,
            registry_only: True,
            lock_scope: LockScope {
                mode,
                paths: self.capped(
                    "/constraints/lock_scope/paths",
                    paths.into_iter().collect(),
                    contributors,
                    breaches,
                )?,
            },
        })
    }

    /// What the sources still wait for, the priority if all of them declare one, and everything else by source.
    fn metadata(&self) -> Option<Metadata> {
        let of = |intent: &Intent| intent.document().metadata.clone();
        if let [only] = self.kept {
            return of(only);
        }
        let ids: BTreeSet<&IntentId> =
            self.kept.iter().chain(self.dropped).map(|intent| intent.id()).collect();
        let all: Vec<(&Intent, Metadata)> =
            self.kept.iter().filter_map(|intent| Some((*intent, of(intent)?))).collect();
        let depends_on: BTreeSet<&IntentId> = all
            .iter()
            .flat_map(|(_, metadata)| &metadata.depends_on)
            .filter(|id| !ids.contains(id))
            .collect();
        let priorities: Option<Vec<i64>> =
            self.kept.iter().map(|intent| of(intent).and_then(|metadata| metadata.priority)).collect();
        let priority = priorities.and_then(|all| all.into_iter().max());
        let merge_order = self.whole_order();
        let others = all.iter().filter_map(|(intent, metadata)| {
            let rest = metadata.all.clone().without("priority").without("depends_on").without("merge_order");
            (!rest.members().is_empty()).then(|| (String::from(intent.id().as_str()), rest.write()))
        });
        let others: Vec<(String, Json<'static>)> = others.collect();
        let members = [
            ("priority", priority.and_then(countersign_canon::Number::from_i64).map(Json::from)),
            (
                "depends_on",
                (!depends_on.is_empty()).then(|| Json::array(depends_on.iter().map(|id| id.write()))),
            ),
            ("merge_order", (!merge_order.is_empty()).then(|| merge_order.write())),
            ("merged_from", (!others.is_empty()).then(|| Json::object(others))),
        ];
        let members: Vec<_> = members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        if members.is_empty() {
            return None;
        }
        let all = match Json::object(members).value {
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Object::default()
            }
        };
        Some(Metadata { priority, depends_on: depends_on.into_iter().cloned().collect(), merge_order, all })
    }

    /// The order between the kept, and what those of them that were merged themselves say about their own sources.
    fn whole_order(&self) -> MergeOrder {
        let mut order: BTreeMap<IntentId, BTreeSet<IntentId>> = BTreeMap::new();
        let is_kept = |id: &IntentId| self.kept.iter().any(|intent| intent.id() == id);
        let merged = self.kept.iter().map(|intent| intent.document()).filter(|intent| intent.is_merged());
        let inner =
            merged.filter_map(|intent| intent.metadata.as_ref()).flat_map(|metadata| &metadata.merge_order);
        for (later, earlier) in inner.filter(|(later, _)| !is_kept(later)).chain(&self.merge_order) {
            order.entry(later.clone()).or_default().extend(earlier.iter().cloned());
        }
        order.into_iter().map(|(later, earlier)| (later, earlier.into_iter().collect())).collect()
    }

    fn contributors(&self, brings: impl Fn(&IntentDocument) -> bool) -> Vec<usize> {
        let kept = self.kept.iter().enumerate();
        kept.filter(|(_, intent)| brings(intent.document())).map(|(position, _)| position).collect()
    }

    /// The elements of all, each once, in the order in which they first stand.
    fn union<T: Ord + Clone, const MIN: usize, const MAX: usize>(
        &self,
        pointer: &str,
        breaches: &mut Vec<Breach>,
        of: impl Fn(&IntentDocument) -> Vec<T>,
    ) -> Option<List<T, MIN, MAX>> {
        let all = distinct(self.kept.iter().flat_map(|intent| of(intent.document())));
        let contributors = self.contributors(|intent| !of(intent).is_empty());
        self.capped(pointer, all, contributors, breaches)
    }

    fn capped<T, const MIN: usize, const MAX: usize>(
        &self,
        pointer: &str,
        items: Vec<T>,
        contributors: Vec<usize>,
        breaches: &mut Vec<Breach>,
    ) -> Option<List<T, MIN, MAX>> {
        let found = items.len();
        let list = List::new(items);
        if list.is_none() {
            let message = format!("the union has {found} elements; at most {MAX} are allowed");
            breaches.push(Breach { pointer: pointer.into(), message, contributors });
        }
        list
    }
}

/// The id of a merged intent, which comes from all its content but the id and the checksum.
pub(crate) fn merged_id(intent: &Json<'_>) -> String {
    let content = intent.to_canonical_without(&[&["id"], &["audit", "checksum"]]);
    format!("{MERGED_PREFIX}{}", short_hash(&content))
}

/// Each element once, in the order in which they first stand.
fn distinct<T: Ord + Clone>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
