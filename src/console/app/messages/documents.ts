import { counted } from './counted.js';

/** Texts on files that records link to, and their contents. */
export const documentTexts = {
  documents: {
    title: 'Document text',
    none: 'This record has no linked documents.',
    states: { pending: 'Waiting', read: 'Read', failed: 'Failed' },
    faults: {
      'not-found': 'Not found',
      'not-a-pdf': 'Not a PDF',
      'not-a-picture': 'Not a picture',
      'not-a-recording': 'Not a video or audio file',
      'not-transcribed': 'The model could not transcribe it',
      encrypted: 'Protected by a password',
      damaged: 'Damaged',
      'no-text': 'No text (a scan, or no speech)',
      'too-large': 'Too large',
      'refused-address': 'The service is not allowed to call this address',
      'timed-out': 'Timed out',
      'model-unavailable': 'The model returned no vector',
    },
    pages: (pages: string) => (pages === '1' ? '1 page' : `${pages} pages`),
    turn: 'Document pages',
    pageOf: (page: string, pages: string) => `Page ${page} of ${pages}`,
    noText: (page: number) => `No text found on page ${page}.`,
    files: 'Linked files',
    filesLead:
      'The service reads each PDF, picture, video and audio file that records link to once, and again when it changes.',
    counts: (read: string, pending: string, failed: string) => `${read} read, ${pending} waiting, ${failed} failed.`,
    unread: 'Files that could not be read',
    file: 'File',
    why: 'Reason',
    since: 'Last checked',
    retry: 'Retry failed files',
    refresh: 'Check all files',
    queued: (files: string) => `Reading ${counted(files, 'file')} again.`,
    foundOn: (field: string, page: string, pages: string) => `${field}, page ${page} of ${pages}`,
  },
} as const;

/** Texts on the explanation of a score. */
export const explainTexts = {
  explain: {
    words: 'Words',
    sources: 'Parts of the score',
    all: 'All details (JSON)',
    kinds: {
      typed: 'as typed',
      stem: 'other form',
      spelling: 'other spelling',
      typo: 'typo',
      synonym: 'synonym',
    } as Readonly<Record<string, string>>,
    as: (terms: string) => `as ${terms}`,
    nearby: (terms: string) => `near each other: ${terms}`,
    whole: 'the whole field matches the search',
    sourceKinds: {
      words: 'Words',
      meaning: 'Meaning',
      text: 'Words and meaning',
      document: 'Document',
      image: 'Image',
      video: 'Video',
      audio: 'Audio',
    } as Readonly<Record<string, string>>,
    weight: (weight: string) => `weight ${weight}`,
    cosine: (cosine: string) => `cosine ${cosine}`,
    like: (names: string) => `The search is similar in meaning to these records: ${names}`,
    resource: (field: string, state: string) => `${field}: ${state}`,
    before: (place: number) => `Number ${place} before reranking`,
  },
} as const;

/** Texts on the comparison of two searches. */
export const compareTexts = {
  compare: {
    begin: 'Compare…',
    end: 'Stop comparing',
    first: 'Search A',
    second: 'Search B',
    optionsOf: (side: string) => `Options: ${side}`,
    summary: (same: string, moved: string, added: string, gone: string) =>
      `${same} unchanged, ${moved} moved, ${added} new, ${gone} missing.`,
    new: 'new',
    gone: 'missing',
    up: (places: number) => `up ${places}`,
    down: (places: number) => `down ${places}`,
  },
} as const;
