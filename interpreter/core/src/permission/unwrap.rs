//! Takes a wrapper off: finds the command, or the shell text, that its arguments or its input say.

use super::arguments::{Arguments, Known, arguments, contains};
use super::plain::{Search, Standing, Text};
use super::program::is_named;
use super::said;
use crate::shell::{Line, Piece, Word};
use crate::spec::{Effect, FileAction, Input, Keyed, Runs, Wrapper};
use std::borrow::Cow;

impl Search<'_, '_> {
    /// Adds what a wrapper runs; `front` are the words that name it.
    pub(super) fn unwrap(&mut self, wrapper: &Wrapper, front: &[Word], words: &[Word]) {
        let outer = self.standing;
        if wrapper.elsewhere {
            self.standing = outer.max(Standing::Aside);
        }
        if !self.executed(wrapper, front, words) {
            let parsed = parsed(wrapper, words);
            if !parsed.has(&wrapper.query) {
                self.values(wrapper, front, &parsed);
                self.operands(wrapper, &parsed);
            }
        }
        self.standing = outer;
    }

    /// Adds the texts that options and keys hold.
    fn values(&mut self, wrapper: &Wrapper, front: &[Word], parsed: &Arguments) {
        let program = front.first().map(|word| word.text.as_str()).unwrap_or_default();
        for (_, value) in parsed.values.iter().filter(|(name, _)| contains(&wrapper.text, name)) {
            self.shell_text(value);
        }
        for keyed in &wrapper.keyed {
            let values = parsed.values.iter().filter(|(name, _)| contains(&keyed.options, name));
            let operands = parsed.operands.iter().filter(|_| keyed.operands);
            let words = values.map(|(_, value)| value).chain(operands);
            let pair = parsed.operands.iter().take(2).filter(|_| keyed.operands);
            let pair = pair.map(|word| word.text.as_str()).collect::<Vec<_>>().join("=");
            let texts = words.map(|word| word.text.as_str()).chain([pair.as_str()]);
            let texts = texts.filter_map(|value| text_of(keyed, program, value));
            for text in texts.collect::<Vec<_>>() {
                self.shell_text(&Word::of(&text));
            }
        }
    }

    fn shell_text(&mut self, word: &Word) {
        let input = self.input();
        self.text(Text { input, ..Text::of(&word.text) });
    }

    fn operands(&mut self, wrapper: &Wrapper, parsed: &Arguments) {
        let split = parsed.values.iter().filter(|(name, _)| contains(&wrapper.split, name));
        let front: Vec<Word> = split.flat_map(|(_, value)| self.split(&value.text)).collect();
        let mut rest: Vec<Word> =
            front.into_iter().chain(parsed.operands.iter().cloned()).collect();
        if wrapper.assigns {
            let assigned = rest.iter().take_while(|word| is_assignment(&word.text)).count();
            for word in rest.drain(..assigned) {
                let (name, value) = word.text.split_once('=').unwrap_or_default();
                self.assigned(name, value);
            }
        }
        let dashes = rest.iter().take_while(|word| word.text == "-" || word.text == "--").count();
        rest.drain(..dashes);
        if parsed.has(&wrapper.text_if) {
            return self.called(&rest);
        }
        let reads = rest.first().is_none_or(|word| contains(&self.spec.wrappers.stdin, &word.text));
        let asked = wrapper.runs == Runs::Nothing || parsed.flags().any(|flag| flag == "s");
        if wrapper.input == Input::Text && (reads || asked) {
            return self.input_text();
        }
        if rest.is_empty() && wrapper.given.is_empty() {
            if self.takes_words && wrapper.runs != Runs::Nothing {
                self.unshown();
            }
            return;
        }
        let directory = parsed.values.iter().find(|(name, _)| contains(&wrapper.directory, name));
        if let Some((_, directory)) = directory {
            self.add(below(directory, &rest));
        }
        self.runs(wrapper, parsed, rest);
    }

