//! The shape of `harness/loop.json`: every number the loop and the tools are held to.

use super::ShellLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Limits of the loop and of the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Most model replies in one turn; a backstop against a runaway, not a budget.
    pub steps: u32,
    /// What a turn may use up.
    pub budgets: Budgets,
    /// How many ordinary calls run together.
    pub parallel: usize,
    /// How many times in a row the same call may come before a person is asked.
    pub same_call: u32,
    /// Limits of reading a model's reply.
    pub stream: StreamLimits,
    /// How many times in a row the same call may come before the turn ends.
    pub same_call_stop: u32,
    /// After how many steps running, each with every call refused, the turn ends.
    pub refused_steps: u32,
    /// How a failed request is made again.
    pub retry: Retry,
    /// What a refused request is mended by.
    pub repair: RepairLimits,
    /// How long a server may take.
    pub server: ServerLimits,
    /// How servers are asked for their models.
    pub discovery: DiscoveryLimits,
    /// How texts are turned into vectors.
    pub embed: EmbedLimits,
    /// Numbers of `lembas run`.
    pub run: RunLimits,
    /// What is looked for in a project.
    pub project: ProjectFiles,
    /// How far the links of a path are followed.
    pub paths: PathLimits,
    /// How much of a command line is read.
    pub shell: ShellLimits,
    /// Limits of each tool's result.
    pub tools: ToolLimits,
}

/// Limits of reading a model's reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamLimits {
    /// Most bytes of one frame; a frame may repeat the whole reply.
    pub frame_bytes: usize,
    /// Most items, and most calls, of a reply.
    pub parts: usize,
    /// Most bytes kept of a body that is an HTTP error.
    pub error_bytes: usize,
    /// Most characters of a server's words that quirks look at.
    pub quirk_chars: usize,
    /// Most characters of a server's words that are shown.
    pub shown_chars: usize,
}

/// How far the links of a path are followed; what leads further cannot be known and is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathLimits {
    /// Most links in one path.
    pub max_links: usize,
    /// Longest path in bytes.
    pub max_bytes: usize,
    /// Most entries of directories that are looked at for one path with globs.
    pub max_entries: usize,
}

/// What a turn may use up; none of it is limited unless a number is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// Seconds from the prompt to the last reply.
    pub wall_s: Option<u64>,
    /// Bytes of tool results.
    pub tool_output_bytes: Option<u64>,
    /// Tokens the model wrote.
    pub written_tokens: Option<u64>,
}

/// How a failed request is made again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Most tries after waits.
    pub waits: u32,
    /// Milliseconds of the first wait; each further one is twice as long.
    pub base_ms: u64,
    /// Most milliseconds of a wait the server did not ask for.
    pub most_ms: u64,
    /// Most milliseconds of a wait the server asked for; a longer one is told, not slept.
    pub longest_ms: u64,
}

/// What a request is changed by when a server refuses it for a reason that can be mended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairLimits {
    /// Words for a reasoning effort, least first.
    pub efforts: Vec<String>,
    /// Those of them that turn reasoning off.
    pub no_effort: Vec<String>,
    /// A pattern for ids of calls that the strictest servers take.
    pub call_ids: String,
    /// How far the schemas of tools are reduced.
    pub schema: SchemaLimits,
    /// What stands in for a message of the person's where there is none.
    pub no_user: String,
    /// What the model is told to have said between a result and the person.
    pub no_answer: String,
    /// What stands in for an image that is larger than the server takes.
    pub large_image: String,
    /// What the model is told to have said where a server knows no calls; filled in with `name` and `arguments`.
    pub call: String,
    /// What the person says where a server knows no results of tools; filled in with `name` and `text`.
    pub result: String,
    /// By a repair that holds and was not enough: the one that goes further.
    pub further: BTreeMap<String, String>,
    /// Repairs that later runs begin with.
    pub learned: Vec<String>,
}

/// How the schemas of tools are reduced for wires that do not know all of JSON schema.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaLimits {
    /// The keys that every server takes.
    pub keys: Vec<String>,
    /// By names in lower case under which tools know them: the types of JSON schema.
    pub types: BTreeMap<String, String>,
    /// How deep schemas and references are followed.
    pub depth: usize,
    /// Most values that the references of a tool bring in.
    pub most_referred: usize,
}

/// How long a server may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerLimits {
    /// Milliseconds a connection may take to open.
    pub connect_ms: u64,
    /// Milliseconds a server may be silent, unless its connection says otherwise.
    pub idle_ms: u64,
}

/// How servers are asked for their models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryLimits {
    /// Milliseconds a run that asks beside its work lets its first request go ahead.
    pub delay_ms: u64,
    /// Milliseconds an answer may take.
    pub answer_ms: u64,
    /// Most bytes of an answer.
    pub bytes: usize,
    /// Most models that are asked about one by one.
    pub models: usize,
    /// Seconds after which a session asks again.
    pub fresh_s: u64,
    /// The window of a model of which nobody said it, in tokens.
    pub window: u64,
}

/// How texts are turned into vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedLimits {
    /// Most bytes of an answer.
    pub bytes: usize,
}

