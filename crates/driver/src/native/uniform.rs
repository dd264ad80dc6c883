//! Values of the uniform type, which stands for the parameters of declared types that hold themselves at larger and larger arguments.

use super::Form;
use wengert_core::Type;
use wengert_engine::{Head, Layout};
use wengert_interp::{Value, View};
use wengert_ir::DataId;
use wengert_ir::eval::{Node, Value as Flat};

impl Form<'_> {
    /// Whether that is the uniform type.
    pub(super) fn is_uniform(&self, data: DataId) -> bool {
        self.uniform.as_ref().is_some_and(|(uniform, _)| *uniform == data)
    }

    /// A value in the constructor of the uniform type that says what it is.
    pub(super) fn uniform_node(&self, value: &Value, data: DataId) -> Flat {
        let is = |head: &Head| match (head, value.view()) {
            (Head::Real, View::Real(_))
            | (Head::Int, View::Int(_))
            | (Head::Bool, View::Bool(_))
            | (Head::Text, View::String(_))
            | (Head::Array, View::Array(_))
            | (Head::Dual, View::Dual(_)) => true,
            (Head::Tuple(count), View::Tuple(items)) => items.len() == *count,
            (Head::Record(names), View::Record(fields)) => {
                names.iter().eq(fields.iter().map(|(name, _)| name))
            }
            (Head::Data(name), _) => matches!(value, Value::Data(data) if data.ctor.data == *name),
            (_, _) => false,
        };
        let found = self.uniform.as_ref().and_then(|(_, heads)| heads.iter().position(is));
        let mut flat = Vec::new();
        if let Some([layout]) = found.and_then(|ctor| self.layouts(data, ctor)).map(Vec::as_slice) {
            match (value.view(), layout) {
                // A record with one field is that field.
                (View::Record(fields), Layout::Data(_)) => {
                    fields.iter().for_each(|(_, field)| self.flatten(field, layout, &mut flat));
                }
                (_, layout) => self.flatten(value, layout, &mut flat),
            }
        }
        Flat::data(found.and_then(|ctor| u32::try_from(ctor).ok()).unwrap_or_default(), flat)
    }

    /// The value of that type that is held by a constructor of the uniform type.
    pub(super) fn held(&mut self, node: &Node, data: DataId, ty: &Type) -> Value {
        let layout = self.layouts(data, node.ctor as usize).and_then(|of| of.first()).cloned();
        layout.map_or(Value::Bool(false), |layout| self.value(node.fields(), &layout, ty))
    }
}
