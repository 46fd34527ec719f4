//! The order between the intents that a merged intent was made from, command by command.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use countersign_intent::{
    IntentId,
    wire::{IntentDocument, MergeOrder, PlannedCommand},
};

use crate::command_set::CommandSet;

/// For each command those listed before it that must be done first, because its intent runs after theirs.
///
/// Only commands that stand before it count: a merge lists whoever runs first first, so that nothing is lost, and there
/// is no circle whatever a document says.
pub(crate) fn commands_before(document: &IntentDocument) -> Vec<CommandSet> {
    let order = document.metadata.as_ref().map(|metadata| &metadata.merge_order);
    let Some(order) = order.filter(|order| document.is_merged() && !order.is_empty()) else {
        return document.planned_commands.iter().map(|_| CommandSet::NONE).collect();
    };
    let before = closed(order);
    let mut of_intent: BTreeMap<&str, CommandSet> = BTreeMap::new();
    let mut all = Vec::new();
    for (index, command) in document.planned_commands.iter().enumerate() {
        let needed = origins(command).into_iter().filter_map(|id| before.get(id)).flatten();
        let needed = needed.filter_map(|id| of_intent.get(id));
        all.push(needed.fold(CommandSet::NONE, |all, commands| all.with(*commands)));
        for id in origins(command) {
            of_intent.entry(id).or_default().insert(index);
        }
    }
    all
}

fn origins(command: &PlannedCommand) -> BTreeSet<&str> {
    command.origins().collect()
}

/// For each intent all that come before it, also by way of others.
fn closed(order: &MergeOrder) -> BTreeMap<&str, BTreeSet<&str>> {
    let direct: BTreeMap<&str, &Vec<IntentId>> =
        order.iter().map(|(later, earlier)| (later.as_str(), earlier)).collect();
    let mut closed = BTreeMap::new();
    for later in order.keys() {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut pending: Vec<&str> = [later.as_str()].into();
        while let Some(id) = pending.pop() {
            let earlier = direct.get(id).into_iter().flat_map(|all| all.iter());
            pending.extend(earlier.map(IntentId::as_str).filter(|id| reached.insert(id)));
        }
        closed.insert(later.as_str(), reached);
    }
    closed
}
