//! The commands of the interactive mode, `:type` and its like.

use super::{Repl, Reply};
use crate::docs::declaration;
use crate::errors;
use crate::similar::nearest;
use std::fmt::Write;
use std::path::PathBuf;
use wengert_base::{Diagnostic, Name};
use wengert_syntax::ast::ExprKind;

/// A command, its argument, and what it does.
const COMMANDS: &[(&str, &str, &str)] = &[
    (":type", "EXPR", "the type of an expression, without evaluating it"),
    (":cost", "EXPR", "counted floating-point operations; of a call `f x` also of its jvp and vjp"),
    (":load", "FILE", "the definitions of a file, in place of everything defined so far"),
    (":reload", "", "the last file again"),
    (":browse", "[MODULE]", "everything defined so far, or in a module, with types"),
    (":help", "[NAME]", "this list, or what the library says about a name"),
    (":quit", "", "the end; also Ctrl-D"),
];

/// The names, for completion.
pub(super) const NAMES: &[&str] = &[":type", ":cost", ":load", ":reload", ":browse", ":help", ":quit"];

impl Repl {
    /// Answers a command, given without its colon. Any beginning of a command's name will do.
    pub(super) fn command(&mut self, text: &str) -> Result<Reply, Vec<Diagnostic>> {
        let (word, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = argument.trim();
        let asked = format!(":{word}");
        let known = NAMES.iter().copied();
        let Some(command) = known.clone().find(|name| name.starts_with(&asked)) else {
            return Err(vec![errors::unknown_command(&asked, nearest(&asked, known))]);
        };
        match command {
            ":type" => self.show_type(argument),
            ":cost" => self.show_cost(argument),
            ":load" => match argument {
                "" => Err(vec![errors::missing_argument(":load", "FILE")]),
                file => self.load(&PathBuf::from(file.trim_matches('"'))),
            },
            ":reload" => match self.loaded.clone() {
                Some(file) => self.load(&file),
                None => Err(vec![errors::nothing_to_reload()]),
            },
            ":browse" => self.browse(argument),
            ":help" => match argument {
                "" => Ok(Reply::output(help())),
                name => self.describe(name),
            },
            _ => Ok(Reply { quit: true, ..Reply::default() }),
        }
    }

    fn show_type(&mut self, text: &str) -> Result<Reply, Vec<Diagnostic>> {
        if text.is_empty() {
            return Err(vec![errors::missing_argument(":type", "EXPR")]);
        }
        let source = self.next_source();
        let scheme = self.session.type_in(&self.scope, &source, text)?;
        Ok(Reply::output(format!("{text} : {scheme}\n")))
    }

    /// Operations of evaluating the expression; for a call also of its derivatives at the same arguments.
    fn show_cost(&mut self, text: &str) -> Result<Reply, Vec<Diagnostic>> {
        if text.is_empty() {
            return Err(vec![errors::missing_argument(":cost", "EXPR")]);
        }
        let source = self.next_source();
        let evaluated = self.count(&source, text)?;
        let mut output = String::new();
        match self.derivative_costs(text) {
            Some((primal, jvp, vjp)) => {
                let _ = writeln!(output, "primal {primal}, jvp {jvp}, vjp {vjp} floating-point operations");
            }
            None => {
                let plural = if evaluated.flops == 1 { "" } else { "s" };
                let _ = writeln!(output, "{} floating-point operation{plural}", evaluated.flops);
            }
        }
        Ok(Reply::output(output))
    }

    /// If the expression is a call that can be differentiated: the operations of the call, its `jvp` and its `vjp`,
    /// without those that compute the arguments. The calls are made of the user's own text.
    fn derivative_costs(&mut self, text: &str) -> Option<(u64, u64, u64)> {
        let source = "<cost>";
        let id = self.session.modules.add_source(source, text);
        let ExprKind::App { func, args } = wengert_syntax::parse_expr(id, text).expr.kind else {
            return None;
        };
        let part = |span: wengert_base::Span| text.get(span.start as usize..span.end as usize);
        let function = part(func.span)?;
        let arguments: Vec<&str> = args.iter().map(|arg| part(arg.span)).collect::<Option<_>>()?;
        let names: Vec<String> = (0..arguments.len()).map(|i| format!("cost_arg{i}")).collect();
        let (function_of, call) = (names.join(", "), names.join(" "));
        let point = arguments.join(", ");
        // The unused function makes the point something to differentiate, so that its open numbers become `Real`s.
        let mut flops = |body: &str| {
            let text = format!(
                "let cost_f = \\({function_of}) -> ({function}) {call}\n\
                 let cost_ones = \\x -> unravel x (map (\\_ -> 1.0) (ravel x))\n\
                 in (\\cost_p -> let cost_smooth = \\_ -> jvp cost_f (cost_p, cost_p) in {body}) ({point})"
            );
            let evaluated = self.count(source, &text);
            evaluated.ok().map(|evaluated| evaluated.flops)
        };
        let base = flops("cost_p")?;
        let primal = flops("cost_f cost_p")?;
        let jvp = flops("jvp cost_f (cost_p, cost_ones cost_p)")?;
        let vjp = flops("(let (y, back) = vjp cost_f cost_p in back (cost_ones y))")?;
        Some((primal.saturating_sub(base), jvp.saturating_sub(base), vjp.saturating_sub(base)))
    }

    /// What is known about a name: one in scope, or of the library.
    fn describe(&mut self, name: &str) -> Result<Reply, Vec<Diagnostic>> {
        let visible = self.scope.visible().values.get(&Name::new(name));
        match visible.and_then(|info| Some((info.span, info.scheme.as_ref()?))) {
            Some((span, scheme)) => {
                let mut output = format!("{name} : {scheme}\n");
                for line in self.session.comment_above(span) {
                    let _ = writeln!(output, "    {line}");
                }
                Ok(Reply::output(output))
            }
            None => self.session.doc(Some(name)).map(Reply::output).map_err(|error| vec![error]),
        }
    }

    fn browse(&mut self, module: &str) -> Result<Reply, Vec<Diagnostic>> {
        let aliased = self.scope.aliases().find(|(alias, _)| alias.as_str() == module);
        let interface = match (module, aliased) {
            ("", _) => self.scope.visible(),
            (_, Some((_, interface))) => interface,
            (name, None) => {
                return self.session.doc(Some(name)).map(Reply::output).map_err(|error| vec![error]);
            }
        };
        let mut output = String::new();
        for info in interface.types.values() {
            let _ = writeln!(output, "{}", declaration(&info.data));
        }
        for (name, alias) in &interface.aliases {
            let ty = alias.ty.as_ref().map_or_else(String::new, |ty| ty.to_string());
            let _ = writeln!(output, "alias {name} = {ty}");
        }
        for (name, info) in &interface.values {
            if let Some(scheme) = &info.scheme {
                let _ = writeln!(output, "{name} : {scheme}");
            }
        }
        if output.is_empty() {
            output.push_str("nothing is defined yet; `:help` tells how to begin\n");
        }
        Ok(Reply::output(output))
    }
}

fn help() -> String {
    let mut out = String::from(
        "An expression is evaluated:      grad (\\x -> x ^ 3) 2.0\n\
         Definitions stay in scope:       def f x = x ^ 2      let a = f 3.0\n\
         Types and imports do too:        type Shape = Circle Real | Square Real      import linalg\n\
         Open brackets and operators continue on the next line; an empty line ends an input.\n\n",
    );
    for (name, argument, what) in COMMANDS {
        let _ = writeln!(out, "{:<18} {what}", format!("{name} {argument}"));
    }
    out
}
