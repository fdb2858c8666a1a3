//! Any bytes as server-sent events, read in each of the dialects that speak them: the first byte chooses the dialect, the
//! second how the rest is cut.
#![no_main]

use lembas_core::spec::DialectName;
use libfuzzer_sys::fuzz_target;

mod stream;

const DIALECTS: [DialectName; 4] =
    [DialectName::OpenaiChat, DialectName::Responses, DialectName::Anthropic, DialectName::Gemini];

fuzz_target!(|bytes: &[u8]| {
    if let [dialect, cut, body @ ..] = bytes {
        stream::check(DIALECTS[usize::from(*dialect) % DIALECTS.len()], *cut, body);
    }
});
