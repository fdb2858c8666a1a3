//! Base64 with padding, for bytes in JSON files. Nothing else.

use serde::{Deserialize, Deserializer, de};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Reads a base64 string into bytes, for serde.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    decode(&text).ok_or_else(|| de::Error::custom("this is no base64 with padding"))
}

/// Returns the bytes of a base64 text, or nothing if it is none.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|&known| known == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    Some(out)
}

/// Returns bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit =
        |bits: u32| ALPHABET.get(bits as usize & 63).map_or('=', |&digit| char::from(digit));
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for place in 0..4 {
            out.push(if place > group.len() { '=' } else { digit(bits >> (18 - 6 * place)) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe", "//4="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).unwrap(), bytes);
        }
        for bad in ["Z", "Zg", "Zg=", "Z===", "Z g=", "Zm9v=", "Zg==Zg=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            decode(&text);
        }
    }
}
