//! Puts a call's facts before floor, rules, files and mode, and keeps what each of them said.

mod files;

use super::always::{self, Looked};
use super::arguments::contains;
use super::directories::Directories;
use super::facts::{self, assigned, command_facts, doubts, masks};
use super::hardline::Floor;
use super::offers::Offers;
use super::paths::Roots;
use super::plain::{Plain, Text, aside, plain};
use super::program::Grammar;
use super::rules::{self, Asked, Hit};
use super::view::{Explanation, Notes, Overruled};
use super::{Call, NamedPath, Policy, Step, Verdict, World, say, wildcard};
use crate::shell::{Command, Line, Unseen, Word};
use crate::spec::{
    CallFacts, CommandFacts, Decision, FileAction, MODES, ModeRow, ModeSpec, Record, Rule, Spec,
};
use compact_str::CompactString;
use foldhash::HashMap;
use std::hash::BuildHasher;
use std::path::PathBuf;

/// Judges a call: what it would do, by whose rule, and what "always" would store.
pub fn judge(spec: &Spec, policy: &Policy, world: World<'_>, call: &Call) -> Verdict {
    look(spec, policy, world, call, Notes::default()).verdict
}

/// Judges a call and returns what was looked at beside the verdict.
pub fn explain(spec: &Spec, policy: &Policy, world: World<'_>, call: &Call) -> Explanation {
    look(spec, policy, world, call, Notes::read())
}

fn look(spec: &Spec, policy: &Policy, world: World<'_>, call: &Call, notes: Notes) -> Explanation {
    let mut judge = Judge { notes, ..Judge::new(spec, policy, world) };
    judge.call(call);
    judge.explanation(call)
}

/// What has been found out about a call so far.
pub(super) struct Judge<'a> {
    spec: &'a Spec,
    grammar: Grammar<'a>,
    policy: &'a Policy,
    world: World<'a>,
    roots: Roots<'a>,
    floor: Floor<'a>,
    /// The rule of the floor that is broken.
    pub(super) broken: Option<&'a Rule>,
    decision: Decision,
    trace: Vec<Step>,
    /// Where a step of that hash stands in the trace: what is found again is not copied.
    stepped: HashMap<u64, Vec<usize>>,
    asks: Vec<&'static str>,
    /// A written rule denies some commands.
    denies: bool,
    /// A rule is a pattern over the text of a command.
    matches_texts: bool,
    allowed: bool,
    /// Length of all nested lines looked at, and how many commands and files.
    nested: usize,
    commands: usize,
    files: usize,
    /// The line itself, and what is known of each of its commands.
    whole: Option<(Line, Vec<Looked>)>,
    inside: Vec<CompactString>,
    outside: Vec<CompactString>,
    writes: Vec<CompactString>,
    /// How often something was not allowed.
    objections: usize,
    offers: Offers,
    /// What the call's arguments name.
    named: Vec<NamedPath>,
    notes: Notes,
}

/// Where a command stands.
#[derive(Clone, Copy)]
struct Place<'l> {
    line: &'l Line,
    command: &'l Command,
    /// Its position in the line.
    index: usize,
    /// How many lines it is nested in.
    depth: usize,
}

impl<'a> Judge<'a> {
    pub(super) fn new(spec: &'a Spec, policy: &'a Policy, world: World<'a>) -> Judge<'a> {
        Judge {
            spec,
            grammar: Grammar::new(spec),
            policy,
            world,
            roots: Roots::of(&world, spec),
            floor: Floor::new(spec, policy),
            broken: None,
            decision: Decision::Allow,
            trace: Vec::new(),
            stepped: HashMap::default(),
            asks: Vec::new(),
            denies: rules::denies(&policy.layers, "bash"),
            matches_texts: rules::matches_texts(spec, &policy.layers, "bash"),
            allowed: true,
            nested: 0,
            commands: 0,
            files: 0,
            whole: None,
            inside: Vec::new(),
            outside: Vec::new(),
            writes: Vec::new(),
            objections: 0,
            offers: Offers::default(),
            named: Vec::new(),
            notes: Notes::default(),
        }
    }

    /// Looks at everything a call would do.
    pub(super) fn call(&mut self, call: &Call) {
        if let Some(command) = &call.command {
            let start = call.directory.as_ref().map(|directory| self.absolute(directory));
            if let Some(start) = &start {
                let real = self.file(command, FileAction::Read, start, &call.tool);
                self.named.push(NamedPath { named: start.clone(), real });
            }
            let start = start.unwrap_or_else(|| self.world.cwd.to_path_buf());
            self.grammar.grant(command.len());
            self.line(&Text::of(command), Some(vec![start]), 0);
            if self.grammar.is_spent() {
                self.ask(command, "unreadable", "too_large");
            }
        }
        let action = if call.class == "write" { FileAction::Write } else { FileAction::Read };
        for path in &call.paths {
            self.tool_path(call, action, path);
        }
        if call.command.is_none() && call.paths.is_empty() {
            let subject = call.subject.clone().unwrap_or_default();
            let facts = self.call_facts(call);
            let hit = self.lookup(&call.rule, std::slice::from_ref(&subject), "call", &facts, true);
            self.allowed &= hit.as_ref().is_some_and(|hit| hit.then == Decision::Allow);
            self.ruled(&subject, hit, "default");
        }
    }

    fn lookup(
        &self,
        tool: &str,
        texts: &[String],
        about: &str,
        record: &dyn Record,
        plain: bool,
    ) -> Option<Hit<'a>> {
        let asked = Asked { tool, texts, about, record, plain, approvals: true };
        rules::lookup(self.spec, &self.policy.layers, asked)
    }

