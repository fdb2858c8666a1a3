//! Names and lines of emitted Rust, shared by everything that emits.

/// Appends a line.
pub fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// Appends `text` as a doc comment, indented by `indent`.
pub fn doc(out: &mut String, indent: &str, text: &str) {
    for each in text.lines() {
        line(out, format!("{indent}/// {}", each.replace('[', "\\[")).trim_end());
    }
}

/// Returns `name` as the name of a type or variant: `bash_output` becomes `BashOutput`.
pub fn camel(name: &str) -> String {
    let words = name.split(['_', '-', '/', '.', ' ']).filter(|word| !word.is_empty());
    words
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns `name` as the name of a function or field: `sessionId` becomes `session_id`. Rust's keywords get `r#`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for each in name.chars() {
        match each {
            '-' | '/' | '.' | ' ' => out.push('_'),
            upper if upper.is_uppercase() => {
                if !out.is_empty() && !out.ends_with('_') {
                    out.push('_');
                }
                out.extend(upper.to_lowercase());
            }
            other => out.push(other),
        }
    }
    let out = out.trim_start_matches('_').to_string();
    if KEYWORDS.contains(&out.as_str()) { format!("r#{out}") } else { out }
}

const KEYWORDS: [&str; 39] = [
    "abstract", "as", "async", "await", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match",
    "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "true", "type",
    "unsafe", "use", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(camel("bash_output"), "BashOutput");
        assert_eq!(camel("openai-chat"), "OpenaiChat");
        assert_eq!(snake("sessionId"), "session_id");
        assert_eq!(snake("_lembas/session/rewind"), "lembas_session_rewind");
        assert_eq!(snake("type"), "r#type");
    }
}