    fn runs(&mut self, wrapper: &Wrapper, parsed: &Arguments, rest: Vec<Word>) {
        match wrapper.runs {
            Runs::Nothing => {}
            Runs::Line if rest.len() == 1 && is_line(&rest) => self.called(&rest),
            Runs::Command | Runs::Line => self.command(wrapper, parsed, rest),
            Runs::Text => self.shell_text(&Word::of(&Line::spelled(&rest))),
            Runs::Texts => rest.iter().for_each(|word| self.shell_text(word)),
            Runs::FirstText => rest.iter().take(1).for_each(|word| self.shell_text(word)),
            Runs::File => self.file(&rest),
        }
    }

    /// Adds a text and what it is called with.
    fn called(&mut self, words: &[Word]) {
        let Some((text, arguments)) = words.split_first() else { return };
        let (input, arguments) = (self.input(), arguments.to_vec());
        self.text(Text { input, arguments, ..Text::of(&text.text) });
    }

    /// Adds a command, with the words of the input where it gets them.
    fn command(&mut self, wrapper: &Wrapper, parsed: &Arguments, rest: Vec<Word>) {
        if wrapper.input != Input::Words {
            return self.add(rest);
        }
        let end = rest.iter().position(|word| contains(&wrapper.given, &word.text));
        let (rest, given) = rest.split_at(end.unwrap_or(rest.len()));
        let said = self.input();
        self.takes_words |= said.is_none();
        let said = said.unwrap_or_default();
        let lines = given.iter().skip(1).cloned().chain(said::lines(&said)).collect::<Vec<_>>();
        if rest.is_empty() {
            return lines.iter().for_each(|line| self.shell_text(line));
        }
        let commands = match mark(wrapper, parsed, rest) {
            Some(mark) if !lines.is_empty() => {
                let with = |line: &Word| {
                    rest.iter().map(|word| replaced(word, mark, &line.pieces)).collect()
                };
                lines.iter().map(with).collect()
            }
            Some(mark) => {
                if self.is_verb(rest, mark) {
                    self.unshown();
                }
                vec![rest.to_vec()]
            }
            None if parsed.has(&wrapper.whole) || !given.is_empty() => {
                vec![[rest, &lines].concat()]
            }
            None => vec![[rest, &Word::split(&said)].concat()],
        };
        for command in commands {
            match is_line(&command) && !wrapper.given.is_empty() {
                true => self.shell_text(&Word::of(&Line::spelled(&command))),
                false => self.add(command),
            }
        }
    }

    /// Returns whether what stands for a word of the input would say what the program does.
    fn is_verb(&self, words: &[Word], mark: &str) -> bool {
        let front = words.iter().take_while(|word| word.text != mark).count();
        let (front, behind) = words.split_at(front);
        let options = front.iter().any(|word| word.text.starts_with('-'));
        let program = self.spec.read(front).program;
        !behind.is_empty() && !options && program.is_some_and(|program| program.verbs)
    }

    /// Adds the text of a file of commands, if it is one that the line itself says.
    fn file(&mut self, rest: &[Word]) {
        let Some(first) = rest.first() else { return };
        if contains(&self.spec.wrappers.stdin, &first.text) {
            return self.input_text();
        }
        match said::process(self.spec, first, 0) {
            Some(said) => self.text(Text::of(&Word::made(said, true).text)),
            None => self.found.unseen |= self.standing == Standing::Sure,
        }
    }

    fn input_text(&mut self) {
        match self.input() {
            Some(said) => self.text(Text::of(&Word::made(said, true).text)),
            None => self.unshown(),
        }
    }

    /// Notes that what runs is read, and that the line does not show it.
    pub(super) fn unshown(&mut self) {
        self.found.unseen |= self.standing == Standing::Sure;
        self.found.fed = true;
    }

