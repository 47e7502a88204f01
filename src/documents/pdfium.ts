/**
 * Wrapper of PDFium in WebAssembly, which has access to its own memory only, not to files or the network.
 * `@hyzyla/pdfium` provides and starts it, but its interface lacks more than a page's text, so the library's functions
 * are called directly. One document at a time; not for the main thread.
 */
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { DocumentError } from './types.js';

/**
 * The PDFium functions used, by their names in `fpdfview.h`, `fpdf_text.h` and `fpdf_annot.h`. Pointers are numbers.
 */
interface PdfiumModule {
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void };
  /** Replaced when the memory grows. */
  readonly HEAPU8: Uint8Array;
  _FPDF_LoadMemDocument(bytes: number, length: number, password: number): number;
  _FPDF_GetLastError(): number;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_CloseDocument(document: number): void;
  _FPDF_LoadPage(document: number, index: number): number;
  _FPDF_ClosePage(page: number): void;
  /** In quarter turns. */
  _FPDFPage_GetRotation(page: number): number;
  _FPDFPage_SetRotation(page: number, quarters: number): void;
  _FPDFText_LoadPage(page: number): number;
  /** In radians, before the page is rotated; negative if unknown. */
  _FPDFText_GetCharAngle(text: number, index: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  _FPDFText_GetText(text: number, start: number, count: number, into: number): number;
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_GetAnnot(page: number, index: number): number;
  _FPDFPage_CloseAnnot(annotation: number): void;
  _FPDFAnnot_GetSubtype(annotation: number): number;
  _FPDFAnnot_GetValueType(annotation: number, key: number): number;
  _FPDFAnnot_GetStringValue(annotation: number, key: number, into: number, length: number): number;
}

const ERROR_PASSWORD = 4;
const ERROR_SECURITY = 5;
const WIDGET = 20;
const FREE_TEXT = 3;
const TYPE_STRING = 3;
const CHARACTERS_LOOKED_AT = 100;
const ANNOTATIONS_MAX = 10_000;
const VALUE_BYTES_MAX = 2 ** 20;
const BYTES_PER_UNIT = 2;

export class Pdfium {
  readonly #module: PdfiumModule;

  private constructor(module: PdfiumModule) {
    this.#module = module;
  }

  static async load(): Promise<Pdfium> {
    const library = await PDFiumLibrary.init();
    return new Pdfium((library as unknown as { readonly module: PdfiumModule }).module);
  }

  /** Opens a document. Throws a DocumentError if it is `encrypted` with a non-empty password, or `damaged`. */
  open(bytes: Uint8Array): PdfiumDocument {
    const module = this.#module;
    const at = module.wasmExports.malloc(bytes.length);
    if (at === 0) throw new DocumentError('too-large', 'The document needs more memory than there is for one');
    module.HEAPU8.set(bytes, at);
    const document = module._FPDF_LoadMemDocument(at, bytes.length, 0);
    if (document !== 0) return new PdfiumDocument(module, { document, at });
    const error = module._FPDF_GetLastError();
    module.wasmExports.free(at);
    throw error === ERROR_PASSWORD || error === ERROR_SECURITY
      ? new DocumentError('encrypted', 'The document opens with a password only')
      : new DocumentError('damaged', 'The document has no structure that could be read');
  }
}

export interface RawPage {
  readonly text: string;
  /** False if the page has more characters than wanted. */
  readonly isWhole: boolean;
}

export class PdfiumDocument {
  /** As stated in the document; may be wrong. */
  readonly pageCount: number;
  readonly #module: PdfiumModule;
  readonly #document: number;
  readonly #at: number;

  constructor(module: PdfiumModule, { document, at }: { readonly document: number; readonly at: number }) {
    this.#module = module;
    this.#document = document;
    this.#at = at;
    this.pageCount = Math.max(0, module._FPDF_GetPageCount(document));
  }

