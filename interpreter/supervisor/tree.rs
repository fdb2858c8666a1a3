//! Which processes are below another one, as `/proc` tells. It looks and judges nothing; where there is no `/proc`,
//! nothing is found.

use std::{collections::BTreeMap, fs, path::PathBuf};

/// What the kernel says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: i32,
    session: i32,
    /// It has ended and waits for its parent to notice.
    ended: bool,
}

/// Returns the processes below `root` that still run, parents before their children.
pub(crate) fn below(root: i32) -> Vec<i32> {
    below_in(&processes(), root)
}

/// Returns the processes of a session that still run.
pub(crate) fn session(id: i32) -> Vec<i32> {
    let living = processes().into_iter().filter(|(_, stat)| stat.session == id && !stat.ended);
    living.map(|(pid, _)| pid).collect()
}

/// Returns the command line of a process, its words with blanks between them; empty where it is gone.
pub(crate) fn command(pid: i32) -> String {
    let words = fs::read(PathBuf::from(format!("/proc/{pid}/cmdline"))).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    words.trim_end().to_owned()
}

fn below_in(processes: &BTreeMap<i32, Stat>, root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = processes.iter().filter(|(_, stat)| stat.parent == parent);
        found.extend(children.map(|(pid, _)| *pid).filter(|pid| *pid != root));
        at += 1;
    }
    let living = |pid: &i32| processes.get(pid).is_some_and(|stat| !stat.ended);
    found.into_iter().skip(1).filter(living).collect()
}

fn processes() -> BTreeMap<i32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let read = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, stat(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
    };
    entries.flatten().filter_map(read).collect()
}

/// Reads `/proc/<pid>/stat`. The name stands in brackets and may hold anything; state, parent, group and session
/// follow the last one.
fn stat(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Stat { parent, session, ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let check = |text: &str, expected| assert_eq!(stat(text), expected, "{text}");
        let found = |ended| Some(Stat { parent: 2, session: 4, ended });
        check("1 (a) S 2 3 4 5", found(false));
        check("1 (a) S 9 9) R) Z 2 3 4 5", found(true));
        check("1 (a", None);
        check("1 (a) S 2", None);
    }

    #[test]
    fn all_below_and_nothing_beside() {
        let stat = |parent, ended| Stat { parent, session: 1, ended };
        let processes = BTreeMap::from([
            (1, stat(0, false)),
            (2, stat(1, false)),
            (3, stat(2, true)),
            (4, stat(3, false)),
            (5, stat(1, false)),
            (6, stat(4, false)),
        ]);
        assert_eq!(below_in(&processes, 2), [4, 6]);
        assert_eq!(below_in(&processes, 5), Vec::<i32>::new());
        assert_eq!(below_in(&BTreeMap::new(), 5), Vec::<i32>::new());
    }
}
