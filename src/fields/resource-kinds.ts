import { isMediaUrl } from './media-url.js';

/** Kinds of files to which a field can link, with the extensions of each. */
const ENDINGS = {
  document: ['pdf'],
  image: ['jpg', 'jpeg', 'png', 'gif', 'webp', 'avif'],
  video: ['mp4', 'webm', 'mov'],
  audio: ['mp3', 'wav', 'ogg', 'flac'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ResourceKind = keyof typeof ENDINGS;

export const RESOURCE_KINDS = Object.keys(ENDINGS) as readonly ResourceKind[];

const byEnding: ReadonlyMap<string, ResourceKind> = new Map(
  RESOURCE_KINDS.flatMap((kind) => ENDINGS[kind].map((ending): [string, ResourceKind] => [ending, kind])),
);

/**
 * Returns the kind of file of a URL, on the web or in a media store. Undefined if the text is no URL or its extension
 * is unknown.
 */
export function resourceKindOf(text: string): ResourceKind | undefined {
  const isMedia = isMediaUrl(text);
  if (!isMedia && (!/^https?:\/\//iu.test(text) || !URL.canParse(text))) return undefined;
  const ending = /\.([a-z0-9]{2,4})$/iu.exec(isMedia ? text : new URL(text).pathname)?.[1];
  return ending === undefined ? undefined : byEnding.get(ending.toLowerCase());
}
