//! Where a word points: tilde, `$HOME`, dots and the directory so far put in, compared by component. Where that really
//! is, `real` says.

use super::folded::{self, folded_path};
use super::globs::{has_glob, matches};
use super::real::{Disk, is_normal, real};
use crate::shell::{Piece, Word};
use crate::spec::{FileAction, FileFacts, Folding, Spec, Wrappers};
use compact_str::CompactString;
use foldhash::HashSet;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// What rules call the directories of the program itself.
pub(super) const OWN: &str = "@own";

/// The surroundings a call is judged in. All paths are absolute.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The person's home directory.
    pub home: &'a Path,
    /// Where a command starts.
    pub cwd: &'a Path,
    /// The project's root, if there is one.
    pub project: Option<&'a Path>,
    /// The directories of this program's own configuration and state. They are part of no project.
    pub own: &'a [PathBuf],
    /// The disk.
    pub disk: &'a dyn Disk,
}

/// Returns the text of a word as a path, if the line and the world say all of it.
fn text(word: &Word, cwd: Option<&Path>, world: &World<'_>) -> Option<String> {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) | Piece::Glob(part) => text.push_str(part),
            Piece::Tilde(name) if name == "~" => text.push_str(&world.home.to_string_lossy()),
            Piece::Tilde(name) if name == "~+" => text.push_str(&cwd?.to_string_lossy()),
            Piece::Tilde(name) if name == "~root" => text.push_str("/root"),
            Piece::Tilde(name) if is_own_name(name, world.home) => {
                text.push_str(&world.home.to_string_lossy())
            }
            Piece::Variable(name) if name == "HOME" => text.push_str(&world.home.to_string_lossy()),
            Piece::Variable(name) if name == "PWD" => text.push_str(&cwd?.to_string_lossy()),
            Piece::Doubt => {}
            Piece::Tilde(_) | Piece::Variable(_) | Piece::Hidden(..) => return None,
        }
    }
    Some(text)
}

/// Returns whether a tilde has the person's own name behind it: the last part of their home directory, as a rule.
fn is_own_name(tilde: &str, home: &Path) -> bool {
    let name = home.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| tilde.strip_prefix('~') == Some(name.as_ref()))
}

/// Returns whether the world and the line say all of a word.
pub(super) fn is_known(word: &Word) -> bool {
    let values = std::iter::once(&word.pieces).chain(&word.also);
    values.flatten().all(|piece| match piece {
        Piece::Text(_) | Piece::Glob(_) => true,
        Piece::Tilde(name) => name == "~" || name == "~+",
        Piece::Variable(name) => name == "HOME" || name == "PWD",
        Piece::Doubt | Piece::Hidden(..) => false,
    })
}

/// Returns the absolute paths a word may name, dots and all, one for each directory the command may stand in; `None`
/// if that cannot be said.
pub(super) fn resolve(
    word: &Word,
    cwds: Option<&[PathBuf]>,
    world: &World<'_>,
) -> Option<Vec<PathBuf>> {
    if let ([Piece::Text(text)], [], Some([cwd])) = (&*word.pieces, &*word.also, cwds) {
        let text = strip(text);
        let mut path = PathBuf::with_capacity(cwd.as_os_str().len() + 1 + text.len());
        path.push(cwd);
        path.push(text);
        return Some(vec![path]);
    }
    let values = 1 + word.also.len();
    let mut paths = Vec::new();
    for value in (0..values).map(|index| word.variant(index)) {
        let absolute = text(&value, None, world)
            .map(|text| strip(&text).to_string())
            .filter(|text| text.starts_with('/'));
        if let Some(path) = absolute {
            paths.push(PathBuf::from(path));
            continue;
        }
        for cwd in cwds? {
            let text = text(&value, Some(cwd), world)?;
            paths.push(cwd.join(strip(&text)));
        }
    }
    Some(paths)
}

/// Takes off what stands in front of a path in a word.
fn strip(text: &str) -> &str {
    let text = text.strip_prefix("file://").unwrap_or(text);
    text.strip_prefix('@').unwrap_or(text)
}

