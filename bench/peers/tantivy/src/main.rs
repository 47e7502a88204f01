//! Tantivy's side of bench/peers.
//!
//!     tantivy-peer <corpus.tsv> <queries.tsv> <folder for the index>
//!
//! The protocol is described in run.mjs.
mod indexing;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Bound;
use std::path::Path;
use std::time::Instant;

use tantivy::collector::{Count, TopDocs};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST, INDEXED};
use indexing::IndexingThread;
use tantivy::{DocAddress, Index, ReloadPolicy, Score, Searcher, TantivyDocument, Term};

type Failure = Box<dyn Error + Send + Sync>;

const DELETED_EVERY: u64 = 10;
const WRITER_BYTES: usize = 3_000_000_000; // one segment

struct Fields {
    body: Field,
    number: Field,
    residue: Field,
}

struct Engine {
    fields: Fields,
    all: Searcher,
    rest: Searcher,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let fields = Fields {
        body: schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing)),
        number: schema.add_u64_field("number", FAST | INDEXED),
        residue: schema.add_u64_field("residue", INDEXED),
    };
    (schema.build(), fields)
}

/// Of a line of the corpus: a number, a tab, the words.
fn document(fields: &Fields, line: &str, id: u64) -> Result<TantivyDocument, Failure> {
    let (number, text) = line.split_once('\t').ok_or("a record without a tab")?;
    let mut document = TantivyDocument::new();
    document.add_text(fields.body, text);
    document.add_u64(fields.number, number.parse()?);
    document.add_u64(fields.residue, id % DELETED_EVERY);
    Ok(document)
}

fn build(corpus: &Path, folder: &Path) -> Result<Engine, Failure> {
    let (schema, fields) = schema();
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema)?;
    let mut writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for (line, id) in BufReader::new(File::open(corpus)?).lines().zip(0u64..) {
        writer.add_document(document(&fields, &line?, id)?)?;
    }
    writer.commit()?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let all = reader.searcher();
    if all.segment_readers().len() != 1 {
        return Err("more than one segment".into());
    }
    writer.delete_term(Term::from_field_u64(fields.residue, 3));
    writer.commit()?;
    reader.reload()?;
    let rest = reader.searcher();
    Ok(Engine { fields, all, rest })
}

fn term_query(field: Field, word: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
}

/// One part of a query. Tantivy has no query that sums the frequencies of alternatives: they are a union.
fn word_query(field: Field, text: &str) -> Box<dyn Query> {
    if text.contains('~') {
        let boosted = text.split('~').enumerate().map(|(i, word)| {
            Box::new(BoostQuery::new(term_query(field, word), 1.0 / (i + 1) as Score)) as Box<dyn Query>
        });
        return Box::new(BooleanQuery::union(boosted.collect()));
    }
    if text.contains('_') {
        return Box::new(PhraseQuery::new(text.split('_').map(|word| Term::from_field_text(field, word)).collect()));
    }
    term_query(field, text)
}

fn parse(fields: &Fields, text: &str) -> Result<Box<dyn Query>, Failure> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let mut filter: Option<Box<dyn Query>> = None;
    for part in text.split(' ') {
        let (sign, rest) = part.split_at(1);
        match sign {
            "#" => {
                let below = Bound::Excluded(Term::from_field_u64(fields.number, rest.parse()?));
                let range = RangeQuery::new(Bound::Unbounded, below);
                filter = Some(Box::new(ConstScoreQuery::new(Box::new(range), 0.0)));
            }
            "+" => clauses.push((Occur::Must, word_query(fields.body, rest))),
            "-" => clauses.push((Occur::MustNot, word_query(fields.body, rest))),
            _ => clauses.push((Occur::Should, word_query(fields.body, part))),
        }
    }
    if let Some(filter) = filter {
        if clauses.iter().all(|(occur, _)| *occur == Occur::Must) {
            clauses.push((Occur::Must, filter));
        } else {
            let words = Box::new(BooleanQuery::new(clauses));
            return Ok(Box::new(BooleanQuery::new(vec![(Occur::Must, words), (Occur::Must, filter)])));
        }
    } else if clauses.len() == 1 && clauses[0].0 != Occur::MustNot {
        return Ok(clauses.remove(0).1);
    }
    Ok(Box::new(BooleanQuery::new(clauses)))
}

type Hits = Vec<(Score, DocAddress)>;

fn run(searcher: &Searcher, query: &dyn Query, command: &str) -> tantivy::Result<(i64, Hits)> {
    Ok(match command {
        "COUNT" => (searcher.search(query, &Count)? as i64, Vec::new()),
        "TOP_10" => (-1, searcher.search(query, &TopDocs::with_limit(10).order_by_score())?),
        "TOP_100" => (-1, searcher.search(query, &TopDocs::with_limit(100).order_by_score())?),
        "TOP_10_COUNT" => {
            let (hits, count) = searcher.search(query, &(TopDocs::with_limit(10).order_by_score(), Count))?;
            (count as i64, hits)
        }
        "TOP_100_COUNT" => {
            let (hits, count) = searcher.search(query, &(TopDocs::with_limit(100).order_by_score(), Count))?;
            (count as i64, hits)
        }
        other => panic!("unknown command {other}"),
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let engine = build(Path::new(&arguments[1]), &Path::new(&arguments[3]).join("tantivy"))?;
    let queries = BufReader::new(File::open(&arguments[2])?)
        .lines()
        .map(|line| parse(&engine.fields, line?.split_once('\t').ok_or("a query without a tab")?.1))
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = io::BufWriter::new(io::stdout());
    writeln!(out, "ready\t{}, k1 1.2, b 0.75", tantivy::version_string())?;
    out.flush()?;
    let mut indexing: Option<IndexingThread> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "index" {
            if words[1] == "start" {
                let folder = Path::new(&arguments[3]).join("tantivy-indexing");
                indexing = Some(IndexingThread::start(Path::new(&arguments[1]), &folder));
            } else if let Some(thread) = indexing.take() {
                writeln!(out, "{:.0}", thread.stop()?)?;
            }
            writeln!(out, "done")?;
            out.flush()?;
            continue;
        }
        let searcher = if words[2] == "deleted" { &engine.rest } else { &engine.all };
        for query in &queries[words[3].parse()?..words[4].parse()?] {
            let start = Instant::now();
            let (count, hits) = run(searcher, query.as_ref(), words[1])?;
            let time = start.elapsed().as_nanos();
            if words[0] == "time" {
                writeln!(out, "{time}")?;
                continue;
            }
            write!(out, "{count}")?;
            for (score, address) in hits {
                write!(out, " {}:{}", address.doc_id, score)?;
            }
            writeln!(out)?;
        }
        writeln!(out, "done")?;
        out.flush()?;
    }
    Ok(())
}
