//! What `view_image` shows.

use super::*;
use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use std::io::Cursor;

/// An image in a format. Its pixels are noise, so that nothing makes it small.
fn written(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut dice = 7_u32;
    let noise = RgbaImage::from_fn(width, height, |_, _| {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = dice.to_be_bytes();
        Rgba([a, b, c, 255])
    });
    let mut image = DynamicImage::ImageRgba8(noise);
    if format == ImageFormat::Jpeg {
        image = image.to_rgb8().into();
    }
    let mut bytes = Vec::new();
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

/// Asserts what is said of an image and in which format and size it is shown; returns what is.
fn check(bytes: &[u8], said: &str, mime: &str, size: (u32, u32)) -> Vec<u8> {
    let project = Project::new(&[]);
    project.put("i", bytes);
    let found = project.call(Tool::ViewImage, args!("path": "i"));
    assert_eq!((found.text.as_str(), found.error), (said, false));
    let [image] = found.images.as_slice() else { panic!("{} images", found.images.len()) };
    assert_eq!(image.mime, mime);
    let shown = BASE64_STANDARD.decode(&image.data).unwrap();
    let decoded = image::load_from_memory(&shown).unwrap();
    assert_eq!((decoded.width(), decoded.height()), size);
    assert!(shown.len() <= SPEC.limits.tools.image.bytes);
    shown
}

#[test]
fn small_images_are_shown_as_they_are_or_in_a_format_that_all_take() {
    for (format, mime) in [(ImageFormat::Png, "image/png"), (ImageFormat::Jpeg, "image/jpeg")] {
        let bytes = written(30, 20, format);
        let kind = if format == ImageFormat::Png { "PNG" } else { "JPEG" };
        let shown = check(&bytes, &format!("i: {kind}, 30 x 20 pixels."), mime, (30, 20));
        assert_eq!(shown, bytes);
    }
    let webp = written(30, 20, ImageFormat::WebP);
    check(&webp, "i: WebP, 30 x 20 pixels.", "image/png", (30, 20));
    let gif = written(30, 20, ImageFormat::Gif);
    let said = "i: GIF, 30 x 20 pixels. Of several pictures the first is shown.";
    check(&gif, said, "image/png", (30, 20));
}

#[test]
fn large_images_are_made_smaller() {
    let wide = written(3200, 100, ImageFormat::Png);
    let said = "i: PNG, 3200 x 100 pixels, shown at 1568 x 49.";
    check(&wide, said, "image/png", (1568, 49));
    let noise = written(1500, 1500, ImageFormat::Png);
    assert!(noise.len() > SPEC.limits.tools.image.bytes);
    check(&noise, "i: PNG, 1500 x 1500 pixels.", "image/jpeg", (1500, 1500));
}

#[test]
fn a_photograph_is_shown_the_right_way_up() {
    // The tag of orientation 6: the top is at the right.
    let exif =
        b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let jpeg = written(30, 20, ImageFormat::Jpeg);
    let turned = [&jpeg[..2], exif, &jpeg[2..]].concat();
    let said = "i: JPEG, 30 x 20 pixels, shown at 20 x 30.";
    check(&turned, said, "image/jpeg", (20, 30));
}

#[test]
fn what_is_no_whole_image_is_told() {
    let project = Project::new(&[("a.txt", "text\n"), ("d/e", "")]);
    let other = "a.txt is no PNG, JPEG, WebP or GIF image. Convert it, or read it as a text.";
    project.fails(Tool::ViewImage, args!("path": "a.txt"), other);
    let png = written(300, 200, ImageFormat::Png);
    project.put("cut.png", &png[..png.len() / 2]);
    project.put("head.png", &png[..20]);
    for path in ["cut.png", "head.png"] {
        let found = project.call(Tool::ViewImage, args!("path": path));
        let said = format!("{path} is a broken PNG image: ");
        assert!(found.error && found.text.starts_with(&said), "{}", found.text);
        assert!(found.images.is_empty());
    }
    let mut bomb = png;
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    project.put("bomb.png", &bomb);
    let found = project.call(Tool::ViewImage, args!("path": "bomb.png"));
    assert!(found.error && found.images.is_empty(), "{}", found.text);
    let missing = "There is no file nothing-like-it.";
    project.fails(Tool::ViewImage, args!("path": "nothing-like-it"), missing);
}
