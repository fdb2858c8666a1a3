//! Bytes that are no text, as cases write them: two digits a byte.

/// Returns the bytes that `hex` stands for.
///
/// # Errors
/// What is no hex.
pub(super) fn read(hex: &str) -> Result<Vec<u8>, String> {
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| "hex has two digits a byte".to_owned())
}

/// Returns `bytes` as hex.
pub(super) fn write(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
