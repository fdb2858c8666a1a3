//! Any bytes as JSON values, one a line: the first byte chooses how the rest is cut.
#![no_main]

use lembas_core::spec::DialectName;
use libfuzzer_sys::fuzz_target;

mod stream;

fuzz_target!(|bytes: &[u8]| {
    if let [cut, body @ ..] = bytes {
        stream::check(DialectName::Ollama, *cut, body);
    }
});
