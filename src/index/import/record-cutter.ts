/**
 * Cuts the bytes of an import into raw records. The beginning of a CSV file determines its encoding, its separator and
 * its columns.
 */
import type { Kernel, RecordSplitter } from '../../../native-bindings/index.js';
import { CsvText, INSTEAD, NO_TEXT_BYTES, noTextOf, type RecordFormat } from '../../records/index.js';
import { ServiceError } from '../../platform/index.js';
import type { CsvHeader, RawRecords } from '../contract/ingest-tasks.js';

export interface RecordCutter {
  /** The first row; undefined until it was read. */
  readonly csvHeader: CsvHeader | undefined;
  /**
   * Takes the next bytes and returns the records that are complete. Throws the errors of the kernel's splitter, or
   * `malformed-request`.
   */
  push(piece: Uint8Array): RawRecords | null;
  /** Returns records from bytes that were held back. Call it before `end`. */
  flush(): RawRecords | null;
  end(): RawRecords | null;
}

export function createRecordCutter(kernel: Kernel, format: RecordFormat, recordBytesMax: number): RecordCutter {
  return new TextCutter(cutterOf(kernel, format, recordBytesMax));
}

function cutterOf(kernel: Kernel, format: RecordFormat, recordBytesMax: number): RecordCutter {
  if (format === 'csv') return new CsvCutter(kernel, recordBytesMax);
  const splitter = kernel.createRecordSplitter(format, recordBytesMax);
  return {
    csvHeader: undefined,
    push: (piece) => splitter.push(piece),
    flush: () => null,
    end: () => splitter.end(),
  };
}

/**
 * Refuses a body that is not text. Otherwise a picture would be split into lines that yield odd records and thousands
 * of errors.
 */
class TextCutter implements RecordCutter {
  #begin = Buffer.alloc(0);

  constructor(private readonly cutter: RecordCutter) {}

  get csvHeader(): CsvHeader | undefined {
    return this.cutter.csvHeader;
  }

  push(piece: Uint8Array): RawRecords | null {
    if (this.#begin.length < NO_TEXT_BYTES) this.#see(piece);
    return this.cutter.push(piece);
  }

  flush(): RawRecords | null {
    return this.cutter.flush();
  }

  end(): RawRecords | null {
    return this.cutter.end();
  }

  #see(piece: Uint8Array): void {
    this.#begin = Buffer.concat([this.#begin, piece.subarray(0, NO_TEXT_BYTES - this.#begin.length)]);
    const found = noTextOf(this.#begin);
    if (found === undefined) return;
    throw new ServiceError('malformed-request', `The body is not text but ${found.what}: ${INSTEAD[found.kind]}.`);
  }
}

class CsvCutter implements RecordCutter {
  csvHeader: CsvHeader | undefined;
  readonly #text = new CsvText();
  /** Created once the form of the text is known. */
  #splitter: RecordSplitter | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly recordBytesMax: number,
  ) {}

  push(piece: Uint8Array): RawRecords | null {
    return this.#split(this.#text.read(piece));
  }

  flush(): RawRecords | null {
    return this.#split(this.#text.end());
  }

  end(): RawRecords | null {
    return this.#behindHeader(this.#splitter?.end() ?? null);
  }

  #split(text: Uint8Array): RawRecords | null {
    const { form } = this.#text;
    if (form === undefined) return null;
    if (this.#splitter === undefined) {
      this.#splitter = this.kernel.createRecordSplitter('csv', this.recordBytesMax, form.separator);
    }
    return this.#behindHeader(this.#splitter.push(text));
  }

  #behindHeader(records: RawRecords | null): RawRecords | null {
    const separator = this.#text.form?.separator;
    if (records === null || this.csvHeader !== undefined || separator === undefined) return records;
    const headerEnd = records.ends[0];
    if (headerEnd === undefined) return null;
    this.csvHeader = { bytes: records.bytes.slice(0, headerEnd), separator };
    return {
      bytes: records.bytes.slice(headerEnd),
      ends: records.ends.slice(1).map((end) => end - headerEnd),
      lines: records.lines.slice(1),
    };
  }
}