/// Numbers of `lembas run`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// Milliseconds a pipe on standard input may stay silent when there is a prompt already.
    pub stdin_wait_ms: u64,
}

/// What is looked for in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFiles {
    /// The directory of plans, below the project.
    pub plans: String,
    /// Files of instructions for agents; the first that is there counts.
    pub instructions: Vec<String>,
    /// Most bytes of such a file.
    pub instructions_max_bytes: u64,
}

/// Limits of each tool's result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLimits {
    /// Most bytes of any one result.
    pub max_bytes: usize,
    /// Most bytes of one line of a result.
    pub max_line_bytes: usize,
    /// Most bytes of a file that is read into memory as a whole.
    pub max_file_bytes: u64,
    /// How much is kept of what was read, to show how a file differs from it.
    pub seen: SeenLimits,
    /// Limits of `read`.
    pub read: ReadLimits,
    /// Limits of `view_image`.
    pub image: ImageLimits,
    /// Limits of `edit`.
    pub edit: EditLimits,
    /// Limits of `list`.
    pub list: ListLimits,
    /// Limits of `glob`.
    pub glob: ListLimits,
    /// Limits of `grep`.
    pub grep: GrepLimits,
    /// Limits of `bash`.
    pub bash: BashLimits,
}

/// How much is kept of files that were read or written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenLimits {
    /// Most bytes of a file whose content is kept; of a longer one it is only known whether it is the same.
    pub file_bytes: usize,
    /// Most bytes kept of all files; what was kept first goes first.
    pub all_bytes: usize,
}

/// Limits of `read`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLimits {
    /// Lines shown when the call gives no limit, and the most it may ask for.
    pub lines: usize,
    /// Names suggested for a path that does not exist.
    pub suggestions: usize,
}

/// Limits of `view_image`: what servers take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageLimits {
    /// Pixels of the longer side of an image that is shown.
    pub side: u32,
    /// Bytes of an image that is shown, before they are written in base64.
    pub bytes: usize,
    /// Bytes an image may take in memory.
    pub decoded_bytes: u64,
    /// The quality an image is written with that does not fit without loss, of 100.
    pub jpeg_quality: u8,
}

/// Limits of `edit`, most of them for what a refusal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditLimits {
    /// Places listed when a text is not unique.
    pub places: usize,
    /// Lines shown of the nearest region.
    pub near_lines: usize,
    /// Lines shown of what differs in a file that somebody else changed.
    pub diff_lines: usize,
    /// Characters shown of one line.
    pub line_chars: usize,
    /// Characters that are no blanks a new text needs at least to be taken for an edit made before.
    pub already_least: usize,
    /// Places looked at for one hunk of a patch.
    pub candidates: usize,
    /// How many times nearer than the next one a place must be for the line a hunk names to decide.
    pub nearer: usize,
    /// Bytes a file may have after an edit, counted from what it has before and what is put in.
    pub max_bytes: usize,
}

/// Limits of `list` and `glob`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListLimits {
    /// Most entries of one result.
    pub results: usize,
}

/// Limits of `grep`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrepLimits {
    /// Most matching lines of one result.
    pub results: usize,
    /// Most bytes shown of a line.
    pub line_bytes: usize,
}

/// Limits of `bash` and of the jobs it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BashLimits {
    /// Milliseconds after which a command becomes a job when the call names no time.
    pub timeout_ms: u64,
    /// The most milliseconds a call may ask for.
    pub max_timeout_ms: u64,
    /// Bytes kept from the start of the output.
    pub head_bytes: usize,
    /// Bytes kept from its end.
    pub tail_bytes: usize,
    /// Most bytes of an output that its file holds.
    pub file_bytes: u64,
    /// Most such files of a session; the oldest goes for one more.
    pub files: u32,
    /// Milliseconds that what a command left behind gets to end before it becomes a job.
    pub drain_ms: u64,
    /// Milliseconds between asking a command to end and ending it.
    pub grace_ms: u64,
    /// The same when this program is gone.
    pub orphan_ms: u64,
    /// Milliseconds a command that is started as a job is watched for an early end.
    pub background_ms: u64,
    /// Milliseconds `bash_output` waits for something new when it is not told how long.
    pub poll_ms: u64,
    /// The most milliseconds `bash_output` waits.
    pub max_wait_ms: u64,
    /// Most jobs that run at a time.
    pub jobs: usize,
    /// Jobs that have ended and are still known.
    pub ended_jobs: usize,
    /// Milliseconds between two events with new output of a running command.
    pub live_ms: u64,
    /// Most bytes of such an event.
    pub live_bytes: usize,
    /// Processes that are named of what still runs.
    pub shown_processes: usize,
    /// Characters shown of a command line.
    pub shown_chars: usize,
    /// What bash runs before a line that may change the directory; it writes where the shell ends to the descriptor `{}`.
    pub startup: String,
    /// Variables a command inherits; `*` stands for any text.
    pub env_kept: Vec<String>,
    /// Variables it does not inherit all the same.
    pub env_dropped: Vec<String>,
    /// Variables set for every command.
    pub env: BTreeMap<String, String>,
}
