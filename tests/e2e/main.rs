//! The built program as a person or script meets it: each session runs it against a scripted model server.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod connect;
#[cfg(test)]
mod cross;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod embed;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod input;
mod jobs;
#[cfg(test)]
mod loop_limits;
#[cfg(test)]
mod models;
#[cfg(test)]
mod permission;
#[cfg(test)]
mod process;
#[cfg(test)]
mod program;
#[cfg(test)]
mod repairs;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod text_calls;
#[cfg(test)]
mod tls;
