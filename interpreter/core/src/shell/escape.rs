//! Decodes the escapes of `$'…'`. Knows nothing but the text it is given.

/// Decodes the inside of `$'…'`. A NUL ends the text, as it does in the shell.
pub(super) fn ansi_c(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(sign) = chars.next() {
        if sign != '\\' {
            push(&mut bytes, sign);
            continue;
        }
        match chars.next() {
            None => bytes.push(b'\\'),
            Some('x') => match number(&mut chars, 16, 2) {
                Some(value) => bytes.push((value & 0xff) as u8),
                None => bytes.extend(b"\\x"),
            },
            Some('u') => unicode(&mut bytes, number(&mut chars, 16, 4), 'u'),
            Some('U') => unicode(&mut bytes, number(&mut chars, 16, 8), 'U'),
            Some('c') => match chars.next() {
                Some(control) => bytes.push((control as u32 & 0x1f) as u8),
                None => bytes.extend(b"\\c"),
            },
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8).unwrap_or_default();
                let value = octal(&mut chars, first);
                bytes.push((value & 0xff) as u8);
            }
            Some(other) => simple(&mut bytes, other),
        }
    }
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push(bytes: &mut Vec<u8>, sign: char) {
    bytes.extend(sign.encode_utf8(&mut [0; 4]).as_bytes());
}

fn simple(bytes: &mut Vec<u8>, sign: char) {
    match sign {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        '\\' | '\'' | '"' | '?' => push(bytes, sign),
        other => {
            bytes.push(b'\\');
            push(bytes, other);
        }
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn number(chars: &mut Chars, radix: u32, most: usize) -> Option<u32> {
    let mut value: Option<u32> = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|sign| sign.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
        chars.next();
    }
    value
}

fn octal(chars: &mut Chars, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = chars.peek().and_then(|sign| sign.to_digit(8)) else { break };
        value = value * 8 + digit;
        chars.next();
    }
    value
}

fn unicode(bytes: &mut Vec<u8>, value: Option<u32>, letter: char) {
    match value {
        Some(value) => push(bytes, char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)),
        None => {
            bytes.push(b'\\');
            push(bytes, letter);
        }
    }
}
