//! How types are shown to the user: as they would write them, with short names for what is still open, the same name for
//! the same thing throughout one message.

use crate::ty::{
    Len, MetaId, MetaState, Rest, RigidId, RigidKind, RowId, RowState, RowTy, SizeId, SizeState, Store, Ty,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use wengert_base::Name;
use wengert_core::Pred;

/// Longer types are cut.
const MAX_CHARS: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Meta(MetaId),
    Row(RowId),
    Size(SizeId),
    Rigid(RigidId),
}

/// Where a type stands, for parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Top,
    /// Left of an arrow.
    Domain,
    /// An argument of a data type.
    Argument,
}

/// Shows the types of one message.
pub(crate) struct Shower<'s, 'a> {
    store: &'s Store<'a>,
    names: FxHashMap<Key, Name>,
    taken: FxHashSet<Name>,
}

impl<'s, 'a> Shower<'s, 'a> {
    pub(crate) fn new(store: &'s Store<'a>) -> Shower<'s, 'a> {
        Shower { store, names: FxHashMap::default(), taken: FxHashSet::default() }
    }

    /// The type as text.
    pub(crate) fn show(&mut self, ty: &Ty) -> String {
        let ty = self.store.shallow(ty);
        if let Ty::Meta(id) = &ty
            && let Some(MetaState::Open { preds, user: None, .. }) = self.store.metas.get(id.0 as usize)
            && preds.has(Pred::Num)
        {
            return "a number".into();
        }
        let mut text = String::new();
        self.write(&ty, Place::Top, &mut text);
        if text.len() > MAX_CHARS {
            let cut = text.char_indices().map(|(i, _)| i).nth(MAX_CHARS - 2).unwrap_or(text.len());
            text.truncate(cut);
            text.push('…');
        }
        format!("`{text}`")
    }

