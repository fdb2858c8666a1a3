//! The texts of a spec, from a directory or from the binary. The only place of this crate that reads a disk.

use std::{borrow::Cow, collections::BTreeMap, fs, io, path::Path};

/// The files of a spec: name inside the spec directory (`/`-separated) to text, in name order.
#[derive(Debug, Clone, Default)]
pub struct Files(BTreeMap<String, Cow<'static, str>>);

impl Files {
    /// Returns the texts a build packed into the binary.
    pub fn packed(pack: &[(&'static str, &'static str)]) -> Files {
        Files(pack.iter().map(|(name, text)| ((*name).into(), Cow::Borrowed(*text))).collect())
    }

    /// Reads every `.json`, `.md` and `VERSION` file below `dir`; hidden files are left out.
    ///
    /// # Errors
    /// A directory or file that cannot be read, or that is not UTF-8, with its path in the message.
    pub fn read(dir: &Path) -> io::Result<Files> {
        let mut files = Files::default();
        files.walk(dir, "")?;
        Ok(files)
    }

    fn walk(&mut self, dir: &Path, prefix: &str) -> io::Result<()> {
        let named = |error: io::Error, path: &Path| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        for entry in fs::read_dir(dir).map_err(|e| named(e, dir))? {
            let path = entry.map_err(|e| named(e, dir))?.path();
            let Some(stem) = path.file_name().and_then(|n| n.to_str()) else { continue };
            let name = format!("{prefix}{stem}");
            if stem.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                self.walk(&path, &format!("{name}/"))?;
            } else if is_spec_file(stem) {
                let text = fs::read_to_string(&path).map_err(|e| named(e, &path))?;
                self.0.insert(name, Cow::Owned(text));
            }
        }
        Ok(())
    }

    /// Returns the text of a file.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// Sets the text of a file; what it was before is forgotten.
    pub fn set(&mut self, name: &str, text: String) {
        self.0.insert(name.into(), Cow::Owned(text));
    }

    /// Returns all names with their texts, in name order.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_ref()))
    }

    /// Returns the stems of the files `folder/<stem>.<extension>`, in order.
    pub fn stems(&self, folder: &str, extension: &str) -> Vec<String> {
        let stem = |name: &str| {
            let stem = name.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(extension)?;
            let stem = stem.strip_suffix('.')?;
            (!stem.contains('/')).then(|| stem.to_string())
        };
        self.0.keys().filter_map(|name| stem(name)).collect()
    }
}

fn is_spec_file(name: &str) -> bool {
    name == "VERSION" || name.ends_with(".json") || name.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_direct_children_only() {
        let files =
            Files::packed(&[("tools/read.json", ""), ("tools/x/y.json", ""), ("tools/a.md", "")]);
        assert_eq!(files.stems("tools", "json"), ["read"]);
    }
}