/// Returns whether a word is an address rather than a path.
pub(super) fn is_address(word: &Word) -> bool {
    memchr::memchr(b':', word.text.as_bytes()).is_some()
        && word.text.contains("://")
        && !word.text.starts_with("file:")
}

/// Returns an absolute path without dots and doubled slashes, by its text alone.
pub fn normal(path: &Path) -> PathBuf {
    if path.to_str().is_some_and(is_normal) {
        return path.to_path_buf();
    }
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

/// Returns the path of a directory of which all is named: `/x/*` and `/x/.*` are `/x`.
pub(super) fn whole(path: &Path) -> &Path {
    let last = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let all =
        !last.is_empty() && last.contains('*') && last.chars().all(|sign| "*?.[]!^".contains(sign));
    if all { path.parent().map_or(path, whole) } else { path }
}

/// Returns the directories and files every machine may have that a path with globs fits.
pub(super) fn landmarks(wrappers: &Wrappers, path: &Path, world: &World<'_>) -> Vec<PathBuf> {
    if !has_glob(&path.to_string_lossy()) {
        return Vec::new();
    }
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let here = path.parent().unwrap_or(path);
    let named = wrappers.landmarks.iter().filter(|known| hidden || !known.starts_with('.'));
    let known = named.map(|known| here.join(known)).chain([world.home.to_path_buf()]);
    let own = world.own.iter().filter_map(|own| inside(path, own));
    known.filter(|known| inside(path, known).is_some_and(|all| all == *known)).chain(own).collect()
}

/// Returns what a path with globs names in `directory`, if its start fits the directory.
fn inside(path: &Path, directory: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    for known in directory.components() {
        let (part, known) = (parts.next()?.as_os_str(), known.as_os_str());
        if !matches(&part.to_string_lossy(), &known.to_string_lossy()) {
            return None;
        }
    }
    Some(directory.join(parts.as_path()))
}

/// The world's directories as they are called and as they really are, looked up once.
pub(super) struct Roots<'a> {
    folding: &'a Folding,
    home: Vec<PathBuf>,
    own: Vec<Own>,
    project: Option<Vec<PathBuf>>,
    located: RefCell<HashSet<ByPath>>,
}

/// A directory of the program's own.
struct Own {
    path: PathBuf,
    /// Its text, if folding leaves that as it is but for its case.
    plain: Option<String>,
}

/// What is known of a path, found by the text of the path.
struct ByPath(Rc<Located>);

impl Borrow<OsStr> for ByPath {
    fn borrow(&self) -> &OsStr {
        self.0.path.as_os_str()
    }
}

impl PartialEq for ByPath {
    fn eq(&self, other: &ByPath) -> bool {
        self.0.path.as_os_str() == other.0.path.as_os_str()
    }
}

impl Eq for ByPath {}

impl Hash for ByPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.path.as_os_str().hash(state);
    }
}

/// What rules may be asked about a path.
pub(super) struct Located {
    pub(super) path: PathBuf,
    /// Below `@own` or `~` where it is, else absolute.
    pub(super) shown: CompactString,
    /// What patterns over paths are matched against: absolute, below `~`, below the project.
    pub(super) texts: Vec<String>,
    /// Its place below the project, folded; `None` outside.
    pub(super) place: Option<CompactString>,
    /// Its place below the project as it is spelled, if that is another.
    pub(super) spelled: Option<CompactString>,
}

