//! Definitions and data types of the program, and their compiled instances.
//!
//! An instance is a definition with a choice of `Int` or `Real` for each `Num` variable of its scheme. It is made known
//! when code that mentions it is compiled, and compiled itself when it is first used.

use super::function::Nums;
use super::instr::{Code, CodeId, InstanceId, NumType};
use super::lower::{Lowering, lambda_parameters};
use crate::value::{CtorInfo, Fields, Fun, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::Name;
use wengert_core::{CtorRef, Def, Kind, Param, Pred, Program, Type, TypeArg};

/// What `Num` variables in scope stand for.
pub(crate) type NumScope = FxHashMap<Name, NumType>;

/// All definitions, types and code.
#[derive(Default)]
pub(crate) struct Library {
    defs: FxHashMap<Name, Arc<Def>>,
    types: FxHashMap<Name, Rc<[Rc<CtorInfo>]>>,
    instances: Vec<Instance>,
    by_key: FxHashMap<(Name, Nums), InstanceId>,
    codes: Vec<Option<Rc<Code>>>,
}

/// A definition at an instantiation.
struct Instance {
    /// Nothing if it was forgotten.
    def: Option<Arc<Def>>,
    nums: Nums,
    arity: u32,
    state: InstanceState,
    /// The code of the functions inside of it.
    codes: Range<usize>,
}

/// How far an instance is.
#[derive(Clone)]
pub(crate) enum InstanceState {
    /// Not compiled yet.
    Fresh,
    /// A function: its code, and the function as a value.
    Function(Rc<Code>, Value),
    /// Any other value: the code that computes it.
    Constant(Rc<Code>),
    /// Its code is running.
    Running(Rc<Code>),
    /// Computed.
    Known(Value),
}

impl Library {
    /// Adds (or replaces) definitions and types. What was compiled before keeps its meaning.
    pub(crate) fn add(&mut self, program: &Program) {
        for (name, data) in &program.types {
            let same = self.types.get(name).is_some_and(|ctors| {
                ctors.len() == data.ctors.len()
                    && ctors.iter().zip(&data.ctors).all(|(old, new)| old.name == new.name)
            });
            if same {
                continue;
            }
            let ctors = data.ctors.iter().enumerate();
            let ctors = ctors
                .map(|(index, ctor)| Rc::new(CtorInfo { data: *name, index: index as u32, name: ctor.name }));
            self.types.insert(*name, ctors.collect());
        }
        let mut replaced = false;
        for (name, def) in &program.defs {
            let old = self.defs.insert(*name, def.clone());
            replaced |= old.is_some_and(|old| !Arc::ptr_eq(&old, def));
        }
        if replaced {
            self.by_key.clear();
        }
    }

    /// The constructor at run time.
    pub(crate) fn ctor(&mut self, ctor: CtorRef) -> Rc<CtorInfo> {
        let known = self.types.get(&ctor.data).and_then(|ctors| ctors.get(ctor.index as usize));
        known
            .cloned()
            .unwrap_or_else(|| Rc::new(CtorInfo { data: ctor.data, index: ctor.index, name: ctor.name }))
    }

    /// The constructors of a data type.
    pub(crate) fn ctors(&self, data: Name) -> Option<&[Rc<CtorInfo>]> {
        self.types.get(&data).map(|ctors| &**ctors)
    }

    /// The instance of a definition, with how many arguments it takes (0 if it is no function).
    pub(crate) fn instance(
        &mut self,
        name: Name,
        args: &[TypeArg],
        scope: &NumScope,
    ) -> Option<(InstanceId, u32)> {
        let def = self.defs.get(&name)?;
        let nums = nums_of(&def.scheme.params, args, scope);
        let key = (name, nums);
        let id = match self.by_key.get(&key) {
            Some(id) => *id,
            None => {
                let arity = lambda_parameters(&def.body).0.len() as u32;
                let (def, state) = (Some(def.clone()), InstanceState::Fresh);
                let instance = Instance { def, nums: key.1.clone(), arity, state, codes: 0..0 };
                let id = InstanceId(self.instances.len() as u32);
                self.instances.push(instance);
                self.by_key.insert(key, id);
                id
            }
        };
        let arity = self.instances.get(id.0 as usize).map_or(0, |instance| instance.arity);
        Some((id, arity))
    }

    /// How far the instance is, after compiling it if need be.
    pub(crate) fn state(&mut self, id: InstanceId) -> &InstanceState {
        const NONE: &InstanceState = &InstanceState::Fresh;
        let fresh =
            self.instances.get(id.0 as usize).is_some_and(|i| matches!(i.state, InstanceState::Fresh));
        if fresh {
            self.compile(id);
        }
        self.instances.get(id.0 as usize).map_or(NONE, |instance| &instance.state)
    }

    /// Notes what became of an instance.
    pub(crate) fn set_state(&mut self, id: InstanceId, state: InstanceState) {
        if let Some(instance) = self.instances.get_mut(id.0 as usize) {
            instance.state = state;
        }
    }

    /// The user's name of an instance.
    pub(crate) fn name_of(&self, id: InstanceId) -> Name {
        let def = self.instances.get(id.0 as usize).and_then(|instance| instance.def.as_ref());
        def.map_or_else(|| Name::new("?"), |def| def.name)
    }

    /// Takes a definition away that no other mentions, and whose values are gone, with its code.
    pub(crate) fn forget(&mut self, name: Name) {
        self.defs.remove(&name);
        let gone: Vec<InstanceId> =
            self.by_key.extract_if(|(of, _), _| *of == name).map(|(_, id)| id).collect();
        for id in gone {
            let Some(instance) = self.instances.get_mut(id.0 as usize) else { continue };
            instance.def = None;
            instance.state = InstanceState::Fresh;
            let codes = std::mem::take(&mut instance.codes);
            self.codes.get_mut(codes).into_iter().flatten().for_each(|code| *code = None);
        }
    }

    /// How many definitions and pieces of code there are.
    pub(crate) fn kept(&self) -> usize {
        self.defs.len() + self.by_key.len() + self.codes.iter().flatten().count()
    }

    /// Definitions whose value was being computed when a run failed may be tried again.
    pub(crate) fn forget_running(&mut self) {
        for instance in &mut self.instances {
            if let InstanceState::Running(code) = &instance.state {
                instance.state = InstanceState::Constant(code.clone());
            }
        }
    }

    fn compile(&mut self, id: InstanceId) {
        let Some(instance) = self.instances.get(id.0 as usize) else { return };
        let Some(def) = instance.def.clone() else { return };
        let first = self.codes.len();
        let nums = num_params(&def.scheme.params)
            .zip(&instance.nums)
            .filter_map(|(i, num)| def.scheme.params.get(i).map(|param| (param.name, *num)))
            .collect();
        let (code, _) = Lowering::new(self, nums).definition(&def);
        let code = Rc::new(code);
        let codes = first..self.codes.len();
        if let Some(instance) = self.instances.get_mut(id.0 as usize) {
            instance.codes = codes;
        }
        let state = if code.arity > 0 {
            let captured = Rc::new(Fields::default());
            InstanceState::Function(code.clone(), Value::Fun(Rc::new(Fun::Closure { code, captured })))
        } else {
            InstanceState::Constant(code)
        };
        self.set_state(id, state);
    }

    /// A place for code that is not finished.
    pub(crate) fn reserve_code(&mut self) -> CodeId {
        self.codes.push(None);
        CodeId(self.codes.len() as u32 - 1)
    }

    /// Finished code.
    pub(crate) fn set_code(&mut self, id: CodeId, code: Rc<Code>) {
        if let Some(place) = self.codes.get_mut(id.0 as usize) {
            *place = Some(code);
        }
    }

    /// Finished code.
    pub(crate) fn code(&self, id: CodeId) -> Option<&Rc<Code>> {
        self.codes.get(id.0 as usize).and_then(Option::as_ref)
    }
}

/// Positions of the `Num` parameters of a scheme.
pub(crate) fn num_params(params: &[Param]) -> impl Iterator<Item = usize> {
    let is_num = |param: &Param| match &param.kind {
        Kind::Type(preds) => preds.contains(&Pred::Num),
        Kind::Row | Kind::Size => false,
    };
    params.iter().enumerate().filter(move |(_, param)| is_num(param)).map(|(i, _)| i)
}

/// What the `Num` parameters stand for at this instantiation.
pub(crate) fn nums_of(params: &[Param], args: &[TypeArg], scope: &NumScope) -> Nums {
    num_params(params).map(|i| args.get(i).map_or(NumType::Int, |arg| num_of(arg, scope))).collect()
}

/// The number type that is meant, `Int` if nothing says otherwise.
pub(crate) fn num_of(arg: &TypeArg, scope: &NumScope) -> NumType {
    match arg {
        TypeArg::Type(Type::Real) => NumType::Real,
        TypeArg::Type(Type::Var(name)) => scope.get(name).copied().unwrap_or(NumType::Int),
        TypeArg::Type(
            Type::Int
            | Type::Bool
            | Type::String
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Array(..)
            | Type::Fun(..)
            | Type::Data(..)
            | Type::Dual(_),
        )
        | TypeArg::Row(_)
        | TypeArg::Size(_) => NumType::Int,
    }
}
