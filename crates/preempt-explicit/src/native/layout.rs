//! A state as a flat byte vector.
//!
//! First the number of the layout (two bytes), if the model asks for it who moved last, and where an observer stands if
//! there is one; then the globals and the
//! channels that exist from the beginning; then one segment for each living process: location, priority (if the
//! model has any), locals, own channels. Processes start and end at the back, so starting one appends a segment and
//! ending one removes the last: everything before it stays where it is.
//!
//! A *layout* says for one list of living processes where each segment and each channel lies. Layouts are numbered
//! as they are met. Hidden variables are not part of a state: while a step is computed they lie before its bytes.

use super::own_elements::own_elements;
use super::slots::{NumberFormat, ScopeFacts, Slots, is_in, lay_out, places};
use crate::Unsupported;
use crate::reduction::dependence::fixed_parameters;
use crate::saved::{damaged, read_below, write_u64};
use preempt_model::interpreter::{MAX_CHANNELS, MAX_PROCESSES};
use preempt_model::{CodeId, Expr, Init, Model, Scope, TemplateId};
use std::io::{Read, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of the layout's number.
pub const LAYOUT_BYTES: usize = 2;

/// Another one if states of the same model are laid out in another way: then what was saved cannot be read.
pub const LAYOUT_VERSION: u8 = 3;

/// Bytes of an observer's place.
pub const OBSERVER_BYTES: usize = 2;

/// A message with more fields than this is left to the interpreter.
pub const MAX_FIELDS: usize = 64;

/// What all layouts of a model have in common.
#[derive(Debug)]
pub struct Shape {
    pub last: Option<u32>,
    /// Two bytes for the observer's place.
    pub observer: Option<u32>,
    pub globals: Slots,
    pub hidden: Slots,
    pub global_channels: Vec<ChannelAt>,
    /// Bytes before the first process.
    pub prefix: u32,
    pub codes: Vec<CodeShape>,
    pub templates: Vec<TemplateShape>,
    pub largest_segment: u32,
}

/// A channel and where it lies, from the beginning of its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelAt {
    pub template: TemplateId,
    pub offset: u32,
}

#[derive(Debug)]
pub struct CodeShape {
    /// At the beginning of the segment.
    pub location: NumberFormat,
    pub priority: Option<u32>,
    pub locals: Slots,
    pub channels: Vec<ChannelAt>,
    pub size: u32,
}

/// A channel: its length, then its messages from the oldest on; what is not used is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateShape {
    pub capacity: u32,
    pub length: NumberFormat,
    /// Within a message.
    pub fields: Vec<(NumberFormat, u32)>,
    pub message: u32,
    pub size: u32,
}

