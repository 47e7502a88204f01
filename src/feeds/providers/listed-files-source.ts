/** The files of a media store as a source. The store's listing is in a temporary file, one line per file. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { mediaUrl } from '../../fields/index.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import type { FeedSource } from '../file/sync-run.js';
import { givenFields, type SourceListener, type SourceOutcome } from '../source/source-run.js';
import { globExpression } from '../urls/url-scope.js';

export interface ListedFilesSettings {
  readonly store: string;
  /** Only files whose paths begin with this are taken. */
  readonly prefix: string;
  /** Globs for paths. If there are none, all files are taken. */
  readonly include: readonly string[];
}

/** A file as the media store lists it. */
export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  readonly modifiedUtc: string;
}

const FIELDS: FieldDescriptions = {
  searchable_fields: [
    { name: 'title', weight: 2 },
    { name: 'path', weight: 1 },
  ],
  facets: [
    { name: 'bytes', type: 'number', cardinality: 'Single' },
    { name: 'content_type', type: 'string', cardinality: 'Single' },
    { name: 'folder', type: 'string', cardinality: 'Single' },
    { name: 'modified', type: 'date', cardinality: 'Single' },
  ],
  resources: (['document', 'image', 'video', 'audio'] as const).map((kind) => ({ name: kind, kind })),
};

export class ListedFilesSource implements FeedSource {
  readonly provider = 'media-store';
  readonly asksForEach = false;
  private readonly include: readonly ReturnType<typeof globExpression>[];

  /** `listing`: path of a file that has a ListedFile per line, for all files of the store. */
  constructor(
    private readonly settings: ListedFilesSettings,
    private readonly listing: string,
  ) {
    this.include = settings.include.map(globExpression);
  }

  async read(listener: SourceListener, { signal }: { readonly signal: AbortSignal }): Promise<SourceOutcome> {
    for await (const line of createInterface({ input: createReadStream(this.listing), crlfDelay: Infinity })) {
      signal.throwIfAborted();
      const file = JSON.parse(line) as ListedFile;
      const isIncluded = this.include.length === 0 || this.include.some((glob) => glob.matches(file.path));
      if (isIncluded) listener.record({ name: file.path, fields: this.fieldsOf(file) });
    }
    return { isComplete: true, requests: 0, bytes: 0 };
  }

  /** The listing is complete, so a file that is not in it is gone. */
  confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(names));
  }

  fields(): FieldDescriptions {
    return FIELDS;
  }

  keep(): Promise<void> {
    return Promise.resolve();
  }

  private fieldsOf({ path, bytes, contentType, modifiedUtc }: ListedFile) {
    const slash = path.lastIndexOf('/');
    const kind = kindOf(contentType);
    return givenFields({
      path,
      title: path.slice(slash + 1).replace(/\.[^.]{1,8}$/, ''),
      folder: slash === -1 ? '' : path.slice(0, slash),
      bytes,
      content_type: contentType,
      modified: modifiedUtc,
      ...(kind === undefined ? {} : { [kind]: mediaUrl(this.settings.store, path) }),
    });
  }
}

function kindOf(contentType: string): 'document' | 'image' | 'video' | 'audio' | undefined {
  if (/^application\/pdf\b/i.test(contentType)) return 'document';
  const [, kind] = /^(image|video|audio)\//i.exec(contentType) ?? [];
  return kind?.toLowerCase() as 'image' | 'video' | 'audio' | undefined;
}
