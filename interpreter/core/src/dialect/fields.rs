//! The fields of a request that every wire has: the fixed ones, limits, effort, quirks and the connection's own. It writes no
//! message and no tool.

use super::{Ask, apply_quirks, request_facts};
use crate::quirk;
use crate::spec::{Action, Budget, Dialect, RequestNames, Rule};
use serde::Serialize;
use serde_json::{Map, Value};

/// Returns the fields of a request beside its conversation. `own` are those the dialect's code writes: the model, the tools.
pub(super) fn fields(
    rules: &[Rule],
    dialect: &Dialect,
    ask: &Ask<'_>,
    own: Map<String, Value>,
) -> Map<String, Value> {
    let names = &dialect.request;
    let mut fields = own;
    merge(&mut fields, &names.fixed);
    if !ask.tools.is_empty() && !ask.may_call {
        merge(&mut fields, &names.withhold_tools);
    }
    let most = ask.max_output.or_else(|| usual_output(names, ask.window));
    if let Some(most) = most {
        set(&mut fields, &names.max_output, most.into());
    }
    if let Some(effort) = ask.effort {
        match names.efforts.get(effort) {
            Some(instead) => merge(&mut fields, instead),
            None => {
                set(&mut fields, &names.effort, effort.into());
                merge(&mut fields, &names.with_effort);
            }
        }
    }
    apply_quirks(rules, dialect, ask, &mut fields);
    repair(ask, &mut fields);
    if let (Some(budget), Some(most)) = (&names.budget, most) {
        keep_below(budget, most, &mut fields);
    }
    let extra = ask.extra.iter().filter(|(name, _)| *name != "messages");
    fields.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
    fields
}

/// The output limit of a request that sets none.
fn usual_output(names: &RequestNames, window: Option<u64>) -> Option<u64> {
    let usual = names.usual_output?;
    let room = window.map(|window| share(window, usual.of_window).max(1));
    Some(room.map_or(usual.most, |room| usual.most.min(room)))
}

fn share(whole: u64, part: f64) -> u64 {
    (whole as f64 * part) as u64
}

/// Renames and leaves out what the server has refused by name, wherever it stands. Names are found in any case.
fn repair(ask: &Ask<'_>, fields: &mut Map<String, Value>) {
    let repairs = ask.mending.repairs;
    for (from, to) in &repairs.renamed {
        if let Some(value) = fields.shift_remove(from) {
            fields.insert(to.clone(), value);
        }
    }
    for path in &repairs.dropped {
        let name = path.rsplit('.').next().unwrap_or(path);
        let _ = take_out(fields, path) || take_out(fields, name);
    }
}

/// Takes a field out of an object or, where it has none of that name, out of the objects in it; tools keep what they have.
fn take_out(fields: &mut Map<String, Value>, name: &str) -> bool {
    if let Some(key) = fields.keys().find(|key| key.eq_ignore_ascii_case(name)).cloned() {
        return fields.shift_remove(&key).is_some();
    }
    let mut inner = fields.iter_mut().filter(|(key, _)| *key != "tools");
    inner.any(|(_, value)| value.as_object_mut().is_some_and(|inner| take_out(inner, name)))
}

/// Lowers a number that must stay below the output limit, or leaves its field out where that leaves no room.
fn keep_below(budget: &Budget, most: u64, fields: &mut Map<String, Value>) {
    let Some(field) = fields.get_mut(&budget.field) else { return };
    let Some(asked) = field.get(&budget.number).and_then(Value::as_u64) else { return };
    let lowered = asked.min(share(most, budget.of_output));
    field[&budget.number] = lowered.into();
    if lowered < budget.least {
        fields.shift_remove(&budget.field);
    }
}

/// Returns whether a quirk leaves a field out that stands elsewhere than at the top.
pub(super) fn dropped(rules: &[Rule], dialect: &Dialect, ask: &Ask<'_>, field: &str) -> bool {
    let facts = request_facts(dialect, ask);
    ask.mending.repairs.dropped.contains(field)
        || quirk::hits(rules, "request", &facts)
            .any(|(_, action)| matches!(action, Action::DropField(name) if name == field))
}

/// Returns the body of a request: the fields, and the conversation as the last of them, under a name no field may take.
///
/// # Errors
/// None that valid text can cause; the serializer's words are passed on rather than hidden.
pub(super) fn body(
    mut fields: Map<String, Value>,
    list: &str,
    conversation: &impl Serialize,
) -> Result<String, serde_json::Error> {
    fields.shift_remove(list);
    let mut body = serde_json::to_string(&fields)?;
    body.pop();
    if !fields.is_empty() {
        body.push(',');
    }
    body.push_str(&format!("\"{list}\":"));
    body.push_str(&serde_json::to_string(conversation)?);
    body.push('}');
    Ok(body)
}

/// Sets a field by its name, or the value a pointer leads to, with the objects on the way.
pub(super) fn set(fields: &mut Map<String, Value>, place: &str, value: Value) {
    let Some(pointer) = place.strip_prefix('/') else {
        fields.insert(place.into(), value);
        return;
    };
    match pointer.split_once('/') {
        None => drop(fields.insert(pointer.into(), value)),
        Some((first, _)) => {
            let inner = fields.entry(first).or_insert_with(|| Map::new().into());
            if let Value::Object(inner) = inner {
                set(inner, pointer.strip_prefix(first).unwrap_or_default(), value);
            }
        }
    }
}

/// Lays `over` over `base`, objects key by key.
pub(super) fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge(inner, value),
            _ => drop(base.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_names_or_pointers() {
        let mut fields = Map::new();
        for (place, value) in [("a", 1), ("/b/c/d", 2), ("/b/e", 3), ("/f", 4)] {
            set(&mut fields, place, value.into());
        }
        let expected = json!({ "a": 1, "b": { "c": { "d": 2 }, "e": 3 }, "f": 4 });
        assert_eq!(Value::Object(fields), expected);
    }
}
