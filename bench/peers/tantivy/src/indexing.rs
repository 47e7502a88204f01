//! A second thread that indexes the corpus again and again while queries are timed in the first: Tantivy's defaults but for
//! one indexing thread, and a commit after as many records as the other engines commit.
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tantivy::{Index, TantivyDocument};

use crate::{document, schema};

const COMMIT_RECORDS: u64 = 20_000;
const WRITER_BYTES: usize = 50_000_000; // what Tantivy's own examples give a writer

type Failure = Box<dyn Error + Send + Sync>;

pub struct IndexingThread {
    begin: Instant,
    stopping: Arc<AtomicBool>,
    records: Arc<AtomicU64>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl IndexingThread {
    pub fn start(corpus: &Path, folder: &Path) -> Self {
        let stopping = Arc::new(AtomicBool::new(false));
        let records = Arc::new(AtomicU64::new(0));
        let (corpus, folder): (PathBuf, PathBuf) = (corpus.into(), folder.into());
        let (seen, counted) = (stopping.clone(), records.clone());
        let thread = thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                index_corpus(&corpus, &folder, &seen, &counted)?;
            }
            Ok(())
        });
        Self { begin: Instant::now(), stopping, records, thread }
    }

    /// Ends it; returns records indexed a second.
    pub fn stop(self) -> Result<f64, Failure> {
        self.stopping.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the indexing thread panicked")??;
        Ok(self.records.load(Ordering::Relaxed) as f64 / self.begin.elapsed().as_secs_f64())
    }
}

fn index_corpus(corpus: &Path, folder: &Path, stopping: &AtomicBool, records: &AtomicU64) -> Result<(), Failure> {
    let (schema, fields) = schema();
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema)?;
    let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, WRITER_BYTES)?;
    for (line, id) in BufReader::new(File::open(corpus)?).lines().zip(1u64..) {
        if stopping.load(Ordering::Relaxed) {
            break;
        }
        writer.add_document(document(&fields, &line?, id - 1)?)?;
        if id % COMMIT_RECORDS == 0 {
            writer.commit()?;
            records.fetch_add(COMMIT_RECORDS, Ordering::Relaxed);
        }
    }
    writer.wait_merging_threads()?;
    Ok(())
}
