/** Texts on searches by pictures, and on what is found in pictures, videos and recordings. */
export const pictureTexts = {
  pictures: {
    title: 'Pictures',
    lead: 'With a picture model, searches also find records by what their pictures and videos show.',
    model: 'Picture model',
    none: 'None (pictures are not read)',
    builtIn: 'Built-in (same and similar pictures)',
    toChoose:
      'Records in this list link to pictures or videos. To search them by what they show, choose a picture model.',
    toSettings: 'Choose picture model',
    search: 'Search by picture',
    drop: 'Drop a picture here',
    choose: 'Choose picture',
    link: 'Picture link',
    linkHint: 'https://… or media:store/path',
    byLink: 'Search by link',
    searched: 'Hits for this picture',
    byWords: 'Search by words',
    like: 'Find similar pictures',
    likeOf: (field: string, name: string) => `Find similar pictures: ${field} of ${name}`,
    large: (size: string) => `Open picture (${size})`,
    at: (field: string, time: string) => `${field}, at ${time}`,
  },
  recordings: {
    title: 'Transcription',
    lead: 'With a transcription model, searches also find records by what is said in their videos and audio files.',
    model: 'Transcription model',
    none: 'None (only tags and subtitles are read)',
  },
} as const;
