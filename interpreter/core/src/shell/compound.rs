//! Compound commands: groups, subshells, conditions, loops, cases, functions and `[[ ]]`.

use super::expand;
use super::reader::Reader;
use super::variables::POSITIONAL;
use super::words::Until;
use super::{Assignment, Command, Function, Hidden, Piece, RedirectKind, Unseen, Word};
use compact_str::CompactString;

/// Tests of `[[ ]]` that read both sides as arithmetic.
const ARITHMETIC_TESTS: [&str; 7] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];

impl Reader<'_, '_> {
    /// Reads the compound command that `word` begins; false if it begins none.
    pub(super) fn compound(&mut self, word: &str, end: usize) -> bool {
        let start = self.out.line.commands.len();
        let from = self.at;
        let known: fn(&mut Self) = match word {
            "{" => |reader| reader.body("}"),
            "if" => Self::condition,
            "while" | "until" => Self::while_loop,
            "for" => |reader| reader.for_loop(true),
            "select" => |reader| reader.for_loop(false),
            "case" => Self::case,
            "function" => Self::function,
            "coproc" => Self::coproc,
            "[[" => Self::test,
            _ => return false,
        };
        self.jump(end);
        known(self);
        if word != "coproc" && word != "function" {
            self.trailing_redirects(start, from);
        }
        true
    }

    /// Reads `(…)` or `((…))`.
    pub(super) fn bracketed(&mut self) {
        let start = self.out.line.commands.len();
        let from = self.at;
        if self.begins_arithmetic() {
            self.arithmetic_command(from);
        } else {
            self.bump();
            self.scoped(|reader| reader.list(&[]));
            if !self.eat(')') {
                self.fail(Unseen::Unended);
            }
        }
        self.trailing_redirects(start, from);
    }

    fn arithmetic_command(&mut self, from: usize) {
        self.bump();
        self.bump();
        let harmless = self.deeper(|reader| reader.expression("))"));
        let mut command = self.begin(from);
        let inner = self.text.get(from..self.at).unwrap_or_default().to_string();
        let why = if harmless { Hidden::Expansion } else { Hidden::Arithmetic };
        command.words =
            vec![Word::of("(("), Word::made(vec![Piece::Hidden(why, inner.into())], false)];
        self.out.line.commands.push(command);
    }

    /// Reads redirects behind a compound command as a command without words; texts on its input reach what is inside.
    fn trailing_redirects(&mut self, start: usize, from: usize) {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        if redirects.is_empty() {
            return;
        }
        let level = self.out.level;
        for input in redirects
            .iter()
            .filter(|redirect| redirect.kind == RedirectKind::Document && redirect.fd.is_none())
        {
            for command in self.out.line.commands.get_mut(start..).unwrap_or_default() {
                if command.level == level
                    && command.redirects.iter().all(|own| own.document.is_none())
                {
                    command.redirects.push(input.clone());
                }
            }
        }
        let command = Command { redirects, ..self.begin(from) };
        self.out.line.commands.push(command);
    }

    /// Reads a list and the keyword that ends it.
    fn body(&mut self, end: &str) {
        self.list(&[end]);
        self.expect(end);
    }

    fn expect(&mut self, word: &str) {
        match self.bare_word() {
            Some((found, end)) if found == word => self.jump(end),
            _ => {
                self.fail(if self.at >= self.text.len() { Unseen::Unended } else { Unseen::Syntax })
            }
        }
    }

    fn at_keyword(&self, word: &str) -> bool {
        self.bare_word().is_some_and(|(found, _)| found == word)
    }

    fn condition(&mut self) {
        self.body("then");
        self.conditionally(|reader| {
            loop {
                reader.list(&["elif", "else", "fi"]);
                if reader.at_keyword("elif") {
                    reader.expect("elif");
                    reader.body("then");
                } else {
                    break;
                }
            }
            if reader.at_keyword("else") {
                reader.expect("else");
                reader.list(&["fi"]);
            }
        });
        self.expect("fi");
    }

    fn while_loop(&mut self) {
        self.repeated(|reader| {
            reader.body("do");
            reader.body("done");
        });
    }

    /// Reads what may run many times. What changes a variable that was set before is read once more, with the values
    /// that it leaves beside those it began with.
    fn repeated(&mut self, inner: impl Fn(&mut Self)) {
        let mark = self.out.variables.mark();
        let again = (self.out.repeated == 0).then(|| self.place());
        self.once(&inner);
        let changed = self.out.variables.changed_since(mark);
        if !changed.is_empty() {
            self.out.unseen(Unseen::ChangedInLoop);
        }
        if let Some(place) = again.filter(|_| !changed.is_empty()) {
            self.back_to(place);
            self.out.variables.undo_since(mark);
            for (name, values) in changed {
                self.out.variables.also(&name, values);
            }
            self.once(&inner);
        }
        self.out.variables.doubt_since(mark);
    }

    fn once(&mut self, inner: impl Fn(&mut Self)) {
        self.out.repeated += 1;
        self.conditionally(inner);
        self.out.repeated -= 1;
    }