impl Shape {
    /// `conditions`: what an observer reads, if there is one.
    pub fn new(model: &Model, conditions: Option<&[Expr]>) -> Result<Shape, Unsupported> {
        let templates = model
            .templates
            .iter()
            .map(|template| {
                if template.fields.len() > MAX_FIELDS {
                    return Err(Unsupported(format!("a message with more than {MAX_FIELDS} fields")));
                }
                Ok(template_shape(
                    template.capacity,
                    template.fields.iter().map(|ty| NumberFormat::for_type(*ty)),
                ))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let all = places(model, conditions.unwrap_or(&[]));
        let in_scope =
            |scope| all.iter().filter(move |(_, place)| is_in(place, scope)).map(|(_, place)| *place);
        let inits = |wanted: bool| {
            let is_wanted = move |init: &&Init| match init {
                Init::Set { hidden, .. } | Init::Channel { hidden, .. } => *hidden == wanted,
            };
            model.init.iter().filter(is_wanted).collect::<Vec<_>>()
        };
        let last = model.remembers_last.then_some(LAYOUT_BYTES as u32);
        let observer = conditions.map(|_| LAYOUT_BYTES as u32 + u32::from(model.remembers_last));
        let observer_bytes = if observer.is_some() { OBSERVER_BYTES as u32 } else { 0 };
        let start = LAYOUT_BYTES as u32 + u32::from(model.remembers_last) + observer_bytes;
        let globals = lay_out(
            &ScopeFacts {
                slots: model.global_slots,
                variables: &model.globals,
                parameters: &[],
                inits: inits(false),
                places: in_scope(Scope::Global).collect(),
                fixed: Vec::new(),
                rows: own_elements(model),
            },
            start,
        );
        let hidden = lay_out(
            &ScopeFacts {
                slots: model.hidden_slots,
                variables: &model.hidden,
                parameters: &[],
                inits: inits(true),
                places: in_scope(Scope::Hidden).collect(),
                fixed: Vec::new(),
                rows: Vec::new(),
            },
            0,
        );
        let mut prefix = start + globals.size;
        let global_channels = channels(&model.init, &templates, &mut prefix);
        if global_channels.len() > MAX_CHANNELS {
            return Err(Unsupported(format!("more than {MAX_CHANNELS} channels")));
        }
        let codes: Vec<CodeShape> = model
            .codes
            .iter()
            .enumerate()
            .map(|(number, _)| {
                let own = all.iter().filter(|(owner, place)| *owner == number && is_in(place, Scope::Local));
                let places = own.map(|(_, place)| *place).collect();
                code_shape(model, CodeId(number as u16), places, &templates)
            })
            .collect();
        let largest_segment = codes.iter().map(|code| code.size).max().unwrap_or(0);
        if u64::from(prefix) + u64::from(largest_segment) * MAX_PROCESSES as u64 > 1 << 24 {
            return Err(Unsupported("states of more than 16 megabytes".into()));
        }
        Ok(Shape {
            last,
            observer,
            globals,
            hidden,
            global_channels,
            prefix,
            codes,
            templates,
            largest_segment,
        })
    }

    pub fn code(&self, code: CodeId) -> &CodeShape {
        &self.codes[usize::from(code.0)]
    }

    pub fn template(&self, template: TemplateId) -> &TemplateShape {
        &self.templates[usize::from(template.0)]
    }
}

fn code_shape<'m>(
    model: &'m Model,
    id: CodeId,
    places: Vec<&'m preempt_model::Place>,
    templates: &[TemplateShape],
) -> CodeShape {
    let code = model.code(id);
    let location = NumberFormat::for_numbers_below(code.locations.len());
    let mut at = u32::from(location.bytes);
    let priority = model.has_priorities.then_some(at);
    at += u32::from(model.has_priorities);
    let facts = ScopeFacts {
        slots: code.slots,
        variables: &code.variables,
        parameters: &code.parameters,
        inits: code.init.iter().collect(),
        places,
        fixed: fixed_parameters(model, id),
        rows: Vec::new(),
    };
    let locals = lay_out(&facts, at);
    at += locals.size;
    let channels = channels(&code.init, templates, &mut at);
    CodeShape { location, priority, locals, channels, size: at }
}

fn template_shape(capacity: u32, formats: impl Iterator<Item = NumberFormat>) -> TemplateShape {
    let length = NumberFormat::for_numbers_below(capacity as usize + 1);
    let mut message = 0;
    let fields = formats
        .map(|format| {
            message += u32::from(format.bytes);
            (format, message - u32::from(format.bytes))
        })
        .collect();
    let header = if capacity == 0 { 0 } else { u32::from(length.bytes) };
    TemplateShape {
        capacity,
        length,
        fields,
        message,
        size: header.saturating_add(capacity.saturating_mul(message)),
    }
}

fn channels(inits: &[Init], templates: &[TemplateShape], at: &mut u32) -> Vec<ChannelAt> {
    let made = inits.iter().filter_map(|init| match init {
        Init::Channel { template, .. } => Some(*template),
        Init::Set { .. } => None,
    });
    made.map(|template| {
        let offset = *at;
        *at = at.saturating_add(templates[usize::from(template.0)].size);
        ChannelAt { template, offset }
    })
    .collect()
}

/// Where everything lies, for one list of living processes.
#[derive(Debug)]
pub struct Layout {
    pub number: u16,
    pub codes: Vec<CodeId>,
    /// Where each process's segment begins.
    pub bases: Vec<u32>,
    pub size: u32,
    pub channel_offsets: Vec<u32>,
    pub channel_templates: Vec<TemplateId>,
    /// Without its last process.
    parent: u16,
    /// With one process more, by its code, as far as they were met.
    children: Box<[OnceLock<u16>]>,
}

/// Why there is no layout with one process more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// As many processes or channels as a state can have: by the definition, starting one more is a run-time error.
    State,
    /// More layouts than can be numbered.
    Numbers,
}

impl From<Full> for Unsupported {
    fn from(full: Full) -> Unsupported {
        Unsupported(match full {
            Full::State => format!("more than {MAX_PROCESSES} processes or {MAX_CHANNELS} channels"),
            Full::Numbers => "more than 65535 sets of living processes".into(),
        })
    }
}

/// All layouts met so far. They are never moved and never changed, so that running code may point at them while others are
/// added, by whatever thread.
#[derive(Debug)]
pub struct Layouts {
    /// Without processes.
    empty: Layout,
    /// All others by their numbers, [`CHUNK`] together.
    chunks: Box<[OnceLock<Chunk>]>,
    /// How many there are, the empty one included. Whoever adds one holds the lock.
    count: Mutex<usize>,
}

type Chunk = Box<[OnceLock<Layout>]>;

const CHUNK: usize = 256;

impl Layouts {
    pub fn new(shape: &Shape) -> Layouts {
        let empty = Layout {
            number: 0,
            codes: Vec::new(),
            bases: Vec::new(),
            size: shape.prefix,
            channel_offsets: shape.global_channels.iter().map(|channel| channel.offset).collect(),
            channel_templates: shape.global_channels.iter().map(|channel| channel.template).collect(),
            parent: 0,
            children: children(shape),
        };
        Layouts { empty, chunks: (0..CHUNK).map(|_| OnceLock::new()).collect(), count: Mutex::new(1) }
    }

