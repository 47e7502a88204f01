/** Links to files of media stores in records: `media:<store>/<path>`, without percent-encoding. */

export interface MediaPlace {
  readonly store: string;
  readonly path: string;
}

const SCHEME = 'media:';

/** Undefined for any other link. */
export function mediaPlaceOf(link: string): MediaPlace | undefined {
  if (!link.startsWith(SCHEME)) return undefined;
  const [store = '', ...path] = link.slice(SCHEME.length).split('/');
  return store === '' || path.join('') === '' ? undefined : { store, path: path.join('/') };
}