    fn step(&mut self, of: &str, then: Decision, rule: &str, from: (&str, Option<u32>)) {
        self.decision = self.decision.max(then);
        self.objections += usize::from(then != Decision::Allow);
        let key = self.stepped.hasher().hash_one((of, then.name(), rule, from));
        let same = |at: &usize| {
            self.trace.get(*at).is_some_and(|step| {
                step.of == of
                    && step.then == then
                    && step.rule == rule
                    && (step.from.as_str(), step.line) == from
            })
        };
        let known = self.stepped.entry(key).or_default();
        if !known.iter().any(same) {
            known.push(self.trace.len());
            let (from, line) = (from.0.to_string(), from.1);
            self.trace.push(Step { of: of.to_string(), then, rule: rule.to_string(), from, line });
        }
    }

    /// Notes that something is asked about for a reason of the evaluation itself.
    fn ask(&mut self, of: &str, why: &'static str, rule: &'static str) {
        if matches!(why, "unseen" | "unreadable") {
            self.notes.unseen(rule);
            self.offers.never();
        }
        self.because(why);
        self.step(of, Decision::Ask, rule, ("", None));
    }

    fn because(&mut self, why: &'static str) {
        if !self.asks.contains(&why) {
            self.asks.push(why);
        }
    }

    /// Notes what a rule says; where none speaks, or a default one asks, the reason is `unwritten`.
    fn ruled(&mut self, of: &str, hit: Option<Hit<'_>>, unwritten: &'static str) {
        let Some(hit) = hit else { return self.ask(of, unwritten, unwritten) };
        if hit.then == Decision::Ask {
            self.because(if hit.written { "written" } else { unwritten });
        }
        self.notes.overruled(hit.over.iter().map(|over| Overruled {
            step: Step {
                of: of.to_string(),
                then: over.then,
                rule: over.rule.to_string(),
                from: over.source.to_string(),
                line: over.line,
            },
            by: hit.rule.to_string(),
        }));
        self.step(of, hit.then, hit.rule, (hit.source, hit.line));
    }

    fn breaks(&mut self, of: &str, about: &str, record: &dyn Record) {
        if let Some(rule) = self.floor.hit(about, record) {
            self.broken = self.broken.or(Some(rule));
            self.step(of, Decision::Deny, &rule.id, (&rule.file, None));
        }
    }

    /// Looks at every command of a line.
    fn line(&mut self, text: &Text, start: Option<Vec<PathBuf>>, depth: usize) {
        let line = text.read(&self.grammar);
        for why in &line.unseen {
            let read = *why == Unseen::ChangedInLoop;
            let reason = if read { "unseen" } else { "unreadable" };
            self.ask(&text.text, reason, say::unseen(*why));
        }
        let mut directories = Directories::new(start, &self.spec.limits.shell);
        let mut looked = Vec::new();
        for (index, command) in line.commands.iter().enumerate() {
            self.commands += 1;
            let many = self.commands > self.spec.limits.shell.max_commands;
            if many || self.grammar.is_spent() {
                self.ask(&text.text, "unreadable", "too_large");
                break;
            }
            let plain = plain(&self.grammar, &line, index, self.matches_texts);
            let cwds = directories.at(&line, command);
            let cwds = cwds.as_ref().map(|cwds| cwds.as_slice());
            let place = Place { line: &line, command, index, depth };
            let facts = self.command(place, &plain, cwds);
            directories.after(&self.grammar, &line, command, &plain, cwds, &self.world);
            if depth == 0 {
                looked.push(Looked { plain, facts });
            }
        }
        if depth == 0 && looked.len() == line.commands.len() {
            self.whole = Some((line, looked));
        }
    }