    /// Returns the words of a text that a wrapper splits as a shell would.
    fn split(&self, text: &str) -> Vec<Word> {
        let line = Text::of(text).read(self.spec);
        line.commands
            .into_iter()
            .flat_map(|command| {
                let assigned = command
                    .assignments
                    .into_iter()
                    .map(|each| Word::of(&format!("{}={}", each.name, each.value.text)));
                assigned.chain(command.words).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Returns whether a command changes modes or owners.
    fn alters(&self, command: &[Word]) -> bool {
        let program = self.spec.read(command).program;
        let alters = |effect: &Effect| effect.action == FileAction::Alter;
        program.is_some_and(|program| program.effects.iter().any(alters))
    }

    /// Adds the commands behind `-exec` and its like, if there are any; `{}` stands for the starting points unless
    /// files are chosen among.
    fn executed(&mut self, wrapper: &Wrapper, front: &[Word], words: &[Word]) -> bool {
        let runs = |word: &Word| !wrapper.exec.is_empty() && named(word, &wrapper.exec);
        let Some(first) = words.iter().position(runs) else {
            return false;
        };
        let before = words.get(..first).unwrap_or_default();
        let chosen = before.iter().any(|word| named(word, &wrapper.filters));
        let reading = self.spec.read(&[front, before].concat());
        let mut starts = reading.arguments.operands.clone();
        if starts.is_empty() {
            starts.push(Word::of("."));
        }
        if chosen || wrapper.deep.is_empty() {
            starts.clear();
        }
        let mut rest = words.get(first..).unwrap_or_default();
        while let Some(at) = rest.iter().position(|word| named(word, &wrapper.exec)) {
            let behind = rest.get(at + 1..).unwrap_or_default();
            let end = behind.iter().position(|word| word.text == ";" || word.text == "+");
            let (command, more) = behind.split_at(end.unwrap_or(behind.len()));
            self.each(wrapper, command, &starts);
            rest = more;
        }
        true
    }

    /// Adds a command that is run for each of what is found, or for all below `starts`.
    fn each(&mut self, wrapper: &Wrapper, command: &[Word], starts: &[Word]) {
        let command = match starts.is_empty() {
            true => command.to_vec(),
            false => on_all(wrapper, command, starts),
        };
        let deep = (!starts.is_empty() && self.alters(&command)).then(|| {
            let named = command.iter().take(1).cloned().chain([Word::of(&wrapper.deep)]);
            named.chain(command.iter().skip(1).cloned()).collect()
        });
        match command.len() == 1 && is_line(&command) {
            true => self.called(&command),
            false => self.add(command),
        }
        deep.into_iter().for_each(|deep| self.add(deep));
    }
}

/// Returns a wrapper's own arguments, and as operands what it runs.
fn parsed(wrapper: &Wrapper, words: &[Word]) -> Arguments {
    let options = &wrapper.options;
    let dashes = || words.iter().position(|word| word.text == "--");
    let dashes = wrapper.dashes.then(dashes).flatten();
    let stop = !wrapper.anywhere && dashes.is_none();
    let text: Vec<String> =
        wrapper.text.iter().filter(|name| !options.maybe.contains(name)).cloned().collect();
    let valued = [text.as_slice(), wrapper.split.as_slice()];
    let known = Known { valued, stop, ..Known::only(options) };
    if let Some(at) = dashes {
        let mut parsed = arguments(known, words.get(..at).unwrap_or_default());
        parsed.operands = words.get(at + 1..).unwrap_or_default().to_vec();
        return parsed;
    }
    let mut parsed = match wrapper.plus {
        true => arguments(known, &words.iter().map(minus).collect::<Vec<_>>()),
        false => arguments(known, words),
    };
    for _ in 0..wrapper.skip {
        let rest = parsed.operands.get(1..).unwrap_or_default();
        let more = match wrapper.between {
            true => arguments(known, rest),
            false => Arguments { operands: rest.to_vec(), ..Arguments::default() },
        };
        parsed.typed.extend(more.typed);
        parsed.values.extend(more.values);
        parsed.operands = more.operands;
    }
    parsed
}

fn minus(word: &Word) -> Word {
    word.text.strip_prefix('+').map_or(word.clone(), |rest| Word::of(&format!("-{rest}")))
}

/// Returns the shell text of a value that has a key, given to this program.
fn text_of<'t>(keyed: &Keyed, program: &str, value: &'t str) -> Option<Cow<'t, str>> {
    let marked = keyed.marks.iter().find_map(|mark| value.trim_start().strip_prefix(mark.as_str()));
    if let Some(text) = marked {
        return Some(text.into());
    }
    ['=', ':', ' '].into_iter().find_map(|sign| {
        let (key, text) = value.split_once(sign)?;
        let key = key.to_lowercase();
        let listed = |keys: &[String]| keys.iter().any(|name| is_named(name, &key));
        if listed(&keyed.keys) {
            return Some(text.into());
        }
        let marked = text.strip_prefix(keyed.mark.as_str()).filter(|_| listed(&keyed.marked));
        let verb = || listed(&keyed.verbs).then(|| format!("{program} {text}").into());
        marked.map(Cow::Borrowed).or_else(verb)
    })
}

/// Returns a command whose words are below a directory, but for its program, options and absolute paths.
fn below(directory: &Word, words: &[Word]) -> Vec<Word> {
    let each = words.iter().enumerate().map(|(index, word)| {
        let stays = index == 0 || word.text.starts_with(['-', '/', '~', '$']);
        if stays {
            return word.clone();
        }
        Word::made([directory.with("/").pieces.as_slice(), &word.pieces].concat(), true)
    });
    each.collect()
}

/// Returns whether the first word is more than a program's name.
fn is_line(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.text.contains([' ', '\t', '\n', ';', '|', '&']))
}

