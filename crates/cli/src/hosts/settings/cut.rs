//! Our hooks taken out of a host's settings again; every other byte stays.

use std::ops::Range;

use countersign_canon::{Json, Member, Object};

use super::Ours;

/// The settings without our hooks; nothing if there are none of ours. An event, or all of `hooks`, that is empty then goes too,
/// unless it was there before us.
pub(super) fn without(text: &str, json: &Json<'_>, ours: &Ours, before: Option<&Json<'_>>) -> Option<String> {
    let hooks = json.get("hooks")?;
    let before = before.and_then(|json| json.get("hooks"));
    let mut cuts = Vec::new();
    let mut gone_events = Vec::new();
    for event in in_order(hooks.as_object()?) {
        let mut gone = Vec::new();
        for matcher in event.value.as_array().unwrap_or_default() {
            let list = matcher.get("hooks");
            let hooks = list.and_then(Json::as_array).unwrap_or_default();
            let of_ours: Vec<bool> = hooks.iter().map(|hook| ours.has(hook)).collect();
            let is_all = !of_ours.is_empty() && of_ours.iter().all(|is_ours| *is_ours);
            if let (false, Some(list)) = (is_all, list) {
                cuts.extend(items(text, list.offset(), &of_ours));
            }
            gone.push(is_all);
        }
        let was_there = before.is_some_and(|hooks| hooks.get(&event.key).is_some());
        let is_gone = !was_there && !gone.is_empty() && gone.iter().all(|is_gone| *is_gone);
        if !is_gone {
            cuts.extend(items(text, event.value.offset(), &gone));
        }
        gone_events.push(is_gone);
    }
    let are_gone = before.is_none() && !gone_events.is_empty() && gone_events.iter().all(|is_gone| *is_gone);
    if are_gone {
        let members = in_order(json.as_object()?);
        let gone: Vec<bool> = members.iter().map(|member| member.key == "hooks").collect();
        cuts.extend(items(text, json.offset(), &gone));
    } else {
        cuts.extend(items(text, hooks.offset(), &gone_events));
    }
    if cuts.is_empty() { None } else { Some(apply(text, cuts)) }
}

/// The members as they stand in the text.
fn in_order<'o, 'a>(object: &'o Object<'a>) -> Vec<&'o Member<'a>> {
    let mut members: Vec<&Member<'a>> = object.members().iter().collect();
    members.sort_by_key(|member| member.key_offset());
    members
}

/// What to cut so that these items of a list or an object are gone, with one comma each.
fn items(text: &str, open: usize, gone: &[bool]) -> Vec<Range<usize>> {
    if !gone.contains(&true) {
        return Vec::new();
    }
    let (commas, close) = seams(text, open);
    let inside = open.saturating_add(1);
    let Some(last_kept) = gone.iter().rposition(|is_gone| !is_gone) else {
        return Vec::from([Range { start: inside, end: close }]);
    };
    let starts = [inside].into_iter().chain(commas.iter().map(|comma| comma.saturating_add(1)));
    let before = starts.zip(&commas).zip(gone).take(last_kept).filter(|(_, is_gone)| **is_gone);
    let mut cuts: Vec<Range<usize>> =
        before.map(|((start, comma), _)| start..comma.saturating_add(1)).collect();
    // Behind the last one that stays, the comma before goes; the closing bracket stays where it is.
    if let Some(comma) = commas.get(last_kept) {
        let rest = text.get(*comma..close).unwrap_or_default().trim_end();
        cuts.push(*comma..comma.saturating_add(rest.len()));
    }
    cuts
}

/// The commas between the items of what opens here, and the bracket that closes it.
fn seams(text: &str, open: usize) -> (Vec<usize>, usize) {
    let (mut commas, mut depth, mut in_string, mut is_escaped) = (Vec::new(), 0_usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => (),
            b'[' | b'{' => depth = depth.saturating_add(1),
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (commas, at);
                }
            }
            b',' if depth == 1 => commas.push(at),
            _ => (),
        }
    }
    (commas, text.len())
}

fn apply(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| (cut.start, cut.end));
    let (mut rest, mut done) = (String::with_capacity(text.len()), 0);
    for cut in cuts {
        rest.push_str(text.get(done..cut.start).unwrap_or_default());
        done = cut.end;
    }
    rest.push_str(text.get(done..).unwrap_or_default());
    rest
}
