//! Files that are written: whole or not at all.
//!
//! A file is written beside its name and takes that name when it is complete and on the disk. So whatever happens (a full
//! disk, a limit, a signal, `kill -9`), under the name stands what stood there before, or the new file. What is no
//! ordinary file (a pipe, a terminal, `/dev/null`) has no place beside it, and is written to as it is.

use crate::console::Failure;
use crate::job;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Writes the file, or leaves everything as it was.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, &mut |out| out.write_all(text.as_bytes())).map_err(|error| cannot_write(path, &error))
}

/// As [`write`], for what is not one text.
pub fn replace(path: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let _saving = job::current().saving();
    match Place::of(path)? {
        Place::Stream => {
            let mut out = BufWriter::new(OpenOptions::new().append(true).open(path)?);
            write(&mut out)?;
            out.flush()
        }
        Place::Ordinary(target) => {
            let temporary = Temporary::beside(&target)?;
            if let Ok(old) = target.metadata() {
                let _ = temporary.file.set_permissions(old.permissions());
            }
            let mut out = BufWriter::new(&temporary.file);
            write(&mut out)?;
            out.flush()?;
            drop(out);
            temporary.file.sync_all()?;
            temporary.becomes(&target)
        }
    }
}

/// Asked before a search, which may take hours: what can be known of a file that is to be written. None of them may be the
/// model itself or another one.
pub fn could_be_written<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let mut taken: Vec<PathBuf> = inputs.iter().filter_map(|path| real(path)).collect();
    for path in outputs {
        let place = Place::of(path).map_err(|error| cannot_write(path, &error))?;
        let Place::Ordinary(target) = place else { continue };
        if taken.contains(&target) {
            return Err(Failure::new(format!("`{}` is read or written already", path.display()))
                .hint("give every file a name of its own"));
        }
        Temporary::beside(&target).map_err(|error| cannot_write(path, &error))?;
        taken.push(target);
    }
    Ok(())
}

/// Can what is written under this name be read again?
pub fn keeps(path: &Path) -> bool {
    matches!(Place::of(path), Ok(Place::Ordinary(_)))
}

pub fn cannot_write(path: &Path, why: &io::Error) -> Failure {
    let why = match why.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => why.to_string(),
    };
    Failure::new(format!("cannot write to `{}`: {why}", path.display()))
}

/// Where what is written under a name goes.
#[derive(Debug)]
enum Place {
    /// A file in a folder, or a name for one; links have been followed.
    Ordinary(PathBuf),
    /// A pipe, a terminal, a device, or an open file by its number.
    Stream,
}

impl Place {
    fn of(path: &Path) -> io::Result<Place> {
        let trouble = |kind, why: &str| Err(io::Error::new(kind, why));
        let ends_in_a_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !ends_in_a_folder) else {
            return trouble(io::ErrorKind::IsADirectory, "this is no name of a file");
        };
        // `/dev/stdout` may lead to an ordinary file, in which others write too.
        let is_open = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
        match path.metadata() {
            Ok(file) if file.is_dir() => trouble(io::ErrorKind::IsADirectory, "it is a directory"),
            Ok(file) if is_open || !file.is_file() => Ok(Place::Stream),
            Ok(_) => {
                OpenOptions::new().write(true).open(path)?;
                path.canonicalize().map(Place::Ordinary)
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Err(_) if path.is_symlink() => trouble(io::ErrorKind::NotFound, "it is a link to nothing"),
            Err(_) => {
                let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = parent.unwrap_or(Path::new("."));
                match folder.canonicalize() {
                    Ok(real) if real.is_dir() => Ok(Place::Ordinary(real.join(name))),
                    _ => trouble(
                        io::ErrorKind::NotFound,
                        &format!("there is no directory `{}`", folder.display()),
                    ),
                }
            }
        }
    }
}

/// How long another command may take to write the same file.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is half written now, so that whoever ends the process can remove it.
static HALF_WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is half written. To be followed by the end of the process.
pub fn remove_temporaries() {
    for path in HALF_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = std::fs::remove_file(path);
    }
}