    /// A number that was given, or 0.
    #[inline]
    pub fn get(&self, number: u16) -> &Layout {
        self.known(number.into()).unwrap_or(&self.empty)
    }

    /// `None` if there is no such number.
    #[inline]
    pub fn known(&self, number: u32) -> Option<&Layout> {
        if number == 0 {
            return Some(&self.empty);
        }
        let chunk = self.chunks.get(number as usize / CHUNK)?.get()?;
        chunk[number as usize % CHUNK].get()
    }

    #[inline]
    pub fn of_state(&self, state: &[u8]) -> &Layout {
        self.get(u16::from_le_bytes([state[0], state[1]]))
    }

    pub fn without_last(&self, number: u16) -> &Layout {
        self.get(self.get(number).parent)
    }

    pub fn with_one_more(&self, shape: &Shape, number: u16, code: CodeId) -> Result<&Layout, Full> {
        let parent = self.get(number);
        if let Some(child) = parent.children[usize::from(code.0)].get() {
            return Ok(self.get(*child));
        }
        let own = shape.code(code);
        let channels = parent.channel_offsets.len() + own.channels.len();
        if parent.codes.len() >= MAX_PROCESSES || channels > MAX_CHANNELS {
            return Err(Full::State);
        }
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = parent.children[usize::from(code.0)].get() {
            return Ok(self.get(*child));
        }
        let child = u16::try_from(*count).map_err(|_| Full::Numbers)?;
        let mut layout = Layout {
            number: child,
            codes: parent.codes.clone(),
            bases: parent.bases.clone(),
            size: parent.size + own.size,
            channel_offsets: parent.channel_offsets.clone(),
            channel_templates: parent.channel_templates.clone(),
            parent: number,
            children: children(shape),
        };
        layout.codes.push(code);
        layout.bases.push(parent.size);
        layout.channel_offsets.extend(own.channels.iter().map(|channel| parent.size + channel.offset));
        layout.channel_templates.extend(own.channels.iter().map(|channel| channel.template));
        let chunk = self.chunks[*count / CHUNK].get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
        let layout = chunk[*count % CHUNK].get_or_init(|| layout);
        *count += 1;
        Ok(self.get(*parent.children[usize::from(code.0)].get_or_init(|| layout.number)))
    }

    /// Each layout by the one without its last process, and that process's code.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), std::io::Error> {
        let count = *self.count.lock().unwrap_or_else(PoisonError::into_inner);
        write_u64(out, count as u64 - 1)?;
        for layout in (1..count as u32).filter_map(|number| self.known(number)) {
            let code = layout.codes.last().map_or(0, |code| code.0);
            write_u64(out, u64::from(layout.parent) << 16 | u64::from(code))?;
        }
        Ok(())
    }

    /// Numbers the layouts as they were; those met already keep their numbers.
    pub fn restore(&self, shape: &Shape, input: &mut dyn Read) -> Result<(), std::io::Error> {
        for number in 1..=read_below(input, 1 << 16)? {
            let packed = read_below(input, 1 << 32)?;
            let (parent, code) = ((packed >> 16) as u16, CodeId(packed as u16));
            let known = self.known(parent.into()).is_some() && usize::from(code.0) < shape.codes.len();
            let layout = if known { self.with_one_more(shape, parent, code).ok() } else { None };
            if layout.is_none_or(|layout| u64::from(layout.number) != number) {
                return Err(damaged("its sets of processes are not those of the model"));
            }
        }
        Ok(())
    }
}

fn children(shape: &Shape) -> Box<[OnceLock<u16>]> {
    shape.codes.iter().map(|_| OnceLock::new()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Full, Layouts, Shape};
    use preempt_model::CodeId;

    /// How many processes of the first code there can be.
    fn room(text: &str) -> usize {
        let additions = preempt_promela::Additions::default();
        let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
        let shape = Shape::new(&loaded.model.expect("a model"), None).expect("it is small");
        let layouts = Layouts::new(&shape);
        let mut last = 0;
        let full = loop {
            match layouts.with_one_more(&shape, last, CodeId(0)) {
                Ok(layout) => last = layout.number,
                Err(full) => break full,
            }
        };
        assert_eq!(full, Full::State, "{text}");
        layouts.get(last).codes.len()
    }

    #[test]
    fn as_many_as_a_byte_numbers() {
        assert_eq!(room("active proctype P() { 0 }"), 255);
        assert_eq!(room("active proctype P() { chan c = [1] of { byte }; 0 }"), 255);
        assert_eq!(room("active proctype P() { chan c[2] = [1] of { byte }; 0 }"), 127);
        assert_eq!(
            room("chan g = [1] of { byte }; active proctype P() { chan c[127] = [0] of { byte }; 0 }"),
            2
        );
        assert_eq!(
            room("chan g[2] = [1] of { byte }; active proctype P() { chan c[127] = [0] of { byte }; 0 }"),
            1
        );
    }
}