    fn write(&mut self, ty: &Ty, place: Place, out: &mut String) {
        if out.len() > MAX_CHARS {
            return;
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match self.store.shallow(ty) {
            Ty::Real => out.push_str("Real"),
            Ty::Int => out.push_str("Int"),
            Ty::Bool => out.push_str("Bool"),
            Ty::String => out.push_str("String"),
            Ty::Error => out.push('_'),
            Ty::Tuple(items) => {
                out.push('(');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.write(item, Place::Top, out);
                }
                out.push(')');
            }
            Ty::Record(row) => self.write_record(&row, out),
            Ty::Array(len, elem) => {
                out.push('[');
                self.write_size(len, out);
                out.push(']');
                self.write(&elem, Place::Argument, out);
            }
            Ty::Fun(from, to) => {
                let parens = place > Place::Top;
                out.push_str(if parens { "(" } else { "" });
                self.write(&from, Place::Domain, out);
                out.push_str(" -> ");
                self.write(&to, Place::Top, out);
                out.push_str(if parens { ")" } else { "" });
            }
            Ty::Data(name, args) => self.write_named(base_name(name), &args, place, out),
            Ty::Dual(inner) => self.write_named("Dual", std::slice::from_ref(&*inner), place, out),
            Ty::Meta(id) => out.push_str(self.name_meta(id).as_str()),
            Ty::Rigid(id) => out.push_str(self.name_rigid(id).as_str()),
        });
    }

    fn write_named(&mut self, name: &str, args: &[Ty], place: Place, out: &mut String) {
        let parens = place == Place::Argument && !args.is_empty();
        out.push_str(if parens { "(" } else { "" });
        out.push_str(name);
        for arg in args {
            out.push(' ');
            self.write(arg, Place::Argument, out);
        }
        out.push_str(if parens { ")" } else { "" });
    }

    fn write_record(&mut self, row: &RowTy, out: &mut String) {
        let flat = self.store.flat_row(row);
        out.push('{');
        for (index, (name, ty)) in flat.fields.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            let _ = write!(out, "{name} : ");
            self.write(ty, Place::Top, out);
        }
        let rest = match flat.rest {
            Rest::Closed | Rest::Error => None,
            Rest::Meta(id) => Some(self.name_row(id)),
            Rest::Rigid(id) => Some(self.name_rigid(id)),
        };
        if let Some(rest) = rest {
            let _ = write!(out, "{}| {rest}", if flat.fields.is_empty() { "" } else { " " });
        }
        out.push('}');
    }

    fn write_size(&mut self, len: Len, out: &mut String) {
        match self.store.shallow_size(len) {
            Len::Const(n) => {
                let _ = write!(out, "{n}");
            }
            Len::Unknown => {}
            Len::Rigid(id) => out.push_str(self.name_rigid(id).as_str()),
            Len::Meta(id) => {
                // A size nobody named says nothing.
                match self.store.sizes.get(id.0 as usize) {
                    Some(SizeState::Open { user: Some(user), .. }) => {
                        let name = user.name;
                        out.push_str(self.name(Key::Size(id), Some(name), "n").as_str());
                    }
                    Some(SizeState::Soft { len, .. }) => {
                        let _ = write!(out, "{len}");
                    }
                    Some(SizeState::Open { user: None, .. } | SizeState::Bound(_)) | None => {}
                }
            }
        }
    }

    fn name_meta(&mut self, id: MetaId) -> Name {
        let user = match self.store.metas.get(id.0 as usize) {
            Some(MetaState::Open { user: Some(user), .. }) => Some(user.name),
            Some(MetaState::Open { .. } | MetaState::Bound(_)) | None => None,
        };
        self.name(Key::Meta(id), user, "a")
    }

    fn name_row(&mut self, id: RowId) -> Name {
        let user = match self.store.rows.get(id.0 as usize) {
            Some(RowState::Open { user: Some(user), .. }) => Some(user.name),
            Some(RowState::Open { .. } | RowState::Bound(_)) | None => None,
        };
        self.name(Key::Row(id), user, "r")
    }

    /// The name of a parameter of a scheme.
    pub(crate) fn name_rigid(&mut self, id: RigidId) -> Name {
        let Some(rigid) = self.store.rigids.get(id.0 as usize) else { return Name::new("_") };
        let first = match rigid.kind {
            RigidKind::Type(_) => "a",
            RigidKind::Row => "r",
            RigidKind::Size => "n",
        };
        let wished = rigid.name.or(rigid.user.map(|user| user.name));
        self.name(Key::Rigid(id), wished, first)
    }

    fn name(&mut self, key: Key, wished: Option<Name>, first: &str) -> Name {
        if let Some(name) = self.names.get(&key) {
            return *name;
        }
        let users = |store: &Store<'_>, name: Name| {
            store.rigids.iter().filter_map(|rigid| rigid.user).any(|user| user.name == name)
        };
        let free = |name: &Name| !self.taken.contains(name);
        let name = wished
            .filter(free)
            .or_else(|| letters(first).find(|name| free(name) && !users(self.store, *name)))
            .unwrap_or_else(|| Name::new("_"));
        self.taken.insert(name);
        self.names.insert(key, name);
        name
    }
}

/// `a`, `b`, …, `z`, then `a1`, `b1`, …; from `first` on.
fn letters(first: &str) -> impl Iterator<Item = Name> {
    let start = first.bytes().next().unwrap_or(b'a');
    let round = move |offset: u32| {
        let letter = (start - b'a' + (offset % 26) as u8) % 26 + b'a';
        (char::from(letter), offset / 26)
    };
    (0..1_000_000).map(round).map(|(letter, round)| {
        Name::new(&if round == 0 { letter.to_string() } else { format!("{letter}{round}") })
    })
}

/// The name of a data type without its module.
pub(crate) fn base_name(qualified: Name) -> &'static str {
    let text = qualified.as_str();
    text.rsplit_once('.').map_or(text, |(_, name)| name)
}
