//! Makes a call the model wrote into one that can be judged and run, or into a result that says what is wrong with it.

use super::{Named, say};
use lembas_core::{
    call,
    message::{Broken, ToolCall},
    patch,
    schema::fits,
    spec::{PromptText, Spec, Tool, ToolSpec},
};
use serde_json::{Map, Value, json};

/// The most characters of an argument in a title.
const LONGEST_TITLE: usize = 200;

/// A call whose tool is known and whose arguments fit the tool's schema.
#[derive(Debug, Clone)]
pub(crate) struct Prepared<'s> {
    /// Which handler runs it.
    pub(crate) tool: Tool,
    /// The tool's file.
    pub(crate) spec: &'s ToolSpec,
    /// The arguments, under their own names.
    pub(crate) args: Map<String, Value>,
    /// What they name.
    pub(crate) named: Named,
}

impl Prepared<'_> {
    /// Returns a text argument.
    pub(crate) fn text(&self, name: Option<&String>) -> Option<&str> {
        name.and_then(|name| self.args.get(name)).and_then(Value::as_str)
    }

    /// Returns one line that says what the call does: the command, or the tool and its paths.
    pub(crate) fn title(&self) -> String {
        let permission = &self.spec.permission;
        if let Some(command) = self.text(permission.command.as_ref()) {
            return command.to_string();
        }
        if self.named.patch.is_some() {
            let paths = self.named.paths.join(", ").chars().take(LONGEST_TITLE).collect::<String>();
            return format!("{} {paths}", self.spec.name);
        }
        let path =
            permission.paths.iter().find_map(|name| self.args.get(name)).and_then(Value::as_str);
        let shown = path.or_else(|| self.args.values().find_map(Value::as_str)).unwrap_or_default();
        let first: String =
            shown.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect();
        format!("{} {first}", self.spec.name).trim_end().to_string()
    }
}

/// Reads calls of the tools that are offered.
pub(crate) struct Preparer<'s> {
    spec: &'s Spec,
    offered: Vec<&'s ToolSpec>,
}

impl<'s> Preparer<'s> {
    /// Returns a reader of calls of the tools that are offered.
    pub(crate) fn new(spec: &'s Spec, offered: Vec<&'s ToolSpec>) -> Preparer<'s> {
        Preparer { spec, offered }
    }

    /// Reads a call.
    ///
    /// # Errors
    /// The result for the model: the tool does not exist, the call was cut or is no JSON, or which field of the
    /// arguments is wrong and why.
    pub(crate) fn prepare(&self, call: &ToolCall) -> Result<Prepared<'s>, String> {
        let named = call::named(self.spec, &call.name).filter(|tool| self.offers(tool));
        let Some((spec, tool)) = named.and_then(|spec| Some((spec, Tool::named(&spec.id)?))) else {
            return Err(self.unknown(&call.name));
        };
        match call.broken {
            Some(Broken::Cut) => return Err(say(self.spec, PromptText::BlocksCallCut, json!({}))),
            Some(broken) => return Err(does_not_fit(self.spec, Some(broken), "")),
            None => {}
        }
        let args = call::arguments(spec, call.arguments.clone());
        let problems = problems(spec, &args);
        if !problems.is_empty() {
            return Err(does_not_fit(self.spec, None, &problems.join("; ")));
        }
        match Named::of(spec, &args) {
            Ok(named) => Ok(Prepared { tool, spec, args, named }),
            Err(refused) => Err(patch::refused(self.spec, &refused)),
        }
    }

    fn offers(&self, tool: &ToolSpec) -> bool {
        self.offered.iter().any(|offered| offered.id == tool.id)
    }

    fn unknown(&self, name: &str) -> String {
        let tools: Vec<&str> = self.offered.iter().map(|tool| tool.name.as_str()).collect();
        say(self.spec, PromptText::BlocksCallUnknown, json!({ "name": name, "tools": tools }))
    }
}

/// Returns the result of a call whose arguments could not be read, or do not fit for the reason `why`.
pub(super) fn does_not_fit(spec: &Spec, broken: Option<Broken>, why: &str) -> String {
    say(spec, PromptText::BlocksCallBroken, json!({ "broken": broken, "why": why }))
}

/// Returns what is wrong with arguments, field by field. A validator is made only for arguments that are not in order.
fn problems(spec: &ToolSpec, args: &Map<String, Value>) -> Vec<String> {
    let value = Value::Object(args.clone());
    if fits(&spec.parameters, &value) {
        return Vec::new();
    }
    let Ok(validator) = jsonschema::validator_for(&spec.parameters) else { return Vec::new() };
    let problem = |error: jsonschema::ValidationError<'_>| {
        let at = error.instance_path().as_str().trim_start_matches('/');
        // The value itself is left out: the model has it, and it may be as long as a file.
        let error = error.masked_with("the value").to_string();
        if at.is_empty() { error } else { format!("{at}: {error}") }
    };
    validator.iter_errors(&value).map(problem).collect()
}
