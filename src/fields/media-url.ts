/**
 * Links to files of the account's media stores in records: `media:<store>/<path>`, without percent-encoding. Pure
 * functions.
 */
const SCHEME = 'media:';

export interface MediaPlace {
  readonly store: string;
  readonly path: string;
}

export function isMediaUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** Undefined if the URL is not of a media store. */
export function mediaPlace(url: string): MediaPlace | undefined {
  if (!isMediaUrl(url)) return undefined;
  const [store = '', ...path] = url.slice(SCHEME.length).split('/');
  return { store, path: path.join('/') };
}

/** Returns the URL of a file. With the beginning of a path, returns the prefix of the URLs of all files below it. */
export function mediaUrl(store: string, path: string): string {
  return `${SCHEME}${store}/${path}`;
}

/** Returns the URL of a place `<store>/<path>`, which may have the scheme already. */
export function asMediaUrl(place: string): string {
  return isMediaUrl(place) ? place : `${SCHEME}${place}`;
}
