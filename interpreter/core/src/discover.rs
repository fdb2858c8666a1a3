//! Finds out what kind of server speaks at an address and which models it has: the requests to make, one after the other, and
//! what their answers say. It makes no request.

use crate::quirk;
use crate::spec::{Action, AnswerFacts, ModelPlace, Server, ServerAsk, Speaks, Spec};
use lembas_codegen::when::Pattern;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// What is known of a model. What is `None` nobody said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Model {
    /// The id the server knows.
    pub id: String,
    /// What a person calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The window it has, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// The window it was trained with; what the server makes room for may be less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<u64>,
    /// The most tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether it takes images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Whether it can call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether it reasons before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// Whether it makes vectors and no replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeds: Option<bool>,
    /// The efforts it takes, if the server lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// The ways in which it writes calls as text, names of quirks about `template`, as the server or its template says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text_calls: Vec<String>,
}

/// A request to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The whole address.
    pub url: String,
    /// The body to post; without one it is a GET.
    pub send: Option<Value>,
    /// The dialect whose headers it carries.
    pub dialect: String,
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The id of its kind.
    pub server: String,
    /// The dialect to speak to it.
    pub dialect: String,
    /// The address of that dialect.
    pub base_url: String,
    /// Its models, in its order.
    pub models: Vec<Model>,
    /// The status of the first request about models that it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<u16>,
}

/// What may be at the address.
#[derive(Debug)]
struct Candidate<'s> {
    server: &'s Server,
    dialect: &'s str,
    base: String,
}

impl Candidate<'_> {
    fn url(&self, path: &str) -> String {
        path.replace("{root}", root(self.server, &self.base)).replace("{base}", &self.base)
    }
}

/// A search, from an address to what is there.
#[derive(Debug)]
pub struct Discovery<'s> {
    spec: &'s Spec,
    candidates: VecDeque<Candidate<'s>>,
    known: bool,
    refused: Option<u16>,
    models: Vec<Model>,
    /// The requests left about models: which of the server's, and about which model if about one.
    left: VecDeque<(&'s ServerAsk, Option<String>)>,
}

impl<'s> Discovery<'s> {
    /// Returns the search for the models of a server that is spoken to in `dialect` at `base_url`.
    pub fn of(spec: &'s Spec, dialect: &str, base_url: &str) -> Discovery<'s> {
        let candidate = |server: &'s Server| {
            let speaks = server.speaks.iter().find(|speaks| speaks.dialect == dialect)?;
            Some(Candidate { server, dialect: &speaks.dialect, base: trimmed(base_url) })
        };
        Discovery::among(spec, spec.servers.iter().filter_map(candidate).collect())
    }

    /// Returns the search for what speaks at an address that a person gave: the dialect named, or the one to prefer.
    pub fn anywhere(spec: &'s Spec, url: &str, dialect: Option<&str>) -> Discovery<'s> {
        let url = address(spec, url).to_string();
        let mut candidates = VecDeque::new();
        for server in &spec.servers {
            let is_wanted = |speaks: &&Speaks| dialect.is_none_or(|named| speaks.dialect == named);
            let Some(first) = server.speaks.iter().find(is_wanted) else { continue };
            let usual = format!("{}{}", root(server, &url), first.base);
            // Not every server keeps its paths where others of its kind do.
            let as_given = (usual != url && server.probe.contains("{base}")).then(|| url.clone());
            for base in [Some(usual), as_given].into_iter().flatten() {
                candidates.push_back(Candidate { server, dialect: &first.dialect, base });
            }
        }
        Discovery::among(spec, candidates)
    }

    fn among(spec: &'s Spec, candidates: VecDeque<Candidate<'s>>) -> Discovery<'s> {
        let (models, left) = (Vec::new(), VecDeque::new());
        Discovery { spec, candidates, known: false, refused: None, models, left }
    }

    /// Returns the next request; `None` when there is nothing more to find out.
    pub fn next(&self) -> Option<Request> {
        let candidate = self.candidates.front()?;
        let request = |url: String, send| Request { url, send, dialect: candidate.dialect.into() };
        if !self.known {
            return Some(request(candidate.url(&candidate.server.probe), None));
        }
        let (ask, about) = self.left.front()?;
        let fill = |(key, value): (&String, &Value)| {
            let text = value
                .as_str()
                .map(|text| text.replace("{model}", about.as_deref().unwrap_or_default()));
            (key.clone(), text.map_or_else(|| value.clone(), Value::from))
        };
        let send =
            ask.send.as_ref().map(|send| send.iter().map(fill).collect::<Map<_, _>>().into());
        Some(request(candidate.url(&ask.path), send))
    }

    /// Takes the answer to the request: its status, 0 where none came, and its body, null where that is no JSON.
    pub fn take(&mut self, status: u16, body: &Value) {
        let Some(candidate) = self.candidates.front() else { return };
        if !self.known {
            if self.is(candidate.server, status, body) {
                self.known = true;
                self.left = candidate.server.asks.iter().map(|ask| (ask, None)).collect();
                self.spread();
            } else {
                self.candidates.pop_front();
            }
            return;
        }
        let Some((ask, about)) = self.left.pop_front() else { return };
        if (200..300).contains(&status) {
            let teller = Teller { spec: self.spec, server: &candidate.server.id, ask };
            teller.read(&mut self.models, about.as_deref(), body);
        } else if about.is_none() {
            self.refused = self.refused.or(Some(status));
        }
        self.spread();
    }

