//! From blocks to a draft of the protocol. What spans several lines is left to the checks.

use super::{
    Method, Named, Numbers, Protocol, Shape, Target, Variant, Word, line,
    page::{self, Block, Part},
};
use crate::problem::Problem;

/// The page as read, and what the checks want to look at besides.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    pub(super) protocol: Protocol,
    /// The examples as written.
    pub(super) examples: Vec<Shown<'a>>,
    /// Lines of prose and cells of tables.
    pub(super) prose: Vec<Part<'a>>,
    /// What each method's heading and fences said, in the order of the methods.
    pub(super) said: Vec<Said>,
    /// Whether a method's heading could not be read, so that names may be missing.
    pub(super) broken: bool,
}

/// Which parts of a method the page has.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) answered: bool,
    pub(super) params: bool,
}

/// An example as written.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) of: Target,
    pub(super) name: Part<'a>,
    pub(super) lines: Vec<Part<'a>>,
}

/// Reads the page; `problems` gets every line that does not follow its form.
pub(super) fn read<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Draft<'a> {
    let mut reader = Reader { draft: Draft::default(), under: Under::Text, problems };
    for block in page::blocks(text, reader.problems) {
        match block {
            Block::Heading { level, text } => reader.heading(level, text),
            Block::Fence { info, lines } => reader.fence(info, lines),
            Block::Table { rows } => reader.table(rows),
            Block::Prose { lines } => reader.prose(lines),
        }
    }
    reader.draft
}

struct Reader<'a, 'p> {
    draft: Draft<'a>,
    under: Under,
    problems: &'p mut Vec<Problem>,
}

/// What the last heading was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Text,
    Method,
    /// A method's that could not be read; what belongs to it is dropped, so that one slip is one problem.
    Broken,
}

