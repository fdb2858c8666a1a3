//! `view_image`: an image of a file for a model that can see, made small enough for one. What cannot be read as a whole
//! is never shown: a server would refuse it, and every request after it.

use super::{Outcome, Shared, file, read};
use crate::engine::Grant;
use base64::{Engine, prelude::BASE64_STANDARD};
use image::buffer::ConvertBuffer;
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder};
use image::imageops::{FilterType, resize};
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits,
    RgbImage, RgbaImage,
};
use lembas_core::message::Image;
use lembas_core::spec::{ImageLimits, ViewImageArgs, ViewImageSay};
use serde_json::{Value, json};
use std::io::Cursor;

pub(super) fn run(
    shared: &Shared,
    grant: &Grant,
    args: &ViewImageArgs,
) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, Some(&args.path))?;
    let shown = shared.shown(&target.named);
    let (file, found) = read::regular(shared, target, &shown)?;
    let failed = |error| read::failed(shared, &shown, found.len(), &error);
    let bytes = file::read(file, shared.limits().max_file_bytes).map_err(failed)?;
    let Some((format, kind)) = format(&bytes) else {
        return Err(shared.fails(ViewImageSay::Other, &json!({"path": shown})));
    };
    let about = |more: Value| {
        let mut values = json!({"path": shown, "kind": kind, "bytes": bytes.len()});
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        values
    };
    let broken = |error: ImageError| {
        shared.fails(ViewImageSay::Broken, &about(json!({"error": words(&error)})))
    };
    let limits = &shared.limits().image;
    let decoder = decoder(&bytes, format, limits).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if !shared.sees {
        return Err(
            shared.fails(ViewImageSay::Blind, &about(json!({"width": width, "height": height})))
        );
    }
    if decoder.total_bytes() > limits.decoded_bytes {
        let values = about(json!({"width": width, "height": height}));
        return Err(shared.fails(ViewImageSay::TooLarge, &values));
    }
    let picture = picture(decoder, &bytes, format, limits).map_err(broken)?;
    let sent = json!({"width": picture.width, "height": picture.height});
    let values = about(json!({"width": width, "height": height, "sent": sent}));
    let image = Image { mime: picture.mime.into(), data: BASE64_STANDARD.encode(picture.bytes) };
    Ok(Outcome { images: vec![image], ..shared.tells(ViewImageSay::Shown, &values) })
}

/// What is sent.
struct Picture {
    mime: &'static str,
    bytes: Vec<u8>,
    width: u32,
    height: u32,
}

/// Returns the format of an image by its first bytes, and what it is called.
fn format(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    match image::guess_format(bytes).ok()? {
        format @ ImageFormat::Png => Some((format, "PNG")),
        format @ ImageFormat::Jpeg => Some((format, "JPEG")),
        format @ ImageFormat::WebP => Some((format, "WebP")),
        format @ ImageFormat::Gif => Some((format, "GIF")),
        _ => None,
    }
}

fn decoder<'b>(
    bytes: &'b [u8],
    format: ImageFormat,
    limits: &ImageLimits,
) -> ImageResult<impl ImageDecoder + 'b> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut bounds = Limits::default();
    bounds.max_alloc = Some(limits.decoded_bytes);
    reader.limits(bounds);
    reader.into_decoder()
}

/// Returns the image as it is where every model takes it so, otherwise written anew.
fn picture(
    mut decoder: impl ImageDecoder,
    bytes: &[u8],
    format: ImageFormat,
    limits: &ImageLimits,
) -> ImageResult<Picture> {
    let turned = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    let (width, height) = (image.width(), image.height());
    let taken = matches!(format, ImageFormat::Png | ImageFormat::Jpeg);
    let small = width.max(height) <= limits.side && bytes.len() <= limits.bytes;
    if taken && small && turned == Orientation::NoTransforms {
        let mime = format.to_mime_type();
        return Ok(Picture { mime, bytes: bytes.to_vec(), width, height });
    }
    image.apply_orientation(turned);
    let image = image.into_rgba8();
    let image = match limits.side {
        side if image.width().max(image.height()) > side => smaller(&image, side),
        _ => image,
    };
    written(image, format, limits)
}

/// Returns an image whose longer side is `side`.
fn smaller(image: &RgbaImage, side: u32) -> RgbaImage {
    let longer = u64::from(image.width().max(image.height())).max(1);
    let scaled = |length: u32| {
        let scaled = (u64::from(length) * u64::from(side) + longer / 2) / longer;
        u32::try_from(scaled).unwrap_or(side).max(1)
    };
    resize(image, scaled(image.width()), scaled(image.height()), FilterType::Triangle)
}

/// Writes an image without loss if it fits so, otherwise as JPEG, smaller until it fits.
fn written(
    mut image: RgbaImage,
    format: ImageFormat,
    limits: &ImageLimits,
) -> ImageResult<Picture> {
    let png = (format != ImageFormat::Jpeg).then(|| png(&image)).transpose()?;
    let png = png.filter(|bytes| bytes.len() <= limits.bytes);
    let (format, bytes) = match png {
        Some(bytes) => (ImageFormat::Png, bytes),
        None => (ImageFormat::Jpeg, fitting(&mut image, limits)?),
    };
    let (width, height) = image.dimensions();
    Ok(Picture { mime: format.to_mime_type(), bytes, width, height })
}

fn png(image: &RgbaImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    image.write_with_encoder(PngEncoder::new(&mut bytes))?;
    Ok(bytes)
}

/// Writes an image as JPEG, and makes it smaller until it fits.
fn fitting(image: &mut RgbaImage, limits: &ImageLimits) -> ImageResult<Vec<u8>> {
    loop {
        let (mut bytes, longer) = (Vec::new(), image.width().max(image.height()));
        let plain: RgbImage = image.convert();
        let encoder = JpegEncoder::new_with_quality(&mut bytes, limits.jpeg_quality);
        plain.write_with_encoder(encoder)?;
        if bytes.len() <= limits.bytes || longer <= 1 {
            return Ok(bytes);
        }
        *image = smaller(image, longer / 2);
    }
}

/// Returns what is wrong with an image, in one line.
fn words(error: &ImageError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}