    /// Makes a request about each model of one that is next.
    fn spread(&mut self) {
        while let Some((ask, None)) = self.left.front()
            && ask.send.is_some()
        {
            let ask = *ask;
            self.left.pop_front();
            let most = self.spec.limits.discovery.models;
            for model in self.models.iter().take(most).rev() {
                self.left.push_front((ask, Some(model.id.clone())));
            }
        }
    }

    fn is(&self, server: &Server, status: u16, body: &Value) -> bool {
        let facts = AnswerFacts {
            server: server.id.as_str().into(),
            status: status.into(),
            body: body.clone(),
        };
        quirk::hits(&self.spec.quirks, "answer", &facts)
            .any(|(_, action)| matches!(action, Action::IsServer(yes) if yes))
    }

    /// Returns what was found; `None` where nothing is that is known.
    pub fn found(self) -> Option<Found> {
        let candidate = self.candidates.into_iter().next().filter(|_| self.known)?;
        Some(Found {
            server: candidate.server.id.clone(),
            dialect: candidate.dialect.into(),
            base_url: candidate.base,
            models: self.models,
            refused: self.refused,
        })
    }
}

/// Returns the address of a server that this one is part of: a person copies what is at hand, such as an endpoint's.
pub fn address<'u>(spec: &Spec, url: &'u str) -> &'u str {
    let url = url.trim_end_matches('/');
    let asks = spec.servers.iter().flat_map(|server| &server.asks).map(|ask| &ask.path);
    let paths = spec.dialects.iter().map(|dialect| &dialect.http.path).chain(asks);
    let inner = paths.filter_map(|path| {
        let path = path.trim_start_matches("{root}").trim_start_matches("{base}");
        let path = path.split('?').next().filter(|path| !path.is_empty() && !path.contains('{'))?;
        url.strip_suffix(path).filter(|rest| !rest.ends_with('/'))
    });
    inner.min_by_key(|rest| rest.len()).unwrap_or(url)
}

fn trimmed(url: &str) -> String {
    url.trim_end_matches('/').into()
}

/// Returns the root of a server, of which a dialect's address is part.
fn root<'u>(server: &Server, base: &'u str) -> &'u str {
    let ends = server.speaks.iter().filter(|speaks| !speaks.base.is_empty());
    ends.filter_map(|speaks| base.strip_suffix(speaks.base.as_str())).next().unwrap_or(base)
}

/// What reads the answer to a request about models.
struct Teller<'a> {
    spec: &'a Spec,
    server: &'a str,
    ask: &'a ServerAsk,
}

impl Teller<'_> {
    /// Takes what an answer says about models over into what is known of them.
    fn read(&self, models: &mut Vec<Model>, about: Option<&str>, body: &Value) {
        if self.ask.each.is_empty() {
            let whole = self.model(body);
            for known in models.iter_mut().filter(|known| about.is_none_or(|id| known.id == id)) {
                merge(known, whole.clone());
            }
            return;
        }
        let list = self.ask.each.iter().find_map(|pointer| body.pointer(pointer)?.as_array());
        for entry in list.into_iter().flatten() {
            let told = self.model(entry);
            if told.id.is_empty() {
                continue;
            }
            match models.iter_mut().find(|known| known.id == told.id) {
                Some(known) => merge(known, told),
                None => models.push(told),
            }
        }
    }

    /// Reads what an entry says.
    fn model(&self, entry: &Value) -> Model {
        let places = &self.ask.model;
        let text = |places: &[ModelPlace]| {
            first(places, entry).and_then(|value| value.as_str().map(String::from))
        };
        let number = |places: &[ModelPlace]| first(places, entry).as_ref().and_then(count);
        let truth = |places: &[ModelPlace]| first(places, entry).and_then(|value| value.as_bool());
        let words = |places: &[ModelPlace]| -> Vec<String> {
            let list = first(places, entry);
            let list = list.as_ref().and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|word| word.as_str().map(String::from)).collect()
        };
        let said = words(&places.text_calls);
        let template = text(&places.template).filter(|_| said.is_empty());
        let shown = template.map(|text| quirk::shown_by(&self.spec.quirks, self.server, &text));
        Model {
            id: text(&places.id).unwrap_or_default(),
            name: text(&places.name),
            context: number(&places.context),
            trained: number(&places.trained),
            max_output: number(&places.max_output),
            vision: truth(&places.vision),
            tools: truth(&places.tools),
            reasoning: truth(&places.reasoning),
            embeds: truth(&places.embeds),
            efforts: words(&places.efforts),
            text_calls: shown.unwrap_or(said),
        }
    }
}

