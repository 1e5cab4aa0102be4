//! Where a flat state keeps what a permutation of processes moves and renames.
//!
//! For one layout and one group of interchangeable processes, the state is divided into cells: bytes that stand once for each
//! process ([`Block`]), and numbers that may mean one of them, alone ([`Cell`] without strides), one for each process, or one for
//! each two. What is in none of them stays where it is.

use super::compiled::Native;
use super::layout::{ChannelAt, Layout, TemplateShape};
use super::program::Program;
use super::slots::{NumberFormat, Slots};
use preempt_model::symmetry::{Family, IdType, Interchangeable};
use std::sync::Arc;

/// Bytes without meaning for anybody else, once for each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Of the first process.
    pub at: usize,
    pub stride: usize,
    pub length: usize,
}

/// A number that may be an identity, or that belongs to two processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Of the first process.
    pub at: usize,
    /// None, one or two.
    pub strides: Vec<usize>,
    pub format: NumberFormat,
    pub id: Option<IdType>,
    /// In a channel: where its length is (of the first process's), how it is written, and which message this is. What is behind the
    /// last message is zero and means nobody.
    pub message: Option<(usize, NumberFormat, i32)>,
}

/// A group of processes in one layout.
#[derive(Debug)]
pub struct Cells {
    pub first: usize,
    pub count: usize,
    pub rotates: bool,
    /// Where those stand who start the processes: a state counts if they are done with it.
    starters: Vec<(usize, NumberFormat, Vec<bool>)>,
    /// Where each keeps its own number.
    numbers: Vec<Cell>,
    pub blocks: Vec<Block>,
    pub scalars: Vec<Cell>,
    pub vectors: Vec<Cell>,
    pub matrices: Vec<Cell>,
}

impl Cell {
    /// The number of the processes `row` and `column`, as far as it has strides for them.
    #[inline]
    pub fn offset(&self, row: usize, column: usize) -> usize {
        match *self.strides.as_slice() {
            [] => 0,
            [one] => row * one,
            [one, other, ..] => row * one + column * other,
        }
    }

    /// The process that it means.
    #[inline]
    pub fn meant(&self, state: &[u8], offset: usize, count: usize) -> Option<usize> {
        let id = self.id?;
        if let Some((length, format, number)) = self.message
            && format.read(state, length + offset) <= number
        {
            return None;
        }
        id.index(self.format.read(state, self.at + offset), count)
    }
}

impl Cells {
    /// Are all processes of the group there, with nobody who could still start one?
    #[inline]
    pub fn is_settled(&self, state: &[u8]) -> bool {
        self.starters
            .iter()
            .all(|(at, format, done)| done.get(format.read(state, *at) as usize).copied().unwrap_or(false))
            && self.numbers.iter().all(|cell| {
                (0..self.count).all(|k| cell.meant(state, cell.offset(k, 0), self.count) == Some(k))
            })
    }

    fn new(program: &Program, layout: &Layout, group: &Interchangeable) -> Option<Cells> {
        let shape = &program.shape;
        let members = group.first..group.first + group.count;
        let is_member = |process: usize| members.contains(&process);
        // All of them, and nobody else executes their code.
        let of_code = |process: usize| layout.codes[process] == group.code;
        if layout.codes.len() < members.end || (0..layout.codes.len()).any(|it| of_code(it) != is_member(it))
        {
            return None;
        }
        let base = layout.bases[group.first] as usize;
        let segment = shape.code(group.code).size as usize;
        let starters = group.starters.iter().map(|(pid, done)| {
            let code = shape.code(*layout.codes.get(*pid)?);
            let last = done.last().map_or(0, |last| last.0 as usize + 1);
            let is_done = (0..last).map(|at| done.contains(&preempt_model::LocationId(at as u32))).collect();
            Some((layout.bases[*pid] as usize, code.location, is_done))
        });
        let mut found = Collected { group, blocks: Vec::new(), cells: Vec::new() };
        let starters = starters.collect::<Option<Vec<_>>>()?;
        found.variables(&shape.globals, 0, &group.globals, None)?;
        for (process, (code, at)) in layout.codes.iter().zip(&layout.bases).enumerate() {
            let families = &group.locals[usize::from(code.0)];
            match is_member(process) {
                true if process == group.first => {
                    let own = shape.code(*code);
                    found.block(base, usize::from(own.location.bytes), Some(segment));
                    found.variables(&own.locals, base, families, Some(segment))?;
                    for ChannelAt { template, offset } in &own.channels {
                        let (at, shape) = (base + *offset as usize, shape.template(*template));
                        found.channel(at, shape, &group.fields[usize::from(template.0)], Some(segment));
                    }
                }
                true => {}
                false => found.variables(&shape.code(*code).locals, *at as usize, families, None)?,
            }
        }
        let own = shape.code(group.code).channels.len();
        let channels = layout.channel_offsets.iter().zip(&layout.channel_templates).enumerate();
        for (number, (offset, template)) in channels {
            let (at, shape) = (*offset as usize, shape.template(*template));
            if own > 0 && (base..base + segment * group.count).contains(&at) {
                continue;
            }
            let number = number as i32 + 1;
            let family = group.channels.iter().find_map(|id| id.index(number, group.count).map(|k| (*id, k)));
            let stride = match family {
                Some((_, k)) if k > 0 => continue,
                Some((id, _)) => {
                    let place = |k: usize| {
                        let index = usize::try_from(id.value(k)).ok()?.checked_sub(1)?;
                        let alike = layout.channel_templates.get(index) == Some(template);
                        layout.channel_offsets.get(index).filter(|_| alike).map(|at| *at as usize)
                    };
                    let stride = place(1)?.checked_sub(place(0)?)?;
                    (0..group.count).all(|k| place(k) == Some(at + k * stride)).then_some(())?;
                    Some(stride)
                }
                None => None,
            };
            found.channel(at, shape, &group.fields[usize::from(template.0)], stride);
        }
        let locals = &shape.code(group.code).locals;
        let numbers = group.numbers.iter().map(|(slot, id)| {
            let (slot, id) = (*slot as usize, Some(*id));
            let (at, format) = (base + *locals.offsets.get(slot)? as usize, *locals.formats.get(slot)?);
            Some(Cell { at, strides: vec![segment], format, id, message: None })
        });
        let numbers = numbers.collect::<Option<Vec<_>>>()?;
        Some(Cells { starters, numbers, ..found.into_cells() })
    }
}

