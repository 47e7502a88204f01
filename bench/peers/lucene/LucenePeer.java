import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SynonymQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/**
 * Lucene's side of bench/peers: {@code LucenePeer <corpus.tsv> <queries.tsv> <folder for the index>}. The protocol is
 * described in run.mjs. A view may carry constants of BM25 ({@code all:1.5:0.65}), so that the scores of engines with
 * others can be checked.
 */
public final class LucenePeer {
  private static final int DELETED_EVERY = 10;
  private static final int EVERY_HIT = Integer.MAX_VALUE;

  private final DirectoryReader all;
  private final DirectoryReader rest;

  private LucenePeer(Path corpus, Path folder) throws IOException {
    Files.createDirectories(folder);
    Directory directory = new MMapDirectory(folder);
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setRAMBufferSizeMB(1900).setUseCompoundFile(false);
    IndexWriter writer = new IndexWriter(directory, config);
    try (BufferedReader in = Files.newBufferedReader(corpus)) {
      int id = 0;
      for (String line = in.readLine(); line != null; line = in.readLine(), ++id) {
        writer.addDocument(document(line, id));
      }
    }
    writer.forceMerge(1);
    all = DirectoryReader.open(writer);
    if (all.leaves().size() != 1) throw new IllegalStateException("more than one segment");
    writer.deleteDocuments(new Term("residue", "3"));
    rest = DirectoryReader.open(writer);
  }

  /** Of a line of the corpus: a number, a tab, the words. */
  static Document document(String line, int id) {
    int tab = line.indexOf('\t');
    Document document = new Document();
    document.add(new TextField("body", line.substring(tab + 1), Field.Store.NO));
    document.add(new IntField("number", Integer.parseInt(line.substring(0, tab)), Field.Store.NO));
    document.add(new StringField("residue", Integer.toString(id % DELETED_EVERY), Field.Store.NO));
    return document;
  }

  private static Query word(String text) {
    if (text.contains("~")) {
      SynonymQuery.Builder builder = new SynonymQuery.Builder("body");
      String[] words = text.split("~");
      for (int i = 0; i < words.length; ++i) builder.addTerm(new Term("body", words[i]), 1f / (i + 1));
      return builder.build();
    }
    return text.contains("_") ? new PhraseQuery("body", text.split("_")) : new TermQuery(new Term("body", text));
  }

  private static Query parse(String text) {
    BooleanQuery.Builder words = new BooleanQuery.Builder();
    Query filter = null;
    boolean conjunction = true;
    String[] parts = text.split(" ");
    for (String part : parts) {
      String rest = part.substring(1);
      switch (part.charAt(0)) {
        case '#' -> filter = IntField.newRangeQuery("number", Integer.MIN_VALUE, Integer.parseInt(rest) - 1);
        case '+' -> words.add(word(rest), Occur.MUST);
        case '-' -> words.add(word(rest), Occur.MUST_NOT);
        default -> {
          words.add(word(part), Occur.SHOULD);
          conjunction = false;
        }
      }
    }
    if (filter == null) return parts.length == 1 ? word(parts[0].replaceFirst("^[+]", "")) : words.build();
    if (conjunction) return words.add(filter, Occur.FILTER).build();
    return new BooleanQuery.Builder().add(words.build(), Occur.MUST).add(filter, Occur.FILTER).build();
  }

  private IndexSearcher searcher(String view) {
    String[] parts = view.split(":");
    IndexSearcher searcher = new IndexSearcher(parts[0].equals("deleted") ? rest : all);
    searcher.setQueryCache(null);
    boolean usual = parts.length == 1;
    searcher.setSimilarity(
        new BM25Similarity(usual ? 1.2f : Float.parseFloat(parts[1]), usual ? 0.75f : Float.parseFloat(parts[2])));
    return searcher;
  }

  private static TopDocs top(IndexSearcher searcher, Query query, int hits, int countedHits) throws IOException {
    return searcher.search(query, new TopScoreDocCollectorManager(hits, null, countedHits));
  }

  private static Object run(IndexSearcher searcher, Query query, String command) throws IOException {
    return switch (command) {
      case "COUNT" -> searcher.count(query);
      case "TOP_10" -> top(searcher, query, 10, 10);
      case "TOP_100" -> top(searcher, query, 100, 100);
      case "TOP_10_COUNT" -> top(searcher, query, 10, EVERY_HIT);
      case "TOP_100_COUNT" -> top(searcher, query, 100, EVERY_HIT);
      default -> throw new IllegalArgumentException("unknown command " + command);
    };
  }

  private static String describe(Object result, boolean counted) {
    if (!(result instanceof TopDocs top)) return result.toString();
    StringBuilder text = new StringBuilder(counted ? Long.toString(top.totalHits.value()) : "-1");
    for (ScoreDoc hit : top.scoreDocs) text.append(' ').append(hit.doc).append(':').append(hit.score);
    return text.toString();
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    LucenePeer peer = new LucenePeer(Path.of(arguments[0]), Path.of(arguments[2]).resolve("lucene"));
    List<Query> queries = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(arguments[1]))) {
      queries.add(parse(line.substring(line.indexOf('\t') + 1)));
    }
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    boolean vectors = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
    out.printf(
        "ready\tLucene %s on Java %s %s the vector module, k1 1.2, b 0.75%n",
        Version.LATEST, Runtime.version().feature(), vectors ? "with" : "without");
    out.flush();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    IndexingThread indexing = null;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("index")) {
        if (words[1].equals("start")) {
          indexing = new IndexingThread(Path.of(arguments[0]), Path.of(arguments[2]).resolve("lucene-indexing"));
        } else {
          out.println(Math.round(indexing.stop()));
        }
        out.println("done");
        out.flush();
        continue;
      }
      IndexSearcher searcher = peer.searcher(words[2]);
      for (Query query : queries.subList(Integer.parseInt(words[3]), Integer.parseInt(words[4]))) {
        long start = System.nanoTime();
        Object result = run(searcher, query, words[1]);
        long time = System.nanoTime() - start;
        out.println(words[0].equals("time") ? Long.toString(time) : describe(result, words[1].endsWith("COUNT")));
      }
      out.println("done");
      out.flush();
    }
  }
}