/// A number of tokens, which some servers write as text; 0 says nothing.
fn count(value: &Value) -> Option<u64> {
    let text = || value.as_str().and_then(|text| text.trim().parse().ok());
    let float = || value.as_f64().map(|float| float as u64);
    value.as_u64().or_else(float).or_else(text).filter(|count| *count > 0)
}

fn first(places: &[ModelPlace], entry: &Value) -> Option<Value> {
    places.iter().find_map(|place| match place {
        ModelPlace::At(at) => pointed(entry, at).cloned(),
        ModelPlace::Matches { at, matches } => {
            let pattern = Pattern::new(matches).ok()?;
            let text = pointed(entry, at)?.as_str()?;
            let value = pattern.regex()?.captures(text)?.name("value")?;
            Some(value.as_str().into())
        }
        ModelPlace::Has { at, has } => {
            let list = pointed(entry, at)?.as_array()?;
            Some(list.iter().any(|each| each == has).into())
        }
        ModelPlace::Is { at, is } => pointed(entry, at)?.as_str().map(|text| (text == is).into()),
    })
}

/// Returns what a pointer leads to, if it is not null. A `*` in its last step stands for anything.
fn pointed<'v>(entry: &'v Value, pointer: &str) -> Option<&'v Value> {
    let found = match pointer.rsplit_once('/') {
        Some((parent, step)) if step.contains('*') => {
            let (front, back) = step.split_once('*')?;
            let members = entry.pointer(parent)?.as_object()?.iter();
            let mut fitting = members.filter(|(key, _)| {
                key.strip_prefix(front).is_some_and(|rest| rest.ends_with(back))
            });
            fitting.next().map(|(_, value)| value)
        }
        _ => entry.pointer(pointer),
    };
    found.filter(|value| !value.is_null())
}

/// Lays what was told later over what is known.
fn merge(known: &mut Model, told: Model) {
    let Model {
        id: _,
        name,
        context,
        trained,
        max_output,
        vision,
        tools,
        reasoning,
        embeds,
        efforts,
        text_calls,
    } = told;
    known.name = name.or(known.name.take());
    known.context = context.or(known.context);
    known.trained = trained.or(known.trained);
    known.max_output = max_output.or(known.max_output);
    known.vision = vision.or(known.vision);
    known.tools = tools.or(known.tools);
    known.reasoning = reasoning.or(known.reasoning);
    known.embeds = embeds.or(known.embeds);
    if !efforts.is_empty() {
        known.efforts = efforts;
    }
    if !text_calls.is_empty() {
        known.text_calls = text_calls;
    }
}

/// Where a window is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The configuration says so.
    Config,
    /// The server says so.
    Server,
    /// A refusal taught it.
    Learned,
    /// Nobody said; it is what is usual, or less where the model was trained with less.
    Default,
}

impl Source {
    /// Returns its word.
    pub fn name(self) -> &'static str {
        match self {
            Source::Config => "config",
            Source::Server => "server",
            Source::Learned => "learned",
            Source::Default => "default",
        }
    }
}

/// A model's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Tokens of prompt and reply together.
    pub tokens: u64,
    /// Where that is known from.
    pub source: Source,
}

impl Window {
    /// Returns the window by what the configuration, the server and a refusal say. The configuration wins; a refusal is what
    /// the server does, so it wins over more that the server says. `usual` stands in where nobody said.
    pub fn of(
        config: Option<u64>,
        found: Option<&Model>,
        learned: Option<u64>,
        usual: u64,
    ) -> Window {
        let says = found.and_then(|model| model.context);
        if let Some(tokens) = config {
            return Window { tokens, source: Source::Config };
        }
        match (says, learned) {
            (Some(tokens), learned) if learned.is_none_or(|learned| tokens <= learned) => {
                Window { tokens, source: Source::Server }
            }
            (_, Some(tokens)) => Window { tokens, source: Source::Learned },
            _ => {
                let trained = found.and_then(|model| model.trained);
                let tokens = trained.map_or(usual, |trained| trained.min(usual));
                Window { tokens, source: Source::Default }
            }
        }
    }

    /// Returns the tokens where somebody said so.
    pub fn known(self) -> Option<u64> {
        (self.source != Source::Default).then_some(self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        config: Option<u64>,
        says: Option<u64>,
        learned: Option<u64>,
        expected: (u64, Source),
    ) {
        let found = Model { context: says, trained: Some(8192), ..Model::default() };
        let window = Window::of(config, Some(&found), learned, 32_768);
        assert_eq!((window.tokens, window.source), expected, "{config:?} {says:?} {learned:?}");
    }

    #[test]
    fn the_window_and_who_said_so() {
        check(Some(1), Some(2), Some(3), (1, Source::Config));
        check(None, Some(2), Some(3), (2, Source::Server));
        check(None, Some(4), Some(3), (3, Source::Learned));
        check(None, None, Some(3), (3, Source::Learned));
        check(None, None, None, (8192, Source::Default));
        assert_eq!(Window::of(None, None, None, 32_768).tokens, 32_768);
        assert_eq!(Window::of(None, None, None, 32_768).known(), None);
    }
}