impl<'a> Roots<'a> {
    pub(super) fn of(world: &World<'_>, spec: &'a Spec) -> Roots<'a> {
        let both = |path: &Path| {
            let text = normal(path);
            let real = real(path, world.disk, &spec.limits.paths);
            let mut both = vec![real.unwrap_or_else(|| text.clone()), text];
            both.dedup();
            both
        };
        let folding = &spec.wrappers.folding;
        let own = |path: PathBuf| {
            let plain = folded::plain(folding, &path).map(String::from);
            Own { path, plain }
        };
        let own = world.own.iter().flat_map(|path| both(path)).map(own).collect();
        let (home, project) = (both(world.home), world.project.map(both));
        Roots { folding, home, own, project, located: RefCell::default() }
    }

    /// Returns what rules may be asked about a path; each is looked at once.
    pub(super) fn located(&self, path: &Path) -> Rc<Located> {
        if let Some(located) = self.located.borrow().get(path.as_os_str()) {
            return Rc::clone(&located.0);
        }
        let located = Rc::new(self.locate(path));
        self.located.borrow_mut().insert(ByPath(Rc::clone(&located)));
        located
    }

    fn locate(&self, path: &Path) -> Located {
        let plain = folded::plain(self.folding, path);
        let own = self.below_own(path, plain);
        let home = below(&self.home, path).map(|rest| named("~", rest));
        let project = self.project.as_ref().and_then(|project| below(project, path));
        let inside = project.filter(|_| own.is_none());
        let shown = match own {
            Some(rest) => named(OWN, rest).into(),
            None => home.as_deref().map_or_else(|| shown_path(path).into(), CompactString::from),
        };
        let place = inside.map(|rest| match (plain, rest.to_str()) {
            (Some(_), Some(rest)) => here(rest.to_ascii_lowercase()),
            _ => here(folded_path(self.folding, rest)),
        });
        let spelled = inside.filter(|rest| rest.to_str() != place.as_deref());
        Located {
            path: path.to_path_buf(),
            shown,
            spelled: spelled
                .map(|rest| here(shown_path(rest)))
                .filter(|it| Some(it) != place.as_ref()),
            place,
            texts: [Some(shown_path(path)), home, project.map(shown_path)]
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// Returns what is left of a path below one of the program's own directories, however it is spelled.
    fn below_own<'p>(&self, path: &'p Path, plain: Option<&'p str>) -> Option<&'p Path> {
        self.own.iter().find_map(|own| match (plain, &own.plain) {
            (Some(path), Some(own)) => folded::plain_below(own, path).map(Path::new),
            _ => folded::below(self.folding, &own.path, path),
        })
    }

    /// Returns a path as a person reads it: below `~` where it is, else absolute.
    pub(super) fn told(&self, path: &Path) -> String {
        let home = below(&self.home, path).map(|rest| named("~", rest));
        home.unwrap_or_else(|| shown_path(path))
    }

    /// Returns whether the program's own directories are below a path.
    pub(super) fn hold_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| folded::below(self.folding, path, &own.path).is_some())
    }

    /// Returns whether a path is, or holds, the home directory or the project, or is where the program keeps its own.
    pub(super) fn guards(&self, path: &Path) -> bool {
        let roots = self.home.iter().chain(self.project.iter().flatten());
        let own = || self.own.iter().map(|own| &own.path);
        roots.chain(own()).any(|root| below_root(path, root).is_some())
            || own().any(|own| below_root(own, path).is_some())
    }
}

impl Located {
    /// Returns what rules can ask about something done to the path.
    pub(super) fn facts(&self, action: FileAction, by: &str) -> FileFacts {
        FileFacts {
            action: action.name().into(),
            path: self.shown.clone(),
            inside: self.place.is_some(),
            place: self.place.clone().unwrap_or_default(),
            by: by.into(),
        }
    }
}

/// A place, which for the project itself is a dot.
fn here(place: String) -> CompactString {
    if place.is_empty() { ".".into() } else { place.into() }
}

fn named(root: &str, rest: &Path) -> String {
    let below = !rest.as_os_str().is_empty();
    if below { [root, "/", &rest.to_string_lossy()].concat() } else { root.to_string() }
}

/// Returns a path as a text; signs that are none are shown as such.
fn shown_path(path: &Path) -> String {
    path.to_str().map_or_else(|| path.to_string_lossy().into_owned(), String::from)
}

fn below<'p>(roots: &[PathBuf], path: &'p Path) -> Option<&'p Path> {
    roots.iter().find_map(|root| below_root(root, path))
}

/// Returns what is left of a path below a directory. Both are without dots and doubled slashes, so that their texts
/// tell.
pub(super) fn below_root<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    match (root.to_str(), path.to_str()) {
        (Some(root), Some(path)) => text_below(root, path).map(Path::new),
        _ => path.strip_prefix(root).ok(),
    }
}

fn text_below<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(root)?;
    match rest.strip_prefix('/') {
        Some(below) => Some(below),
        None if rest.is_empty() || root.ends_with('/') => Some(rest),
        None => None,
    }
}
