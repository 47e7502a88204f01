import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.VectorUtil;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/**
 * Lucene's quantised HNSW, for compare.py: {@code LuceneVectors <folder> <dimensions> <encoding>}. It adds, merges and searches in its one thread. Commands are lines
 * on the standard input, vectors (32-bit floats of length 1) behind them; each is answered by a line.
 *
 * <pre>
 * count          how many there are
 * time           nanoseconds that the thread had of a processor
 * add N          and N vectors
 * close          merges all into one segment, and opens it to be searched
 * search W N     and N vectors; of each the documents of the ten nearest, of W candidates
 * </pre>
 */
public final class LuceneVectors {
  private static final String FIELD = "vector";
  private static final int LINKS = 16;
  private static final int WIDTH_WHILE_BUILDING = 200;
  private static final int WANTED = 10;
  /** So many of the best by their codes are compared by their full vectors. */
  private static final int COMPARED_MAX = 32;
  private static final double RAM_BUFFER_MB = 1900;

  private final MMapDirectory directory;
  private final int dimensions;
  private final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 20));
  private IndexWriter writer;
  private LeafReader reader;
  private AcceptDocs everything;

  private LuceneVectors(Path folder, int dimensions, ScalarEncoding encoding) throws IOException {
    this.directory = new MMapDirectory(folder);
    this.dimensions = dimensions;
    KnnVectorsFormat format = new Lucene104HnswScalarQuantizedVectorsFormat(encoding, LINKS, WIDTH_WHILE_BUILDING);
    IndexWriterConfig config = new IndexWriterConfig(null);
    config.setRAMBufferSizeMB(RAM_BUFFER_MB).setUseCompoundFile(false).setMergeScheduler(new SerialMergeScheduler());
    config.setCodec(
        new Lucene104Codec() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return format;
          }
        });
    writer = new IndexWriter(directory, config);
  }

  private List<float[]> read(int count) throws IOException {
    byte[] bytes = new byte[dimensions * Float.BYTES];
    List<float[]> vectors = new ArrayList<>(count);
    for (int i = 0; i < count; ++i) {
      in.readFully(bytes);
      float[] vector = new float[dimensions];
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
      vectors.add(vector);
    }
    return vectors;
  }

  private int count() {
    return writer != null ? writer.getDocStats().numDocs : reader.numDocs();
  }

  private void add(List<float[]> vectors) throws IOException {
    for (float[] vector : vectors) {
      Document document = new Document();
      document.add(new KnnFloatVectorField(FIELD, vector, VectorSimilarityFunction.DOT_PRODUCT));
      writer.addDocument(document);
    }
  }

  private void close() throws IOException {
    writer.forceMerge(1);
    writer.close();
    writer = null;
    DirectoryReader all = DirectoryReader.open(directory);
    if (all.leaves().size() != 1) throw new IllegalStateException("more than one segment");
    reader = all.leaves().get(0).reader();
    everything = AcceptDocs.fromLiveDocs(reader.getLiveDocs(), reader.maxDoc());
  }

  private int[] search(float[] query, int width) throws IOException {
    TopDocs found = reader.searchNearestVectors(FIELD, query, width, everything, Integer.MAX_VALUE);
    // A document has one vector, so its number is the vector's.
    FloatVectorValues vectors = reader.getFloatVectorValues(FIELD);
    ScoreDoc[] best = Arrays.copyOf(found.scoreDocs, Math.min(COMPARED_MAX, found.scoreDocs.length));
    for (ScoreDoc each : best) each.score = VectorUtil.dotProduct(query, vectors.vectorValue(each.doc));
    Arrays.sort(best, (a, b) -> Float.compare(b.score, a.score));
    int[] documents = new int[Math.min(WANTED, best.length)];
    for (int i = 0; i < documents.length; ++i) documents[i] = best[i].doc;
    return documents;
  }

  private String answer(String[] words) throws IOException {
    switch (words[0]) {
      case "count":
        return Integer.toString(count());
      case "time":
        return Long.toString(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
      case "add":
        add(read(Integer.parseInt(words[1])));
        return "added";
      case "close":
        close();
        return "closed";
      case "search":
        StringBuilder text = new StringBuilder();
        int width = Integer.parseInt(words[1]);
        for (float[] query : read(Integer.parseInt(words[2]))) {
          for (int document : search(query, width)) text.append(document).append(' ');
          text.append(';');
        }
        return text.toString();
      default:
        throw new IllegalArgumentException("unknown command " + words[0]);
    }
  }

  private String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) return null;
      line.append((char) next);
    }
    return line.toString();
  }

  public static void main(String[] arguments) throws IOException {
    LuceneVectors vectors =
        new LuceneVectors(
            Path.of(arguments[0]), Integer.parseInt(arguments[1]), ScalarEncoding.valueOf(arguments[2]));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
    for (String line = vectors.readLine(); line != null; line = vectors.readLine()) {
      out.println(vectors.answer(line.split(" ")));
      out.flush();
    }
    if (vectors.writer != null) vectors.writer.close();
  }
}
