/** The bytes of an import, cut into raw records. Of CSV the beginning tells how it is written: its encoding, its separator, its columns. */
import type { Kernel, RecordSplitter } from '../../../native-bindings/index.js';
import { CsvText } from '../../records/index.js';
import { ServiceError } from '../../platform/index.js';
import type { CsvHeader, RawRecords } from '../contract/ingest-tasks.js';

export type ImportFormat = 'ndjson' | 'json' | 'csv';

/** How a ZIP archive begins, which the own files of spreadsheets are. */
const ZIP = Buffer.from('PK\u0003\u0004');

export interface RecordCutter {
  /** The first row, once it was seen. */
  readonly csvHeader: CsvHeader | undefined;
  /** Takes the next bytes; gives the records that are whole by now. Throws what the splitter of the kernel throws, or `malformed-request`. */
  push(piece: Uint8Array): RawRecords | null;
  /** To be called before `end`: gives records of what was kept back. */
  flush(): RawRecords | null;
  end(): RawRecords | null;
}

export function createRecordCutter(kernel: Kernel, format: ImportFormat, recordBytesMax: number): RecordCutter {
  if (format === 'csv') return new CsvCutter(kernel, recordBytesMax);
  const splitter = kernel.createRecordSplitter(format, recordBytesMax);
  return {
    csvHeader: undefined,
    push: (piece) => splitter.push(piece),
    flush: () => null,
    end: () => splitter.end(),
  };
}

class CsvCutter implements RecordCutter {
  csvHeader: CsvHeader | undefined;
  readonly #text = new CsvText();
  /** From where the form of the text is known. */
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
      if (ZIP.equals(text.subarray(0, ZIP.length)))
        throw new ServiceError(
          'malformed-request',
          'The CSV is no text but a ZIP archive, as workbooks of spreadsheets are (.xlsx, .ods): save it as CSV.',
        );
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
