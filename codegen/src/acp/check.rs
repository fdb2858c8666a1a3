//! What must hold across the page: names that refer to something, things that are there once, examples that fit.

use super::{
    Base, Example, FILE, Field, Kind, Member, Method, Named, Protocol, Shape, Spot, Target,
    fit::Fit,
    names,
    page::Part,
    read::{Draft, Shown},
};
use crate::{
    emit::text::{camel, snake},
    place::{Place, Places},
    problem::Problem,
};
use std::collections::HashMap;

/// Checks a draft and returns the protocol with its examples.
pub(super) fn check(draft: Draft<'_>, problems: &mut Vec<Problem>) -> Protocol {
    let Draft { mut protocol, examples, prose, said, broken } = draft;
    let mut check = Check { protocol: &protocol, broken, problems };
    for (method, said) in protocol.methods.iter().zip(&said) {
        check.method(method, said.params, said.answered);
    }
    protocol.types.iter().for_each(|named| check.shape(&named.shape, false));
    check.once();
    check.numbers();
    prose.iter().for_each(|part| check.mentions(*part));
    check.contain_themselves();
    protocol.examples = check.examples(&examples);
    protocol
}

struct Check<'a, 'p> {
    protocol: &'a Protocol,
    /// Whether methods may be missing; then nobody is told that there is none of some name.
    broken: bool,
    problems: &'p mut Vec<Problem>,
}

