//! Files for a search that outgrows its memory. They have no name as soon as they are open, where the system allows that, and else
//! until they are closed: whatever ends the command, they are gone.

use crate::console::Failure;
use crate::input;
use preempt_workbench::{Scratch, ScratchFile};
use std::fs::{File, OpenOptions};
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder in which such files are made.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    made: AtomicU64,
}

impl Folder {
    /// The folder is made if it is not there. One that cannot be used is told before the search begins.
    pub fn open(path: &Path) -> std::result::Result<Arc<dyn Scratch>, Failure> {
        let folder = Folder { path: path.to_path_buf(), made: AtomicU64::new(0) };
        std::fs::create_dir_all(path).and_then(|()| folder.file()).map_err(|error| {
            Failure::new(format!("cannot write files in `{}`: {}", path.display(), input::reason(&error)))
        })?;
        Ok(Arc::new(folder))
    }
}

impl Scratch for Folder {
    fn file(&self) -> Result<Box<dyn ScratchFile>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(format!(".preempt-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let left = std::fs::remove_file(&path).err().map(|_| path);
        Ok(Box::new(Unnamed { file: Mutex::new(file), left }))
    }
}

struct Unnamed {
    file: Mutex<File>,
    /// Where it is if it could not be removed while it is open.
    left: Option<PathBuf>,
}

impl Unnamed {
    fn at(&self, at: u64, work: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        work(&mut file)
    }
}

impl ScratchFile for Unnamed {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.at(at, |file| file.write_all(bytes))
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.at(at, |file| file.read_exact(buffer))
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(path) = &self.left {
            let _ = std::fs::remove_file(path);
        }
    }
}
