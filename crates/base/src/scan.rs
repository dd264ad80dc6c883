//! Reading the tokens that the compiler's own texts have in common: numbers, quoted texts, blanks and comments. The typed core
//! and the array IR are printed as such texts and read back.

/// The text still to be read, and where it stands.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    rest: &'a str,
    /// The line of the next character, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
}

impl<'a> Scan<'a> {
    /// All of a text.
    pub fn new(text: &'a str) -> Scan<'a> {
        Scan { rest: text, line: 1, column: 1 }
    }

    /// What is still to be read.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// What was read since `start` was the rest.
    pub fn since(&self, start: &'a str) -> &'a str {
        start.get(..start.len() - self.rest.len()).unwrap_or("")
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// The one after the next.
    pub fn second(&self) -> Option<char> {
        self.rest.chars().nth(1)
    }

    /// Reads a character.
    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// Reads characters as long as `wanted` holds.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        self.since(start)
    }

    /// Reads a symbol that the rest begins with, if it is among these.
    pub fn symbol(
        &mut self,
        mut symbols: impl Iterator<Item = &'static str>,
    ) -> Result<&'static str, String> {
        let symbol = symbols.find(|symbol| self.rest.starts_with(*symbol));
        let first = self.peek().unwrap_or(' ');
        let symbol = symbol.ok_or_else(|| format!("unexpected character `{first}`"))?;
        for _ in symbol.chars() {
            self.bump();
        }
        Ok(symbol)
    }

    /// Skips white space and comments.
    pub fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("--") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    /// `-3`, `1.5e-3`: its text, and whether it has a point or an exponent.
    pub fn number(&mut self) -> (&'a str, bool) {
        let start = self.rest;
        if self.peek() == Some('-') {
            self.bump();
        }
        self.take_while(|c| c.is_ascii_digit());
        let mut real = false;
        if self.peek() == Some('.') && self.second().is_some_and(|c| c.is_ascii_digit()) {
            real = true;
            self.bump();
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.peek() == Some('e') {
            real = true;
            self.bump();
            self.take_while(|c| c == '-');
            self.take_while(|c| c.is_ascii_digit());
        }
        (self.since(start), real)
    }

    /// Text between two `quote`s, escapes resolved.
    pub fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
                None => return Err(format!("`{quote}` is never closed")),
            }
        }
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Result<char, String> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some(c @ ('\\' | '"' | '`')) => Ok(c),
            Some('u') => {
                let digits = self.rest.strip_prefix('{').unwrap_or("").split('}').next().unwrap_or("");
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let c = code.ok_or("`\\u{…}` needs the hexadecimal number of a character")?;
                self.take_while(|c| c != '}');
                self.bump();
                Ok(c)
            }
            Some(c) => Err(format!("unknown escape `\\{c}`")),
            None => Err("the text ends in an escape".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;

    #[test]
    fn numbers_texts_and_places() {
        let mut scan = Scan::new("  -- a comment\n -1.5e-3x 12.y \"a\\u{3bb}\\n\\\"\"");
        scan.skip_blank();
        assert_eq!((scan.line, scan.column), (2, 2));
        assert_eq!(scan.number(), ("-1.5e-3", true));
        assert_eq!(scan.take_while(char::is_alphabetic), "x");
        scan.skip_blank();
        assert_eq!(scan.number(), ("12", false));
        assert_eq!(scan.symbol(["..", "."].into_iter()), Ok("."));
        assert_eq!(scan.symbol(["."].into_iter()), Err("unexpected character `y`".to_owned()));
        scan.bump();
        scan.skip_blank();
        assert_eq!(scan.quoted('"').as_deref(), Ok("aλ\n\""));
        assert_eq!(scan.peek(), None);
    }

    #[test]
    fn what_is_never_closed_or_no_escape() {
        assert_eq!(Scan::new("`a").quoted('`'), Err("``` is never closed".to_owned()));
        assert_eq!(Scan::new("\"\\q\"").quoted('"'), Err("unknown escape `\\q`".to_owned()));
        assert!(Scan::new("\"\\u{110000}\"").quoted('"').is_err());
    }
}