impl<'a> Check<'a, '_> {
    fn problem(&mut self, at: Place, message: impl Into<String>) {
        let (line, column) = at;
        self.problems.push(Problem { file: FILE.into(), line, column, message: message.into() });
    }

    fn method(&mut self, method: &'a Method, has_params: bool, answered: bool) {
        let name = &method.name;
        if method.doc.is_empty() {
            self.problem(
                method.at,
                format!("what does {name} do? A sentence stands below the heading"),
            );
        }
        if !has_params {
            self.problem(
                method.at,
                format!("{name} has no params fence; an empty one says that it has no parameters"),
            );
        }
        match (answered, method.result.is_some()) {
            (true, false) => self.problem(method.at, format!("{name} is answered and has no result fence; an empty one says that the result is {{}}")),
            (false, true) => self.problem(method.at, format!("{name} has a result fence; its heading lacks → result")),
            _ => {}
        }
        if let Some(spot) = &method.capability {
            let known = self.protocol.words("Capability");
            if !known.iter().any(|word| word.name == spot.name) {
                let message = format!(
                    "the capability table has no {:?}; it has: {}",
                    spot.name,
                    list(&known)
                );
                self.problem(spot.at, message);
            }
        }
        self.shape(&method.params, true);
        method.result.iter().for_each(|shape| self.shape(shape, true));
    }

    fn shape(&mut self, shape: &'a Shape, open: bool) {
        let words = shape.words();
        self.twice(
            words.iter().map(|word| (camel(&word.name), word.name.as_str(), word.at)),
            "word",
        );
        for members in shape.members() {
            self.members(members, open && matches!(shape, Shape::Fields(_)));
        }
        let Shape::Choice { by, variants } = shape else { return };
        for variant in variants {
            for field in self.fields(&variant.members) {
                if field.name == *by {
                    self.problem(field.at, format!("\"{by}\" already holds the variant's word"));
                } else if field.name == "_meta" {
                    self.problem(
                        field.at,
                        "a variant takes _meta in with a type of its own: ...Name",
                    );
                }
            }
        }
    }

    /// The fields written in these members, without those of the types they take in.
    fn fields(&self, members: &'a [Member]) -> Vec<&'a Field> {
        let own = members.iter().filter_map(|member| match member {
            Member::Field(field) => Some(field),
            Member::All(_) => None,
        });
        own.collect()
    }

    fn members(&mut self, members: &'a [Member], open: bool) {
        let rust = members.iter().map(|member| match member {
            Member::Field(field) => (snake(&field.name), field.name.as_str(), field.at),
            Member::All(spot) => (snake(&spot.name), spot.name.as_str(), spot.at),
        });
        self.twice(rust, "field");
        for member in members {
            match member {
                Member::Field(field) => self.field(field),
                Member::All(spot) => self.taken_in(spot, members, open),
            }
        }
    }

    fn field(&mut self, field: &'a Field) {
        let named = match &field.kind.base {
            Base::Named(name) => Some(name),
            _ => None,
        };
        let known = named.and_then(|name| self.protocol.named(name));
        if let (Some(name), None) = (named, known) {
            self.problem(
                field.kind.at,
                format!(
                    "there is no type {name:?}; a ```type {name} — what it is fence would make one"
                ),
            );
        }
        let object = known.is_none_or(|named| matches!(named.shape, Shape::Fields(_)));
        if field.name == "_meta"
            && !(field.optional
                && !field.kind.list
                && !field.kind.nullable
                && named.is_some()
                && object)
        {
            self.problem(
                field.at,
                "_meta is written: _meta?: Name — what it is, where Name is a type of fields",
            );
        }
    }

    fn taken_in(&mut self, spot: &'a Spot, members: &'a [Member], open: bool) {
        let Some(Named { shape: Shape::Fields(inner), .. }) = self.protocol.named(&spot.name)
        else {
            return self
                .problem(spot.at, format!("there is no type of fields called {:?}", spot.name));
        };
        if inner.iter().any(|member| matches!(member, Member::All(_))) {
            self.problem(
                spot.at,
                format!("{} takes in a type itself; taking in goes one level deep", spot.name),
            );
        }
        let own = self.fields(members);
        for field in self.fields(inner) {
            if own.iter().any(|each| each.name == field.name) || (open && field.name == "_meta") {
                self.problem(
                    spot.at,
                    format!("the field \"{}\" of {} is here already", field.name, spot.name),
                );
            }
        }
    }

    fn twice<'t>(&mut self, names: impl Iterator<Item = (String, &'t str, Place)>, what: &str) {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for (rust, name, at) in names {
            match seen.get(&rust) {
                Some(first) if *first == name => {
                    self.problem(at, format!("the {what} \"{name}\" is here already"))
                }
                Some(first) => self.problem(
                    at,
                    format!("the {what} \"{name}\" cannot be told from \"{first}\" in code"),
                ),
                None => {
                    seen.insert(rust, name);
                }
            }
        }
    }

    fn once(&mut self) {
        let methods = self.protocol.methods.iter();
        self.twice(methods.map(|each| (each.name.clone(), each.name.as_str(), each.at)), "method");
        let mut seen: HashMap<String, Place> = HashMap::new();
        for (name, at) in names::all(self.protocol) {
            if names::taken(&name) {
                self.problem(at, format!("the name {name} is taken in code; choose another"));
            }
            if let Some((line, _)) = seen.insert(name.clone(), at) {
                self.problem(
                    at,
                    format!("code would have a second {name}; the first comes from line {line}"),
                );
            }
        }
    }

    fn numbers(&mut self) {
        let tables = self.protocol.numbers.iter();
        self.twice(tables.map(|each| (snake(&each.name), each.name.as_str(), each.at)), "table");
        for table in &self.protocol.numbers {
            if names::taken(&table.name) {
                self.problem(table.at, format!("the name {} is taken in code", table.name));
            }
            let rows = table.rows.iter();
            let rows =
                rows.map(|(word, _)| (names::number(&word.name), word.name.as_str(), word.at));
            self.twice(rows, "number");
        }
    }

    /// A name in backticks with an underscore in front and a slash is a method; `/*` at its end is a group.
    fn mentions(&mut self, part: Part<'_>) {
        for name in part.split('`').skip(1).step_by(2) {
            if !name.text.starts_with('_') || !name.text.contains('/') {
                continue;
            }
            let known = match name.text.strip_suffix('*') {
                Some(group) => {
                    self.protocol.methods.iter().any(|each| each.name.starts_with(group))
                }
                None => self.protocol.method(name.text).is_some(),
            };
            if !known && !self.broken {
                self.problems.push(name.problem(format!("there is no method {:?}", name.text)));
            }
        }
    }

    /// A type that holds itself other than in a list has no size in code.
    fn contain_themselves(&mut self) {
        for named in &self.protocol.types {
            let mut seen = held(named);
            let mut next = 0;
            while let Some(name) = seen.get(next) {
                let inner = self.protocol.named(name).map(held).unwrap_or_default();
                let fresh: Vec<&str> =
                    inner.into_iter().filter(|name| !seen.contains(name)).collect();
                seen.extend(fresh);
                next += 1;
            }
            if seen.contains(&named.name.as_str()) {
                self.problem(
                    named.at,
                    format!("{} contains itself; only a list can hold its own type", named.name),
                );
            }
        }
    }

    fn examples(&mut self, shown: &[Shown<'_>]) -> Vec<Example> {
        let found = shown.iter().filter_map(|each| self.example(each)).collect();
        for method in &self.protocol.methods {
            let shapes = [
                (Some(&method.params), Target::Params(method.name.clone()), "params"),
                (method.result.as_ref(), Target::Result(method.name.clone()), "result"),
            ];
            for (shape, target, what) in shapes {
                let bare = shape.is_none_or(
                    |shape| matches!(shape, Shape::Fields(members) if members.is_empty()),
                );
                if !bare && !shown.iter().any(|each| each.of == target) {
                    self.problem(
                        method.at,
                        format!(
                            "no example shows the {what} of {0}: ```json example {0} {what}",
                            method.name
                        ),
                    );
                }
            }
        }
        found
    }

    fn example(&mut self, shown: &Shown<'_>) -> Option<Example> {
        let method = |name: &str| self.protocol.method(name);
        let (shape, open) = match &shown.of {
            Target::Params(name) => (method(name).map(|each| &each.params), true),
            Target::Result(name) => (method(name).and_then(|each| each.result.as_ref()), true),
            Target::Type(name) => (self.protocol.named(name).map(|each| &each.shape), false),
        };
        let Some(shape) = shape else {
            if !self.broken {
                self.problems.push(shown.name.problem("nothing of this name is on the page: a method followed by params or result, or a type"));
            }
            return None;
        };
        let text: Vec<&str> = shown.lines.iter().map(|line| line.text).collect();
        let text = text.join("\n");
        // The text of the fence starts in the line below its opening.
        let place = |(line, column): Place| (shown.name.line + line, column);
        match serde_json::from_str(&text) {
            Ok(value) => {
                let places = Places::of(&text);
                for (pointer, message) in Fit::of(self.protocol, shape, &value, open) {
                    self.problem(place(places.get(&pointer)), message);
                }
                Some(Example { of: shown.of.clone(), value })
            }
            Err(error) => {
                self.problem(place((error.line(), error.column())), format!("not JSON: {error}"));
                None
            }
        }
    }
}

/// The types that a value of `named` holds other than in a list.
fn held(named: &Named) -> Vec<&str> {
    let members = named.shape.members().into_iter().flatten();
    let names = members.filter_map(|member| match member {
        Member::All(spot) => Some(spot.name.as_str()),
        Member::Field(Field {
            kind: Kind { base: Base::Named(name), list: false, .. }, ..
        }) => Some(name),
        Member::Field(_) => None,
    });
    names.collect()
}

fn list(words: &[&super::Word]) -> String {
    let names: Vec<&str> = words.iter().map(|word| word.name.as_str()).collect();
    names.join(", ")
}
