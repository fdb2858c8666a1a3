//! What random lines are made of: pieces of the grammar, and the dice that choose. Tests and the run of a million lines
//! share them.

/// Pieces of lines; one with a blank between opens what the other end closes.
pub(crate) const GRAMMAR: [&str; 61] = [
    " ",
    " ",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "\n",
    "(",
    ")",
    "{ ",
    "$(",
    "`",
    "$((",
    "))",
    "((",
    "${",
    "}",
    "\"",
    "'",
    "$'",
    "\\",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<(",
    ">",
    "2>&1",
    "{a,",
    ",b}",
    "{1..9}",
    "x=",
    "x=(",
    "x[",
    "]=",
    "$x",
    "${x:-",
    "${x#",
    "${!x}",
    "${x[@]}",
    "$@",
    "\"$@\"",
    "if ",
    "then ",
    "else ",
    "fi ",
    "for x in ",
    "for x; ",
    "do ",
    "done ",
    "while ",
    "case x in ",
    "esac ",
    ";; ",
    "x() ",
    "[[ ",
    " ]] ",
    "set -- ",
    "a",
    "é",
    "*",
];

/// A small generator of numbers (splitmix64); how even they are does not matter here.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `below`.
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below.max(1) as u64).unwrap_or(0)
    }

    /// Returns one of some.
    pub(crate) fn pick<T: Copy + Default>(&mut self, of: &[T]) -> T {
        of.get(self.roll(of.len())).copied().unwrap_or_default()
    }
}
