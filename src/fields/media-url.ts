/** Links to files of the account's media stores, as they stand in records: `media:<store>/<path>`, without percent signs. Pure. */
const SCHEME = 'media:';

export interface MediaPlace {
  readonly store: string;
  readonly path: string;
}

export function isMediaUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** Undefined where the URL is none of a media store. */
export function mediaPlace(url: string): MediaPlace | undefined {
  if (!isMediaUrl(url)) return undefined;
  const [store = '', ...path] = url.slice(SCHEME.length).split('/');
  return { store, path: path.join('/') };
}

/** With the beginning of a path: what the URLs of all files begin with that lie there. */
export function mediaUrl(store: string, path: string): string {
  return `${SCHEME}${store}/${path}`;
}

/** Of a place as `<store>/<path>`, with or without what a URL begins with. */
export function asMediaUrl(place: string): string {
  return isMediaUrl(place) ? place : `${SCHEME}${place}`;
}
