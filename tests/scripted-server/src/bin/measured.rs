//! `measured COMMAND [ARGUMENT…]`: runs a command with nothing on its input and prints, as one line of JSON, its exit
//! code, when it started and ended (unix time in µs), its CPU time in µs and its peak memory in kB, as the kernel
//! counted them. A benchmark starts it and not the command, because a child's peak begins with its parent's size.

use nix::sys::{resource, time::TimeValLike};
use std::{
    env,
    error::Error,
    io::{self, Write},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let program = arguments.next().ok_or("usage: measured COMMAND [ARGUMENT…]")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let status = command.status()?;
    let end = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let usage = resource::getrusage(resource::UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let line = serde_json::json!({
        "code": status.code(), "start_us": start.as_micros() as u64, "end_us": end.as_micros() as u64,
        "cpu_us": cpu, "peak_kb": usage.max_rss(),
    });
    writeln!(io::stdout(), "{line}")?;
    Ok(())
}
