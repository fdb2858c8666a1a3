//! The server as a client sees it: every kind of step, every fault, and what is recorded.

#[cfg(test)]
mod client;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod program;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod replies;