    fn for_loop(&mut self, values_known: bool) {
        self.skip_blanks();
        if self.begins_arithmetic() {
            self.arithmetic_command(self.at);
        } else {
            let name = self.single_word(Until::Blank).text.clone();
            self.skip_lines();
            let values = match self.at_keyword("in") {
                true => self.loop_words(),
                false => self.called_with(),
            };
            let few = values.len() <= self.out.limits.max_spellings;
            self.names_shell(&name, &values);
            if values_known && few && !values.is_empty() {
                self.out.variables.set(&name, values, true);
            } else {
                self.out.variables.forget(&name);
            }
        }
        self.skip_blanks();
        self.eat(';');
        self.skip_lines();
        let mark = self.out.variables.mark();
        self.repeated(|reader| {
            if reader.at_keyword("{") {
                reader.expect("{");
                reader.body("}");
            } else {
                reader.expect("do");
                reader.body("done");
            }
        });
        self.out.variables.doubt_since(mark.saturating_sub(1));
    }

    fn loop_words(&mut self) -> Vec<Vec<Piece>> {
        self.expect("in");
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let before = self.at;
            words.extend(self.word());
            if self.at == before {
                return words.iter().flat_map(Word::values).collect();
            }
        }
    }

    /// Returns what a loop without `in` goes over: the positional parameters.
    fn called_with(&self) -> Vec<Vec<Piece>> {
        let unknown = || vec![vec![Piece::Variable(POSITIONAL.into())]];
        self.out.variables.fields(POSITIONAL).unwrap_or_else(unknown)
    }

    /// Notes a loop's variable as an assignment where its name is in capitals: those are the shell's and the system's.
    fn names_shell(&mut self, name: &str, values: &[Vec<Piece>]) {
        if name.is_empty() || name.contains(|sign: char| sign.is_ascii_lowercase()) {
            return;
        }
        let value = values.first().cloned().unwrap_or_else(|| vec![Piece::Doubt]);
        let also = values.get(1..).unwrap_or_default().to_vec();
        let value = expand::finish(value, also, true);
        let assignment = Assignment { name: name.into(), value };
        let command = Command { assignments: vec![assignment], ..self.begin(self.at) };
        self.out.line.commands.push(command);
    }

    fn case(&mut self) {
        self.skip_blanks();
        self.single_word(Until::Blank);
        self.skip_lines();
        self.expect("in");
        loop {
            self.skip_lines();
            if self.peek().is_none() || self.at_keyword("esac") {
                return self.expect("esac");
            }
            self.case_patterns();
            self.conditionally(|reader| reader.list(&["esac"]));
            if self.eat(';') {
                let _second = self.eat(';') || self.eat('&');
                self.eat('&');
            }
        }
    }

    fn case_patterns(&mut self) {
        self.eat('(');
        loop {
            self.skip_blanks();
            self.single_word(Until::Blank);
            self.skip_blanks();
            if !self.eat('|') {
                break;
            }
        }
        if !self.eat(')') {
            self.fail(Unseen::Syntax);
        }
    }

    fn function(&mut self) {
        self.skip_blanks();
        let name = self.single_word(Until::Blank).text.clone();
        self.skip_blanks();
        if self.eat('(') {
            self.skip_blanks();
            if !self.eat(')') {
                return self.fail(Unseen::Syntax);
            }
        }
        self.function_body(name);
    }

    /// Reads a function's body; what it does counts as done, whether or not the line calls it.
    pub(super) fn function_body(&mut self, name: CompactString) {
        self.skip_lines();
        let start = self.out.line.commands.len();
        self.out.functions.insert(name.clone());
        self.out.variables.in_function += 1;
        self.out.repeated += 1;
        self.conditionally(Self::command);
        self.out.repeated -= 1;
        self.out.variables.in_function -= 1;
        self.out.line.functions.push(Function { name, body: start..self.out.line.commands.len() });
    }

    fn coproc(&mut self) {
        self.skip_blanks();
        if let Some((_, end)) = self.bare_word() {
            let rest = self.text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t']);
            let named = ["{ ", "{\n", "(", "if ", "while ", "until ", "for ", "case ", "[[ "]
                .iter()
                .any(|sign| rest.starts_with(sign));
            if named && !self.at_keyword("{") {
                self.jump(end);
            }
        }
        self.scoped(Self::command);
    }

    /// Reads `[[ … ]]` as a command whose words are the parts of the condition.
    fn test(&mut self) {
        let mut command = self.begin(self.at);
        command.words.push(Word::of("[["));
        loop {
            self.skip_lines();
            let before = self.at;
            if self.at_keyword("]]") {
                self.expect("]]");
                break;
            }
            let pattern =
                command.words.last().is_some_and(|word| word.text == "=~" && !word.quoted);
            let word = self.single_word(if pattern { Until::BlankOnly } else { Until::Blank });
            if self.at > before {
                command.words.push(word);
            } else if let Some(sign) = self.bump() {
                command.words.push(Word::of(sign.encode_utf8(&mut [0; 4])));
            } else {
                return self.fail(Unseen::Unended);
            }
        }
        self.mark_arithmetic(&mut command);
        command.span.end = self.base + self.at;
        self.out.line.commands.push(command);
    }

    /// A comparison of numbers evaluates the names in it: one whose value is a text may run something.
    fn mark_arithmetic(&mut self, command: &mut Command) {
        let compares = |word: &Word| ARITHMETIC_TESTS.contains(&word.text.as_str());
        if command.words.iter().any(compares) {
            let evaluates = command.words.iter().any(|word| self.evaluates(word));
            let hidden = Piece::Hidden(Hidden::Arithmetic, CompactString::default());
            command.words.extend(evaluates.then(|| Word::made(vec![hidden], false)));
        }
    }
}
