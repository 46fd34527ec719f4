//! A few shapes and texts as SVG, with whole numbers only.

use alloc::{string::String, vec::Vec};
use core::fmt::Write as _;

use crate::wire::{RiskLevel, Severity};

const FONT: &str = "font-family=\"ui-sans-serif, system-ui, sans-serif\"";

/// A picture that is being drawn.
#[derive(Debug)]
pub struct Drawing {
    width: i64,
    body: String,
}

// Writing to a String cannot fail, so that results of `write!` are dropped here by name.
impl Drawing {
    /// An empty picture of this width.
    #[must_use]
    pub const fn new(width: i64) -> Self {
        Self { width, body: String::new() }
    }

    /// The whole file.
    #[must_use]
    pub fn finish(self, height: i64) -> String {
        let Self { width, body } = self;
        let mut out = String::new();
        let _infallible = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" {FONT}>\n\
             <rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"#f6f8fa\"/>\n{body}</svg>"
        );
        out
    }

    /// A rectangle by corner, width and height.
    pub fn rectangle(&mut self, [x, y, width, height]: [i64; 4], fill: &str, stroke: &str) {
        let _infallible = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
        );
    }

    /// A line between two points.
    pub fn line(&mut self, [x1, y1, x2, y2]: [i64; 4], stroke: &str, dash: &str) {
        let _infallible = writeln!(
            self.body,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>"
        );
    }

    /// A dashed line from one place to another below it that swings out to the right by `swing`, past what is between.
    pub fn bow(&mut self, [x, y1, y2, swing]: [i64; 4], stroke: &str) {
        let out = x.saturating_add(swing);
        let _infallible = writeln!(
            self.body,
            "<path d=\"M {x} {y1} C {out} {y1} {out} {y2} {x} {y2}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-dasharray=\"6 4\"/>"
        );
    }

    /// A line that ends in an arrow head.
    pub fn arrow(&mut self, ends: [i64; 4], stroke: &str) {
        self.line(ends, stroke, "none");
        let [_, _, x, y] = ends;
        let (left, up, down) = (x.saturating_sub(9), y.saturating_sub(5), y.saturating_add(5));
        let _infallible =
            writeln!(self.body, "<polygon points=\"{x},{y} {left},{up} {left},{down}\" fill=\"{stroke}\"/>");
    }

    /// A line that ends in an arrow head pointing down.
    pub fn arrow_down(&mut self, ends: [i64; 4], stroke: &str) {
        self.line(ends, stroke, "none");
        let [_, _, x, y] = ends;
        let (up, left, right) = (y.saturating_sub(8), x.saturating_sub(5), x.saturating_add(5));
        let _infallible =
            writeln!(self.body, "<polygon points=\"{x},{y} {left},{up} {right},{up}\" fill=\"{stroke}\"/>");
    }

    /// A square on its corner, around a point: the sign of a gate.
    pub fn diamond(&mut self, x: i64, y: i64, radius: i64, fill: &str) {
        let (left, right) = (x.saturating_sub(radius), x.saturating_add(radius));
        let (up, down) = (y.saturating_sub(radius), y.saturating_add(radius));
        let _infallible = writeln!(
            self.body,
            "<polygon points=\"{x},{up} {right},{y} {x},{down} {left},{y}\" fill=\"{fill}\"/>"
        );
    }

    /// The largest text.
    pub fn title(&mut self, x: i64, y: i64, text: &str) {
        self.write_text(x, y, "font-size=\"24\" font-weight=\"700\" fill=\"#1f2328\"", text);
    }

    /// A text that stands out.
    pub fn bold(&mut self, x: i64, y: i64, text: &str) {
        self.write_text(x, y, "font-size=\"16\" font-weight=\"600\" fill=\"#1f2328\"", text);
    }

    /// A text in this colour.
    pub fn text(&mut self, x: i64, y: i64, colour: &str, text: &str) {
        let mut style = String::new();
        let _infallible = write!(style, "font-size=\"15\" fill=\"{colour}\"");
        self.write_text(x, y, &style, text);
    }

    /// A text that explains.
    pub fn small(&mut self, x: i64, y: i64, text: &str) {
        self.write_text(x, y, "font-size=\"13\" fill=\"#57606a\"", text);
    }

    fn write_text(&mut self, x: i64, y: i64, style: &str, text: &str) {
        let _infallible = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" {style}>{}</text>", escaped(text));
    }
}

/// Text that cannot be taken for markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            control if control.is_control() => out.push(' '),
            plain => out.push(plain),
        }
    }
    out
}

/// At most so many characters, the last of them a sign that something is missing.
#[must_use]
pub fn shortened(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.into();
    }
    let mut out: String = text.chars().take(characters_max.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// The text in lines of at most so many characters, broken between words where there are any.
#[must_use]
pub fn wrapped(text: &str, characters_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count().saturating_add(word.chars().count()) < characters_max => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(shortened(word, characters_max)),
        }
    }
    lines
}

/// The colour of a risk.
#[must_use]
pub const fn risk_colour(level: RiskLevel) -> &'static str {
    match level {
        RiskLevel::Low => "#2da44e",
        RiskLevel::Medium => "#bf8700",
        RiskLevel::High => "#fb8f44",
        RiskLevel::Critical => "#cf222e",
    }
}

/// The colour of a conflict.
#[must_use]
pub const fn severity_colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "#2da44e",
        Severity::Medium => "#bf8700",
        Severity::High => "#fb8f44",
        Severity::Critical => "#cf222e",
    }
}