    /// Looks at one command, and returns its facts as it is written.
    fn command(
        &mut self,
        place: Place<'_>,
        plain: &Plain,
        cwds: Option<&[PathBuf]>,
    ) -> CommandFacts {
        let Place { line, command, index, depth } = place;
        let written = facts::text(&assigned(command), &command.words);
        let assigns_only = [Vec::new()];
        let spellings: &[Vec<Word>] = match command.assignments.as_slice() {
            [_, ..] if command.words.is_empty() => &assigns_only,
            _ => &plain.spellings,
        };
        let readings: Vec<_> = spellings.iter().map(|words| self.grammar.read(words)).collect();
        let read = spellings.iter().zip(&readings);
        let facts = read
            .map(|(words, reading)| command_facts(&self.grammar, line, command, words, reading));
        let spelled: Vec<CommandFacts> = facts.collect();
        let objections = self.objections;
        let outer = self.notes.enter(command, plain, spelled.first());
        spelled.iter().for_each(|facts| self.breaks(&written, "command", facts));
        let mut approved = false;
        if depth == 0 && !spelled.is_empty() {
            approved = self.as_written(place, &written, &spelled);
            self.doubtful(place, &written, plain, cwds);
        }
        for (words, facts) in spellings.iter().zip(&spelled) {
            self.against(&written, words, facts, approved);
        }
        for (found, most) in [(&plain.aside, Decision::Deny), (&plain.guessed, Decision::Ask)] {
            let nested = aside(&self.grammar, found);
            if nested.cut {
                self.ask(&written, "unreadable", "too_large");
            }
            for words in nested.spellings {
                self.beside(&written, &words, approved, most);
            }
        }
        if self.denies && masks(line, command, plain) {
            self.because("masked");
        }
        if depth == 0 && self.objections > objections {
            self.offers.command(index);
        }
        self.files(place, &written, plain, &readings, cwds);
        for text in &plain.texts {
            self.nested += text.text.len();
            let limits = &self.spec.limits.shell;
            if depth < limits.max_nested && self.nested <= limits.max_bytes {
                self.line(text, cwds.map(<[PathBuf]>::to_vec), depth + 1);
            } else {
                self.ask(&written, "unreadable", "too_deep");
            }
        }
        self.notes.leave(outer);
        spelled.into_iter().next().unwrap_or_default()
    }

    /// What the rules say of the command as it is written. Only this can allow it. Returns whether it was approved.
    fn as_written(&mut self, place: Place<'_>, written: &str, spelled: &[CommandFacts]) -> bool {
        let Some(facts) = spelled.first() else { return false };
        let command = place.command;
        let plain =
            facts.named.is_empty() && (command.words.is_empty() || command.assignments.is_empty());
        let asked = Asked {
            tool: "bash",
            texts: &[written.to_string()],
            about: "command",
            record: facts,
            plain,
            approvals: self.each_approved(place, written, spelled),
        };
        let hit = rules::lookup(self.spec, &self.policy.layers, asked);
        let hit = self.unless_grammar(written, facts, hit);
        let allows = hit.as_ref().is_some_and(|hit| hit.then == Decision::Allow);
        let approved = allows && hit.as_ref().is_some_and(|hit| hit.approved);
        self.allowed &= allows;
        let pattern = hit.as_ref().filter(|hit| hit.written).map_or("", |hit| hit.rule);
        self.ruled(written, hit, "default");
        for facts in spelled.iter().filter(|facts| allows && !rules::names_risks(pattern, facts)) {
            if let Some(guard) = rules::guard(self.spec, "bash", "command", facts) {
                self.ruled(written, Some(guard), "option");
            }
        }
        approved
    }

    /// Returns whether what was approved may speak of a command: of several targets each has to be approved, and what
    /// runs its input never is.
    fn each_approved(&self, place: Place<'_>, written: &str, spelled: &[CommandFacts]) -> bool {
        let layers = &self.policy.layers;
        if !rules::has_approvals(layers) {
            return false;
        }
        let approved = |text: &str| rules::approves(layers, "bash", text);
        let exact = rules::approves_exactly(layers, "bash", &wildcard::escape(written));
        let targets = always::targets(&self.grammar, &place.command.words);
        let texts =
            spelled.iter().map(|facts| facts.words.iter().map(CompactString::as_str).collect());
        if always::runs_input(self.spec, place.line, place.command, texts) {
            return false;
        }
        exact || targets.len() < 2 || targets.iter().all(|words| approved(&facts::text(&[], words)))
    }