impl<'a> Reader<'a, '_> {
    fn keep<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn heading(&mut self, level: usize, text: Part<'a>) {
        if level > 3 {
            return;
        }
        self.under = Under::Text;
        // Anything that could have been meant as a method is read as one, so that a slip is reported.
        if level < 3 || !(text.text.starts_with('`') || text.text.contains('→')) {
            return;
        }
        let read = line::heading(text);
        self.under = Under::Broken;
        let Some(heading) = self.keep(read) else {
            self.draft.broken = true;
            return;
        };
        self.under = Under::Method;
        self.draft.protocol.methods.push(Method {
            name: heading.name,
            from: heading.from,
            capability: heading.capability,
            doc: String::new(),
            params: Shape::Fields(Vec::new()),
            result: None,
            at: (text.line, 1),
        });
        self.draft.said.push(Said { answered: heading.answered, params: false });
    }

    fn prose(&mut self, lines: Vec<Part<'a>>) {
        if self.under == Under::Method
            && let Some(method) = self.draft.protocol.methods.last_mut()
            && method.doc.is_empty()
        {
            let text: Vec<&str> = lines.iter().map(|line| line.text.trim()).collect();
            method.doc = text.join(" ");
        }
        self.draft.prose.extend(lines);
    }

    fn table(&mut self, rows: Vec<Vec<Part<'a>>>) {
        let mut rows = rows.into_iter();
        let head = rows.next().unwrap_or_default();
        let titles: Vec<&str> = head.iter().map(|cell| cell.text).collect();
        match titles.as_slice() {
            ["Capability", ..] => {
                let at = head.first().map_or((1, 1), |cell| (cell.line, cell.column));
                let rows: Vec<Vec<Part<'a>>> = rows.collect();
                let words = rows.iter().filter_map(|row| self.keep(named_row(row))).collect();
                self.draft.prose.extend(rows.into_iter().flatten());
                self.draft.protocol.types.push(Named {
                    name: "Capability".into(),
                    doc: "what a device can promise beyond the first protocol".into(),
                    shape: Shape::Words(words),
                    at,
                });
            }
            [_, "Value", ..] => self.numbers(&head, rows.collect()),
            _ => self.draft.prose.extend(rows.flatten()),
        }
    }

    fn numbers(&mut self, head: &[Part<'a>], rows: Vec<Vec<Part<'a>>>) {
        let Some(name) = head.first() else { return };
        if !line::is_type_name(name.text) {
            let message = "the head of the first column names the numbers: one word with a capital";
            return self.problems.push(name.problem(message));
        }
        let read = rows.iter().filter_map(|row| self.keep(number(row))).collect();
        let at = (name.line, name.column);
        self.draft.protocol.numbers.push(Numbers { name: name.text.into(), rows: read, at });
        self.draft.prose.extend(rows.into_iter().flatten());
    }

    fn fence(&mut self, info: Part<'a>, lines: Vec<Part<'a>>) {
        let (head, doc) = info.cut(" — ").map_or((info, None), |(head, doc)| (head, Some(doc)));
        let words: Vec<Part<'a>> = head.words().collect();
        let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
        match (texts.as_slice(), words.as_slice()) {
            (["params" | "result"], _) => self.method_fence(info, None, &lines),
            (["params" | "result", "by", _], [_, _, by]) => self.method_fence(info, Some(*by), &lines),
            (["type", _], [_, name]) => self.named(*name, doc, None, &lines),
            (["type", _, "by", _], [_, name, _, by]) => self.named(*name, doc, Some(*by), &lines),
            (["json", "example", _], [_, _, name]) => {
                self.example(Target::Type(name.text.into()), *name, lines);
            }
            (["json", "example", _, "params"], [_, _, name, _]) => {
                self.example(Target::Params(name.text.into()), *name, lines);
            }
            (["json", "example", _, "result"], [_, _, name, _]) => {
                self.example(Target::Result(name.text.into()), *name, lines);
            }
            ([] | ["json" | "text" | "sh"], _) => {}
            _ => self.problems.push(info.problem(format!("there is no fence {:?}; there are: params, result, type Name — what it is (each with \"by field\" for a choice), json example NAME [params|result], and plain json, text and sh", head.text))),
        }
    }

    fn example(&mut self, of: Target, name: Part<'a>, lines: Vec<Part<'a>>) {
        self.draft.examples.push(Shown { of, name, lines });
    }

    fn method_fence(&mut self, info: Part<'a>, by: Option<Part<'a>>, lines: &[Part<'a>]) {
        let shape = self.shape(by, lines);
        let is_params = info.text.starts_with("params");
        match self.under {
            Under::Method => {}
            Under::Broken => return,
            Under::Text => {
                let message = "this fence belongs to a method and stands below its heading";
                return self.problems.push(info.problem(message));
            }
        }
        let methods = &mut self.draft.protocol.methods;
        let (Some(method), Some(said)) = (methods.last_mut(), self.draft.said.last_mut()) else {
            return;
        };
        let twice = if is_params { said.params } else { method.result.is_some() };
        if twice {
            return self
                .problems
                .push(info.problem(format!("{} has such a fence already", method.name)));
        }
        if let Shape::Words(_) = shape {
            return self.problems.push(
                info.problem("a method's params and result hold fields; words need a type fence"),
            );
        }
        if is_params {
            said.params = true;
            method.params = shape;
        } else {
            method.result = Some(shape);
        }
    }

    fn named(
        &mut self,
        name: Part<'a>,
        doc: Option<Part<'a>>,
        by: Option<Part<'a>>,
        lines: &[Part<'a>],
    ) {
        let shape = self.shape(by, lines);
        if !line::is_type_name(name.text) {
            return self.problems.push(
                name.problem(
                    "a type's name starts with a capital and holds letters and digits only",
                ),
            );
        }
        let Some(doc) = doc.map(Part::trim).filter(|doc| !doc.text.is_empty()) else {
            return self
                .problems
                .push(name.problem(format!("what is it? ```type {} — what it is", name.text)));
        };
        let at = (name.line, name.column);
        self.draft.protocol.types.push(Named {
            name: name.text.into(),
            doc: doc.text.into(),
            shape,
            at,
        });
    }

    fn shape(&mut self, by: Option<Part<'a>>, lines: &[Part<'a>]) -> Shape {
        let lines = lines.iter().copied().filter(|line| !line.text.trim().is_empty());
        if let Some(by) = by {
            let mut variants = Vec::new();
            lines.for_each(|line| self.variant_line(line, &mut variants));
            return Shape::Choice { by: by.text.into(), variants };
        }
        let lines: Vec<Part<'a>> = lines.collect();
        if lines.first().is_some_and(|first| first.text.starts_with('"')) {
            return Shape::Words(
                lines.into_iter().filter_map(|line| self.keep(line::word(line, true))).collect(),
            );
        }
        Shape::Fields(lines.into_iter().filter_map(|line| self.keep(line::member(line))).collect())
    }

    fn variant_line(&mut self, line: Part<'a>, variants: &mut Vec<Variant>) {
        if line.text.starts_with(' ') {
            let read = line::member(line);
            let Some(member) = self.keep(read) else { return };
            match variants.last_mut() {
                Some(variant) => variant.members.push(member),
                None => self.problems.push(line.problem("this field belongs to no variant; a variant's word stands above it, not indented")),
            }
        } else {
            let read = line::word(line, false);
            variants.extend(self.keep(read).map(|word| Variant { word, members: Vec::new() }));
        }
    }
}

fn named_row(row: &[Part<'_>]) -> Result<Word, Problem> {
    let [name, .., doc] = row else {
        let at = row.first().map_or(Part { text: "", line: 1, column: 1 }, |cell| *cell);
        return Err(at.problem("a row is: | `name` | … | what it means |"));
    };
    let word = name.after("`").and_then(|rest| rest.before("`"));
    let word = word.filter(|word| line::is_field_name(word.text));
    let word = word.ok_or_else(|| {
        name.problem("the first cell is a name in backticks, of letters, digits and _")
    })?;
    Ok(Word { name: word.text.into(), doc: doc.text.into(), at: (word.line, word.column) })
}

fn number(row: &[Part<'_>]) -> Result<(Word, i64), Problem> {
    let word = named_row(row)?;
    let cell = row.get(1).copied().unwrap_or(Part { text: "", line: word.at.0, column: word.at.1 });
    let value = cell
        .text
        .parse()
        .map_err(|_| cell.problem(format!("{:?} is no whole number", cell.text)))?;
    Ok((word, value))
}
