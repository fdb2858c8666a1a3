//! Where a value stands in a JSON text: pointer to line and column.
//!
//! `serde_json` forgets positions and the schema validator reports pointers, so every message about a
//! spec file is made by looking its pointer up here. It assumes a text that `serde_json` has accepted.

use std::collections::HashMap;

/// One-based line and column (in bytes).
pub type Place = (usize, usize);

/// The places of all values of a text, and the keys that stand twice in one object.
#[derive(Debug, Default)]
pub struct Places {
    found: HashMap<String, Place>,
    /// Pointers of members whose key was there already, with the second place.
    pub twice: Vec<(String, Place)>,
}

impl Places {
    /// Scans `text`.
    pub fn of(text: &str) -> Places {
        let mut walk =
            Walk { bytes: text.as_bytes(), at: 0, line: 1, start: 0, places: Places::default() };
        walk.value(&mut String::new());
        walk.places
    }

    /// Returns where the value at `pointer` starts, or its nearest parent that is there.
    pub fn get(&self, pointer: &str) -> Place {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.found.get(pointer) {
                return *place;
            }
            match pointer.rfind('/') {
                Some(cut) => pointer = &pointer[..cut],
                None => return (1, 1),
            }
        }
    }
}

/// Escapes a key for use in a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    start: usize,
    places: Places,
}

impl Walk<'_> {
    fn space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.start = self.at + 1;
                }
                b' ' | b'\t' | b'\r' | b',' | b':' => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> String {
        let from = self.at;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        let raw = self.bytes.get(from..self.at.min(self.bytes.len())).unwrap_or_default();
        serde_json::from_slice(raw).unwrap_or_default()
    }

    fn value(&mut self, pointer: &mut String) {
        self.space();
        let here = (self.line, self.at - self.start + 1);
        if self.places.found.insert(pointer.clone(), here).is_some() {
            self.places.twice.push((pointer.clone(), here));
        }
        match self.bytes.get(self.at) {
            Some(b'{') => self.object(pointer),
            Some(b'[') => self.array(pointer),
            Some(b'"') => {
                self.string();
            }
            _ => self.scalar(),
        }
    }

    fn object(&mut self, pointer: &mut String) {
        let keep = pointer.len();
        self.at += 1;
        loop {
            self.space();
            if self.bytes.get(self.at) != Some(&b'"') {
                self.at += 1;
                return;
            }
            let key = self.string();
            pointer.push('/');
            pointer.push_str(&escape(&key));
            self.value(pointer);
            pointer.truncate(keep);
        }
    }

    fn array(&mut self, pointer: &mut String) {
        let keep = pointer.len();
        self.at += 1;
        for index in 0.. {
            self.space();
            if matches!(self.bytes.get(self.at), Some(b']') | None) {
                self.at += 1;
                return;
            }
            pointer.push_str(&format!("/{index}"));
            self.value(pointer);
            pointer.truncate(keep);
        }
    }

    fn scalar(&mut self) {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| !b" \t\r\n,]}".contains(byte)) {
            self.at += 1;
        }
        // A byte that starts no value must not stop the walk for ever.
        self.at = self.at.max(from + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_pointer() {
        let text = "{ \"a\": [1,\n  { \"b/c\": true }],\n \"a\": 2 }";
        let places = Places::of(text);
        assert_eq!(places.get("/a/1/b~1c"), (2, 12));
        assert_eq!(places.get("/a/1/b~1c/deeper"), (2, 12));
        assert_eq!(places.twice, [("/a".to_string(), (3, 7))]);
    }

    #[test]
    fn rubbish_ends() {
        for text in ["", "{", "[", "{\"", "]", "{]", "[}", "\"\\"] {
            Places::of(text);
        }
    }
}
