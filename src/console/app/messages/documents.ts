/** Texts on files that records link to, and their contents. */
export const documentTexts = {
  documents: {
    title: 'Text of its documents',
    none: 'The record links to no document.',
    states: { pending: 'To be read', read: 'Read', failed: 'Not read' },
    faults: {
      'not-found': 'Not there',
      'not-a-pdf': 'No PDF',
      'not-a-picture': 'No picture',
      'not-a-recording': 'No video, and no audio file',
      'not-transcribed': 'The model did not write down what is said',
      encrypted: 'Needs a password',
      damaged: 'Damaged',
      'no-text': 'No text: a scan, or nothing that is said',
      'too-large': 'Too large',
      'refused-address': 'An address that the service does not call',
      'timed-out': 'Not there in time',
      'model-unavailable': 'The model gave no vector of it',
    },
    pages: (pages: string) => (pages === '1' ? '1 page' : `${pages} pages`),
    turn: 'Pages of the documents',
    pageOf: (page: string, pages: string) => `Page ${page} of ${pages}`,
    noText: (page: number) => `No text was read on page ${page}.`,
    files: 'Linked files',
    filesLead:
      'PDF files, pictures, video and audio files that records link to are read once each, and looked at again when they change.',
    counts: (read: string, pending: string, failed: string) => `${read} are read, ${pending} wait, ${failed} failed.`,
    unread: 'Files that could not be read',
    file: 'File',
    why: 'Why',
    since: 'Looked at',
    retry: 'Try those again that failed',
    refresh: 'Look at all again',
    queued: (files: string) => `${files} are read again.`,
    foundOn: (field: string, page: string, pages: string) => `${field}, page ${page} of ${pages}`,
  },
} as const;

/** Texts on the explanation of a score. */
export const explainTexts = {
  explain: {
    words: 'Words',
    sources: 'Kinds of score',
    all: 'All figures',
    kinds: {
      typed: 'as typed',
      stem: 'another form',
      spelling: 'another spelling',
      typo: 'a typing error',
      synonym: 'synonym',
    } as Readonly<Record<string, string>>,
    as: (terms: string) => `as ${terms}`,
    nearby: (terms: string) => `near each other: ${terms}`,
    whole: 'the whole field is what was searched for',
    sourceKinds: {
      words: 'Words',
      meaning: 'Meaning',
      text: 'Words and meaning',
      document: 'Document',
      image: 'Image',
      video: 'Video',
      audio: 'Audio',
    } as Readonly<Record<string, string>>,
    weight: (weight: string) => `counts ${weight}`,
    cosine: (cosine: string) => `cosine ${cosine}`,
    like: (names: string) => `The search means what these records mean: ${names}`,
    resource: (field: string, state: string) => `${field}: ${state}`,
    before: (place: number) => `Was ${place}. before the reranker`,
  },
} as const;

/** Texts on the comparison of two searches. */
export const compareTexts = {
  compare: {
    begin: 'Compare…',
    end: 'Compare no more',
    first: 'One way',
    second: 'The other way',
    optionsOf: (side: string) => `Options: ${side}`,
    summary: (same: string, moved: string, added: string, gone: string) =>
      `${same} in the same place, ${moved} moved, ${added} new, ${gone} gone.`,
    new: 'new',
    gone: 'gone',
    up: (places: number) => `up ${places}`,
    down: (places: number) => `down ${places}`,
  },
} as const;
