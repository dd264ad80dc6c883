//! Pieces of C text: expressions with their precedence, and constants.

/// How tightly an expression holds together, as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Conditional,
    Or,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) text: String,
    pub(crate) level: Level,
}

impl Expr {
    /// A name, number or call.
    pub(crate) fn primary(text: impl Into<String>) -> Expr {
        Expr { text: text.into(), level: Level::Primary }
    }

    /// The text where something that holds together as tightly is wanted.
    pub(crate) fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// `left sign right`, grouped from the left. Operators of bits are given parentheses, for few know their order.
    pub(crate) fn binary(level: Level, sign: &str, left: &Expr, right: &Expr) -> Expr {
        let careful = matches!(level, Level::And | Level::Or | Level::Xor | Level::Shift);
        let (inner, above) = if careful {
            (Level::Unary, Level::Unary)
        } else {
            if level == Level::Product {
                (level, Level::Unary)
            } else if level == Level::Sum {
                (level, Level::Product)
            } else {
                (Level::Sum, Level::Sum)
            }
        };
        Expr { text: format!("{} {sign} {}", left.at(inner), right.at(above)), level }
    }

    /// `sign x`
    pub(crate) fn unary(sign: &str, x: &Expr) -> Expr {
        // Not `--x`.
        let text = if x.text.starts_with(['-', '+', '&']) {
            format!("{sign}({})", x.text)
        } else {
            format!("{sign}{}", x.at(Level::Unary))
        };
        Expr { text, level: Level::Unary }
    }

    /// `function(a, b)`
    pub(crate) fn call(function: &str, args: &[Expr]) -> Expr {
        let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Expr::primary(format!("{function}({})", args.join(", ")))
    }

    /// `cond ? then : otherwise`
    pub(crate) fn conditional(cond: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
        let (cond, then) = (cond.at(Level::Or), then.at(Level::Or));
        Expr { text: format!("{cond} ? {then} : {}", otherwise.at(Level::Or)), level: Level::Conditional }
    }
}

/// A real.
pub(crate) fn real(x: f64) -> Expr {
    if x.is_nan() {
        return Expr::primary("(double)NAN");
    }
    let text = if x.is_infinite() { "INFINITY".to_string() } else { format!("{:?}", x.abs()) };
    let text = if x.is_infinite() { format!("(double){text}") } else { text };
    if x.is_sign_negative() { Expr::unary("-", &Expr::primary(text)) } else { Expr::primary(text) }
}

/// An integer.
pub(crate) fn int(n: i64) -> Expr {
    let small = i64::from(i32::MIN) < n && n <= i64::from(i32::MAX);
    match n {
        i64::MIN => Expr::primary("INT64_MIN"),
        n if small && n >= 0 => Expr::primary(n.to_string()),
        n if small => Expr { text: n.to_string(), level: Level::Unary },
        n => Expr::primary(format!("INT64_C({n})")),
    }
}

/// The bytes of a text between quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b'\n' => out.push_str("\\n"),
            // A question mark could begin a trigraph.
            b' '..=b'~' if byte != b'?' => out.push(char::from(byte)),
            byte => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// What may stand in a comment.
pub(crate) fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace("*/", "* /").replace("/*", "/ *").trim().replace("??", "? ?")
}

#[cfg(test)]
mod tests {
    use super::{Expr, Level, comment, int, quoted, real};

    #[test]
    fn expressions_have_the_parentheses_they_need() {
        let (a, b) = (Expr::primary("a"), Expr::primary("b"));
        let sum = Expr::binary(Level::Sum, "+", &a, &b);
        assert_eq!(Expr::binary(Level::Sum, "-", &sum, &sum).text, "a + b - (a + b)");
        assert_eq!(Expr::binary(Level::Product, "*", &sum, &a).text, "(a + b) * a");
        let product = Expr::binary(Level::Product, "*", &a, &b);
        assert_eq!(Expr::binary(Level::Sum, "+", &product, &product).text, "a * b + a * b");
        assert_eq!(Expr::binary(Level::Product, "/", &a, &product).text, "a / (a * b)");
        assert_eq!(Expr::unary("-", &Expr::unary("-", &a)).text, "-(-a)");
        let less = Expr::binary(Level::Relation, "<", &sum, &a);
        assert_eq!(Expr::binary(Level::And, "&", &less, &less).text, "(a + b < a) & (a + b < a)");
        assert_eq!(Expr::conditional(&less, &real(-1.0), &sum).text, "a + b < a ? -1.0 : a + b");
    }

    #[test]
    fn constants_are_constants_of_c() {
        assert_eq!(int(-5).text, "-5");
        assert_eq!(int(1 << 40).text, "INT64_C(1099511627776)");
        assert_eq!(int(i64::MIN).text, "INT64_MIN");
        assert_eq!(real(f64::NEG_INFINITY).text, "-(double)INFINITY");
        assert_eq!(real(1e300).text, "1e300");
        assert_eq!(quoted("a\"?é\n"), "\"a\\\"\\077\\303\\251\\n\"");
        assert_eq!(comment("a */ b\n"), "a * / b");
    }
}
