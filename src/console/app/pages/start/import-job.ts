/**
 * An import from the browser, piece by piece, so that it shows progress, can be stopped, and continues after a lost
 * connection.
 */
import { client, searchResultBulk, type SearchResultBulkOutput } from '../../service/client.js';
import { contentTypeOf, piecesOf, type FileReading, type Piece } from './file-records.js';

type Failure = SearchResultBulkOutput['errors'][number];

export interface ImportState {
  readonly bytesRead: number;
  readonly written: number;
  /** Part of `written`. */
  readonly replaced: number;
  readonly failed: number;
  /** The first failures. `line` is that of the file; for JSON, the number of the record. */
  readonly failures: readonly Failure[];
}

export const NOTHING_IMPORTED: ImportState = { bytesRead: 0, written: 0, replaced: 0, failed: 0, failures: [] };

const FAILURES_KEPT_MAX = 100;

interface ImportPlan {
  readonly file: Blob;
  readonly reading: FileReading;
  readonly target: { readonly account: string; readonly list: string };
  /** Field that names records without a name. '' lets the service generate names. */
  readonly nameFrom: string;
  readonly onState: (state: ImportState) => void;
}

export class ImportJob {
  readonly #pieces: AsyncGenerator<Piece>;
  readonly #plan: ImportPlan;
  readonly #stopped = new AbortController();
  /** Piece that was sent and may not have arrived. */
  #open: Piece | undefined;
  #state = NOTHING_IMPORTED;

  constructor(plan: ImportPlan) {
    this.#plan = plan;
    this.#pieces = piecesOf(plan.file, plan.reading);
  }

  get list(): string {
    return this.#plan.target.list;
  }

  /** Resolves when everything is imported. After a rejection, call it again to continue with the failed piece. */
  async run(): Promise<ImportState> {
    for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) await this.#send(piece);
    return this.#state;
  }

  /** Stops the import; imported records stay. */
  stop(): void {
    this.#stopped.abort(new DOMException('The import was stopped.', 'AbortError'));
  }

  async #next(): Promise<Piece | undefined> {
    this.#stopped.signal.throwIfAborted();
    this.#open ??= (await this.#pieces.next()).value as Piece | undefined;
    return this.#open;
  }

  async #send({ data, bytesRead, linesBefore }: Piece): Promise<void> {
    const { target, reading, nameFrom, onState } = this.#plan;
    const body = { contentType: contentTypeOf(reading), data };
    const query = nameFrom === '' ? {} : { name_from: nameFrom };
    const answer = await searchResultBulk(client, { params: target, query, body }, { signal: this.#stopped.signal });
    this.#open = undefined;
    const { written, replaced, failed, failures } = this.#state;
    const failuresHere = answer.errors.map((failure) => ({ ...failure, line: failure.line + linesBefore }));
    this.#state = {
      bytesRead,
      written: written + answer.created + answer.updated,
      replaced: replaced + answer.updated,
      failed: failed + answer.failed,
      failures: [...failures, ...failuresHere].slice(0, FAILURES_KEPT_MAX),
    };
    onState(this.#state);
  }
}
