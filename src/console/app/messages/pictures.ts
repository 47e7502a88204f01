/** Pictures that are searched by, and what is found in pictures, videos and recordings. */
export const pictureTexts = {
  pictures: {
    title: 'Pictures',
    lead: 'Records are also found by what their pictures look like, where the list has a model of pictures.',
    model: 'Model of pictures',
    none: 'None: pictures are not read',
    builtIn: 'Built-in (the same and similar pictures)',
    toChoose: 'Records of this list link to pictures, which are not searched yet.',
    toSettings: 'Choose a model of pictures',
    search: 'Search by a picture',
    drop: 'Drop a picture here',
    choose: 'Choose a picture',
    link: 'Link of a picture',
    linkHint: 'https://… or media:store/path',
    byLink: 'Search by the link',
    searched: 'What looks like this picture',
    byWords: 'Search by words again',
    like: 'Find pictures like this',
    likeOf: (field: string, name: string) => `Find pictures like this: ${field} of ${name}`,
    large: (size: string) => `Open the picture (${size})`,
    at: (field: string, time: string) => `${field}, at ${time}`,
  },
} as const;