/// Returns the text that stands for a line of the input in a command.
fn mark<'w>(wrapper: &Wrapper, parsed: &'w Arguments, rest: &[Word]) -> Option<&'w str> {
    let value = parsed.values.iter().find(|(name, _)| contains(&wrapper.replace, name));
    let braces = parsed.has(&wrapper.replace) || !wrapper.given.is_empty();
    let stands = rest.iter().any(|word| word.text.contains("{}"));
    value.map(|(_, value)| value.text.as_str()).or((braces && stands).then_some("{}"))
}

/// Returns a word with pieces in place of every mark in it.
fn replaced(word: &Word, mark: &str, by: &[Piece]) -> Word {
    if mark.is_empty() || !word.text.contains(mark) {
        return word.clone();
    }
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (index, part) in text.split(mark).enumerate() {
            if index > 0 {
                pieces.extend(by.iter().cloned());
            }
            pieces.push(Piece::Text(part.into()));
        }
    }
    Word::made(pieces, true)
}

/// Returns a command with all starting points in place of `{}`, or behind it where the wrapper puts them there.
fn on_all(wrapper: &Wrapper, command: &[Word], starts: &[Word]) -> Vec<Word> {
    let blank = [Piece::Text(" ".into())];
    let pieces: Vec<&[Piece]> = starts.iter().map(|word| word.pieces.as_slice()).collect();
    let line = pieces.join(blank.as_slice());
    let each = command.iter().flat_map(|word| match word.text.as_str() {
        "{}" => starts.to_vec(),
        _ => vec![replaced(word, "{}", &line)],
    });
    let mut found: Vec<Word> = each.collect();
    if wrapper.appends && !command.iter().any(|word| word.text.contains("{}")) {
        found.extend(starts.iter().cloned());
    }
    found
}

fn named(word: &Word, names: &[String]) -> bool {
    word.text.strip_prefix('-').is_some_and(|name| names.iter().any(|each| each == name))
}

/// Returns whether a text is `name=` with a value.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
            && !name.starts_with(|sign: char| sign.is_ascii_digit())
    })
}
