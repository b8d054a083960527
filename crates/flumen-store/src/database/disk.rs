//! A disk for tests that fills up, fails and loses power.

use std::{io, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use redb::StorageBackend;

use super::{Content, Database, builder, prepare};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<Device>>);

#[derive(Debug, Default)]
struct Device {
    content: Vec<u8>,
    /// The content as it was flushed last.
    flushed: Vec<u8>,
    /// What was written since then.
    written: Vec<(usize, Vec<u8>)>,
    flushes: u32,
    fault: Option<Fault>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Nothing can be written.
    Full,
    /// Everything is written, but the disk does not say so.
    Silent,
    /// After so many more writes and flushes nothing works.
    Off(u32),
}

impl Disk {
    pub(crate) fn open(&self) -> (Database, Content) {
        let disk = self.clone();
        let opener = move || prepare(builder().create_with_backend(disk.clone())?);
        Database::with(Box::new(opener)).expect("opens")
    }

    pub(crate) fn set(&self, fault: Option<Fault>) {
        self.device().fault = fault;
    }

    /// How often somebody has waited for the disk.
    pub(crate) fn flushes(&self) -> u32 {
        self.device().flushes
    }

    pub(crate) fn erase(&self) {
        *self.device() = Device::default();
    }

    /// The disk after the power came back: what was flushed, and some of the rest.
    pub(crate) fn after_power_loss(&self, mut random: impl FnMut() -> u64) -> Self {
        let device = self.device();
        let mut content = device.flushed.clone();
        for (offset, data) in &device.written {
            for (index, sector) in data.chunks(SECTOR).enumerate() {
                if random().is_multiple_of(2) {
                    let begin = offset + index * SECTOR;
                    content.resize(content.len().max(begin + sector.len()), 0);
                    content[begin..begin + sector.len()].copy_from_slice(sector);
                }
            }
        }
        let flushed = content.clone();
        Self(Arc::new(Mutex::new(Device { content, flushed, ..Device::default() })))
    }

    fn device(&self) -> MutexGuard<'_, Device> {
        self.0.lock()
    }
}

impl Device {
    fn write(&mut self) -> io::Result<()> {
        match &mut self.fault {
            Some(Fault::Full) => Err(io::ErrorKind::StorageFull.into()),
            Some(Fault::Off(0)) => Err(io::ErrorKind::NotConnected.into()),
            Some(Fault::Off(left)) => {
                *left -= 1;
                Ok(())
            }
            Some(Fault::Silent) | None => Ok(()),
        }
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).expect("a small disk")
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.device().content.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let device = self.device();
        let begin = index(offset);
        let found = device.content.get(begin..begin + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut device = self.device();
        device.write()?;
        device.content.resize(index(len), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut device = self.device();
        device.write()?;
        device.flushes += 1;
        device.flushed = device.content.clone();
        device.written.clear();
        match device.fault {
            Some(Fault::Silent) => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut device = self.device();
        device.write()?;
        let begin = index(offset);
        let place = device.content.get_mut(begin..begin + data.len());
        place.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        device.written.push((begin, data.to_vec()));
        Ok(())
    }
}
