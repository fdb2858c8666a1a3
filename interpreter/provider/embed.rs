//! Asks a server for the vectors of texts. What is sent and what the answers mean is core's business.

use super::{Live, Opened, Retries, failed, named};
use crate::config::secret::{Secret, redact};
use lembas_core::{
    embed::{self, Vectors},
    event::Failure,
    spec::{Dialect, Spec},
    stream::Answer,
};
use serde_json::Value;

/// A model that makes vectors.
pub(crate) struct Embedder<'s> {
    /// The spec.
    pub(crate) spec: &'s Spec,
    /// The dialect the server speaks.
    pub(crate) dialect: &'s Dialect,
    /// The connection's name, for sentences.
    pub(crate) connection: String,
    /// The model's id.
    pub(crate) model: String,
    /// The server, at the path where it makes vectors.
    pub(crate) live: Live,
    /// What must not be seen in a failure's words.
    pub(crate) secrets: Vec<Secret>,
}

impl Embedder<'_> {
    /// Returns the model's reference, `<connection>/<model>`.
    pub(crate) fn reference(&self) -> String {
        format!("{}/{}", self.connection, self.model)
    }

    /// Returns the vectors of texts, in their order, asked for in as many requests as the dialect needs; `tell` is told of
    /// each request that is made again.
    ///
    /// # Errors
    /// The failure that is left after the tries the retry rule allows; its message names the connection.
    pub(crate) async fn vectors(
        &self,
        texts: &[String],
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vectors, Box<Failure>> {
        let mut whole = Vectors::default();
        let pieces = embed::pieces(self.dialect, texts).map_err(|why| self.unasked(why))?;
        for texts in pieces {
            let piece = self.asked(texts, tell).await?;
            whole.vectors.extend(piece.vectors);
            let counted = piece.tokens.map(|tokens| tokens + whole.tokens.unwrap_or_default());
            whole.tokens = counted.or(whole.tokens);
        }
        Ok(whole)
    }

    /// Makes one request, and again as the retry rule says.
    async fn asked(
        &self,
        texts: &[String],
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vectors, Box<Failure>> {
        let request = embed::request(self.dialect, &self.model, texts);
        let body = request.map_err(|why| self.unasked(why))?.body.to_string();
        let mut retries = Retries::new(&self.spec.limits.retry);
        loop {
            let failure = match self.attempt(&body, texts.len()).await {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            let named = named(&failure, &self.connection, &self.model, &self.secrets);
            let Some(pause) = retries.next(&failure) else { return Err(named) };
            tell(&format!("{}; asking again in {} s", named.message, pause.as_secs_f64()));
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: &str, texts: usize) -> Result<Vectors, Box<Failure>> {
        let Opened { status, headers, body: mut bytes } = self.live.post(body.into()).await?;
        let limits = &self.spec.limits;
        let is_good = (200..300).contains(&status);
        let most = if is_good { limits.embed.bytes } else { limits.stream.error_bytes };
        let mut text = Vec::new();
        while let Some(chunk) = bytes.chunk().await? {
            text.extend_from_slice(&chunk);
            match text.len() > most {
                true if is_good => {
                    let why = format!("the answer is longer than {most} bytes");
                    return Err(failed("bad_response", "no", why));
                }
                true => break,
                false => {}
            }
        }
        // Secrets are taken out of an error whole, before its words are shortened and one could be left in part.
        if text.len() <= limits.stream.error_bytes || !is_good {
            text = redact(&String::from_utf8_lossy(&text), &self.secrets).into_owned().into_bytes();
        }
        let headers = headers.into_iter().map(|(name, value)| (name, Value::String(value)));
        let headers = Value::Object(headers.collect());
        let answer = Answer { status, headers: &headers, body: &text };
        embed::answered(self.spec, self.dialect, &answer, texts)
    }

    fn unasked(&self, why: String) -> Box<Failure> {
        let failure = failed("bad_request", "no", why);
        named(&failure, &self.connection, &self.model, &self.secrets)
    }
}
