import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/**
 * A second thread that indexes the corpus again and again while queries are timed in the first: the defaults of Lucene, but that
 * merges run in this thread too, and a commit after as many records as the other engines commit.
 */
final class IndexingThread {
  private static final int COMMIT_RECORDS = 20_000;

  private final Path corpus;
  private final Path folder;
  private final Thread thread = new Thread(this::run, "indexing");
  private final long beginNanos = System.nanoTime();
  private volatile boolean stopping;
  private volatile long records;
  private volatile RuntimeException failure;

  IndexingThread(Path corpus, Path folder) {
    this.corpus = corpus;
    this.folder = folder;
    thread.start();
  }

  /** Ends it; returns records indexed a second. */
  double stop() throws InterruptedException {
    stopping = true;
    thread.join();
    if (failure != null) throw failure;
    return records / ((System.nanoTime() - beginNanos) / 1e9);
  }

  private void run() {
    try {
      Files.createDirectories(folder);
      while (!stopping) indexCorpus();
    } catch (IOException e) {
      failure = new UncheckedIOException(e);
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private void indexCorpus() throws IOException {
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setMergeScheduler(new SerialMergeScheduler());
    try (Directory directory = new MMapDirectory(folder);
        BufferedReader in = Files.newBufferedReader(corpus)) {
      IndexWriter writer = new IndexWriter(directory, config);
      int id = 0;
      for (String line = in.readLine(); line != null && !stopping; line = in.readLine()) {
        writer.addDocument(LucenePeer.document(line, id));
        id += 1;
        if (id % COMMIT_RECORDS != 0) continue;
        writer.commit();
        records += COMMIT_RECORDS;
      }
      // What is not committed when it is told to stop is nobody's.
      writer.rollback();
    }
  }
}