  /**
   * Returns the text of a page (from 0) in content order, followed by the values of form fields. Undefined if it cannot
   * be loaded.
   */
  page(index: number, charactersMax: number): RawPage | undefined {
    const page = this.#module._FPDF_LoadPage(this.#document, index);
    if (page === 0) return undefined;
    try {
      this.#turn(page);
      // Reads one character more than wanted, to know whether there are more.
      const content = this.#content(page, charactersMax + 1);
      const text = [content, ...this.#values(page, charactersMax + 1 - content.length)].join('\n');
      return { text: text.slice(0, charactersMax), isWhole: text.length <= charactersMax };
    } finally {
      this.#module._FPDF_ClosePage(page);
    }
  }

  close(): void {
    this.#module._FPDF_CloseDocument(this.#document);
    this.#module.wasmExports.free(this.#at);
  }

  /**
   * Removes a page's rotation if its text is upright without it. PDFium finds lines from the top of the page as
   * displayed, so rotating upright text would put it on its side, last line first.
   */
  #turn(page: number): void {
    const module = this.#module;
    if (module._FPDFPage_GetRotation(page) === 0) return;
    const text = module._FPDFText_LoadPage(page);
    if (text === 0) return;
    const looked = Math.min(module._FPDFText_CountChars(text), CHARACTERS_LOOKED_AT);
    let upright = 0;
    for (let index = 0; index < looked; index += 1) {
      if (module._FPDFText_GetCharAngle(text, index) === 0) upright += 1;
    }
    module._FPDFText_ClosePage(text);
    if (upright * 2 > looked) module._FPDFPage_SetRotation(page, 0);
  }

  #content(page: number, charactersMax: number): string {
    const text = this.#module._FPDFText_LoadPage(page);
    if (text === 0) return '';
    try {
      const count = Math.min(this.#module._FPDFText_CountChars(text), charactersMax);
      if (count <= 0) return '';
      // The text ends with a zero unit.
      return this.#withBuffer((count + 1) * BYTES_PER_UNIT, (at) => {
        const units = this.#module._FPDFText_GetText(text, 0, count, at);
        return this.#utf16(at, Math.min(units, count + 1));
      });
    } finally {
      this.#module._FPDFText_ClosePage(text);
    }
  }

  /**
   * Returns what was typed into form fields and annotations, which is not part of the page's content. Stops when enough
   * characters are found: thousands of annotations may share one long value.
   */
  #values(page: number, charactersMax: number): string[] {
    const module = this.#module;
    const values: string[] = [];
    const count = Math.min(module._FPDFPage_GetAnnotCount(page), ANNOTATIONS_MAX);
    for (let [index, left] = [0, charactersMax]; index < count && left > 0; index += 1) {
      const annotation = module._FPDFPage_GetAnnot(page, index);
      if (annotation === 0) continue;
      const value = this.#valueOf(annotation).slice(0, left);
      if (value !== '') values.push(value);
      left -= value.length;
      module._FPDFPage_CloseAnnot(annotation);
    }
    return values;
  }

  #valueOf(annotation: number): string {
    const subtype = this.#module._FPDFAnnot_GetSubtype(annotation);
    if (subtype === WIDGET) return this.#string(annotation, 'V');
    return subtype === FREE_TEXT ? this.#string(annotation, 'Contents') : '';
  }

  #string(annotation: number, key: string): string {
    const module = this.#module;
    const name = Buffer.from(`${key}\0`, 'latin1');
    return this.#withBuffer(name.length, (keyAt) => {
      module.HEAPU8.set(name, keyAt);
      if (module._FPDFAnnot_GetValueType(annotation, keyAt) !== TYPE_STRING) return '';
      const bytes = module._FPDFAnnot_GetStringValue(annotation, keyAt, 0, 0);
      if (bytes <= BYTES_PER_UNIT || bytes > VALUE_BYTES_MAX) return '';
      return this.#withBuffer(bytes, (at) => {
        module._FPDFAnnot_GetStringValue(annotation, keyAt, at, bytes);
        return this.#utf16(at, bytes / BYTES_PER_UNIT);
      });
    });
  }

  /** Reads so many UTF-16 units, including a zero at the end. */
  #utf16(at: number, units: number): string {
    const { buffer } = this.#module.HEAPU8;
    const text = Buffer.from(buffer, at, units * BYTES_PER_UNIT).toString('utf16le');
    // A loop, since a regular expression would look for the end after each of a million zeros in the middle.
    let end = text.length;
    while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1;
    return text.slice(0, end);
  }

  #withBuffer<Result>(bytes: number, use: (at: number) => Result): Result {
    const at = this.#module.wasmExports.malloc(bytes);
    if (at === 0) throw new DocumentError('too-large', 'The document needs more memory than there is for one');
    try {
      return use(at);
    } finally {
      this.#module.wasmExports.free(at);
    }
  }
}