/// Cells that were found so far.
struct Collected<'g> {
    group: &'g Interchangeable,
    blocks: Vec<Block>,
    cells: Vec<Cell>,
}

impl Collected<'_> {
    /// Bytes that stay as they are; neighbours are one block.
    fn block(&mut self, at: usize, length: usize, stride: Option<usize>) {
        let Some(stride) = stride.filter(|_| length > 0) else { return };
        match self.blocks.last_mut() {
            Some(last)
                if last.stride == stride && last.at + last.length == at && last.length + length <= stride =>
            {
                last.length += length;
            }
            _ => self.blocks.push(Block { at, stride, length }),
        }
    }

    /// `None` if what belongs together does not lie evenly.
    fn variables(
        &mut self,
        slots: &Slots,
        base: usize,
        families: &[Family],
        segment: Option<usize>,
    ) -> Option<()> {
        for family in families {
            let origin = family.origin as usize;
            let place = |slot: usize| slots.offsets.get(slot).map(|at| *at as usize);
            let (at, format) = (place(origin)?, *slots.formats.get(origin)?);
            let mut strides: Vec<usize> = segment.into_iter().collect();
            for axis in &family.axes {
                let stride = place(origin + *axis as usize)?.checked_sub(at)?;
                let even = (0..self.group.count).all(|k| {
                    let slot = origin + k * *axis as usize;
                    place(slot) == Some(at + k * stride) && slots.formats.get(slot) == Some(&format)
                });
                even.then_some(())?;
                strides.push(stride);
            }
            let at = base + at;
            match (strides.as_slice(), family.holds) {
                ([], None) => {}
                ([stride], None) => self.block(at, usize::from(format.bytes), Some(*stride)),
                ([] | [_] | [_, _], id) => self.cells.push(Cell { at, strides, format, id, message: None }),
                _ => return None,
            }
        }
        Some(())
    }

    fn channel(
        &mut self,
        at: usize,
        template: &TemplateShape,
        fields: &[Option<IdType>],
        stride: Option<usize>,
    ) {
        if template.capacity == 0 {
            return;
        }
        let header = usize::from(template.length.bytes);
        self.block(at, header, stride);
        for number in 0..template.capacity as usize {
            for ((format, offset), id) in template.fields.iter().zip(fields) {
                let place = at + header + number * template.message as usize + *offset as usize;
                match id {
                    None => self.block(place, usize::from(format.bytes), stride),
                    Some(_) => self.cells.push(Cell {
                        at: place,
                        strides: stride.into_iter().collect(),
                        format: *format,
                        id: *id,
                        message: Some((at, template.length, number as i32)),
                    }),
                }
            }
        }
    }

    fn into_cells(self) -> Cells {
        let of = |axes: usize| self.cells.iter().filter(|it| it.strides.len() == axes).cloned().collect();
        Cells {
            first: self.group.first,
            count: self.group.count,
            rotates: self.group.rotates,
            starters: Vec::new(),
            numbers: Vec::new(),
            scalars: of(0),
            vectors: of(1),
            matrices: of(2),
            blocks: self.blocks,
        }
    }
}

/// The cells of every group, by layout, as far as they were asked for.
#[derive(Clone)]
pub struct CellsByLayout {
    program: Arc<Program>,
    groups: Arc<[Interchangeable]>,
    known: Vec<Option<Arc<[Option<Cells>]>>>,
}

impl CellsByLayout {
    /// Those of a state, by group; none where a group is not complete.
    #[inline]
    pub fn of(&mut self, state: &[u8]) -> Arc<[Option<Cells>]> {
        let number = usize::from(u16::from_le_bytes([state[0], state[1]]));
        if let Some(Some(known)) = self.known.get(number) {
            return Arc::clone(known);
        }
        let layout = self.program.layouts.get(number as u16);
        let cells = self.groups.iter().map(|group| Cells::new(&self.program, layout, group));
        let cells: Arc<[Option<Cells>]> = cells.collect();
        self.known.resize(self.known.len().max(number + 1), None);
        self.known[number] = Some(Arc::clone(&cells));
        cells
    }
}

impl Native<'_> {
    /// What these groups move in each state.
    pub(crate) fn cells(&self, groups: Arc<[Interchangeable]>) -> CellsByLayout {
        CellsByLayout { program: Arc::clone(&self.program), groups, known: Vec::new() }
    }
}