/// A file beside the one that it is to become. It is removed if it did not.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    /// Locked until it has another name or none, so that nobody else takes it for theirs.
    file: File,
    /// From then on the name may be another command's.
    renamed: bool,
}

impl Temporary {
    /// Its name follows from the target's, so that what a killed command left is used again. The lock is for two commands
    /// with the same target.
    fn beside(target: &Path) -> io::Result<Temporary> {
        let path = target.with_file_name(temporary_name(target));
        let since = Instant::now();
        let file = loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            // Whoever had the lock before may have renamed what was opened here.
            if !is_taken && is_named(&file, &path) {
                break file;
            }
            if since.elapsed() > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another command is writing it"));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        HALF_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        let temporary = Temporary { path, file, renamed: false };
        temporary.file.set_len(0)?;
        Ok(temporary)
    }

    fn becomes(mut self, target: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, target)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = std::fs::remove_file(&self.path);
        }
        HALF_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
    }
}

/// Is the open file still the one under this name?
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |it: std::fs::Metadata| (it.dev(), it.ino());
    file.metadata().is_ok_and(|one| path.metadata().is_ok_and(|other| number(one) == number(other)))
}

#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> bool {
    true
}

/// `.run.json.preempt`; a name that would be too long for that is told apart by a number made from it.
fn temporary_name(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    let mut own = OsString::from(".");
    if name.len() <= 200 {
        own.push(name);
    } else {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        own.push(format!("{:016x}", hasher.finish()));
    }
    own.push(".preempt");
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("preempt-files-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_is_written_whole_or_stays_what_it_was() {
        let folder = folder("whole");
        let path = folder.join("run.json");
        write(&path, "one").expect("it can be written");
        let failed = replace(&path, &mut |out| {
            out.write_all(&vec![b'x'; 1 << 20])?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "one");
        write(&path, "two").expect("it can be written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "two");
        assert_eq!(names(&folder), ["run.json"]);
        let long = folder.join("n".repeat(255));
        write(&long, "three").expect("the longest name that there can be");
        assert_eq!(names(&folder).len(), 2);
        std::fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = folder("before");
        let (model, one) = (folder.join("model.pml"), folder.join("one"));
        std::fs::write(&model, "init { skip }").expect("it can be written");
        let nowhere = folder.join("nowhere/run.json");
        let asked = |outputs: &[&Path]| could_be_written(outputs.iter().copied(), &[&model]);
        assert_eq!(asked(&[&one, Path::new("/dev/null")]), Ok(()));
        let message = |outputs: &[&Path]| asked(outputs).expect_err("it cannot be written").message;
        assert!(message(&[&nowhere]).contains("there is no directory"));
        assert!(message(&[&folder]).contains("it is a directory"));
        assert!(message(&[&folder.join("..")]).contains("cannot write"));
        assert!(message(&[&folder.join("one/")]).contains("no name of a file"));
        assert!(message(&[&one, &one]).contains("already"));
        assert!(message(&[&model]).contains("already"));
        assert_eq!(names(&folder), ["model.pml"]);
        std::fs::remove_dir_all(folder).expect("it can be removed");
    }

    /// Whoever comes last has written the file, and nobody a part of it.
    #[test]
    fn several_may_write_the_same_file() {
        let folder = folder("same");
        let path = folder.join("run.json");
        std::thread::scope(|scope| {
            for letter in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || write(path, &letter.repeat(100_000)).expect("it can be written"));
            }
        });
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(text.len() == 100_000 && text.bytes().all(|byte| byte == text.as_bytes()[0]));
        assert_eq!(names(&folder), ["run.json"]);
        std::fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("links");
        let (real, link) = (folder.join("real"), folder.join("link"));
        write(&real, "one").expect("it can be written");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("its own file");
        symlink(&real, &link).expect("a link");
        write(&link, "two").expect("it can be written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).expect("it is there"), "two");
        assert_eq!(real.metadata().expect("it is there").permissions().mode() & 0o777, 0o640);
        std::fs::remove_dir_all(folder).expect("it can be removed");
    }
}