    /// Returns what decides about a command: where a written rule asks about everything, and it is a part of the shell's
    /// grammar rather than a program, the defaults may allow it.
    fn unless_grammar(
        &self,
        written: &str,
        facts: &CommandFacts,
        hit: Option<Hit<'a>>,
    ) -> Option<Hit<'a>> {
        let grammar = contains(&self.spec.wrappers.grammar, &facts.program);
        let asks = |hit: &Hit<'_>| hit.written && hit.then == Decision::Ask && hit.rule == "*";
        if !grammar || !facts.named.is_empty() || !hit.as_ref().is_some_and(asks) {
            return hit;
        }
        let asked = Asked {
            tool: "bash",
            texts: &[written.to_string()],
            about: "command",
            record: facts,
            plain: true,
            approvals: false,
        };
        let default = rules::lookup(self.spec, &[], asked);
        default.filter(|default| default.then == Decision::Allow).or(hit)
    }

    fn doubtful(
        &mut self,
        place: Place<'_>,
        written: &str,
        plain: &Plain,
        cwds: Option<&[PathBuf]>,
    ) {
        if cwds.is_none() {
            self.ask(written, "unseen", "directory");
        }
        for why in doubts(place.line, place.command) {
            self.ask(written, "unseen", why);
        }
        if plain.cut || (plain.mixed && self.denies) {
            self.ask(written, "unreadable", "too_large");
        }
        if !plain.texts.is_empty() || plain.unseen {
            self.ask(written, "unseen", "nested");
        }
    }

    /// What the rules say against a spelling: a deny, or, unless the command was approved as it is written, an ask
    /// that is about more than everything. What was approved in the session counts for no other spelling.
    fn against(&mut self, written: &str, words: &[Word], facts: &CommandFacts, approved: bool) {
        let hit = self.unapproved(words, facts);
        let counts = |hit: &Hit<'_>| match hit.then {
            Decision::Deny => true,
            Decision::Ask => hit.rule != "*" && !approved,
            Decision::Allow => false,
        };
        if let Some(hit) = hit.filter(counts) {
            self.ruled(written, Some(hit), "default");
        }
    }

    /// What a rule that is about more than everything says against a spelling that only written rules look at; it says
    /// no more than `most`.
    fn beside(&mut self, written: &str, words: &[Word], approved: bool, most: Decision) {
        let hit = self.unapproved(words, &CommandFacts::default());
        let counts = |hit: &Hit<'_>| {
            hit.rule != "*" && hit.then > if approved { Decision::Ask } else { Decision::Allow }
        };
        if let Some(hit) = hit.filter(counts) {
            let hit = Hit { then: hit.then.min(most), ..hit };
            self.ruled(written, Some(hit), "default");
        }
    }

    fn unapproved(&self, words: &[Word], facts: &CommandFacts) -> Option<Hit<'a>> {
        if !self.matches_texts {
            return None;
        }
        let asked = Asked {
            tool: "bash",
            texts: &[facts::text(&[], words)],
            about: "command",
            record: facts,
            plain: false,
            approvals: false,
        };
        rules::lookup(self.spec, &self.policy.layers, asked)
    }

    fn call_facts(&self, call: &Call) -> CallFacts {
        CallFacts {
            tool: call.tool.as_str().into(),
            class: call.class.as_str().into(),
            verdict: self.decision.name().into(),
            asks: self.asks.iter().copied().map(CompactString::from).collect(),
            allowed: self.allowed,
            inside: self.inside.clone(),
            outside: self.outside.clone(),
            writes: self.writes.clone(),
        }
    }

    /// Returns the row of the mode that decides what the rules left open, if one does.
    pub(super) fn row(&self, call: &Call) -> Option<(&'a ModeSpec, &'a ModeRow)> {
        let facts = self.call_facts(call);
        let mode = self.spec.mode(&self.policy.mode).or(self.spec.modes.first())?;
        let mut rows = mode.decide.iter();
        let row = rows.find(|row| self.decision != Decision::Deny && row.when.holds(&facts))?;
        Some((mode, row))
    }

    /// Lets the mode decide what the rules left open, and says why.
    fn explanation(mut self, call: &Call) -> Explanation {
        let row = self.row(call);
        let (mut said, decided) = (String::new(), row.map(|(_, row)| row.pointer.clone()));
        if let Some((mode, row)) = row {
            said = row.say.clone();
            self.decision = row.then;
            let step = Step {
                of: call.tool.clone(),
                then: row.then,
                rule: mode.id.clone(),
                from: MODES.into(),
                line: None,
            };
            self.trace.push(step);
        }
        let offers = std::mem::take(&mut self.offers);
        let always = match self.decision {
            Decision::Ask => offers.approvals(&self.grammar, self.whole.as_ref()),
            Decision::Allow | Decision::Deny => Vec::new(),
        };
        let say = say::sentence(self.spec, self.decision, self.broken, &said, &self.trace);
        let verdict =
            Verdict { decision: self.decision, say, trace: self.trace, always, paths: self.named };
        self.notes.explain(verdict, decided)
    }
}
