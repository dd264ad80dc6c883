//! Well-typed random Wengert programs and inputs, type-first, and a shrinker that keeps them well typed.
//!
//! Programs are surface trees, so they exercise everything from the formatter to the engines. They terminate, in a
//! bounded number of operations, and except for [`Config::wide`] never fail when they run: array accesses are in range, recursion has fuel or follows
//! the structure of data. [`Config::smooth`] restricts them to smooth functions with moderate values, which finite
//! differences can judge. `generate` explains how they are made, `shrink` how they are made smaller.
//!
//! ```
//! use arbitrary::Unstructured;
//! use wengert_gen::{Config, GenType, gen_program, gen_value};
//!
//! let bytes: Vec<u8> = (0..4096_u32).map(|i| (i * i / 7) as u8).collect();
//! let mut u = Unstructured::new(&bytes);
//! let program = gen_program(&mut u, &Config::default()).unwrap();
//! let input = gen_value(&mut u, &program.arg_type, program.decls()).unwrap().unwrap();
//! assert!(!program.module.items.is_empty() && !input.text().is_empty());
//! ```

mod generate;
mod lower;
mod rewrite;
mod shrink;
mod tree;
mod ty;
mod value;

use arbitrary::{Result, Unstructured};
use generate::Gen;
use generate::program::GenDef;
use wengert_base::{Name, Span};
use wengert_syntax::ast::{Def, Expr, Item, Module};

pub use rewrite::{Law, rewritten};
pub use shrink::{minimize, shrink};
pub use ty::{DataDecl, GenType, standard_decls};
pub use value::{GenValue, gen_value};

/// What programs may contain.
#[derive(Clone, Debug)]
pub struct Config {
    /// How deep expressions nest, at most 9.
    pub max_depth: u32,
    /// Definitions besides the entry.
    pub max_definitions: usize,
    /// How deep derivative operators nest; 0 for none.
    pub max_derivatives: u32,
    /// Only smooth functions with moderate values.
    pub smooth: bool,
    /// Declared data types.
    pub data: bool,
    /// Arrays.
    pub arrays: bool,
    /// Records.
    pub records: bool,
    /// Texts.
    pub strings: bool,
    /// Functions in local types: closures that are passed and returned.
    pub functions: bool,
    /// Loops over numbers.
    pub loops: bool,
    /// Recursive definitions.
    pub recursion: bool,
    /// `taylor`.
    pub taylor: bool,
    /// Also what may fail when it runs, and what has no smooth meaning.
    pub wide: bool,
}

impl Default for Config {
    /// Everything, with two levels of derivatives.
    fn default() -> Config {
        Config {
            max_depth: 7,
            max_definitions: 4,
            max_derivatives: 2,
            smooth: false,
            data: true,
            arrays: true,
            records: true,
            strings: true,
            functions: true,
            loops: true,
            recursion: true,
            taylor: true,
            wide: false,
        }
    }
}

impl Config {
    /// Everything, with operations that may fail when they run.
    pub fn wide() -> Config {
        Config { wide: true, ..Config::default() }
    }

    /// Smooth functions of everything but texts.
    pub fn smooth() -> Config {
        Config { smooth: true, strings: false, ..Config::default() }
    }
}

/// A program whose entry is a function of one argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The surface tree; everything stands nowhere in a file.
    pub module: Module,
    /// The function to call.
    pub entry: Name,
    /// What it takes: first-order, with a `Real` in it.
    pub arg_type: GenType,
    /// What it gives: as [`Program::arg_type`].
    pub result_type: GenType,
    decls: Vec<DataDecl>,
    defs: Vec<GenDef>,
}

impl Program {
    /// The data types that it declares, for [`gen_value`].
    pub fn decls(&self) -> &[DataDecl] {
        &self.decls
    }

    /// Its text.
    pub fn text(&self) -> String {
        wengert_syntax::print_module(&self.module)
    }

    /// The program of these items.
    fn new(
        decls: Vec<DataDecl>,
        defs: Vec<GenDef>,
        entry: Name,
        arg_type: GenType,
        result_type: GenType,
    ) -> Program {
        let types = decls.iter().map(|decl| Item::Type(lower::lower_decl(decl)));
        let items = types.chain(defs.iter().map(|def| Item::Def(lower_def(def)))).collect();
        let module = Module { items, span: Span::NOWHERE };
        Program { module, entry, arg_type, result_type, decls, defs }
    }
}

/// A definition as surface syntax. What has no parameters has its type with it: numbers in it that could be of either type would
/// be real ones, whatever uses it.
fn lower_def(def: &GenDef) -> Def {
    let annotated = def.annotated || def.params.is_empty();
    Def {
        name: lower::build::ident(def.name),
        params: lower::lower_params(&def.params),
        result: annotated.then(|| lower::build::ty_expr(&def.body.ty)),
        body: lower::lower(&def.body),
        span: Span::NOWHERE,
    }
}

/// A closed expression of type `ty`, which may use the constructors of [`standard_decls`].
pub fn gen_expr(u: &mut Unstructured, ty: &GenType, config: &Config) -> Result<Expr> {
    let node = Gen::new(u, config.clone(), standard_decls()).expr(ty)?;
    Ok(lower::lower(&node))
}

/// A program whose entry has a type left to chance.
pub fn gen_program(u: &mut Unstructured, config: &Config) -> Result<Program> {
    generate::program::program(u, config, None, None)
}

/// A program whose entry has this type; both should be first-order.
pub fn gen_program_of(
    u: &mut Unstructured,
    config: &Config,
    arg: GenType,
    result: GenType,
) -> Result<Program> {
    generate::program::program(u, config, Some(arg), Some(result))
}
